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

// Calculations in values: a path, an operator, and a path, a list, a map or a constant.
var (
	calculation = lazyregexp.New(`^\{(state\.[A-Za-z0-9_.]+)\s*([+\-*/])\s*(.+)\}$`)
	statePath   = lazyregexp.New(`^state\.[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*$`)
	inText      = lazyregexp.New(`\{state\.([A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*)\}`)
)

// calculate reads a calculation; nil when the text is none.
func (p *parser) calculate(n *yamlnode.Node) ir.Value {
	t := n.Text
	m := calculation.FindStringSubmatchIndex(t.Value)
	if m == nil || len(t.Value) > maxCondition {
		return nil
	}
	left := p.operand(t, m[2], m[3])
	if ops, parts := cut(t.Value[m[2]:m[7]]); len(ops) > 1 && clean(t.Value, m[2], parts) {
		if p.opts.Upstream {
			p.Warn(diag.IgnoredKey, n.Span, "calculate in two nodes", "the engine reads what follows the first operator as one operand")
		} else {
			p.Differs(n.Span, "", "all of it is calculated; the engine reads what follows the first operator as one operand")
			return p.chain(t, m[2], ops, parts)
		}
	}
	return &Calc{Op: t.Value[m[4]:m[5]], Left: left, Right: p.operand(t, m[6], m[7]), Text: t}
}

// chain is a calculation with more than one operator: * and / before + and -.
func (p *parser) chain(t source.Text, at int, ops []byte, parts [][2]int) ir.Value {
	values := make([]ir.Value, len(parts))
	for i, part := range parts {
		values[i] = p.operand(t, at+part[0], at+part[1])
	}
	for _, level := range []string{"*/", "+-"} {
		for i := 0; i < len(ops); {
			if !strings.ContainsRune(level, rune(ops[i])) {
				i++
				continue
			}
			values[i] = &Calc{Op: string(ops[i]), Left: values[i], Right: values[i+1], Text: t}
			values = append(values[:i+1], values[i+2:]...)
			ops = append(ops[:i:i], ops[i+1:]...)
		}
	}
	return values[0]
}

// cut divides text at operators outside of quotes and brackets.
func cut(s string) (ops []byte, parts [][2]int) {
	depth, from := 0, 0
	var quote byte
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '[' || c == '{' || c == '(':
			depth++
		case c == ']' || c == '}' || c == ')':
			depth--
		case depth == 0 && strings.IndexByte("+-*/", c) >= 0 && strings.TrimSpace(s[from:i]) != "":
			ops, parts = append(ops, c), append(parts, [2]int{from, i})
			from = i + 1
		}
	}
	return ops, append(parts, [2]int{from, len(s)})
}

// clean reports whether all parts are paths, numbers, quoted text, lists or maps.
func clean(s string, at int, parts [][2]int) bool {
	for _, part := range parts {
		switch text := strings.TrimSpace(s[at+part[0] : at+part[1]]); {
		case statePath.MatchString(text), intLit.MatchString(text), floatLit.MatchString(text):
		case len(text) < 2 || !strings.Contains(`'' "" [] {}`, text[:1]+text[len(text)-1:]):
			return false
		}
	}
	return true
}

// operand reads the right side of a calculation, or what is inside of it.
func (p *parser) operand(t source.Text, lo, hi int) ir.Value {
	for lo < hi && t.Value[lo] == ' ' {
		lo++
	}
	for lo < hi && t.Value[hi-1] == ' ' {
		hi--
	}
	s := t.Value[lo:hi]
	part := source.Text{Value: s, Span: t.At(lo, hi)}
	switch {
	case strings.HasPrefix(s, "state.") && statePath.MatchString(s):
		return p.reference(part, strings.TrimPrefix(s, "state."))
	case strings.HasPrefix(s, "state."):
		return &ir.Scalar{Text: part, Tag: "!!null"} // no path: nothing is there
	case len(s) >= 2 && s[0] == '[' && s[len(s)-1] == ']':
		return p.listOperand(t, lo, hi)
	case len(s) >= 2 && s[0] == '{' && s[len(s)-1] == '}':
		return p.mapOperand(t, lo, hi)
	}
	return literal(s, part.Span).Lit
}

