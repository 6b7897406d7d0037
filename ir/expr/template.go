package expr

import (
	"fmt"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/diag"
)

// A Template is text with expressions in double braces.
type Template struct{ Segments []Segment }

// A Segment is literal text, or an expression with at most one filter.
type Segment struct {
	Lit string // when Expr is nil

	Expr               *Node
	Filter             string // json, lines, join, PyText or ""
	FilterArg          string // join: what is between the items
	FilterLo, FilterHi int

	Lo, Hi int // bytes of the whole in the template, braces included
}

// filters of text, in the order help lists them.
var filters = []string{"json", "lines", "join"}

// pyFilter is a filter of earlier versions: the checker, which knows the type of the value, says what is written instead.
const pyFilter = "python"

// maxExprs is how many expressions one text can hold: each becomes an operand of one Go expression.
const maxExprs = 1000

// ParseTemplate reads text with {{ }}. Offsets are bytes of src. Text without braces is one literal segment; empty text
// has none.
func ParseTemplate(src string) (*Template, []Problem) {
	t := &Template{}
	var probs []Problem
	exprs := 0
	for pos := 0; pos < len(src); {
		if text, _, _ := strings.Cut(src[pos:], "{{"); text != "" {
			t.Segments = append(t.Segments, Segment{Lit: text, Lo: pos, Hi: pos + len(text)})
			pos += len(text)
			continue
		}
		if exprs++; exprs > maxExprs {
			return t, append(probs, Problem{Code: diag.ExprSize, Lo: pos, Hi: pos + 2, Message: fmt.Sprintf("this text has more than %d expressions", maxExprs),
				Help: "compute parts of it in let nodes, or join the items of a list"})
		}
		l := &lexer{src: src, pos: pos + 2, template: true}
		l.run()
		seg, ps := parseSegment(l, pos)
		t.Segments = append(t.Segments, seg)
		probs = append(probs, ps...)
		pos = l.pos
	}
	return t, probs
}

// Literal is the text when the template holds no expressions; ok is false when it does.
func (t *Template) Literal() (text string, ok bool) {
	for _, s := range t.Segments {
		if s.Expr != nil {
			return "", false
		}
		text += s.Lit
	}
	return text, true
}

// parseSegment parses the tokens of one pair of braces, the first of which is at lo.
func parseSegment(l *lexer, lo int) (Segment, []Problem) {
	last := l.toks[len(l.toks)-1]
	seg := Segment{Lo: lo, Hi: last.hi}
	bad := &Node{Op: Bad, Lo: lo, Hi: last.hi, NameLo: lo, NameHi: last.hi}
	one := func(lo, hi int, message, help string) (Segment, []Problem) {
		seg.Expr = bad
		return seg, []Problem{{Code: diag.TemplateSyntax, Lo: lo, Hi: hi, Message: message, Help: help}}
	}
	switch {
	case last.text != "}}":
		if len(l.probs) > 0 && l.probs[0].Code == diag.ExprString { // the missing quote swallowed the braces
			seg.Expr = bad
			return seg, l.probs[:1]
		}
		return one(lo, lo+2, "this `{{` is not closed", "close it with `}}`; two braces as text are written `{{ \"{{\" }}`")
	case nextBraces(l.toks):
		return one(lo, lo+2, "this `{{` is not closed", "close it with `}}` before the next one")
	case last.hi-lo > maxLength:
		seg.Expr, _ = tooLarge(l.src, lo, last.hi, "")
		return seg, []Problem{{Code: diag.ExprSize, Lo: lo, Hi: last.hi, Message: tooLong, Help: "close it earlier, or compute parts of it in let nodes"}}
	case len(l.toks) == 1:
		return one(lo, last.hi, "the braces contain no expression", "two braces as text are written `{{ \"{{\" }}`")
	case l.toks[0].op("-") && l.toks[0].lo == lo+2 && l.toks[1].lo > l.toks[0].hi,
		len(l.toks) > 2 && l.toks[len(l.toks)-2].op("-") && l.toks[len(l.toks)-2].hi == last.lo:
		return one(lo, last.hi, "trim markers are not supported", "remove the `-`")
	}
	p := newParser(l)
	n := p.expr()
	if !p.failed && p.peek().op("|") {
		p.filter(&seg)
	}
	p.end()
	seg.Expr, p.probs = p.finish(n)
	return seg, p.probs
}

// nextBraces reports whether another `{{` is before the `}}` that ends tokens. No expression has two braces in a row.
func nextBraces(toks []token) bool {
	for i := 1; i < len(toks); i++ {
		if toks[i].kind != tokString && toks[i].text == "{{" || toks[i-1].op("{") && toks[i].op("{") && toks[i-1].hi == toks[i].lo {
			return true
		}
	}
	return false
}

// filter parses `| name` and `| join("x")`.
func (p *parser) filter(seg *Segment) {
	p.next()
	t := p.peek()
	if t.kind != tokName {
		p.expected("a filter after `|`")
		return
	}
	p.next()
	seg.Filter, seg.FilterLo, seg.FilterHi = t.text, t.lo, t.hi
	switch t.text {
	case "json", "lines", pyFilter:
		if p.peek().op("(") {
			open := p.next()
			if !p.peek().op(")") {
				p.fail(open.lo, open.hi, "filter `"+t.text+"` takes no argument", "")
				return
			}
			seg.FilterHi = p.next().hi
		}
	case "join":
		if !p.accept("(") || p.peek().kind != tokString || !p.after().op(")") {
			p.fail(t.lo, t.hi, "filter `join` takes a separator", "write `join(\", \")`")
			return
		}
		seg.FilterArg = p.next().text
		p.next()
	default:
		p.unknownFilter(t)
		return
	}
	if bar := p.peek(); bar.op("|") {
		p.fail(bar.lo, bar.hi, "only one filter can follow an expression", "compute the value in a let node")
	}
}

func (p *parser) unknownFilter(t token) {
	pr := Problem{Code: diag.UnknownFilter, Lo: t.lo, Hi: t.hi, Message: "unknown filter `" + t.text + "`"}
	switch near := diag.Nearest(t.text, filters); {
	case t.text == "default":
		pr.Help = "write `{{ default(x, \"...\") }}`"
	case foreignFilters[t.text] != "":
		pr.Help = foreignFilters[t.text]
	case near != "":
		pr.Help, pr.Replace = "replace with `"+near+"`", &near
	default:
		pr.Help = "filters are json, lines and join"
	}
	if !p.failed {
		p.report(pr)
	}
	p.failed = true
	p.fail(t.lo, t.hi, "", "")
}

var foreignFilters = map[string]string{
	"tojson": "replace with `json`", "string": "remove it, or write `json`", "length": "write `{{ size(x) }}`", "count": "write `{{ size(x) }}`",
	"upper": "write `{{ x.upperAscii() }}`", "lower": "write `{{ x.lowerAscii() }}`", "trim": "write `{{ x.trim() }}`",
}
