package pysource

import (
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// Answer implements ir.PythonReader.
func (x *Reader) Answer(from *source.File, id ir.Ident) (*ir.PythonClass, string) {
	c, sym, rd, why, _ := x.class(from, id)
	if c == nil {
		return nil, why
	}
	if sym.stmt.Kind != "class" {
		return nil, "`" + id.Name + "` is not a class"
	}
	rd.result, rd.answer = false, true
	if c.Fields = rd.class(sym, 0); c.Fields.Kind != schema.Struct {
		return nil, "`" + id.Name + "` is not a Pydantic model with readable fields"
	}
	return c, ""
}

// said gives a field of an answer what its Field(...) says: its default, what it is, and its bounds.
func (r *reader) said(m *module, f *schema.Field, p *param) {
	given := p.Default
	if n := given; n != nil && n.T == "call" && n.X != nil && n.X.S == "Field" {
		text := func(key string) string {
			if w := word(n.K, key); w != nil && w.T == "str" {
				return w.S
			}
			return ""
		}
		f.Description, f.Pattern = strings.TrimSpace(text("description")), text("pattern")
		for _, key := range []string{"ge", "min_length"} {
			if v, ok := number(word(n.K, key)); ok {
				f.Min = &v
			}
		}
		for _, key := range []string{"le", "max_length"} {
			if v, ok := number(word(n.K, key)); ok {
				f.Max = &v
			}
		}
	}
	if given == nil {
		return
	}
	if text := r.initial(m, p, f.Type, 0); text != "" && r.defaulted(given) {
		f.Default = &schema.Default{JSON: text, Span: f.Span}
	} else if r.defaulted(given) {
		f.Type = schema.OptOf(f.Type, "its class makes its default")
		f.Default = &schema.Default{JSON: "null", Span: f.Span}
	}
}

// defaulted reports whether what is behind a field is a default: Field(...) without one is none.
func (r *reader) defaulted(n *node) bool {
	dots := func(n *node) bool { return n.T == "" && n.S == "..." }
	if n.T != "call" || n.X == nil || n.X.S != "Field" {
		return !dots(n)
	}
	if w := word(n.K, "default"); w != nil {
		return !dots(w)
	}
	return word(n.K, "default_factory") != nil || len(n.E) > 0 && !dots(n.E[0])
}

func number(n *node) (float64, bool) {
	if n == nil || n.T != "int" && n.T != "float" {
		return 0, false
	}
	v, err := strconv.ParseFloat(n.S, 64)
	return v, err == nil
}
