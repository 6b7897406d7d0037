package expr

import "github.com/flowgen-dev/flowgen/ir/schema"

// The operations of this file have no text in any language: translators of dialects make them. What an engine thinks of
// its values is a function of its runtime package, and a call of that function is a value of the tree as any other.

// A Func is a Go function of a runtime package, or a constant of one, as the table of its dialect declares it.
type Func struct {
	Path, Name string
	Const      bool           // a constant or a variable: it is named and not called
	Method     bool           // Params[0] is the receiver
	Params     []*schema.Type // the last one repeats when Variadic
	Variadic   bool           // the last parameter takes any number of arguments
	TypeArgs   []*schema.Type // those that Go cannot infer
	Result     *schema.Type   // nil: none
	Fails      bool           // the last result is an error
	Pure       bool           // changes nothing: may be in conditions, and be left out where nothing reads it
	Env        bool           // reads the environment variable that its first argument, a constant, names
	Bounds     bool           // returns an error when it was called too often: a loop that calls it is bounded
}

// PyText is a filter of templates: it writes any value as Python's str() does.
const PyText = "py.Text"

// Param is the type of argument i; nil when there is none.
func (f *Func) Param(i int) *schema.Type {
	switch last := len(f.Params) - 1; {
	case f.Variadic && i >= last:
		return f.Params[last]
	case i <= last:
		return f.Params[i]
	}
	return nil
}

// A Function is what a Lambda does when the function that is handed it calls it: what is in it is evaluated then, and
// not before.
type Function struct {
	Params []*Param
	Do     Statements // nil: the value of Kids[0]
}

// A Param is a parameter of a Lambda, or of a text function.
type Param struct {
	Name string
	Type *schema.Type // of a Lambda: that of the signature that is asked for, set by Check
}

// Statements are those of ir.Block.
type Statements interface {
	Walk(f func(*Node) bool) // as Node.Walk, over all expressions in them
	String() string
}

// A Use is what a Handle names: something that only a program has.
type Use struct {
	Kind UseKind
	Name string // as it is printed; of the run and of addresses: empty
	Ref  any    // the object of the IR: *ir.Node, *ir.Scope, *ir.Tool, *ir.Model, *ir.Workflow, *ir.ToolChoice, *ir.Answer, *ir.PerformAgent, *ir.TextFunc
}

// UseKind is what kind of thing it is.
type UseKind uint8

// The kinds. A function that is handed one may call, ask or run it, and does nothing else to the world.
const (
	UseRun     UseKind = iota // the run, or the part of it that a body runs in
	UseNode                   // a node, or a scope
	UseTool                   // a tool
	UseModel                  // a model
	UseFlow                   // a run of the sub-workflow Ref; Kids[0] is its input, Kids[1] the run that it is part of, where it is not that of the node. It fails when the run does
	UseSlots                  // the fields of an open state, each with its declared type and its rule for writes
	UseAddress                // the address of the local or the field of state that is Kids[0]
	UseChoice                 // a function that calls the one of the tools which Ref allows that it is handed the name of
	UseAnswer                 // what the answer of a model has to fit; its field JSON is the JSON Schema
	UseAgent                  // a model that calls tools
	UseText                   // a call of a text function; Kids are its arguments
	UseProgram                // what the program says of itself, with which a tool that runs a workflow begins runs of its own
)

// A Place says what an expression may do where it stands.
type Place struct {
	Calls bool // call functions that change something
	Fails bool // fail: there is an error to return
}

// Invoke makes an Intrinsic.
func Invoke(f *Func, args ...*Node) *Node { return &Node{Op: Intrinsic, Func: f, Kids: args} }

// An Entry is a named value of Object or Struct.
type Entry struct {
	Key   string
	Value *Node
}

// Put makes an Entry.
func Put(key string, value *Node) Entry { return Entry{key, value} }

// Object makes an object of dynamic data: an absent value leaves its field out.
func Object(entries ...Entry) *Node { return Struct(nil, entries...) }

// Struct makes a value of a struct type, with fields in their order in Go.
func Struct(t *schema.Type, fields ...Entry) *Node {
	n := &Node{Op: Make, Struct: t}
	for _, f := range fields {
		n.Keys, n.Kids = append(n.Keys, f.Key), append(n.Kids, f.Value)
	}
	return n
}

// Fn makes a Lambda of an expression.
func Fn(value *Node, params ...string) *Node {
	return &Node{Op: Lambda, Function: lambda(nil, params), Kids: []*Node{value}}
}

// FnDo makes a Lambda of statements.
func FnDo(do Statements, params ...string) *Node {
	return &Node{Op: Lambda, Function: lambda(do, params)}
}

func lambda(do Statements, params []string) *Function {
	f := &Function{Do: do}
	for _, name := range params {
		f.Params = append(f.Params, &Param{Name: name})
	}
	return f
}

// Of makes a Handle.
func Of(kind UseKind, name string, ref any, kids ...*Node) *Node {
	return &Node{Op: Handle, Use: &Use{Kind: kind, Name: name, Ref: ref}, Kids: kids}
}

// Address makes the Handle of a place.
func Address(place *Node) *Node { return Of(UseAddress, "", nil, place) }

// Const makes a literal: nil, bool, int64, float64, string, []byte (nil: none) or time.Duration.
func Const(v any) *Node { return &Node{Op: Lit, Value: v} }

// Read makes a name and, below it, fields.
func Read(name string, path ...string) *Node {
	n := &Node{Op: Name, Text: name}
	for _, p := range path {
		n = &Node{Op: Field, Text: p, Kids: []*Node{n}}
	}
	return n
}

// All makes the conjunction of conditions; nil for none.
func All(conds ...*Node) *Node {
	var out *Node
	for _, c := range conds {
		if out == nil {
			out = c
			continue
		}
		out = &Node{Op: Binary, Text: "&&", Kids: []*Node{out, c}}
	}
	return out
}

// Not makes a negation.
func Not(n *Node) *Node { return &Node{Op: Unary, Text: "!", Kids: []*Node{n}} }

// Join makes one text of several.
func Join(parts ...*Node) *Node { return &Node{Op: Concat, Kids: parts} }