// listOperand reads a list. The engine takes what is between the brackets for one item.
func (p *parser) listOperand(t source.Text, lo, hi int) ir.Value {
	l := &ir.List{Span: t.At(lo, hi)}
	items := split(t.Value[lo+1 : hi-1])
	first := strings.TrimSpace(t.Value[lo+1 : hi-1])
	if len(items) > 1 || first == "" || strings.HasPrefix(first, "{") && strings.Contains(first, ":") {
		if p.opts.Upstream {
			return append1(l, literal(first, t.At(lo+1, hi-1)).Lit)
		}
		p.Differs(l.Span, "", "these are the items of a list; the engine takes what is between the brackets for one text")
	}
	for _, it := range items {
		if strings.TrimSpace(t.Value[lo+1+it[0]:lo+1+it[1]]) != "" {
			append1(l, p.operand(t, lo+1+it[0], lo+1+it[1]))
		}
	}
	return l
}

func append1(l *ir.List, v ir.Value) *ir.List {
	l.Items = append(l.Items, v)
	return l
}

// mapOperand reads a mapping. Braces without a key stay text, as in the engine.
func (p *parser) mapOperand(t source.Text, lo, hi int) ir.Value {
	if s := t.Value[lo:hi]; !strings.Contains(s, ":") && strings.TrimSpace(s[1:len(s)-1]) != "" {
		p.Warn(diag.IgnoredKey, t.At(lo, hi), "leave out the braces", "this stays text: a reference inside of a calculation has no braces")
		return literal(s, t.At(lo, hi)).Lit
	}
	o := &ir.Object{Span: t.At(lo, hi)}
	for _, it := range split(t.Value[lo+1 : hi-1]) {
		pair := t.Value[lo+1+it[0] : lo+1+it[1]]
		key, _, ok := strings.Cut(pair, ":")
		if !ok {
			continue
		}
		from := lo + 1 + it[0]
		id := ir.Ident{Name: strings.Trim(strings.TrimSpace(key), `'"`), Span: t.At(from, from+len(key))}
		o.Entries = append(o.Entries, &ir.Entry{Key: id, Value: p.operand(t, from+len(key)+1, lo+1+it[1])})
	}
	return o
}

// split divides text at commas outside of quotes and brackets.
func split(s string) [][2]int {
	var out [][2]int
	depth, from := 0, 0
	var quote byte
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth == 0:
			out = append(out, [2]int{from, i})
			from = i + 1
		}
	}
	return append(out, [2]int{from, len(s)})
}

// interpolate reads text with references inside of it.
func (p *parser) interpolate(n *yamlnode.Node) ir.Value {
	t := n.Text
	if p.opts.Upstream {
		p.Differs(n.Span, "a reference is the entire text", "this stays text: YAMLGraph 0.4 does not replace references inside of it; 0.6 does")
		return p.constant(n)
	}
	p.Differs(n.Span, "", "the references in this text are replaced, as in YAMLGraph 0.6; 0.4 leaves them as they are")
	out := &dialect.Mixed{Text: t}
	at := 0
	for _, m := range inText.FindAllStringSubmatchIndex(t.Value, -1) {
		if m[0] > at {
			out.Segments = append(out.Segments, dialect.MixedSegment{Lit: t.Value[at:m[0]]})
		}
		ref := p.reference(source.Text{Value: t.Value[m[0]:m[1]], Span: t.At(m[0], m[1])}, t.Value[m[2]:m[3]])
		ref.Missing = dialect.MissingKeep
		out.Segments = append(out.Segments, dialect.MixedSegment{Ref: ref})
		at = m[1]
	}
	if at < len(t.Value) {
		out.Segments = append(out.Segments, dialect.MixedSegment{Lit: t.Value[at:]})
	}
	return out
}
