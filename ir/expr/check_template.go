package expr

import (
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// textual reports whether values of t have a text form of their own: language.md, "Expressions".
func textual(t *schema.Type) bool { return isComparable(t) }

// segment checks that the value of a template's expression can be written as text.
func (c *checker) segment(s *Segment) {
	n := s.Expr
	t := n.Type
	if t.Unknown() {
		c.fault(n, "a template does not show %s: a function of a runtime package is to make text of it", called(t))
		return
	}
	if t.Kind == schema.Invalid || (s.Filter == "json" || s.Filter == PyText) && t.Kind != schema.Null {
		return
	}
	switch {
	case s.Filter == pyFilter:
		c.pyFilter(s)
	case t.Kind == schema.Null:
		c.report(diag.NoTextForm, n.Lo, n.Hi, "", "null has no text form")
	case t.Kind == schema.Opt:
		c.absent(n, n)
	case s.Filter != "":
		if t.Kind != schema.List {
			c.report(diag.NoTextForm, s.FilterLo, s.FilterHi, "remove the filter", "filter `%s` needs a list, this is %s", s.Filter, t)
		} else if t.Elem.Kind != schema.Invalid && !textual(t.Elem) {
			c.report(diag.NoTextForm, n.Lo, n.Hi, "write `| json`, or map the items to text first", "%s has no text form, its items are %s", n, brief(t.Elem))
		}
	case !textual(t):
		text := n.String() + " | json"
		p := c.report(diag.NoTextForm, n.Lo, n.Hi, "write it as JSON: `{{ "+text+" }}`", "%s has no text form, it is %s", n, brief(t))
		p.Replace = &text
	}
}

// pyFilter refuses the filter `python`. Values that Python writes as flowgen does need none.
func (c *checker) pyFilter(s *Segment) {
	text := s.Expr.String()
	p := c.report(diag.UnknownFilter, s.FilterLo, s.FilterHi, "", "filter `%s` is only in imported files", pyFilter)
	switch t := s.Expr.Type; t.Kind {
	case schema.String, schema.Enum, schema.Int:
		p.Lo, p.Replace = s.Expr.Lo, &text
		p.Help = "remove it: `{{ " + text + " }}` writes the same"
	case schema.Bool:
		p.Help = "write `{{ " + text + ` ? "True" : "False" }}` + "`"
	default:
		p.Help = "write `json`, or make the text in a node: `go: " + schema.RuntimePath + "/dynamic/py.Text`"
	}
}
