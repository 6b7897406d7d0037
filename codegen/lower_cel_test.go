package codegen

import (
	"strings"
	"testing"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/ext"

	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// celOracle evaluates expressions with cel-go. They are parsed by it from their canonical text, so that printing and
// precedence are tried as well.
type celOracle struct {
	env      *cel.Env
	programs map[*lowerCase]cel.Program
}

func newCelOracle(t *testing.T) *celOracle {
	t.Helper()
	env, err := cel.NewEnv(cel.Variable("input", cel.DynType), cel.Variable("post", cel.DynType), cel.Variable("alt", cel.DynType),
		ext.Strings(), ext.Lists(), ext.Math())
	if err != nil {
		t.Fatal(err)
	}
	return &celOracle{env: env, programs: map[*lowerCase]cel.Program{}}
}

func (o *celOracle) evaluate(t *testing.T, c *lowerCase, in map[string]any) string {
	t.Helper()
	prg := o.programs[c]
	if prg == nil {
		text := lowerToCel(c.node).String()
		ast, iss := o.env.Parse(text)
		if iss.Err() != nil {
			t.Fatalf("cel does not parse %s: %v", text, iss.Err())
		}
		var err error
		if prg, err = o.env.Program(ast); err != nil {
			t.Fatal(err)
		}
		o.programs[c] = prg
	}
	v, _, err := prg.Eval(in)
	if err != nil {
		return "cel error: " + err.Error()
	}
	return lowerShow(lowerFromCel(v), c.node.Type)
}

// lowerToCel makes explicit what the type checker decided and CEL does not do by itself: ints that become floats.
func lowerToCel(n *expr.Node) *expr.Node {
	out := *n
	out.Kids = nil
	for _, k := range n.Kids {
		c := lowerToCel(k)
		if n.Op == expr.Binary && n.Type.Kind == schema.Float && k.Type.Kind == schema.Int {
			c = &expr.Node{Op: expr.Call, Text: "double", Kids: []*expr.Node{c}}
		}
		out.Kids = append(out.Kids, c)
	}
	if v, ok := n.Value.(int64); ok && n.Op == expr.Lit && n.Type.Kind == schema.Float {
		out.Value = float64(v)
	}
	return &out
}

// lowerIsCel reports whether an expression uses nothing but CEL: no optionals, default or first, and no list made from
// the keys of a map, whose order CEL leaves open.
func lowerIsCel(n *expr.Node) bool {
	ok := true
	n.Walk(func(n *expr.Node) bool {
		switch {
		case n.Op == expr.OptField, n.Op == expr.Lit && n.Value == nil, n.Stored.Kind == schema.Opt,
			n.Op == expr.Call && (n.Text == "default" || n.Text == "first" || n.Text == "sum" || n.Text == "chunk"),
			n.Op == expr.Call && strings.HasPrefix(n.Text, "math.") && !lowerIsNumber(n.Kids[0].Type),
			n.Op == expr.Call && n.Text == "string" && (n.Kids[0].Type.Kind == schema.Float || n.Kids[0].Type.Kind == schema.Duration), // another text form
			n.Op == expr.Macro && n.Kids[0].Type.Kind == schema.Map && (n.Text == "map" || n.Text == "filter" || n.Text == "sortBy"):
			ok = false
		case n.Op == expr.Name && n.Text != "input" && n.Sym.Type.Kind == schema.Opt:
			ok = false
		}
		return ok
	})
	return ok
}

func lowerIsNumber(t *schema.Type) bool { return t.Kind == schema.Int || t.Kind == schema.Float }

func lowerFromCel(v ref.Val) any {
	switch v := v.(type) {
	case types.Bool:
		return bool(v)
	case types.Int:
		return int64(v)
	case types.Double:
		return float64(v)
	case types.String:
		return string(v)
	case types.Bytes:
		return []byte(v)
	case types.Timestamp:
		return v.Time
	case types.Duration:
		return time.Duration(v.Duration)
	case traits.Lister:
		out := []any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			out = append(out, lowerFromCel(it.Next()))
		}
		return out
	case traits.Mapper:
		out := map[string]any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			k := it.Next()
			out[string(k.(types.String))] = lowerFromCel(v.Get(k))
		}
		return out
	}
	return nil
}
