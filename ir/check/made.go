package check

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// made checks the expression that makes a tool. It stands at package level: it names nothing, changes nothing and cannot
// fail.
func (c *checker) made(t *ir.Tool, b *ir.Made) {
	s := &blockScope{c: c}
	switch {
	case b.New == nil || b.New.Node == nil:
		s.fault(t.Key.Span, "nothing makes tool %q", t.Key.Name)
	case b.Reach == nil:
		s.fault(t.Key.Span, "nobody says what tool %q reaches", t.Key.Name)
	}
	c.problems(b.New.Text, expr.CheckAt(b.New.Node, apart{}, toolType(t), expr.Place{}))
}

// loads checks the calls that the program makes before everything else.
func (c *checker) loads() {
	for _, call := range c.wf.Load {
		s := &blockScope{c: c}
		if call == nil || call.Node == nil || call.Node.Op != expr.Intrinsic || call.Node.Func.Const || call.Node.Func.Result != nil {
			s.fault(c.wf.Name.Span, "what a program loads is a call without a result")
		}
		c.problems(call.Text, expr.CheckAt(call.Node, apart{}, nil, expr.Place{Calls: true, Fails: true}))
	}
}

// filledType is the type of functions that fill in the input of a tool right before it is called.
var filledType = schema.FuncOf(&schema.Signature{Params: []*schema.Type{schema.AnyType}, Result: schema.AnyType, Fails: true})

// apart is what an expression at package level can name: nothing.
type apart struct{}

func (apart) Lookup(string) *expr.Symbol { return nil }
func (apart) Names() []string            { return nil }
func (apart) Covers([]*expr.Symbol) bool { return false }
func (apart) NameKind() string           { return "constant" }
