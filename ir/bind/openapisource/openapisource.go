package openapisource

import (
	"fmt"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/bind/mcplock"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// Options say where the documents of the tools are.
type Options struct {
	Files  *foreign.Files
	Folder func(*source.File) foreign.Folder // of a workflow file
	Locked map[*ir.Tool]*mcplock.Server      // the documents that are locked
}

// Resolve makes HTTP tools of those among tools that name an operation of an OpenAPI document. The binding of a tool whose
// operation cannot be one stays what it was.
func Resolve(tools []*ir.Tool, opts Options, sink *diag.Sink) {
	r := &resolver{opts: opts, sink: sink, read: map[[2]string]*opened{}}
	for _, t := range tools {
		if b, ok := t.Binding.(*ir.OpenAPITool); ok {
			if b.Spec.Name != "" && b.Operation.Name != "" {
				r.tool(t, b)
			}
			foreign.Poison(t)
		}
	}
}

type resolver struct {
	opts Options
	sink *diag.Sink
	read map[[2]string]*opened
}

type opened struct {
	doc *Document
	err error
}

func (r *resolver) tool(t *ir.Tool, b *ir.OpenAPITool) {
	home := r.opts.Folder(t.File)
	key := [2]string{home.Disk, b.Spec.Name}
	o, again := r.read[key]
	if !again {
		o = &opened{}
		o.doc, o.err = Open(r.opts.Files, home, b.Spec.Name)
		r.read[key] = o
	}
	if o.err != nil {
		if !again {
			r.sink.Report(foreign.Unreadable(b.Spec.Span, b.Spec.Name, o.err))
		}
		return
	}
	d := o.doc
	found := d.find(b.Operation.Name)
	switch {
	case len(found) == 0:
		e := diag.Diagnostic{Code: diag.SourceName, Span: b.Operation.Span, Message: fmt.Sprintf("%s has no operation `%s`", b.Spec.Name, b.Operation.Name)}
		if diag.Suggest(&e, b.Operation.Name, d.ids()); e.Help == "" {
			e.Help = "`flowgen tools import " + b.Spec.Name + "` lists its operations"
		}
		r.sink.Report(e)
		return
	case len(found) > 1:
		r.report(diag.SourceName, b.Operation.Span, fmt.Sprintf("%s has %d operations `%s`", b.Spec.Name, len(found), b.Operation.Name),
			"write which, as in `"+found[0].Method+" "+found[0].Path+"`", d.span(found[1].op.Origin))
		return
	}
	q, err := d.Request(found[0])
	if refused, ok := err.(*Refusal); ok {
		r.sink.Report(foreign.Refused(b.Operation.Span, b.Operation.Name, refused.Why, refused.Help, refused.At, "here"))
		return
	}
	at := d.span(found[0].op.Origin)
	r.drift(t, b, d, at)
	if !r.declared(t, b, q, at) {
		return
	}
	out := q.Out
	if t.Out != nil {
		out, _ = d.bounded(narrowed(q.whole, t.Out))
	}
	sig := foreign.Signature{Name: b.Operation.Name, Span: at, In: q.In, Out: out, Description: q.Description}
	foreign.Fill(t, sig, r.sink)
	if t.In.Kind == schema.Struct && t.Out.Kind != schema.Invalid {
		t.Binding = q.tool(t, b)
	}
}

// drift holds an operation to what was locked of it. A change that a workflow may not survive is a mistake.
func (r *resolver) drift(t *ir.Tool, b *ir.OpenAPITool, d *Document, at source.Span) {
	s := r.opts.Locked[t]
	if s == nil {
		return
	}
	text, _, err := d.Locked(b.Operation.Name)
	if err != nil {
		return // which was reported
	}
	changes, locked := s.Drift(b.Operation.Name, text)
	e := diag.Diagnostic{Code: diag.NotLocked, Span: b.Operation.Span, Help: "run `flowgen lock`, and look at what it writes", Related: []diag.Related{{Span: at, Message: "here"}}}
	if !locked {
		e.Message = "operation " + b.Operation.Name + " of " + b.Spec.Name + " is not locked"
		r.sink.Report(e)
		return
	}
	if !mcplock.Breaking(changes) {
		e.Severity = diag.Warning
	}
	for _, c := range changes {
		if c.Breaking == mcplock.Breaking(changes) { // the first of the worst: `lock --check` lists all
			e.Message = b.Operation.Name + " has changed since it was locked: " + c.What
			e.Help = "`flowgen lock --check` lists the changes, and `flowgen lock` accepts them"
			r.sink.Report(e)
			return
		}
	}
}

func (r *resolver) report(code diag.Code, at source.Span, message, help string, there source.Span) {
	d := diag.Diagnostic{Code: code, Span: at, Message: message, Help: help}
	if !there.IsZero() {
		d.Related = []diag.Related{{Span: there, Message: "here"}}
	}
	r.sink.Report(d)
}

// declared compares what the declaration says of effects, authentication and the server with the document.
func (r *resolver) declared(t *ir.Tool, b *ir.OpenAPITool, q *Request, at source.Span) bool {
	least := ir.EffectsWrites
	if Reads(q.Operation.Method) {
		least = ir.EffectsReads
	}
	switch {
	case t.Effects == ir.EffectsUnset:
		t.Effects = least
	case t.Effects < least:
		r.sink.Report(diag.Diagnostic{Code: diag.EffectsLowered, Severity: diag.Warning, Span: t.EffectsSpan, Related: []diag.Related{{Span: at, Message: "it is defined here"}},
			Message: fmt.Sprintf("effects are declared %s, but %s is a %s request, which has effects %s", t.Effects, b.Operation.Name, q.Operation.Method, least),
			Help:    "keep it if the service changes nothing, else remove it"})
	}
	t.Idempotency = t.Idempotency || q.Idempotent
	if q.Server == "" && b.Base.Name == "" {
		r.report(diag.SourceDeclared, b.Spec.Span, b.Spec.Name+" does not say the address of the service", "add `base: API_URL`, the environment variable with the base URL", source.Span{})
		return false
	}
	if q.accepts(t.Auth) {
		return true
	}
	span, what := b.Operation.Span, "needs `auth`"
	if t.Auth != nil {
		span, what = t.Auth.Secret.Span, "takes another kind of `auth`"
	}
	r.report(diag.SourceDeclared, span, b.Operation.Name+" "+what, "write `auth: "+q.Ways[0].auth("NAME")+"`, with a secret for scheme "+q.Ways[0].Scheme, at)
	return false
}

// auth is how `auth` is written.
func (w Way) auth(secret string) string {
	if w.Kind == "header" {
		return "{header: " + w.Header + ", secret: " + secret + "}"
	}
	return "{" + w.Kind + ": " + secret + "}"
}

// accepts reports whether the document takes this way to authenticate. A document that says nothing takes any.
func (q *Request) accepts(a *ir.Auth) bool {
	if a == nil || len(q.Ways) == 0 {
		return q.Free
	}
	for _, w := range q.Ways {
		if w.Kind == a.Kind && strings.EqualFold(w.Header, a.Header) || a.Kind == "header" && a.Header == "Authorization" && w.Kind == "bearer" {
			return true
		}
	}
	return false
}

// narrowed is a result without the fields that a declaration does not have: JSON may have more than a tool's type.
func narrowed(got, decl *schema.Type) *schema.Type {
	switch {
	case got.Kind == schema.Opt:
		return schema.OptOf(narrowed(got.Elem, decl.Present()), got.Why)
	case decl.Kind == schema.Opt:
		return narrowed(got, decl.Elem)
	case got.Kind != decl.Kind:
		if got.Kind == schema.Union && decl.Kind == schema.Struct { // the one that is meant
			return schema.AnyType
		}
		return got
	case got.Kind == schema.List || got.Kind == schema.Map:
		c := *got
		c.Elem = narrowed(got.Elem, decl.Elem)
		return &c
	case got.Kind != schema.Struct:
		return got
	}
	meant := map[string]bool{} // by declared fields that are not there: the message proposes them
	unknown := 0
	for _, d := range decl.Fields {
		if got.Field(d.Name) == nil {
			meant[diag.Nearest(d.Name, got.FieldNames())] = true
			unknown++
		}
	}
	sole := unknown == 1 && len(got.Fields) == len(decl.Fields) // the one that is left is meant, however it is called
	c := *got
	c.Fields = nil
	for _, f := range got.Fields {
		g := *f
		if d := decl.Field(f.Name); d != nil {
			g.Type = narrowed(f.Type, d.Type)
		} else if !sole && !meant[f.Name] {
			continue
		}
		c.Fields = append(c.Fields, &g)
	}
	return &c
}

// isText reports whether a field is text.
func isText(f *schema.Field) bool {
	return f != nil && (f.Type.Kind == schema.String || f.Type.Kind == schema.Enum)
}

// tool is the HTTP tool, with the fields that the tool has.
func (q *Request) tool(t *ir.Tool, b *ir.OpenAPITool) *ir.HTTPTool {
	at := b.Operation.Span
	text := func(s string) *ir.Template {
		return &ir.Template{Text: source.Text{Value: s, Span: at, Opaque: true}, Tmpl: &expr.Template{Segments: []expr.Segment{{Lit: s, Hi: len(s)}}}}
	}
	value := func(field string) *ir.Expr {
		n := len(field) // the name of a field, whatever it means in expressions
		return &ir.Expr{Text: source.Text{Value: field, Span: at, Opaque: true}, Node: &expr.Node{Op: expr.Name, Text: field, Hi: n, NameHi: n}}
	}
	h := &ir.HTTPTool{Method: q.Operation.Method, Base: b.Base, URL: text(q.Server + q.path), Span: at, Document: b}
	if b.Base.Name != "" {
		h.URL = text(q.path)
	}
	for _, p := range q.params {
		if t.In.Field(p.field) == nil {
			continue // not declared
		}
		x := ir.Param{Name: ir.Ident{Name: p.name, Span: at}, Value: value(p.field), Join: p.join}
		if p.where == "header" {
			h.Headers = append(h.Headers, x)
		} else {
			h.Query = append(h.Query, x)
		}
	}
	if q.media == "" {
		return h
	}
	quoted := q.body == nil && isText(t.In.Field(bodyField)) // an HTTP tool sends text as it is, unless it says that it is JSON
	if q.media != "application/json" || quoted {
		h.Headers = append(h.Headers, ir.Param{Name: ir.Ident{Name: "Content-Type", Span: at}, Value: text(q.media)})
	}
	if q.body == nil {
		h.Body = value(bodyField)
		return h
	}
	object := &ir.Object{Span: at}
	for _, f := range t.In.Fields {
		if name, ok := q.body[f.Name]; ok {
			object.Entries = append(object.Entries, &ir.Entry{Key: ir.Ident{Name: name, Span: at}, Value: value(f.Name)})
		}
	}
	h.Body = object
	return h
}
