package stargraph

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// A slot is a class that is not here: the program that embeds the workflow brings a method in its place, which is given the
// state and returns it with what it changes.
type slot struct {
	told *schema.Type // of the configs of its nodes; nil: they have none
}

// slotNode makes a node one that calls a slot.
func (p *parser) slotNode(x *node, config, why string) {
	if p.slots == nil {
		p.slots = map[string]*slot{}
	}
	s := p.slots[x.kind.Name]
	if s == nil {
		s = &slot{}
		p.slots[x.kind.Name] = s
		p.Warn(diag.OpenSlot, x.kind.Span, fillSlot(boundName(x.kind.Name)), "nothing stands for the class %s: %s", x.kind.Name, why)
	}
	if config != "" {
		s.told = merge(s.told, typeOf(config))
	}
	p.later = append(p.later, func() {
		t := p.slotTool(x.kind, config, why)
		p.callFields(x, t, t.In.Fields, t.Out.Fields)
	})
}

// fillSlot says what to do about a class that is not here.
func fillSlot(name string) string {
	return "put its Python next to the graph; or a Go function in its place, in flowgen.bindings.yaml: `flowgen: 1`, and below `tools:` a line like `" + name +
		": {go: ./nodes.Function, in: {field: string}, out: {field: string}, effects: none}`; or generate the Go, whose New is given a method for it"
}

// slotTool is the tool of a slot. Nodes with the same config share it.
func (p *parser) slotTool(id ir.Ident, config, why string) *ir.Tool {
	told := p.slots[id.Name].told
	if told != nil && config == "" {
		config = "{}"
	}
	base := boundName(id.Name)
	name := base
	for i := 2; ; i++ {
		t := p.toolNamed(name)
		if t == nil {
			break
		}
		if b, ok := t.Binding.(*ir.SlotTool); ok && b.Name.Name == id.Name && (b.Config == nil || b.Config.JSON == config) {
			return t
		}
		name = base + "_" + strconv.Itoa(i)
	}
	b := &ir.SlotTool{Name: id, Told: told, Why: why}
	if told != nil {
		b.Config = &schema.Default{JSON: config, Span: id.Span}
	}
	state := p.slotFields()
	t := &ir.Tool{Name: ir.Ident{Name: name, Span: id.Span}, Version: "1", Key: ir.Ident{Name: name, Span: id.Span}, Effects: ir.EffectsExternal, EffectsSpan: id.Span,
		In: state, Out: state, OutSpan: id.Span, Binding: b, File: p.File, Span: id.Span}
	p.wf.Tools = append(p.wf.Tools, t)
	return t
}

// slotFields is the state as slots have it: the type that flowgen.bindings.yaml has of it, or a struct of all fields that a
// run can be given; nothing when no node names a field.
func (p *parser) slotFields() *schema.Type {
	if p.filled != nil {
		return p.filled
	}
	t := &schema.Type{Kind: schema.Struct}
	for _, f := range p.order {
		if f.typ == nil {
			f.typ = schema.AnyType
		}
		if zero := f.typ.ZeroJSON(); p.open && !f.input && zero != "" { // whatever the class does with it
			f.input, f.zero = true, &schema.Default{JSON: zero, Span: f.id.Span}
		}
		if f.input {
			t.Fields = append(t.Fields, &schema.Field{Name: f.id.Name, Type: f.typ, Span: f.id.Span})
		}
	}
	if len(t.Fields) == 0 {
		p.filled = schema.EmptyType
		return p.filled
	}
	_, name, _ := strings.Cut(p.stateName, ":")
	if name == "" || slices.ContainsFunc(p.wf.Types, func(d *schema.Decl) bool { return d.Name == name }) {
		name = "State"
	}
	d := &schema.Decl{Name: name, Description: "the state of the graph.", Span: p.wf.Name.Span, Type: t}
	t.Decl = d
	p.wf.Types = append(p.wf.Types, d)
	p.filled = t
	return t
}

// slotState takes the state's fields from the type of flowgen.bindings.yaml that is called like its class; false when there
// is none.
func (p *parser) slotState(id ir.Ident) bool {
	_, name, _ := strings.Cut(id.Name, ":")
	for _, d := range p.wf.Types {
		if d.Name != name || d.Type.Kind != schema.Struct {
			continue
		}
		p.filled = d.Type
		for _, g := range d.Type.Fields {
			if !fieldForm.MatchString(g.Name) {
				continue
			}
			f := &field{id: ir.Ident{Name: g.Name, Span: g.Span}, typ: g.Type, zero: g.Default, declared: true, input: true, route: true}
			if zero := g.Type.ZeroJSON(); f.zero == nil && zero != "" {
				f.zero = &schema.Default{JSON: zero, Span: g.Span}
			}
			p.fields[g.Name] = f
			p.order = append(p.order, f)
		}
		return true
	}
	return false
}

// typeOf is the type of a constant.
func typeOf(config string) *schema.Type {
	dec := json.NewDecoder(strings.NewReader(config))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return schema.AnyType
	}
	return typeOfValue(v)
}

func typeOfValue(v any) *schema.Type {
	switch v := v.(type) {
	case bool:
		return schema.BoolType
	case json.Number:
		if _, err := v.Int64(); err == nil {
			return schema.IntType
		}
		return schema.FloatType
	case string:
		return schema.StringType
	case []any:
		var elem *schema.Type
		for _, x := range v {
			elem = merge(elem, typeOfValue(x))
		}
		if elem == nil {
			elem = schema.AnyType
		}
		return schema.ListOf(elem)
	case map[string]any:
		t := &schema.Type{Kind: schema.Struct}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if !fieldForm.MatchString(k) {
				return schema.AnyType
			}
			t.Fields = append(t.Fields, &schema.Field{Name: k, Type: typeOfValue(v[k])})
		}
		return t
	}
	return schema.AnyType
}

// merge is the type that constants of two types have.
func merge(a, b *schema.Type) *schema.Type {
	number := func(t *schema.Type) bool { return t.Kind == schema.Int || t.Kind == schema.Float }
	switch {
	case a == nil:
		return b
	case number(a) && number(b) && a.Kind != b.Kind:
		return schema.FloatType
	case a.Kind != b.Kind:
		return schema.AnyType
	case a.Kind == schema.List:
		return schema.ListOf(merge(a.Elem, b.Elem))
	case a.Kind == schema.Struct:
		t := &schema.Type{Kind: schema.Struct, Fields: slices.Clone(a.Fields)}
		for _, f := range b.Fields {
			i := slices.IndexFunc(t.Fields, func(g *schema.Field) bool { return g.Name == f.Name })
			if i < 0 {
				t.Fields = append(t.Fields, f)
			} else {
				t.Fields[i] = &schema.Field{Name: f.Name, Type: merge(t.Fields[i].Type, f.Type)}
			}
		}
		return t
	}
	return a
}
