// Package foreign gives a tool that is written in another language the types that its source says: it fills what the
// declaration in the workflow leaves open and checks the rest against the source.
//
// Declared `in:` and `out:` may narrow what the source says, because values are checked at run time when they leave the
// program and when they come back. What they may not do is promise what the source contradicts.
package foreign

import (
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A Signature is what a source says about a function.
type Signature struct {
	Name        string       // as messages call it: "triage.diff:parse", "./tools/double.ts", "slack/post_message"
	Span        source.Span  // where it is defined; may be zero
	In          *schema.Type // a struct whose fields are the input; nil: the source does not say
	Out         *schema.Type // nil: the source does not say, so the result is any
	Open        bool         // fields beyond In are taken, too
	Async       bool
	Description string
	Files       []ir.SourceFile
}

// Fill gives t the types and the description of its source and sets t.Def. Types of fields in s keep their spans, which
// diagnostics about their use show; a field of s.In that is optional and may not be sent as null has Omit set. What the
// declaration and the source disagree on is reported where it is declared.
func Fill(t *ir.Tool, s Signature, sink *diag.Sink) {
	f := &filler{tool: t, sig: s, sink: sink, clean: map[*schema.Type]*schema.Type{}}
	s.In, s.Out = f.large(s.In, "takes"), f.large(s.Out, "returns")
	f.sig = s
	t.Def = &ir.Definition{Name: s.Name, Span: s.Span, In: s.In, Out: s.Out, Open: s.Open, Async: s.Async, Files: s.Files}
	if t.Description == "" {
		t.Description = s.Description
	}
	f.in()
	f.out()
}

// Poison stands in for a source that could not be read: what the tool does not declare is not reported again.
func Poison(t *ir.Tool) {
	if t.In == nil {
		t.In = schema.InvalidType
	}
	if t.Out == nil {
		t.Out = schema.InvalidType
	}
}

type filler struct {
	tool  *ir.Tool
	sig   Signature
	sink  *diag.Sink
	clean map[*schema.Type]*schema.Type // types that usable has looked at
}

func (f *filler) in() {
	t, s := f.tool, f.sig
	switch {
	case s.In == nil && t.In == nil:
		f.report(diag.Diagnostic{
			Code: diag.SourceUnclear, Span: f.place(), Message: "the input of " + s.Name + " is unknown",
			Help: "declare its input, as in `in: {text: string}`, or write the types in the source", Related: f.defined(),
		})
		t.In = schema.InvalidType
	case s.In == nil || t.In != nil && t.In.Kind == schema.Invalid:
	case t.In == nil:
		t.In = f.fields(s.In)
	default:
		t.In = f.declaredIn(t.In, s.In)
	}
}

func (f *filler) out() {
	t, s := f.tool, f.sig
	got := s.Out
	if got == nil {
		got = schema.AnyType
	}
	if t.Out == nil {
		t.Out = f.usable(got)
		return
	}
	f.fits(t.Out, got, "out", f.at(t.OutSpan), out)
}

// declaredIn is the declared input, checked against what the source takes.
func (f *filler) declaredIn(decl, got *schema.Type) *schema.Type {
	merged := *decl
	merged.Fields = nil
	lacking := f.unknown(decl, got, in)
	for _, d := range decl.Fields {
		g := got.Field(d.Name)
		if g == nil {
			merged.Fields = append(merged.Fields, d)
			continue
		}
		m := *d
		if m.Type.Kind == schema.Opt && (g.Omit || g.Default != nil) {
			m.Omit = true // absent is what the source takes for its own default
			f.fits(m.Type.Elem, g.Type, "in."+d.Name, f.at(d.Span), in)
		} else {
			f.fits(m.Type, g.Type, "in."+d.Name, f.at(d.Span), in)
		}
		if m.Description == "" {
			m.Description = g.Description
		}
		merged.Fields = append(merged.Fields, &m)
	}
	f.lacks(lacking, "in", f.place(), in)
	return &merged
}

// fields is the input that a source asks for, as a struct that Go can hold.
func (f *filler) fields(got *schema.Type) *schema.Type {
	t := *got
	t.Fields = nil
	taken := map[string]bool{}
	for _, g := range got.Fields {
		name := goField(g.Name)
		if name != "" && !taken[name] {
			taken[name] = true
			c := *g
			c.Type = f.usable(g.Type)
			t.Fields = append(t.Fields, &c)
			continue
		}
		if g.Required() {
			f.report(diag.Diagnostic{
				Code: diag.SourceShape, Span: f.place(), Message: f.sig.Name + " requires the input " + strconv.Quote(g.Name) + ", a name that a field cannot have",
				Help: "write a small function around it that takes other names", Related: f.related(g.Span),
			})
		}
	}
	return &t
}

// unknown reports declared fields that the source does not have, and returns those of the source that are not declared
// and must be, without one that an unknown field is a misspelling of, or the former name.
func (f *filler) unknown(decl, got *schema.Type, w way) []*schema.Field {
	var unknown, lacking []*schema.Field
	for _, d := range decl.Fields {
		if got.Field(d.Name) == nil && !(w == in && f.sig.Open) {
			unknown = append(unknown, d)
		}
	}
	var names []string
	for _, g := range got.Fields {
		if g.Type.Kind != schema.Invalid && decl.Field(g.Name) == nil && (w == out || g.Required()) {
			lacking = append(lacking, g)
			names = append(names, g.Name)
		}
	}
	for _, d := range unknown {
		near := diag.Nearest(d.Name, names)
		if len(unknown) == 1 && len(lacking) == 1 {
			near = names[0]
		}
		if near == "" {
			near = diag.Nearest(d.Name, got.FieldNames())
		}
		f.noField(d, got.Field(near), w)
		lacking = slices.DeleteFunc(lacking, func(g *schema.Field) bool { return g.Name == near })
	}
	return lacking
}

// noField reports a field that the source does not have; near is the one that was meant, or nil.
func (f *filler) noField(d, near *schema.Field, w way) {
	verb := " takes no input "
	if w == out {
		verb = " returns no "
	}
	rep := diag.Diagnostic{Code: diag.SourceDeclared, Span: f.at(d.Span), Message: f.sig.Name + verb + quote(d.Name), Related: f.defined()}
	if near != nil {
		rep.Help = "replace with " + quote(near.Name)
		rep.Related = f.related(near.Span)
		if rep.Span.Text() == d.Name {
			rep.Fixes = []diag.Fix{diag.Replace(rep.Span, near.Name)}
		}
	}
	f.report(rep)
}

// lacks reports fields that must be declared at a place and are not.
func (f *filler) lacks(list []*schema.Field, at string, span source.Span, w way) {
	verb := " requires"
	if w == out {
		verb = " returns"
	}
	for _, g := range list {
		f.report(diag.Diagnostic{
			Code: diag.SourceDeclared, Span: span, Message: quote(at) + " lacks " + quote(g.Name) + ", which " + f.sig.Name + verb,
			Help: "add " + quote(g.Name+": "+g.Type.String()) + ", or leave the declaration out", Related: f.related(g.Span),
		})
	}
}

func (f *filler) mismatch(decl, got *schema.Type, at string, span source.Span) {
	d := Mismatch(diag.SourceDeclared, span, decl, got, at, f.sig.Name)
	d.Related = f.defined()
	f.report(d)
}

// Mismatch is the mistake of a workflow that declares another type than the source of function; at is what it declares.
func Mismatch(code diag.Code, span source.Span, decl, got *schema.Type, at, function string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: code, Span: span,
		Message: quote(at) + " is declared " + decl.String() + ", but in " + function + " it is " + got.String(),
		Help:    "declare it " + got.String() + ", or leave the declaration out",
	}
}

