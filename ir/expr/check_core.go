package expr

import (
	"fmt"
	"slices"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// NoStatements is the message about statements where the environment allows none.
const NoStatements = "statements are not allowed here"

// A CoreEnv is an Env of a body that a translator made.
type CoreEnv interface {
	Env
	// TypeOf is the type of a Handle, of a text function that of the function; a text says what is wrong with it.
	TypeOf(u *Use) (*schema.Type, string)
	// Input is what a run of the workflow that a Handle names takes.
	Input(u *Use) *schema.Type
	// Do checks the statements of a Lambda whose parameters have these symbols.
	Do(f *Function, params []*Symbol, sig *schema.Signature) []Problem
}

// CheckAt types an expression of a body that a translator made; a nil want asks for nothing.
func CheckAt(n *Node, env Env, want *schema.Type, at Place) []Problem {
	c := &checker{env: env, at: at}
	if want == nil {
		c.check(n, nil, nil)
	} else {
		c.argument(n, nil, want)
	}
	return c.causes()
}

// fault reports what no text of a workflow can lead to: the mistake is the translator's.
func (c *checker) fault(n *Node, format string, args ...any) *schema.Type {
	c.probs = append(c.probs, Problem{Lo: n.Lo, Hi: n.Hi, Message: fmt.Sprintf(format, args...), Fault: true})
	return schema.InvalidType
}

// core types what no language has text for.
func (c *checker) core(n *Node, facts Facts, want *schema.Type) *schema.Type {
	switch n.Op {
	case Intrinsic:
		return c.intrinsic(n, facts)
	case Make:
		return c.make(n, facts)
	case Lambda:
		return c.lambda(n, facts, want)
	case Handle:
		return c.handle(n, facts)
	}
	for _, k := range n.Kids { // Concat
		if t := c.check(k, facts, schema.StringType); !schema.Assignable(t, schema.StringType) {
			return c.fault(k, "a part of a text is %s", called(t))
		}
	}
	return schema.StringType
}

// argument types a value that is handed to a function or put into a struct.
func (c *checker) argument(n *Node, facts Facts, want *schema.Type) bool {
	t := c.check(n, facts, want)
	if schema.Assignable(t, want) {
		return true
	}
	if t.Kind != schema.Invalid {
		c.fault(n, cannotUse, called(t), called(want))
	}
	return false
}

func (c *checker) intrinsic(n *Node, facts Facts) *schema.Type {
	f := n.Func
	switch {
	case len(n.Kids) < len(f.Params) && !(f.Variadic && len(n.Kids) == len(f.Params)-1), len(n.Kids) > 0 && f.Param(len(n.Kids)-1) == nil:
		return c.fault(n, "%s takes %d arguments and has %d", f.Name, len(f.Params), len(n.Kids))
	case !f.Pure && !f.Const && !c.at.Calls:
		return c.fault(n, "%s changes something: it can be used in a perform, a let and a do, and not here", f.Name)
	case f.Fails && !c.at.Fails:
		return c.fault(n, "%s can fail, but errors cannot be handled here", f.Name)
	}
	for i, k := range n.Kids {
		c.argument(k, facts, f.Param(i))
	}
	if f.Result == nil {
		return schema.EmptyType
	}
	return f.Result
}

func (c *checker) make(n *Node, facts Facts) *schema.Type {
	if n.Struct == nil {
		for _, k := range n.Kids {
			c.argument(k, facts, schema.DynamicType)
		}
		return schema.DynamicType
	}
	for i, key := range n.Keys {
		f := n.Struct.Field(key)
		if f == nil {
			return c.fault(n, noField, n.Struct, key)
		}
		c.argument(n.Kids[i], facts, f.Type)
	}
	return n.Struct
}

func (c *checker) lambda(n *Node, facts Facts, want *schema.Type) *schema.Type {
	if want == nil || want.Func == nil {
		return c.fault(n, "a lambda is used where no function is expected")
	}
	sig, f := want.Func, n.Function
	if len(f.Params) != len(sig.Params) {
		return c.fault(n, "the lambda takes %d values, and is handed %d", len(f.Params), len(sig.Params))
	}
	var params []*Symbol
	for i, p := range f.Params {
		p.Type = sig.Params[i]
		params = append(params, &Symbol{Name: p.Name, Type: p.Type, Ref: p})
	}
	outer, vars := c.at, c.vars
	defer func() { c.at, c.vars = outer, vars }()
	c.at = Place{Calls: outer.Calls, Fails: sig.Fails}
	if f.Do != nil {
		env, ok := c.env.(CoreEnv)
		if !ok {
			return c.fault(n, NoStatements)
		}
		c.probs = append(c.probs, env.Do(f, append(vars[:len(vars):len(vars)], params...), sig)...)
		return want
	}
	c.vars = append(vars[:len(vars):len(vars)], params...)
	if t := c.check(n.Kids[0], facts, sig.Result); sig.Result != nil && !schema.Assignable(t, sig.Result) {
		return c.fault(n, "the lambda returns %s, and %s is asked for", called(t), called(sig.Result))
	}
	return want
}

func (c *checker) handle(n *Node, facts Facts) *schema.Type {
	if n.Use.Kind == UseAddress {
		t := c.check(n.Kids[0], facts, nil)
		if n.Kids[0].Path() == "" || !t.Unknown() {
			return c.fault(n, "the address of %s cannot be taken", n.Kids[0])
		}
		return schema.PointerTo(t)
	}
	env, ok := c.env.(CoreEnv)
	if !ok {
		return c.fault(n, "handles are not allowed here")
	}
	if n.Use.Kind == UseFlow && !c.at.Fails {
		return c.fault(n, "a run of %s can fail, but errors cannot be handled here", n.Use.Name)
	}
	t, wrong := env.TypeOf(n.Use)
	if wrong != "" {
		return c.fault(n, "%s", wrong)
	}
	switch n.Use.Kind {
	case UseText:
		return c.calls(n, facts, t.Func)
	case UseFlow:
		if len(n.Kids) == 2 {
			run, _ := env.TypeOf(&Use{Kind: UseRun})
			c.argument(n.Kids[1], facts, run)
		}
		return c.runs(n, facts, env.Input(n.Use), t)
	}
	return t
}

// calls types the call of a text function.
func (c *checker) calls(n *Node, facts Facts, sig *schema.Signature) *schema.Type {
	switch {
	case len(n.Kids) != len(sig.Params):
		return c.fault(n, "the text function %q takes %d values, and is handed %d", n.Use.Name, len(sig.Params), len(n.Kids))
	case sig.Fails && !c.at.Fails:
		return c.fault(n, "the text function %q can fail, but errors cannot be handled here", n.Use.Name)
	}
	for i, k := range n.Kids {
		c.argument(k, facts, sig.Params[i])
	}
	return sig.Result
}

// runs types the run of a sub-workflow, whose input is an object of its fields.
func (c *checker) runs(n *Node, facts Facts, input, output *schema.Type) *schema.Type {
	if len(n.Kids) == 0 || len(n.Kids) > 2 || n.Kids[0].Op != Make {
		return c.fault(n, "the input of %s is not an object", n.Use.Name)
	}
	n.Kids[0].Struct = input
	for _, f := range input.Fields {
		if f.Required() && !slices.Contains(n.Kids[0].Keys, f.Name) {
			return c.fault(n, "%s is not given its input %q", n.Use.Name, f.Name)
		}
	}
	c.check(n.Kids[0], facts, nil)
	return output
}

// refused reports an operator of the core whose operand has a type that only a run knows: what it means is a question for
// the functions of a dialect. Nothing else is said about it.
func (c *checker) refused(n *Node, before int) bool {
	for _, k := range n.Kids {
		if k.Type.Unknown() {
			c.probs = c.probs[:before]
			what := n.Text
			if n.Op == Cond {
				what = "?:"
			}
			c.fault(n, "`%s` does not take %s: a function of a runtime package is to say what it means", what, called(k.Type))
			return true
		}
	}
	return false
}

// undeclared warns about a field that an open struct does not declare: engines take it for a value that is missing, so
// that nobody hears of the mistake.
func (c *checker) undeclared(n *Node, t *schema.Type) *schema.Type {
	p := c.report(diag.UnknownName, n.Lo, n.Hi, "", "the %s has no field %q: the value is always missing", n.Kids[0], n.Text)
	p.suggest(n.Text, t.FieldNames())
	p.Replace, p.Warning = nil, true // what is to be replaced may be more than the name
	return schema.DynamicType
}

// called is a type in the message of a Fault: what an open field is held to is not what is read of it.
func called(t *schema.Type) string {
	if t.Kind == schema.Dynamic {
		return t.Kind.String()
	}
	return t.String()
}
