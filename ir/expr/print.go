package expr

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Binding strength, weakest first. Also used by the parser.
const (
	precCond = iota + 1
	precOr
	precAnd
	precRel
	precAdd
	precMul
	precUnary
	precPostfix
	precPrimary
)

var binaryPrec = map[string]int{
	"||": precOr, "&&": precAnd,
	"==": precRel, "!=": precRel, "<": precRel, "<=": precRel, ">": precRel, ">=": precRel, "in": precRel,
	"+": precAdd, "-": precAdd, "*": precMul, "/": precMul, "%": precMul,
}

// stringFuncs are written as methods in canonical text, and size as a function, whichever way the source has it.
var stringFuncs = map[string]bool{"contains": true, "startsWith": true, "endsWith": true, "matches": true}

func (n *Node) prec() int {
	switch n.Op {
	case Cond:
		return precCond
	case Binary:
		return binaryPrec[n.Text]
	case Unary:
		return precUnary
	case Lit:
		switch v := n.Value.(type) {
		case int64:
			if v < 0 {
				return precUnary
			}
		case float64:
			if math.Signbit(v) {
				return precUnary
			}
		}
	case Field, OptField, Index, Call, Macro, Intrinsic:
		return precPostfix
	case Lambda:
		return precCond
	}
	return precPrimary
}

// String is the canonical text: minimal parentheses, one spacing, one spelling. Parsing it gives the same text again.
func (n *Node) String() string {
	var b strings.Builder
	n.print(&b, precCond)
	return b.String()
}

// print writes n so that it binds at least as strongly as min.
func (n *Node) print(b *strings.Builder, min int) {
	if n.prec() < min {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	switch n.Op {
	case Bad:
		b.WriteString("?")
	case Lit:
		b.WriteString(literal(n.Value))
	case Name:
		b.WriteString(n.Text)
	case Field:
		n.Kids[0].print(b, precPostfix)
		b.WriteString("." + n.Text)
	case OptField:
		n.Kids[0].print(b, precPostfix)
		b.WriteString("?." + n.Text)
	case Call:
		n.printCall(b)
	case Macro:
		n.Kids[0].print(b, precPostfix)
		b.WriteString("." + n.Text + "(" + n.Var + ", ")
		n.Kids[1].print(b, precCond)
		b.WriteByte(')')
	case Unary:
		b.WriteString(n.Text)
		// A minus before a minus would read as one token to people and fold into a literal here.
		if k := n.Kids[0]; n.Text == "-" && (k.prec() == precUnary || isNumber(k)) {
			k.print(b, precPrimary+1)
		} else {
			k.print(b, precUnary)
		}
	case Binary:
		p := n.prec()
		if p == precRel { // comparisons do not chain
			n.Kids[0].print(b, p+1)
		} else {
			n.Kids[0].print(b, p)
		}
		b.WriteString(" " + n.Text + " ")
		n.Kids[1].print(b, p+1)
	case Cond:
		n.Kids[0].print(b, precOr)
		b.WriteString(" ? ")
		n.Kids[1].print(b, precOr)
		b.WriteString(" : ")
		n.Kids[2].print(b, precCond)
	case ListLit:
		b.WriteByte('[')
		printList(b, n.Kids)
		b.WriteByte(']')
	case MapLit:
		n.printMap(b)
	case Index:
		n.Kids[0].print(b, precPostfix)
		b.WriteByte('[')
		n.Kids[1].print(b, precCond)
		b.WriteByte(']')
	case Intrinsic:
		n.printIntrinsic(b)
	case Make:
		n.printMake(b)
	case Lambda:
		n.printLambda(b)
	case Handle:
		n.printHandle(b)
	case Concat:
		b.WriteString("text(")
		printList(b, n.Kids)
		b.WriteByte(')')
	}
}

func (n *Node) printCall(b *strings.Builder) {
	args, method := n.Kids, n.Method
	switch {
	case stringFuncs[n.Text] && len(args) > 0:
		method = true
	case n.Text == "size":
		method = false
	case builtins[n.Text] != nil && len(args) > 0:
		method = builtins[n.Text].method
	}
	if method {
		args[0].print(b, precPostfix)
		b.WriteByte('.')
		args = args[1:]
	}
	b.WriteString(n.Text + "(")
	printList(b, args)
	b.WriteByte(')')
}

func (n *Node) printMap(b *strings.Builder) {
	b.WriteByte('{')
	for i, k := range n.Kids {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoted(n.Keys[i]) + ": ")
		k.print(b, precCond)
	}
	b.WriteByte('}')
}

func printList(b *strings.Builder, nodes []*Node) {
	for i, k := range nodes {
		if i > 0 {
			b.WriteString(", ")
		}
		k.print(b, precCond)
	}
}

func isNumber(n *Node) bool {
	switch n.Value.(type) {
	case int64, float64:
		return n.Op == Lit
	}
	return false
}

func literal(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		s := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return s
	case string:
		return quoted(v)
	case []byte:
		return "b" + quoted(string(v))
	}
	return fmt.Sprint(v)
}

// quoted writes a string literal of the language.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case strconv.IsPrint(r) && r != '\ufeff':
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
