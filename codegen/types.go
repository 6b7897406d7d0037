package codegen

import (
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// goType spells a type in Go.
func (g *generator) goType(t *schema.Type) *jen.Statement {
	if t.Go != nil {
		s := jen.Id(ident(t.Go.Name))
		if t.Go.Path != "" {
			s = jen.Qual(importPath(t.Go.Path), ident(t.Go.Name))
		}
		if len(t.Go.Args) > 0 {
			var args []jen.Code
			for _, a := range t.Go.Args {
				args = append(args, g.goType(a))
			}
			s = s.Types(args...)
		}
		if t.Go.Ptr {
			s = jen.Op("*").Add(s)
		}
		return s
	}
	if g.p.Names.Types[t] != "" {
		return g.typeName(t)
	}
	switch t.Kind {
	case schema.Bool:
		return jen.Bool()
	case schema.Int:
		return jen.Int64()
	case schema.Float:
		return jen.Float64()
	case schema.String, schema.Enum:
		return jen.String()
	case schema.Bytes:
		return jen.Index().Byte()
	case schema.Time:
		return jen.Qual("time", "Time")
	case schema.Duration:
		return jen.Qual("time", "Duration")
	case schema.List:
		return jen.Index().Add(g.goType(t.Elem))
	case schema.Map:
		return jen.Map(jen.String()).Add(g.goType(t.Elem))
	case schema.Opt:
		return jen.Op("*").Add(g.goType(t.Elem))
	case schema.Struct:
		if len(t.Fields) == 0 {
			return jen.Struct()
		}
	}
	return jen.Qual(valuePath, "Value")
}

// typeName is the name of a type that the file declares, if anything names it.
func (g *generator) typeName(t *schema.Type) *jen.Statement {
	name := g.p.Names.Types[t]
	g.named[name] = true
	return jen.Id(ident(name))
}

// types declares the structs and enums of the workflow at their place: input, output, state, declared types, then those of
// tools and results. Of the latter, those that something names.
func (g *generator) types() {
	declared := map[*check.NamedType][]jen.Code{}
	for found := true; found; { // fields name types
		found = false
		for _, t := range g.p.Names.Ordered {
			if declared[t] == nil && (g.named[t.Name] || t.Type.Decl != nil) {
				declared[t], found = g.declaration(t), true
			}
		}
	}
	for _, t := range g.p.Names.Ordered {
		if declared[t] != nil {
			g.structs.Add(jen.Line(), comment(t.Name+" "+about(t, declared)), jen.Line())
		}
		for _, c := range declared[t] {
			g.structs.Add(c, jen.Line())
		}
	}
}

// declaration is that of a type.
func (g *generator) declaration(t *check.NamedType) []jen.Code {
	switch t.Type.Kind {
	case schema.Enum:
		return enum(t.Name, t.Type)
	case schema.Union:
		return g.union(t.Name, t.Type)
	}
	return []jen.Code{jen.Type().Id(ident(t.Name)).StructFunc(func(s *jen.Group) {
		for _, f := range t.Type.Fields {
			g.field(s, f, !g.isInput(t.Type))
		}
	})}
}

// about says what a type is. The field of a struct that is not declared is one of what the struct is.
func about(t *check.NamedType, declared map[*check.NamedType][]jen.Code) string {
	if t.In == nil || declared[t.In] != nil {
		return t.Doc
	}
	return strings.TrimSuffix(t.Doc, t.In.Name+".") + strings.TrimPrefix(t.In.Doc, "is ")
}

// isInput reports whether t is a workflow's input section, whose defaults are in Info.
func (g *generator) isInput(t *schema.Type) bool {
	for _, p := range g.programs() {
		if p.Input == t {
			return true
		}
	}
	return false
}

// programs are the workflow and its sub-workflows.
func (g *generator) programs() []*check.Program {
	return append([]*check.Program{g.p}, g.p.Flows...)
}

func (g *generator) field(s *jen.Group, f *schema.Field, defaults bool) {
	st := s.Id(ident(fieldName(f))).Add(g.goType(f.Type)).Add(structTag(f, defaults))
	if f.Description != "" {
		st.Add(lineComment(f.Description))
	}
}

// fieldName is the Go name of a field.
func fieldName(f *schema.Field) string {
	if f.GoName != "" {
		return f.GoName
	}
	return goname.Exported(f.Name)
}

// structTag is the field's name in JSON and the constraints that the runtime checks where data comes from outside.
func structTag(f *schema.Field, defaults bool) jen.Code {
	name := f.Name
	switch {
	case f.Omit && f.Type.Kind == schema.Opt && (f.Type.Go == nil || f.Type.Go.Path != dynamicPath):
		name += ",omitempty"
	case f.Omit:
		name += ",omitzero"
	}
	tag := "json:" + strconv.Quote(name)
	if c := constraints(f); c != "" {
		tag += " flow:" + strconv.Quote(c)
	}
	if defaults && f.Default != nil {
		tag += " default:" + strconv.Quote(f.Default.JSON)
	}
	return quoteOne(tag)
}

func constraints(f *schema.Field) string {
	var parts []string
	leaf := f.Type.Leaf()
	if leaf.Kind == schema.Enum {
		parts = append(parts, "enum="+strings.Join(leaf.Values, "|"))
	}
	if f.Min != nil {
		parts = append(parts, "min="+number(*f.Min))
	}
	if f.Max != nil {
		parts = append(parts, "max="+number(*f.Max))
	}
	if f.Pattern != "" {
		parts = append(parts, "pattern="+f.Pattern)
	}
	return strings.Join(parts, ",")
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// enum declares a named enum and its values.
func enum(name string, t *schema.Type) []jen.Code {
	return []jen.Code{jen.Type().Id(ident(name)).String(), jen.Line(), jen.Comment("The values of " + ident(name) + "."),
		jen.Const().DefsFunc(func(c *jen.Group) {
			for _, v := range t.Values {
				c.Id(ident(name + goname.Exported(v))).Id(ident(name)).Op("=").Add(quote(v))
			}
		})}
}
