package parser

import (
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// yamlCodes are the codes of what can be wrong in the YAML itself.
var yamlCodes = map[yamlnode.ProblemKind]diag.Code{
	yamlnode.Syntax: diag.YAMLSyntax, yamlnode.Empty: diag.YAMLSyntax, yamlnode.LibraryFault: diag.YAMLSyntax,
	yamlnode.TabIndent:        diag.YAMLTab,
	yamlnode.UnquotedTemplate: diag.YAMLQuote, yamlnode.CutText: diag.YAMLQuote,
	yamlnode.DuplicateKey:  diag.YAMLDuplicate,
	yamlnode.NonScalarKey:  diag.YAMLKey,
	yamlnode.MergeKey:      diag.YAMLMerge,
	yamlnode.UnknownTag:    diag.YAMLTag,
	yamlnode.UnknownAnchor: diag.YAMLAnchor, yamlnode.AliasCycle: diag.YAMLAnchor,
	yamlnode.MultipleDocuments: diag.YAMLDocuments,
	yamlnode.TooLarge:          diag.YAMLLimit, yamlnode.TooDeep: diag.YAMLLimit, yamlnode.TooManyAliases: diag.YAMLLimit,
	yamlnode.ForeignType: diag.BadType,
	yamlnode.BadEncoding: diag.YAMLCharacter, yamlnode.ForbiddenCharacter: diag.YAMLCharacter,
}

// relatedWords says what the other half of a problem is.
var relatedWords = map[yamlnode.ProblemKind]string{
	yamlnode.DuplicateKey: "first defined here",
	yamlnode.AliasCycle:   "it is inside this",
}

func yamlDiagnostic(p yamlnode.Problem) diag.Diagnostic {
	code, ok := yamlCodes[p.Kind]
	if !ok {
		code = diag.YAMLSyntax
	}
	d := diag.Diagnostic{Code: code, Span: p.Span, Message: p.Message, Help: p.Help}
	for _, r := range p.Related {
		word := relatedWords[p.Kind]
		if word == "" {
			word = "opened here"
		}
		d.Related = append(d.Related, diag.Related{Span: r, Message: word})
	}
	if p.Fix != nil {
		title := "quote the text"
		if p.Kind == yamlnode.ForeignType {
			title = p.Help
		}
		d.Fixes = []diag.Fix{{Title: title, Edits: []diag.Edit{{Span: p.Fix.Span, New: p.Fix.New}}}}
	}
	return d
}
