// Package expr is the expression language of workflow files: a closed, statically typed language in CEL's spelling.
//
// Parse and ParseTemplate turn text into a tree whose every node knows its bytes; Check gives each node a type and
// proves, branch by branch, which optional values are present. Evaluation is not here: checked expressions are lowered
// to Go. The same tree carries the conditions of every dialect.
//
// Mistakes come back as Problems with offsets into the text that was parsed; the caller maps them to the file.
package expr

import (
	"strconv"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// Op is what a node of the tree is.
type Op uint8

// The operations. Bad is where text could not be parsed: it is never reported again and its type is the poison type.
const (
	Bad      Op = iota
	Lit         // Value
	Name        // Text
	Field       // Kids[0] . Text
	OptField    // Kids[0] ?. Text: absent when Kids[0] is
	Call        // Text(Kids...); with Method, Kids[0].Text(Kids[1:]...)
	Macro       // Kids[0].Text(Var, Kids[1]): exists, all, map, filter
	Unary       // Text Kids[0]: ! -
	Binary      // Kids[0] Text Kids[1]: || && == != < <= > >= in + - * / %
	Cond        // Kids[0] ? Kids[1] : Kids[2]
	ListLit     // [Kids...]
	MapLit      // {Keys: Kids}: a struct or a map, as the place asks for
	Index       // Kids[0][Kids[1]]: absent when there is no such item or key

	// Those that translators make; see core.go.
	Intrinsic // Func(Kids...); of a method Kids[0] is the receiver
	Make      // a Struct with fields Keys of the values Kids; a nil Struct: an object of dynamic data
	Lambda    // Function, whose value is Kids[0]
	Handle    // Use
	Concat    // the texts Kids, one after the other
)

// A Node is an expression. Check writes its last fields; the rest never changes after parsing.
type Node struct {
	Op     Op
	Text   string // identifier, field, function or operator
	Value  any    // Lit: nil, bool, int64, float64 or string; of translators also []byte and time.Duration
	Kids   []*Node
	Method bool // Call: the receiver is Kids[0]
	Lazy   bool // `default`: the second argument has a value only where the first has none

	Func     *Func        // Intrinsic
	Struct   *schema.Type // Make
	Keys     []string     // Make, MapLit
	KeyAt    [][2]int     // MapLit: the bytes of each key
	Function *Function    // Lambda
	Use      *Use         // Handle

	Var          string // Macro: the variable
	VarLo, VarHi int

	Lo, Hi         int // bytes of the whole in the parsed text, its parentheses included
	NameLo, NameHi int // the name or operator: where a diagnostic about it points

	// Type is the type of the value here. Stored is the type before narrowing: Stored is optional while Type is not when
	// the value was proved present. A receiver whose Type is optional makes its field access yield an optional.
	Type   *schema.Type
	Stored *schema.Type

	// Must says that a value that is absent is an error of the run. Set by the checker of dialects whose engines find that out
	// when a node runs.
	Must bool

	// Sym is what a Name resolved to; a Field has one when it was found among the Members of its receiver's symbol.
	Sym *Symbol
}

// A Problem is a mistake in an expression. Lo and Hi are bytes of the parsed text. Replace, when set, is the text that
// mends it if it takes the place of [Lo, Hi).
type Problem struct {
	Code    diag.Code
	Lo, Hi  int
	Message string
	Help    string
	Replace *string
	Related []diag.Related
	Warning bool // the expression has a value all the same
	Fault   bool // no text of a workflow can lead to it: the mistake is that of a translator, and Code is not set
}

// Walk calls f for n and, when f returns true, for everything below it, in source order of evaluation.
func (n *Node) Walk(f func(*Node) bool) {
	if !f(n) {
		return
	}
	for _, k := range n.Kids {
		k.Walk(f)
	}
	if n.Op == Lambda && n.Function.Do != nil {
		n.Function.Do.Walk(f)
	}
}

// Refs lists the names that n reads from its surroundings, in order: all Name nodes but macro variables. It needs no Check.
func (n *Node) Refs() []*Node { return refs(n, nil, nil) }

func refs(n *Node, bound []string, out []*Node) []*Node {
	switch n.Op {
	case Name:
		for _, b := range bound {
			if b == n.Text {
				return out
			}
		}
		return append(out, n)
	case Macro:
		out = refs(n.Kids[0], bound, out)
		return refs(n.Kids[1], append(bound[:len(bound):len(bound)], n.Var), out)
	case Lambda:
		for _, p := range n.Function.Params {
			bound = append(bound[:len(bound):len(bound)], p.Name)
		}
		if n.Function.Do != nil { // its locals are among the names: a lookup of names does not find them
			n.Function.Do.Walk(func(n *Node) bool { out = refs(n, bound, out); return false })
		}
	}
	for _, k := range n.Kids {
		out = refs(k, bound, out)
	}
	return out
}

// Path is the canonical path of a chain of names, fields and constant indexes ("post.url", for `post?.url` too; "m.key" for
// `m["key"]`), or "".
func (n *Node) Path() string {
	switch n.Op {
	case Name:
		return n.Text
	case Field, OptField:
		if p := n.Kids[0].Path(); p != "" {
			return p + "." + n.Text
		}
	case Index:
		p, key := n.Kids[0].Path(), n.Kids[1]
		if p == "" || key.Op != Lit {
			return ""
		}
		switch v := key.Value.(type) {
		case string:
			return p + "." + v
		case int64:
			return p + "[" + strconv.FormatInt(v, 10) + "]"
		}
	}
	return ""
}

// chain reports whether n reads a part of the value of Kids[0].
func (n *Node) chain() bool { return n.Op == Field || n.Op == OptField || n.Op == Index }

// carries reports a chain with a `?.` in it.
func (n *Node) carries() bool {
	for ; n.chain(); n = n.Kids[0] {
		if n.Op == OptField {
			return true
		}
	}
	return false
}
