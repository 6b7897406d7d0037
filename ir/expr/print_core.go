package expr

import (
	"strings"

	"github.com/flowgen-dev/flowgen/ir/schema"
)

// What translators make is printed for people and for hashes: all that decides what it does is in the text.

func (n *Node) printIntrinsic(b *strings.Builder) {
	f, args := n.Func, n.Kids
	if f.Method && len(args) > 0 {
		args[0].print(b, precPostfix)
		args = args[1:]
	} else {
		b.WriteString(f.Path[strings.LastIndexByte(f.Path, '/')+1:])
	}
	b.WriteString("." + f.Name)
	if len(f.TypeArgs) > 0 {
		b.WriteByte('[')
		for i, t := range f.TypeArgs {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(t.String())
		}
		b.WriteByte(']')
	}
	if f.Const {
		return
	}
	b.WriteByte('(')
	printList(b, args)
	b.WriteByte(')')
}

func (n *Node) printMake(b *strings.Builder) {
	if n.Struct != nil && n.Struct.Kind == schema.Opaque {
		b.WriteString(n.Struct.String())
	}
	b.WriteByte('{')
	for i, key := range n.Keys {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoted(key) + ": ")
		n.Kids[i].print(b, precCond)
	}
	b.WriteByte('}')
}

func (n *Node) printLambda(b *strings.Builder) {
	b.WriteByte('(')
	for i, p := range n.Function.Params {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.Name)
	}
	b.WriteString(") -> ")
	if n.Function.Do == nil {
		n.Kids[0].print(b, precCond)
		return
	}
	b.WriteString("{\n" + indent(n.Function.Do.String()) + "}")
}

// indent moves lines to the right.
func indent(lines string) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		b.WriteString("  " + line)
	}
	return b.String()
}

var useWords = [...]string{
	UseRun: "run", UseNode: "@", UseTool: "tool @", UseModel: "model @", UseFlow: "flow @", UseSlots: "slots", UseAddress: "&", UseAnswer: "answer @", UseChoice: "choice @", UseAgent: "agent @", UseText: "text @", UseProgram: "program",
}

func (n *Node) printHandle(b *strings.Builder) {
	u := n.Use
	b.WriteString(useWords[u.Kind] + u.Name)
	if u.Kind == UseAddress {
		n.Kids[0].print(b, precUnary)
		return
	}
	if len(n.Kids) > 0 {
		b.WriteByte('(')
		printList(b, n.Kids)
		b.WriteByte(')')
	}
}
