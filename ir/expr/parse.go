package expr

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/diag"
)

// Bounds of one expression.
const (
	maxLength = 64 << 10
	maxDepth  = 200
)

const (
	tooLong   = "this expression is longer than 64 KiB"
	tooNested = "this expression is nested more than 200 deep"
)

// Parse reads an expression. The node is never nil; after a mistake in the syntax it is Bad, and the first such mistake
// is the only one reported. Spellings of other languages are reported each, and read as what they mean.
func Parse(src string) (*Node, []Problem) {
	if len(src) > maxLength {
		return tooLarge(src, 0, len(src), tooLong)
	}
	l := &lexer{src: src}
	l.run()
	return parseTokens(l)
}

func tooLarge(src string, lo, hi int, message string) (*Node, []Problem) {
	n := &Node{Op: Bad, Lo: lo, Hi: hi, NameLo: lo, NameHi: hi}
	return n, []Problem{{Code: diag.ExprSize, Lo: lo, Hi: hi, Message: message, Help: "compute parts of it in let nodes"}}
}

// parseTokens parses everything the lexer found. The text of the end token says whether a template closed it.
func parseTokens(l *lexer) (*Node, []Problem) {
	p := newParser(l)
	n := p.expr()
	p.end()
	return p.finish(n)
}

type parser struct {
	src    string
	toks   []token
	i      int
	depth  int
	nest   int // open brackets
	probs  []Problem
	failed bool // a mistake in the syntax was reported: the rest is silence
	lo     int

	template bool // `|` outside brackets begins a filter
}

func newParser(l *lexer) *parser {
	return &parser{src: l.src, toks: l.toks, probs: l.probs, lo: l.toks[0].lo, template: l.template}
}

// finish turns a failed parse into a Bad node, so that no half expression is ever checked.
func (p *parser) finish(n *Node) (*Node, []Problem) {
	hi := p.toks[len(p.toks)-1].lo
	if !p.failed && tooDeep(n, maxDepth) {
		return tooLarge(p.src, p.lo, hi, tooNested)
	}
	if p.failed || hasBad(n) {
		return &Node{Op: Bad, Lo: p.lo, Hi: hi, NameLo: p.lo, NameHi: hi}, p.probs
	}
	return n, p.probs
}

func tooDeep(n *Node, left int) bool {
	if left == 0 {
		return true
	}
	for _, k := range n.Kids {
		if tooDeep(k, left-1) {
			return true
		}
	}
	return false
}

func hasBad(n *Node) bool {
	bad := false
	n.Walk(func(n *Node) bool {
		bad = bad || n.Op == Bad
		return !bad
	})
	return bad
}

func (p *parser) peek() token { return p.toks[p.i] }

func (p *parser) after() token { return p.toks[min(p.i+1, len(p.toks)-1)] }

func (p *parser) next() token {
	t := p.toks[p.i]
	if p.i < len(p.toks)-1 {
		p.i++
	}
	return t
}

func (p *parser) accept(op string) bool {
	if p.peek().op(op) {
		p.next()
		return true
	}
	return false
}

// fail reports the first mistake in the syntax and skips the rest of the text.
func (p *parser) fail(lo, hi int, message, help string) *Node {
	if !p.failed {
		p.failed = true
		p.report(Problem{Code: diag.ExprSyntax, Lo: lo, Hi: hi, Message: message, Help: help})
	}
	p.i = len(p.toks) - 1
	return &Node{Op: Bad, Lo: lo, Hi: hi, NameLo: lo, NameHi: hi}
}

func (p *parser) report(pr Problem) { p.probs = append(p.probs, pr) }

// foreign reports a spelling of another language; with a fix when replace is not empty.
func (p *parser) foreign(lo, hi int, message, help, replace string) {
	pr := Problem{Code: diag.ExprSpelling, Lo: lo, Hi: hi, Message: message, Help: help}
	if replace != "" {
		pr.Replace = &replace
		if help == "" {
			pr.Help = "replace with `" + replace + "`"
		}
	}
	p.report(pr)
}

func (p *parser) expected(what string) *Node {
	t := p.peek()
	if t.kind == tokBad { // the lexer has told
		p.failed = true
		return p.fail(t.lo, t.hi, "", "")
	}
	if t.kind == tokEOF {
		return p.fail(t.lo, t.lo, "expected "+what+" before the end of the expression", "")
	}
	return p.fail(t.lo, t.hi, "expected "+what+", found "+t.describe(), "")
}

