package ir

import (
	"strings"

	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// A TextFunc is a named function that makes a text of values, such as a prompt: a Block with parameters and a result. It
// runs no node and names nothing but its parameters and locals. Handles call it; the generated file has it once.
type TextFunc struct {
	Name   Ident         // of which its name in Go is made: "write_prompt"
	Doc    string        // its comment in Go, after its name
	Params []*expr.Param // with their types
	Result *schema.Type
	Fails  bool // the last result in Go is an error
	Do     Block
}

// CallText makes the call of a text function.
func CallText(t *TextFunc, args ...*expr.Node) *expr.Node {
	return expr.Of(expr.UseText, t.Name.Name, t, args...)
}

// Signature is the type of the function.
func (t *TextFunc) Signature() *schema.Signature {
	sig := &schema.Signature{Result: t.Result, Fails: t.Fails}
	for _, p := range t.Params {
		sig.Params = append(sig.Params, p.Type)
	}
	return sig
}

// String is a text function as tests and hashes have it.
func (t *TextFunc) String() string {
	var b strings.Builder
	b.WriteString("text " + t.Name.Name + "(")
	for i, p := range t.Params {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strings.TrimSpace(p.Name + " " + typeName(p.Type)))
	}
	b.WriteString(") " + typeName(t.Result))
	if t.Fails {
		b.WriteString(" fails")
	}
	b.WriteString("\n")
	printBlock(&b, t.Do)
	return b.String()
}

func typeName(t *schema.Type) string {
	if t == nil {
		return ""
	}
	return t.String()
}

// TextFuncs are the text functions that expressions call, those that these call included, each once. walk goes through the
// expressions, as Node.Walk and Block.Walk do.
func TextFuncs(walk func(f func(*expr.Node) bool)) []*TextFunc {
	var out []*TextFunc
	seen := map[*TextFunc]bool{}
	var visit func(n *expr.Node) bool
	visit = func(n *expr.Node) bool {
		if n.Op != expr.Handle {
			return true
		}
		if t, ok := n.Use.Ref.(*TextFunc); ok && !seen[t] {
			seen[t] = true
			out = append(out, t)
			t.Do.Walk(visit)
		}
		return true
	}
	walk(visit)
	return out
}
