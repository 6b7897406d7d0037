package stargraph

import (
	"strconv"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// A field of the state.
type field struct {
	id       ir.Ident
	typ      *schema.Type
	given    *schema.Type    // what a run is given; nil: typ
	zero     *schema.Default // its value when a run is started without; nil: it has none
	declared bool
	route    bool           // rules can test it
	template string         // of its facts; empty: its name
	results  []*schema.Type // what tools say that they write, one for each call
	texts    []string       // what Python's str makes of the values of an Enum; nil: the values
	input    bool           // a run is given it
	written  bool
	optional bool // no node that writes it may have run
}

var stateTypes = map[string]struct {
	typ  *schema.Type
	zero string
}{
	"str": {schema.StringType, `""`}, "int": {schema.IntType, "0"}, "float": {schema.FloatType, "0"}, "bool": {schema.BoolType, "false"},
	"bytes": {schema.BytesType, `""`}, "list": {schema.AnyType, "[]"}, "dict": {schema.AnyType, "{}"},
}

var (
	documentTypes  = []string{"str", "int", "bool", "bytes"}
	authoringTypes = []string{"str", "int", "float", "bool", "list", "dict"}
	fieldForm      = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// state reads the declared fields. The form of the page declares none.
func (p *parser) state(m dialect.Mapping) {
	var n *yamlnode.Node
	words := documentTypes
	switch p.form {
	case page:
		return
	case document:
		n = m.Get("state_schema")
		p.version(m)
		p.records(m)
		p.stateClass(m)
	case authoring:
		n, words = m.Get("state"), authoringTypes
		p.records(m)
	}
	if n == nil {
		return
	}
	if n.Kind != yamlnode.Mapping {
		p.WrongShape(n, "the state is a mapping from fields to types")
		return
	}
	for _, e := range n.Entries {
		f := &field{id: ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}, typ: schema.InvalidType, declared: true, input: true, route: p.form == document}
		if !fieldForm.MatchString(f.id.Name) {
			p.BadField(f.id.Span)
		}
		p.fields[f.id.Name] = f
		p.order = append(p.order, f)
		typ, value := e.Value, (*yamlnode.Node)(nil)
		if p.form == authoring && e.Value.Kind == yamlnode.Mapping {
			d, _ := p.Mapping(e.Value, fieldShape)
			typ, value = d.Get("type"), d.Get("default")
			f.route = p.Flag(d.Get("route"), "`route`", false)
		}
		if typ == nil {
			continue
		}
		w := p.Word(typ, "the type of a state field", words...)
		if w == "" {
			continue
		}
		f.typ = stateTypes[w].typ
		f.zero = &schema.Default{JSON: stateTypes[w].zero, Span: typ.Span}
		if value != nil {
			f.zero = &schema.Default{JSON: dialect.JSON(p.value(value)), Span: value.Span}
		}
	}
}

// value reads a value with the constants of PyYAML.
func (p *parser) value(n *yamlnode.Node) ir.Value {
	return p.ValueOf(n, func(n *yamlnode.Node) ir.Value {
		s := &ir.Scalar{Text: n.Text, Tag: p.Schema.Tag(n)}
		switch s.Tag {
		case "!!int", "!!float":
			p.Number(s, n, yamlnode.Number11)
			s.Text.Opaque = true
		case "!!bool":
			v, _ := yamlnode.Bool11(n.Text.Value)
			s.Text.Value, s.Text.Opaque = strconv.FormatBool(v), true
		}
		return s
	})
}

// read is a field that a node reads. before tells what a field that nothing has declared or written can be.
func (p *parser) read(id ir.Ident, typ *schema.Type) *field {
	f := p.fields[id.Name]
	if f == nil {
		if p.form != page && !p.open {
			var names []string
			for _, f := range p.order {
				names = append(names, f.id.Name)
			}
			d := diag.Diagnostic{Code: diag.UnknownName, Span: id.Span, Message: "the state has no field \"" + id.Name + "\""}
			diag.Suggest(&d, id.Name, names)
			p.Report(d)
			return nil
		}
		if !fieldForm.MatchString(id.Name) {
			p.BadField(id.Span)
			return nil
		}
		f = &field{id: id, typ: typ, input: true}
		p.fields[id.Name] = f
		p.order = append(p.order, f)
	}
	if f.typ == nil {
		f.typ = typ
	}
	return f
}

// write is a field that a node writes. One that is not declared has the type of what is written first.
func (p *parser) write(id ir.Ident, typ *schema.Type) *field {
	f := p.fields[id.Name]
	if f == nil {
		f = &field{id: id, typ: typ}
		p.fields[id.Name] = f
		p.order = append(p.order, f)
	}
	if f.written = true; f.declared && dynamicMap(f.typ) {
		f.given, f.typ = f.typ, schema.AnyType // which keeps the order of its keys
	}
	if f.typ == nil || !f.declared && typ != nil && !schema.Assignable(typ, f.typ) {
		f.typ = schema.AnyType // what is written has several types
	}
	return f
}

// dynamicMap reports whether a type is a dict of anything.
func dynamicMap(t *schema.Type) bool {
	return t != nil && t.Kind == schema.Map && t.Elem.Kind == schema.Any
}

// keeps makes a declared field dynamic where a tool returns something that is not of its type: the engine holds nothing to the
// types of fields. typ is what the tool gives; nil: not known.
func (p *parser) keeps(f *field, typ *schema.Type) {
	if !f.declared || typ == nil || f.typ.Kind == schema.Any || f.typ.Kind == schema.Invalid || schema.Assignable(typ, f.typ) {
		return
	}
	if have := f.typ.Present().Kind; typ.Kind == schema.Any && (have == schema.Map || have == schema.List || have == schema.Struct) {
		return // what comes is held to the type when it does
	}
	if f.given == nil {
		f.given = f.typ
	}
	f.typ = schema.AnyType
}

// lowerState gives the workflow its input, its state and its output. What a run is given and a node writes begins as a copy,
// made by the first node.
func (p *parser) lowerState(at source.Span) *ir.Node {
	var begin *ir.Node
	for _, f := range p.order {
		if f.typ == nil {
			f.typ = schema.AnyType
		}
		root := "input"
		if f.input {
			given := f.typ
			if f.given != nil {
				given = f.given
			}
			p.wf.Input = append(p.wf.Input, &schema.Field{Name: f.id.Name, Type: given, Span: f.id.Span, Default: f.zero})
		}
		if f.written {
			root = "state"
			s := &ir.State{Name: f.id, Type: f.typ, Init: f.zero, Span: f.id.Span}
			if p.mayMiss(f) {
				s.Type, f.optional = schema.OptOf(f.typ, "no node that writes "+f.id.Name+" may have run"), true
			}
			p.wf.State = append(p.wf.State, s)
		}
		if f.input && f.written {
			if begin == nil {
				begin = &ir.Node{ID: ir.Ident{Name: p.free("begin"), Span: at}, Verb: &ir.Let{}, Span: at}
			}
			begin.Set = append(begin.Set, &ir.Set{Field: f.id, Value: reference(f.id.Span, "input."+f.id.Name)})
		}
		p.wf.Output = append(p.wf.Output, &ir.Output{Name: f.id, Value: reference(f.id.Span, root+"."+f.id.Name), Span: f.id.Span})
	}
	return begin
}

// mayMiss reports whether a field has no value until a node has run that may not run.
func (p *parser) mayMiss(f *field) bool {
	return f.written && !f.input && p.branches() && p.fields[f.id.Name] == f && !p.isShadow(f) && f.typ.Kind != schema.Opt
}

// free is a name that no node has.
func (p *parser) free(name string) string {
	for p.byID[name] != nil {
		name += "_"
	}
	return name
}
