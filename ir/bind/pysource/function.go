package pysource

import (
	"encoding/json"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/schema"
)

// signature is the input of a function. refused is not empty for one that cannot be a tool, at a parameter or, when
// that is nil, the function itself.
func (r *reader) signature(sym symbol) (in, out *schema.Type, refused string, at *param) {
	s := sym.stmt
	in = &schema.Type{Kind: schema.Struct}
	for _, p := range s.Params {
		if r.isContext(sym.in, p.Type) {
			continue // it is given with the call
		}
		if p.Kind == "positional" {
			if p.Default == nil {
				return nil, nil, "its parameter `" + p.Name + "` is positional-only, and tools are called with names", p
			}
			continue
		}
		r.refused = ""
		f := &schema.Field{Name: p.Name, Span: p.At.in(sym.in.file.Source, p.Name), Type: r.annotation(sym.in, p.Type, 0)}
		if r.refused != "" && p.Default == nil {
			return nil, nil, "its parameter `" + p.Name + "` is a " + r.refused + ", which JSON cannot represent", p
		}
		if r.refused != "" {
			continue // it keeps its default
		}
		if p.Default != nil {
			give(f, p.Default)
		}
		in.Fields = append(in.Fields, f)
	}
	if s.Yields {
		return nil, nil, "it is a generator, and tools return once", nil
	}
	if s.Type != nil {
		r.refused, r.result = "", true
		out = r.annotation(sym.in, s.Type, 0)
		if r.refused != "" {
			return nil, nil, "it returns a " + r.refused + ", which JSON cannot represent", nil
		}
	}
	return in, out, "", nil
}

// isContext tells the annotation of a parameter that gets the call's context.
func (r *reader) isContext(m *module, n *node) bool {
	if n != nil && n.T == "str" {
		n = n.X
	}
	return n != nil && strings.TrimPrefix(r.qualify(m, n, 0).name, "builtins.") == "flowgen.Context"
}

// give gives a field its default: a constant where it is one, else the field may be left out and the source decides.
func give(f *schema.Field, n *node) {
	if text := constant(n); text != "" && f.Type.Kind != schema.Any && f.Type.Kind != schema.Opt && schema.CheckJSON([]byte(text), f.Type) == "" {
		f.Default = &schema.Default{JSON: text, Span: f.Span}
		return
	}
	f.Type, f.Omit = schema.OptOf(f.Type, "it has a default"), true
}

// constant is a literal as JSON, "" for anything that has to be run.
func constant(n *node) string {
	switch n.T {
	case "bool", "int", "float":
		if json.Valid([]byte(n.S)) {
			return n.S
		}
	case "str":
		if text, err := json.Marshal(n.S); err == nil {
			return string(text)
		}
	}
	return ""
}