// end checks that nothing is left.
func (p *parser) end() {
	if t := p.peek(); t.kind != tokEOF && !p.failed {
		p.leftover(t)
	}
}

func (p *parser) expr() *Node {
	if p.depth >= maxDepth {
		if !p.failed {
			t := p.peek()
			p.failed = true
			p.report(Problem{Code: diag.ExprSize, Lo: t.lo, Hi: t.hi, Message: tooNested, Help: "compute parts of it in let nodes"})
		}
		return p.fail(p.peek().lo, p.peek().hi, "", "")
	}
	p.depth++
	defer func() { p.depth-- }()

	n := p.binary(precOr)
	switch t := p.peek(); {
	case t.name("if"):
		return p.pythonCond(n)
	case t.op("?:"), t.op("??"):
		return p.elvis(n)
	case t.op("?"):
		p.next()
		yes := p.expr()
		if !p.accept(":") {
			return p.expected("`:` of the conditional")
		}
		no := p.expr()
		return &Node{Op: Cond, Text: "?:", Kids: []*Node{n, yes, no}, Lo: n.Lo, Hi: no.Hi, NameLo: t.lo, NameHi: t.hi}
	}
	return n
}

func (p *parser) binary(min int) *Node {
	left := p.unary()
	for !p.failed {
		t := p.peek()
		op, ok := p.binaryOp(left, t)
		if !ok || binaryPrec[op] < min {
			return left
		}
		if op != t.text || t.kind == tokName && op != "in" {
			p.foreignOp(t, op)
		}
		p.next()
		right := p.binary(binaryPrec[op] + 1)
		if !p.failed && isChain(left, op) {
			return p.chained(left, t, right)
		}
		left = &Node{Op: Binary, Text: op, Kids: []*Node{left, right}, Lo: left.Lo, Hi: right.Hi, NameLo: t.lo, NameHi: t.hi}
	}
	return left
}

func (p *parser) unary() *Node {
	t := p.peek()
	switch {
	case t.op("!"), t.op("-"):
	case p.foreignNot(t):
		t.text = "!"
	default:
		return p.postfix(p.primary())
	}
	if p.depth >= maxDepth {
		return p.expr()
	}
	p.depth++
	defer func() { p.depth-- }()
	p.next()
	if num := p.peek(); t.text == "-" && num.lo == t.hi && (num.kind == tokInt || num.kind == tokFloat) {
		p.next()
		return p.postfix(p.number(num, t.lo, true))
	}
	k := p.unary()
	return &Node{Op: Unary, Text: t.text, Kids: []*Node{k}, Lo: t.lo, Hi: k.Hi, NameLo: t.lo, NameHi: t.hi}
}

func (p *parser) postfix(n *Node) *Node {
	for !p.failed {
		t := p.peek()
		switch {
		case t.op("."), t.op("?."):
			n = p.field(n)
		case t.op("["):
			n = p.index(n)
		case t.op("(") && n.Op == Name && n.Hi == n.NameHi:
			call := &Node{Op: Call, Text: n.Text, Lo: n.Lo, NameLo: n.NameLo, NameHi: n.NameHi}
			n = p.call(call)
		default:
			return n
		}
	}
	return n
}

func (p *parser) field(recv *Node) *Node {
	dot := p.next()
	t := p.peek()
	if t.kind != tokName {
		return p.expected("a field name after `" + dot.text + "`")
	}
	p.next()
	n := &Node{Op: Field, Text: t.text, Kids: []*Node{recv}, Lo: recv.Lo, Hi: t.hi, NameLo: t.lo, NameHi: t.hi}
	if dot.text == "?." {
		n.Op = OptField
	}
	if !p.peek().op("(") {
		return n
	}
	if n.Op == OptField {
		return p.fail(dot.lo, dot.hi, "`?.` reads a field, it does not call", "test the value with `!= null` first, or give it a default")
	}
	n.Op, n.Method = Call, true
	if recv.Op == Name && recv.Text == "math" && recv.Lo == recv.NameLo { // a namespace of CEL: no value has these methods
		n.Method, n.Text, n.Kids, n.NameLo = false, "math."+n.Text, nil, recv.NameLo
	}
	return p.call(n)
}

var (
	macros     = map[string]bool{"exists": true, "all": true, "map": true, "filter": true, "sortBy": true}
	macroNames = slices.Sorted(maps.Keys(macros))
)

