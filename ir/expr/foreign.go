package expr

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/diag"
)

// What people write from habit in other languages. Where the meaning is plain it is reported once with the right
// spelling and read as meant, so that the rest of the expression is still checked.

// foreignOps maps operators of other languages to those of this one.
var foreignOps = map[string]string{
	"=": "==", "===": "==", "!==": "!=", "<>": "!=", "=<": "<=", "=>": ">=", "&": "&&", "|": "||", "**": "*", "^": "!=",
}

var foreignWords = map[string]string{"and": "&&", "AND": "&&", "And": "&&", "or": "||", "OR": "||", "Or": "||", "xor": "!="}

// binaryOp is the operator that t stands for where an operator may stand.
func (p *parser) binaryOp(left *Node, t token) (string, bool) {
	switch t.kind {
	case tokOp:
		if t.text == "|" && p.template && p.nest == 0 {
			return "", false // a filter follows
		}
		if t.text == "|" && p.filterFollows() {
			return "", false // a filter outside of a template: end says where filters stand
		}
		if t.text == "=>" && p.nest > 0 && left.Op == Name {
			return "", false // a function of another language
		}
		if op := foreignOps[t.text]; op != "" {
			return op, true
		}
	case tokName:
		if op := foreignWords[t.text]; op != "" {
			return op, true
		}
		switch {
		case t.text == "is":
			return "==", true
		case t.text == "not" && p.after().name("in"):
			return "in", true
		}
	default:
		return "", false
	}
	return t.text, true // what is not an operator binds less than all of them
}

// foreignOp reports the operator at the parser's place; what is there consists of two words for `is not`, `not in`.
func (p *parser) foreignOp(t token, op string) {
	switch {
	case t.text == "not":
		in := p.after()
		p.foreign(t.lo, in.hi, "`not in` is not an operator", "write `!(x in xs)`", "")
		p.next()
	case t.text == "is" && p.after().name("not"):
		p.foreign(t.lo, p.after().hi, "`is not` is not an operator", "", "!=")
		p.next()
	case t.text == "**":
		p.foreign(t.lo, t.hi, noOperator("**"), "write the multiplication out, or compute it in a go node", "")
	case t.text == "^", t.text == "xor":
		p.foreign(t.lo, t.hi, noOperator(t.text), "for two bools, replace with `!=`", "!=")
	case t.text == "=>":
		p.foreign(t.lo, t.hi, notOperator(t.text), "", ">=")
	default:
		p.foreign(t.lo, t.hi, notOperator(t.text), "", op)
	}
}

// filterFollows reports whether the token after this one is the name of a filter.
func (p *parser) filterFollows() bool {
	n := p.after()
	return n.kind == tokName && slices.Contains(filters, n.text)
}

// foreignNot recognises `not x`.
func (p *parser) foreignNot(t token) bool {
	if t.kind != tokName || t.text != "not" && t.text != "NOT" {
		return false
	}
	switch n := p.after(); n.kind {
	case tokName:
		if n.text == "in" || foreignWords[n.text] != "" || n.text == "if" || n.text == "is" {
			return false
		}
	case tokInt, tokFloat, tokString:
	case tokOp:
		if n.text != "(" && n.text != "!" && n.text != "[" {
			return false
		}
	default:
		return false
	}
	p.foreign(t.lo, t.hi, notOperator(t.text), "", "!")
	return true
}

// pythonCond reads `a if c else b`, of which a is parsed.
func (p *parser) pythonCond(a *Node) *Node {
	t := p.next()
	c := p.binary(precOr)
	if p.failed {
		return c
	}
	if !p.peek().name("else") {
		return p.fail(t.lo, t.hi, "`if` is not an operator", "a choice is written `c ? a : b`")
	}
	p.next()
	b := p.expr()
	if p.failed {
		return b
	}
	n := &Node{Op: Cond, Text: "?:", Kids: []*Node{c, a, b}, Lo: a.Lo, Hi: b.Hi, NameLo: t.lo, NameHi: t.hi}
	p.foreign(n.Lo, n.Hi, "a choice is written with `?` and `:`", "", n.String())
	return n
}

// elvis reads `a ?: b` and `a ?? b`.
func (p *parser) elvis(a *Node) *Node {
	t := p.next()
	b := p.expr()
	if p.failed {
		return b
	}
	n := &Node{Op: Call, Text: "default", Kids: []*Node{a, b}, Lo: a.Lo, Hi: b.Hi, NameLo: t.lo, NameHi: t.hi}
	p.foreign(n.Lo, n.Hi, notOperator(t.text), "", n.String())
	return n
}

// isChain recognises a < b < c and a == b == c without parentheses.
func isChain(left *Node, op string) bool {
	if binaryPrec[op] != precRel || left.Op != Binary || binaryPrec[left.Text] != precRel || left.Lo != left.Kids[0].Lo {
		return false
	}
	equality := func(op string) bool { return op == "==" || op == "!=" }
	return equality(op) == equality(left.Text)
}

// chained reports it.
func (p *parser) chained(left *Node, t token, right *Node) *Node {
	mid := left.Kids[1].String()
	help := "write `" + left.String() + " && " + mid + " " + t.text + " " + right.String() + "`"
	if t.text == "==" || t.text == "!=" {
		help = "put the first comparison in parentheses, or join two with `&&`"
	}
	return p.fail(left.Lo, right.Hi, "comparisons cannot be chained", help)
}