func (f *filler) report(d diag.Diagnostic) {
	d.Related = slices.DeleteFunc(d.Related, func(r diag.Related) bool { return r.Span.IsZero() })
	if len(d.Related) == 0 {
		d.Related = nil
	}
	f.sink.Report(d)
}

// place is where the tool says what it runs as.
func (f *filler) place() source.Span {
	if at := Place(f.tool); !at.IsZero() {
		return at
	}
	return f.tool.Key.Span
}

// Refused is the mistake of a function that cannot be a tool; there is what of it says so, and may be zero.
func Refused(at source.Span, name, why, help string, there source.Span, what string) diag.Diagnostic {
	d := diag.Diagnostic{Code: diag.SourceShape, Span: at, Message: name + " cannot be a tool: " + why, Help: help}
	if !there.IsZero() {
		d.Related = []diag.Related{{Span: there, Message: what}}
	}
	return d
}

// Place is the reference of a tool to its source: the function's, module's or file's name as it is in the workflow.
func Place(t *ir.Tool) source.Span {
	switch b := t.Binding.(type) {
	case *ir.PythonTool:
		return b.Ref.Span
	case *ir.JSTool:
		return b.Path.Span
	case *ir.MCPTool:
		return b.Ref.Span
	case *ir.StarlarkTool:
		return b.Path.Span
	case *ir.OpenAPITool:
		return b.Operation.Span
	case *ir.WasmTool:
		return b.Path.Span
	case *ir.SQLTool:
		return b.Query.At(0, len(b.Query.Value))
	}
	return source.Span{}
}

func (f *filler) at(span source.Span) source.Span {
	if span.IsZero() {
		return f.place()
	}
	return span
}

func (f *filler) defined() []diag.Related { return f.related(f.sig.Span) }

func (f *filler) related(span source.Span) []diag.Related {
	if span.IsZero() {
		span = f.sig.Span
	}
	if span.IsZero() {
		return nil
	}
	return []diag.Related{{Span: span, Message: "it is defined here"}}
}

func quote(s string) string { return "`" + strings.ReplaceAll(s, "`", "'") + "`" }