// call parses the arguments of n, whose name and receiver are set.
func (p *parser) call(n *Node) *Node {
	open := p.next()
	p.nest++
	defer func() { p.nest-- }()
	for !p.failed && !p.peek().op(")") {
		n.Kids = append(n.Kids, p.expr())
		if !p.accept(",") {
			break
		}
	}
	if p.failed {
		return n
	}
	if !p.peek().op(")") {
		return p.unclosed(open)
	}
	n.Hi = p.next().hi
	if macros[n.Text] && n.Method {
		return p.macro(n)
	}
	return n
}

// macro turns xs.exists(x, p) into its own kind of node.
func (p *parser) macro(n *Node) *Node {
	usage := "write `" + n.Kids[0].String() + "." + n.Text + "(x, ...)`"
	if len(n.Kids) != 3 {
		return p.fail(n.NameLo, n.Hi, "`"+n.Text+"` takes a variable and an expression", usage)
	}
	v := n.Kids[1]
	if v.Op != Name || v.Lo != v.NameLo {
		return p.fail(v.Lo, v.Hi, "expected the name of a variable", usage)
	}
	return &Node{
		Op: Macro, Text: n.Text, Kids: []*Node{n.Kids[0], n.Kids[2]}, Var: v.Text, VarLo: v.NameLo, VarHi: v.NameHi,
		Lo: n.Lo, Hi: n.Hi, NameLo: n.NameLo, NameHi: n.NameHi,
	}
}

// unclosed reports a missing closing bracket at the bracket that opened, unless something else is in its place.
func (p *parser) unclosed(open token) *Node {
	if t := p.peek(); t.kind == tokEOF {
		return p.fail(open.lo, open.hi, "this `"+open.text+"` is not closed", "")
	} else if t.kind == tokBad {
		return p.expected("")
	} else {
		p.leftover(t)
		return &Node{Op: Bad}
	}
}

func (p *parser) primary() *Node {
	t := p.peek()
	switch t.kind {
	case tokInt, tokFloat:
		p.next()
		return p.number(t, t.lo, false)
	case tokString:
		p.next()
		return lit(t, t.text)
	case tokName:
		p.next()
		switch t.text {
		case "true":
			return lit(t, true)
		case "false":
			return lit(t, false)
		case "null":
			return lit(t, nil)
		case "in":
			return p.fail(t.lo, t.hi, "expected a value before `in`", "")
		}
		return &Node{Op: Name, Text: t.text, Lo: t.lo, Hi: t.hi, NameLo: t.lo, NameHi: t.hi}
	case tokOp:
		switch t.text {
		case "(":
			p.next()
			p.nest++
			n := p.expr()
			p.nest--
			if p.failed {
				return n
			}
			if !p.peek().op(")") {
				return p.unclosed(t)
			}
			n.Lo, n.Hi = t.lo, p.next().hi
			return n
		case "[":
			return p.list()
		case "{":
			return p.mapping()
		}
		return p.foreignValue(t)
	}
	return p.expected("a value")
}

func lit(t token, v any) *Node {
	return &Node{Op: Lit, Value: v, Lo: t.lo, Hi: t.hi, NameLo: t.lo, NameHi: t.hi}
}

// number makes the literal of t; negative when a minus at lo belongs to it.
func (p *parser) number(t token, lo int, negative bool) *Node {
	text := t.text
	if negative {
		text = "-" + text
	}
	n := &Node{Op: Lit, Lo: lo, Hi: t.hi, NameLo: lo, NameHi: t.hi}
	if t.kind == tokFloat {
		n.Value, _ = strconv.ParseFloat(text, 64) // the lexer has refused what is too large
		return n
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		p.report(Problem{Code: diag.ExprNumber, Lo: lo, Hi: t.hi, Message: "this number does not fit in an int, which has 64 bits",
			Help: "write `" + strings.TrimLeft(text, "0") + ".0` for a float"})
		p.failed = true
		p.i = len(p.toks) - 1
	}
	n.Value = v
	return n
}

func (p *parser) list() *Node {
	open := p.next()
	p.nest++
	defer func() { p.nest-- }()
	n := &Node{Op: ListLit, Lo: open.lo, NameLo: open.lo, NameHi: open.hi}
	for !p.failed && !p.peek().op("]") {
		n.Kids = append(n.Kids, p.expr())
		if !p.accept(",") {
			break
		}
	}
	if p.failed {
		return n
	}
	if !p.peek().op("]") {
		return p.unclosed(open)
	}
	n.Hi = p.next().hi
	return n
}
