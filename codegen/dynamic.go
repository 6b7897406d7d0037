package codegen

import (
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

// dynamicBody is the state of emitting the function of a workflow with dynamic data.
type dynamicBody struct {
	g    *generator
	p    *check.Program
	code []jen.Code

	step *check.Step // the node that is being written

	// What references with other roots than the state stand for here.
	roots map[string]jen.Code

	special func(ir.Value) jen.Code // values that the dialect calculates

	fail  []jen.Code // what is returned before an error
	whole bool       // something asks for the state as a whole
}

func (b *dynamicBody) add(c ...jen.Code) { b.code = append(b.code, c...) }

// gap is an empty line.
func (b *dynamicBody) gap() { b.add(jen.Line()) }

// dynamicSnapshot declares the method that makes one value of the state.
func (g *generator) dynamicSnapshot(p *check.Program) {
	g.snapshot(p.State)
}

// local is the variable that holds how a step ended. Those that the body itself has are no names of nodes.
func (b *dynamicBody) local(s *check.Step) string {
	name := b.g.p.Names.Locals[s]
	switch name {
	case "flow", "aside", "item", "index", "stage", "text", "i":
		return name + "_"
	}
	if b.g.hides(name) {
		return name + "_"
	}
	return name
}

func (b *dynamicBody) node(s *check.Step) jen.Code {
	return jen.Op("&").Id(ident(b.g.p.Names.Nodes[s]))
}

func (b *dynamicBody) returnErr() jen.Code {
	return jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(append(b.fail, jen.Err())...))
}

var comparisons = map[string]string{"==": "Equal", "!=": "NotEqual", "<": "Less", "<=": "LessOrEqual", ">": "Greater", ">=": "GreaterOrEqual"}

// root is where a reference begins, and the path that is left below it.
func (b *dynamicBody) root(r *ir.Reference) (jen.Code, []string) {
	switch r.Root {
	case "state":
	default:
		if c := b.roots[r.Root]; c != nil {
			return c, r.Path
		}
		return jen.Qual(dynamicPath, "Field").Values(), nil
	}
	for i, s := range b.p.WF.State {
		if len(r.Path) > 0 && s.Name.Name == r.Path[0] {
			return jen.Id("state").Dot(ident(fieldName(b.p.State.Fields[i]))), r.Path[1:]
		}
	}
	return jen.Qual(dynamicPath, "Field").Values(), nil // check has warned about it
}

// value is a value of the file as a field.
func (b *dynamicBody) value(v ir.Value) jen.Code {
	switch v := v.(type) {
	case *ir.Reference:
		f, path := b.root(v)
		if len(path) == 0 {
			return f
		}
		return jen.Add(f).Dot("At").Call(quoteAll(path)...)
	case *ir.Scalar:
		return b.scalar(v)
	case *ir.Calc, *ir.Mixed:
		return b.special(v)
	case *ir.List:
		var items []jen.Code
		for _, x := range v.Items {
			items = append(items, b.value(x))
		}
		return jen.Qual(dynamicPath, "List").Custom(parens(len(items) > 4), items...)
	case *ir.Object:
		return jen.Qual(dynamicPath, "Object").Custom(parens(len(v.Entries) > 2), b.entries(v)...)
	}
	return jen.Qual(dynamicPath, "Null").Call()
}

func (b *dynamicBody) entries(o *ir.Object) []jen.Code {
	var out []jen.Code
	if o == nil {
		return nil
	}
	for _, e := range o.Entries {
		out = append(out, put(e.Key.Name, b.value(e.Value)))
	}
	return out
}

// scalar is a constant as a field. The parser has put numbers and booleans into the spelling of Go.
func (b *dynamicBody) scalar(v *ir.Scalar) jen.Code {
	text := v.Text.Value
	switch v.Tag {
	case "!!null":
		return jen.Qual(dynamicPath, "Null").Call()
	case "!!bool":
		return jen.Qual(dynamicPath, "Flag").Call(jen.Lit(text == "true"))
	case "!!int":
		return jen.Qual(dynamicPath, "Whole").Call(jen.Op(numeral(text)))
	case "!!float":
		if f, err := strconv.ParseFloat(text, 64); err == nil && !strings.ContainsAny(text, ".e") && f == float64(int64(f)) {
			text += ".0"
		}
		return jen.Qual(dynamicPath, "Number").Call(jen.Op(numeral(text)))
	}
	return jen.Qual(dynamicPath, "Text").Call(quote(text))
}
