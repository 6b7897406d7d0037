package yamlgraph

import (
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// The language of conditions: comparisons of a path with a constant, joined by `and` and `or`, where `and` binds tighter.
// There are no parentheses and no `not`.

var (
	orWord     = lazyregexp.New(`(?i)\s+or\s+`)
	andWord    = lazyregexp.New(`(?i)\s+and\s+`)
	membership = lazyregexp.New(`(?i)^\s*[\w.]+\s+(not\s+)?in\s`) // for which the engine has no operator
	comparison = lazyregexp.New(`^\s*([A-Za-z_][A-Za-z0-9_.]*)\s*(<=|>=|==|!=|<|>)\s*(.*?)\s*$`)
	intLit     = lazyregexp.New(`^[+-]?[0-9]+(?:_[0-9]+)*$`) // of Python's int()
	floatLit   = lazyregexp.New(`^[+-]?(?:[0-9]+(?:_[0-9]+)*\.(?:[0-9]+(?:_[0-9]+)*)?|\.[0-9]+(?:_[0-9]+)*)(?:[eE][+-]?[0-9]+)?$`)
)

// maxCondition bounds a condition in bytes.
const maxCondition = 4096

// short reports a condition that is too long to be read.
func (p *parser) short(n *yamlnode.Node) bool {
	if len(n.Text.Value) > maxCondition {
		p.Error(diag.ExprSyntax, dialect.Head(n), "compute it in a python node", "a condition has at most %d characters", maxCondition)
	}
	return len(n.Text.Value) <= maxCondition
}

// condition reads a condition; nil after a mistake.
func (p *parser) condition(n *yamlnode.Node) *dialect.Predicate {
	if _, ok := p.Text(n, "a condition"); !ok {
		return nil
	}
	if !p.short(n) {
		return nil
	}
	return p.joined("||", orWord, n.Text, 0, len(n.Text.Value), func(lo, hi int) *dialect.Predicate {
		return p.joined("&&", andWord, n.Text, lo, hi, func(lo, hi int) *dialect.Predicate { return p.comparison(n.Text, lo, hi) })
	})
}

// joined reads parts with a word between them. Words inside of quotes do not join.
func (p *parser) joined(op string, word *lazyregexp.Regexp, t source.Text, lo, hi int, part func(lo, hi int) *dialect.Predicate) *dialect.Predicate {
	var out *dialect.Predicate
	add := func(lo, hi int) bool {
		right := part(lo, hi)
		if right == nil {
			return false
		}
		if out == nil {
			out = right
		} else {
			out = &dialect.Predicate{Op: op, Kids: []*dialect.Predicate{out, right}, Span: t.Span}
		}
		return true
	}
	for _, cut := range word.FindAllStringIndex(t.Value[lo:hi], -1) {
		from, to := cut[0], cut[1]
		if quoted(t.Value[lo : lo+from]) {
			continue
		}
		if !add(lo, lo+from) {
			return nil
		}
		return p.rest(op, word, t, out, lo+to, hi, part)
	}
	if !add(lo, hi) {
		return nil
	}
	return out
}

// rest joins what is after the first word.
func (p *parser) rest(op string, word *lazyregexp.Regexp, t source.Text, left *dialect.Predicate, lo, hi int, part func(lo, hi int) *dialect.Predicate) *dialect.Predicate {
	right := p.joined(op, word, t, lo, hi, part)
	if right == nil {
		return nil
	}
	return &dialect.Predicate{Op: op, Kids: []*dialect.Predicate{left, right}, Span: t.Span}
}

// quoted reports whether text ends inside of quotes.
func quoted(text string) bool {
	var in byte
	for i := range len(text) {
		switch c := text[i]; {
		case in == 0 && (c == '\'' || c == '"'):
			in = c
		case c == in:
			in = 0
		}
	}
	return in != 0
}

func (p *parser) comparison(t source.Text, lo, hi int) *dialect.Predicate {
	text := t.Value[lo:hi]
	m := comparison.FindStringSubmatchIndex(text)
	at := func(i int) source.Span { return t.At(lo+m[2*i], lo+m[2*i+1]) }
	if m == nil || m[6] == m[7] || m[5]-m[4] == 1 && text[m[5]] == text[m[4]] { // << and >> are not operators
		help := "write `field == value`; `not` and parentheses are not supported"
		if membership.MatchString(text) {
			help = "`in` is not supported: compare with each value, as in `field == 'a' or field == 'b'`"
		}
		p.Error(diag.ExprSyntax, t.At(lo, max(hi, lo)), help, "this is not a comparison of a field with a value")
		return nil
	}
	path := text[m[2]:m[3]]
	parts := strings.Split(path, ".")
	for _, name := range parts {
		if name == "" {
			p.Error(diag.ExprSyntax, at(1), "", dialect.PathForm)
			return nil
		}
	}
	if len(parts) > 1 && parts[0] == "state" && p.fields["state"] == nil {
		if p.opts.Upstream {
			p.Warn(diag.IgnoredKey, at(1), "leave out `state.`", "YAMLGraph 0.4 looks for a field `state`: this is always null")
		} else {
			parts = parts[1:]
			p.Differs(at(1), "leave out `state.`", "this is the field `%s`, as in YAMLGraph 0.6; 0.4 looks for a field `state`", parts[0])
		}
	}
	p.named(parts[0], at(1))
	left := &dialect.Predicate{Op: "ref", Span: at(1), Ref: &dialect.Reference{Text: source.Text{Value: path, Span: at(1)}, Root: "state", Path: parts, Missing: dialect.MissingNull}}
	return &dialect.Predicate{Op: text[m[4]:m[5]], Kids: []*dialect.Predicate{left, literal(text[m[6]:m[7]], at(3))}, Span: t.At(lo+m[2], lo+m[7])}
}

// literal is the right side of a comparison. What is nothing else is text.
func literal(text string, at source.Span) *dialect.Predicate {
	s := &ir.Scalar{Text: source.Text{Value: text, Span: at}, Tag: "!!str"}
	n := len(text)
	switch lower := strings.ToLower(text); {
	case n > 0 && (text[0] == '\'' || text[0] == '"') && text[n-1] == text[0]:
		s.Text.Value = strings.TrimSuffix(text[1:], text[:1])
	case lower == "true" || lower == "false":
		s.Tag, s.Text.Value = "!!bool", lower
	case lower == "null" || lower == "none":
		s.Tag = "!!null"
	case intLit.MatchString(text), floatLit.MatchString(text):
		number, whole, ok := yamlnode.Number(strings.ReplaceAll(text, "_", ""))
		if !ok {
			break
		}
		s.Tag, s.Text.Value = "!!float", number
		if whole {
			s.Tag = "!!int"
		}
	}
	return &dialect.Predicate{Op: "const", Lit: s, Span: at}
}
