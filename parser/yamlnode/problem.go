package yamlnode

import (
	"strings"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/ir/source"
)

// ProblemKind says what sort of mistake a Problem is.
type ProblemKind uint8

// The kinds of problems. Those marked fatal leave no tree.
const (
	Syntax             ProblemKind = iota // not YAML (fatal)
	TabIndent                             // a tab used as indentation (fatal)
	UnquotedTemplate                      // `{{ }}` without quotes where YAML reads a mapping
	CutText                               // unquoted text or expression cut short by ` #`, `: `, a comma or a bracket
	UnknownAnchor                         // *name without &name (fatal)
	DuplicateKey                          // Related: the first definition
	NonScalarKey                          // a mapping key that is a collection or absent
	MergeKey                              // <<, for readers that do not Merge
	UnknownTag                            // a tag outside the core schema
	MultipleDocuments                     // Related: none (fatal)
	Empty                                 // no content at all (fatal)
	TooLarge                              // more than MaxBytes or MaxNodes (fatal)
	TooDeep                               // nested deeper than MaxDepth, aliases expanded (fatal)
	TooManyAliases                        // more than MaxAliasNodes nodes through aliases (fatal)
	AliasCycle                            // an alias inside what it stands for (fatal)
	BadEncoding                           // not UTF-8 (fatal)
	ForbiddenCharacter                    // control, line separator or invisible direction character (fatal)
	ForeignType                           // a type of another language that is not YAML (fatal)
	LibraryFault                          // the YAML library failed on this file (fatal)
)

var kindNames = [...]string{
	"Syntax", "TabIndent", "UnquotedTemplate", "CutText", "UnknownAnchor", "DuplicateKey", "NonScalarKey", "MergeKey",
	"UnknownTag", "MultipleDocuments", "Empty", "TooLarge", "TooDeep", "TooManyAliases", "AliasCycle", "BadEncoding",
	"ForbiddenCharacter", "ForeignType", "LibraryFault",
}

func (k ProblemKind) String() string { return kindNames[k] }

// A Problem is a mistake in the YAML itself.
type Problem struct {
	Kind    ProblemKind
	Span    source.Span   // the smallest wrong text
	Related []source.Span // the other half: first definition, opening bracket
	Message string        // lower case, no full stop: what is wrong here
	Help    string        // what to do
	Fix     *Replacement  // the edit that mends it, when one is sure to
}

// A Replacement puts New where Span is.
type Replacement struct {
	Span source.Span
	New  string
}

// quoted is the fix that puts the text of span, one line, in quotes. There is none for text that may have been cut at
// maxExpression.
func quoted(span source.Span) *Replacement {
	t := span.Text()
	if t == "" || len(t) >= maxExpression-utf8.UTFMax || strings.ContainsAny(t, "\r\n") {
		return nil
	}
	return &Replacement{Span: span, New: quote(t)}
}

// quote writes t, which has no line breaks, as a YAML scalar: double quotes, or single ones where those need no escapes.
func quote(t string) string {
	if strings.ContainsAny(t, `"\`) {
		return "'" + strings.ReplaceAll(t, "'", "''") + "'"
	}
	return `"` + t + `"`
}

// quoteHelp tells to quote, with the result if it is short enough to read.
func quoteHelp(fix *Replacement) string {
	if fix == nil || len(fix.New) > 60 {
		return "put the entire text in quotes"
	}
	return "put the entire text in quotes: " + fix.New
}