func isName(s string) bool {
	for i := range len(s) {
		if !isWord(s[i]) {
			return false
		}
	}
	return s != "" && isLetter(s[0])
}

// strayDollar is the message about a `$` inside of an expression.
const strayDollar = "`$` is written only once, at the start of a value"

// noOperator is the message about an operation of other languages.
func noOperator(op string) string { return "unknown operator `" + op + "`" }

// notOperator is the message about another spelling of an operator.
func notOperator(op string) string { return "`" + op + "` is not an operator" }

func (p *parser) noComments(t token) *Node {
	return p.failSpelling(t.lo, t.hi, "comments are not allowed in expressions", "")
}

// failSpelling is fail for habits that cannot be read as anything.
func (p *parser) failSpelling(lo, hi int, message, help string) *Node {
	if !p.failed {
		p.foreign(lo, hi, message, help, "")
	}
	p.failed = true
	return p.fail(lo, hi, "", "")
}

// leftover reports text behind an expression.
func (p *parser) leftover(t token) {
	switch {
	case t.kind == tokBad:
		p.expected("")
	case t.op("//"):
		p.failSpelling(t.lo, t.hi, noOperator("//"), "write `/`: ints are divided without a remainder")
	case t.op(")"), t.op("]"):
		p.fail(t.lo, t.hi, "nothing is open for this `"+t.text+"` to close", "")
	case t.op("|") && p.filterFollows():
		p.fail(t.lo, p.after().hi, "filters belong in text, between `{{` and `}}`", "write it as text: `\"{{ "+strings.TrimSpace(p.src[:t.lo])+" | "+p.after().text+" }}\"`")
	case t.op("|"):
		p.fail(t.lo, t.hi, notOperator(t.text), "replace with `||`; filters such as `| json` are in text between `{{` and `}}`")
	case t.op("}}"):
		p.failSpelling(t.lo, t.hi, "`}}` has nothing to close", "remove it")
	case t.op(":"):
		p.fail(t.lo, t.hi, "`:` without `?` before it", "a choice is written `c ? a : b`")
	case t.op("#"):
		p.noComments(t)
	case t.op("=>"):
		p.failSpelling(t.lo, t.hi, "functions with `=>` are not supported", "an expression over a list is written `xs.map(x, ...)`")
	case t.op("++"), t.op("+="), t.op("-="), t.op("->"):
		p.failSpelling(t.lo, t.hi, noOperator(t.text), "")
	case t.kind == tokString && p.toks[p.i-1].name("r"):
		p.failSpelling(p.toks[p.i-1].lo, t.hi, "raw strings are not supported", "write every backslash twice")
	case t.kind == tokName, t.kind == tokString, t.kind == tokInt, t.kind == tokFloat, t.op("("), t.op("["), t.op("{"), t.op("{{"):
		p.fail(t.lo, t.hi, "expected an operator before "+t.describe(), "")
	default:
		p.fail(t.lo, t.hi, "unexpected "+t.describe(), "")
	}
}

// foreignValue reports an operator where a value is expected.
func (p *parser) foreignValue(t token) *Node {
	switch t.text {
	case "$":
		if n := p.after(); n.kind == tokName || n.op("(") {
			empty := ""
			p.report(Problem{Code: diag.ExprSpelling, Lo: t.lo, Hi: t.hi, Message: strayDollar, Help: "remove the `$`", Replace: &empty})
			p.next()
			return p.primary()
		}
		return p.failSpelling(t.lo, t.hi, strayDollar, "remove it")
	case ".":
		if n := p.after(); n.kind == tokName {
			empty := ""
			p.report(Problem{Code: diag.ExprSpelling, Lo: t.lo, Hi: t.hi, Message: "a name does not start with a dot", Help: "remove the dot", Replace: &empty})
			p.next()
			return p.primary()
		}
		if n := p.after(); n.kind == tokInt && n.lo == t.hi {
			return p.failSpelling(t.lo, n.hi, "a number starts with a digit", "replace with `0."+n.text+"`")
		}
	case "{{":
		return p.braces(t)
	case "/", "//":
		return p.failSpelling(t.lo, t.hi, "regular expression literals and comments are not supported", "a pattern is a string: x.matches(\"...\")")
	case "+":
		return p.failSpelling(t.lo, t.hi, "the sign `+` is not supported", "remove it")
	case "#":
		return p.noComments(t)
	case "&", "*", "@":
		if n := p.after(); t.text != "*" && n.kind == tokName {
			return p.failSpelling(t.lo, t.hi, "unknown sign `"+t.text+"`", "remove it")
		}
	}
	return p.expected("a value")
}

// braces reports {{ x }} where the value is an expression already.
func (p *parser) braces(open token) *Node {
	for i := len(p.toks) - 1; i > p.i; i-- {
		if p.toks[i].op("}}") {
			inner := strings.TrimSpace(p.src[open.hi:p.toks[i].lo])
			pr := Problem{Code: diag.ExprSpelling, Lo: open.lo, Hi: p.toks[i].hi, Message: "this is an expression already, without `{{` and `}}`",
				Help: "remove the braces", Replace: &inner}
			if inner == "" {
				pr.Replace = nil
			}
			p.report(pr)
			p.failed = true
			return p.fail(open.lo, open.hi, "", "")
		}
	}
	return p.failSpelling(open.lo, open.hi, "this is an expression already, without `{{`", "remove the braces")
}
