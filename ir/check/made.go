package check

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
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

// apart is what an expression at package level can name: nothing.
type apart struct{}

func (apart) Lookup(string) *expr.Symbol { return nil }
func (apart) Names() []string            { return nil }
func (apart) Covers([]*expr.Symbol) bool { return false }
func (apart) NameKind() string           { return "constant" }
