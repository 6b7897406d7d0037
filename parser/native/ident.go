package native

import (
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// maxName bounds names: they end in file names, keys and Go identifiers.
const maxName = 64

var (
	idForm      = lazyregexp.New(`^[a-z][a-z0-9_]*$`)
	fieldForm   = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	jsForm      = lazyregexp.New(`^[A-Za-z_$][A-Za-z0-9_$]*$`)
	typeForm    = lazyregexp.New(`^[A-Z][A-Za-z0-9]*$`)
	secretForm  = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	versionForm = lazyregexp.New(`^[0-9A-Za-z][0-9A-Za-z.+-]*$`)
	goForm      = lazyregexp.New(`^([A-Za-z0-9_.~-]+(?:/[A-Za-z0-9_.~-]+)*)\.([A-Za-z_][A-Za-z0-9_]*)$`)
	headerForm  = lazyregexp.New("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
)

// reserved are names that mean something of their own where ids are read.
var reserved = map[string]string{
	"input": "the workflow's input", "state": "the workflow's state", "end": "the end of the workflow",
	"error": "a node's error", "index": "the number of an item",
	"start": "the start of the workflow, which edges can lead from", "run": "the run", "now": "the time of the run", "else": "an operator",
	"true": "a literal", "false": "a literal", "null": "a literal", "in": "an operator",
}

// A naming is the rule for one sort of name.
type naming struct {
	what     string // "a node id"
	form     *lazyregexp.Regexp
	rule     string // "lower-case letters, digits and _"
	reserved bool
	fix      func(string) string
}

const idRule = "lower-case letters, digits and `_`, starting with a letter"

var (
	nodeID       = naming{"a node id", idForm, idRule, true, toID}
	variableID   = naming{"a variable", idForm, idRule, true, toID}
	workflowID   = naming{"the name of a workflow", idForm, idRule, false, toID}
	declaredID   = naming{"a name", idForm, idRule, false, toID}
	stateID      = naming{"a field", idForm, idRule, false, toID}
	fieldID      = naming{"a field", fieldForm, "letters, digits and `_`, not starting with a digit", false, nil}
	argumentID   = naming{"a field", jsForm, "letters, digits, `_` and `$`, not starting with a digit", false, nil}
	typeName     = naming{"a type name", typeForm, "letters and digits, starting with a capital", false, goname.Exported}
	secretName   = naming{"the name of a secret", secretForm, "letters, digits and `_`, not starting with a digit", false, nil}
	variableName = naming{"the name of a variable", secretForm, "letters, digits and `_`, not starting with a digit", false, nil}
	headerName   = naming{"the name of a header", headerForm, "letters, digits and `-`", false, nil}
)

// name reads key as a name and reports when it breaks the rule, if that has a form; the name is returned all the same, so that what refers
// to it is not reported too. ok is false when there is no name at all.
func (p *parser) name(key *yamlnode.Node, rule naming) (id ir.Ident, ok bool) {
	text, ok := p.keyName(key)
	if !ok {
		return ir.Ident{}, false
	}
	id = ir.Ident{Name: text, Span: textSpan(key.Text)}
	if rule.form != nil {
		p.checkName(id, rule)
	}
	return id, true
}

func (p *parser) checkName(id ir.Ident, rule naming) {
	meaning, taken := reserved[id.Name]
	switch {
	case len(id.Name) > maxName:
		p.report(diag.BadName, id.Span, "", "%s has at most %d characters", rule.what, maxName)
	case !rule.form.MatchString(id.Name):
		help := ""
		if rule.fix != nil {
			if better := rule.fix(id.Name); rule.form.MatchString(better) && len(better) <= maxName {
				help = "rename it to `" + better + "`, here and where it is used"
			}
		}
		p.report(diag.BadName, id.Span, help, "%s is made of %s", rule.what, rule.rule)
	case rule.reserved && taken:
		p.report(diag.BadName, id.Span, "choose another name", "%s cannot be `%s`: that is %s", rule.what, id.Name, meaning)
	}
}

// toID proposes an id for a name that is none: FetchDiff, fetch-diff -> fetch_diff.
func toID(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r >= 'A' && r <= 'Z':
			if i > 0 && s[i-1] >= 'a' && s[i-1] <= 'z' {
				b.WriteByte('_')
			}
			b.WriteRune(r + 'a' - 'A')
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	return strings.Trim(b.String(), "_")
}

// ref reads n as the name of something declared elsewhere, of whatever form.
func (p *parser) ref(n *yamlnode.Node, what string) ir.Ident {
	t, ok := p.text(n, what)
	if !ok {
		return ir.Ident{}
	}
	if t.Value == "" {
		p.report(diag.BadLiteral, textSpan(t), "", "%s is empty", what)
	}
	return ir.Ident{Name: t.Value, Span: textSpan(t)}
}

// textSpan is the place of a scalar's content, without its quotes.
func textSpan(t source.Text) source.Span {
	if t.Value == "" {
		return t.Span
	}
	return t.At(0, len(t.Value))
}

// goRef reads "import/path.Name"; prefix "go:" must have been cut. Whether it names a function or a type is for ir/bind to
// say; a type must have the form, or nothing could be in its place.
func (p *parser) goRef(t source.Text, what string) ir.Ident {
	id := ir.Ident{Name: t.Value, Span: textSpan(t)}
	if what != "Type" {
		return id
	}
	if !goForm.MatchString(t.Value) {
		p.report(diag.BadLiteral, id.Span, "write it as `example.com/module/package."+what+"`", "a reference to Go is an import path, a dot and an exported name")
	}
	return id
}
