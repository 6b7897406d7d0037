package openapisource

import (
	"fmt"
	"maps"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// A Request is what an operation asks for and what comes back, in the terms of an HTTP tool.
type Request struct {
	Operation *Operation
	Server    string // what URLs begin with; empty when only the workflow can say it
	In        *schema.Type
	Out       *schema.Type
	Ways      []Way    // how to authenticate, one of them; none: not at all
	Free      bool     // it may be called without authentication
	Left      []string // optional parameters that no tool can send, with reasons

	Description string
	Idempotent  bool // repeated calls are known by the header Idempotency-Key

	whole  *schema.Type // Out, however large
	path   string       // of the URL, with {field} for values
	params []param
	media  string            // of the body; empty: there is none
	body   map[string]string // property by field; nil: the field bodyField is the body
}

// bodyField is the field of a body that is not a struct with usable names.
const bodyField = "body"

// A param is a parameter of the URL's query, or a header.
type param struct {
	where, name, field string
	join               string // what stands between the items of a list; empty: the name is repeated
}

// Request lowers an operation. The error is a *Refusal that says what no tool can do, and where in the document it is.
func (d *Document) Request(o *Operation) (*Request, error) {
	q := &Request{Operation: o, In: &schema.Type{Kind: schema.Struct}, Description: oneLine(o.op.Summary)}
	if q.Description == "" {
		q.Description = oneLine(o.op.Description)
	}
	q.Server = d.server(o)
	if err := d.security(q); err != nil {
		return nil, err
	}
	in := d.reading(true)
	body, err := d.body(q, in)
	if err != nil {
		return nil, err
	}
	if err := d.params(q, in, body); err != nil {
		return nil, err
	}
	q.In.Fields = append(q.In.Fields, body...)
	slices.SortStableFunc(q.In.Fields, func(a, b *schema.Field) int {
		switch {
		case a.Required() == b.Required():
			return 0
		case a.Required():
			return -1
		}
		return 1
	})
	if err := d.result(q); err != nil {
		return nil, err
	}
	return q, d.limit(q)
}

// limit makes types of those that are too large that workflows can hold, and says so. A declaration narrows the whole result.
func (d *Document) limit(q *Request) error {
	in, levels := d.bounded(q.In)
	switch {
	case in.Kind != schema.Struct: // on the first level
		return d.refuse(q.Operation.op.Origin, "write an `http` tool for it", "its input has more than %d fields", foreign.MaxFields)
	case in != q.In:
		q.Left = append(q.Left, deep("input", levels))
	}
	out, levels := d.bounded(q.Out)
	if out != q.Out {
		q.Left = append(q.Left, deep("result", levels))
	}
	q.whole, q.In, q.Out = q.Out, in, out
	return nil
}

func deep(what string, levels int) string {
	return fmt.Sprintf("what its %s has below level %d, which is more than %d fields: it is any", what, levels, foreign.MaxFields)
}

var serverForm = regexp.MustCompile(`^https?://[^\s{}?#\\@]+$`)

// server is the first of the servers, with the defaults of its variables.
func (d *Document) server(o *Operation) string {
	list := d.doc.Servers
	if len(o.item.Servers) > 0 {
		list = o.item.Servers
	}
	if o.op.Servers != nil && len(*o.op.Servers) > 0 {
		list = *o.op.Servers
	}
	if len(list) == 0 || list[0] == nil {
		return ""
	}
	s := list[0].URL
	for _, name := range slices.Sorted(maps.Keys(list[0].Variables)) {
		if v := list[0].Variables[name]; v != nil && v.Default != "" {
			s = strings.ReplaceAll(s, "{"+name+"}", v.Default)
		}
	}
	if u, err := url.Parse(s); err != nil || u.Hostname() == "" || !serverForm.MatchString(s) {
		return ""
	}
	return strings.TrimRight(s, "/")
}

// params takes the parameters of the path, the query and headers.
func (d *Document) params(q *Request, in *reading, body []*schema.Field) error {
	taken := map[string]bool{}
	for _, f := range body {
		taken[goname.Exported(f.Name)] = true
	}
	places := map[string]string{}
	for _, p := range parameters(q.Operation) {
		if p.In == "header" && textproto.CanonicalMIMEHeaderKey(p.Name) == "Idempotency-Key" {
			q.Idempotent = true
			continue
		}
		if p.In == "header" && ignoredHeaders[textproto.CanonicalMIMEHeaderKey(p.Name)] {
			continue
		}
		f, x, why := d.param(in, p)
		if why == "" {
			f.Name = fieldName(p.Name)
			if g := goname.Exported(f.Name); f.Name == "" || taken[g] {
				f.Name = fieldName(p.In + "_" + p.Name)
			}
			if g := goname.Exported(f.Name); f.Name == "" || taken[g] {
				why = "has a name that a field cannot have"
			} else {
				taken[g] = true
			}
		}
		switch {
		case why == "":
		case p.Required || p.In == "path":
			return d.refuse(p.Origin, "write an `http` tool for it", "%s parameter `%s` %s", p.In, p.Name, why)
		default:
			q.Left = append(q.Left, p.In+" parameter `"+p.Name+"` "+why)
			continue
		}
		q.In.Fields = append(q.In.Fields, f)
		if p.In == "path" {
			places[p.Name] = f.Name
			continue
		}
		x.field = f.Name
		q.params = append(q.params, x)
	}
	return d.places(q, places)
}

// ignoredHeaders are described by something else than a parameter, or set by the connection.
var ignoredHeaders = map[string]bool{"Accept": true, "Content-Type": true, "Authorization": true, "Accept-Encoding": true, "Connection": true,
	"Content-Length": true, "Expect": true, "Host": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true}

// parameters are those of an operation and, behind them, those of its path that it does not replace.
func parameters(o *Operation) []*openapi3.Parameter {
	var out []*openapi3.Parameter
	seen := map[[2]string]bool{}
	for _, ref := range slices.Concat(o.op.Parameters, o.item.Parameters) {
		if ref == nil || ref.Value == nil {
			continue
		}
		if key := [2]string{ref.Value.In, ref.Value.Name}; !seen[key] {
			seen[key] = true
			out = append(out, ref.Value)
		}
	}
	return out
}

// param is the field of a parameter and how it is sent; why says what no tool can do.
func (d *Document) param(in *reading, p *openapi3.Parameter) (f *schema.Field, x param, why string) {
	x = param{where: p.In, name: p.Name}
	switch {
	case p.In == "cookie":
		return nil, x, "is a cookie"
	case p.In != "path" && p.In != "query" && p.In != "header":
		return nil, x, "stands in no part of a request"
	case p.Schema == nil:
		return nil, x, "is a document of its own"
	case p.AllowReserved:
		return nil, x, "may have reserved characters that are not escaped"
	}
	f = in.field(p.Name, p.Schema, p.Required || p.In == "path")
	f.Omit = false // no JSON
	if d := oneLine(p.Description); d != "" {
		f.Description = d
	}
	if f.Required() && f.Type.Kind == schema.Opt {
		return nil, x, "may be null"
	}
	t := f.Type.Present()
	if t.Kind == schema.List {
		if why := x.several(p); why != "" {
			return nil, x, why
		}
		t = t.Elem
	} else if (p.In == "path" || p.In == "header") && p.Style != "" && p.Style != "simple" {
		return nil, x, "has style " + p.Style
	}
	switch t.Kind {
	case schema.String, schema.Int, schema.Float, schema.Bool, schema.Time, schema.Enum:
		return f, x, ""
	}
	return nil, x, "has no text form: its type is " + t.Kind.String()
}

// several says how a list is sent.
func (x *param) several(p *openapi3.Parameter) (why string) {
	if p.In != "query" {
		return "is a list"
	}
	switch p.Style {
	case "", "form":
		if p.Explode != nil && !*p.Explode {
			x.join = ","
		}
		return ""
	case "spaceDelimited", "pipeDelimited":
		if p.Explode == nil || !*p.Explode {
			x.join = map[string]string{"spaceDelimited": " ", "pipeDelimited": "|"}[p.Style]
		}
		return ""
	}
	return "is a list of style " + p.Style
}

var place = regexp.MustCompile(`\{([^{}]*)\}`)

// places writes the path with the names of fields.
func (d *Document) places(q *Request, fields map[string]string) error {
	o := q.Operation
	text := place.ReplaceAllStringFunc(o.Path, func(s string) string {
		name := s[1 : len(s)-1]
		if fields[name] == "" {
			return "{?}"
		}
		return "{" + fields[name] + "}"
	})
	rest := place.ReplaceAllString(text, "x")
	switch {
	case strings.Contains(text, "{?}"):
		return d.refuse(o.op.Origin, "describe it under `parameters` with `in: path`", "a placeholder in the path `%s` is not a parameter", o.Path)
	case !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") || strings.ContainsAny(rest, "{}?#\\ \t\n\r"):
		return d.refuse(o.op.Origin, "write an `http` tool for it", "path `%s` has characters that no path has", o.Path)
	}
	q.path = text
	return nil
}

var notField = regexp.MustCompile(`[^A-Za-z0-9]+`)

// fieldName is a name that a field can have; empty when no character fits.
func fieldName(s string) string {
	if fieldForm.MatchString(s) && len(s) <= maxName {
		return s
	}
	s = strings.Trim(notField.ReplaceAllString(s, "_"), "_")
	if s != "" && s[0] >= '0' && s[0] <= '9' {
		s = "n" + s
	}
	if len(s) > maxName {
		return ""
	}
	return s
}

// maxName is how long the name of a field may be.
const maxName = 64

var fieldForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// body takes the body. A struct becomes fields of the tool's input, everything else the field bodyField.
func (d *Document) body(q *Request, in *reading) ([]*schema.Field, error) {
	ref := q.Operation.op.RequestBody
	if ref == nil || ref.Value == nil || len(ref.Value.Content) == 0 {
		return nil, nil
	}
	b := ref.Value
	if Reads(q.Operation.Method) {
		if b.Required {
			return nil, d.refuse(b.Origin, "write a Go tool for it", "it is a %s request with a body", q.Operation.Method)
		}
		q.Left = append(q.Left, "the body of a "+q.Operation.Method+" request")
		return nil, nil
	}
	kind, media := choose(b.Content, "json", "form", "text")
	if media == nil {
		if !b.Required {
			q.Left = append(q.Left, "the body, which is "+slices.Sorted(maps.Keys(b.Content))[0])
			return nil, nil
		}
		return nil, d.refuse(b.Origin, "write a Go tool for it", "the body is %s, and a tool sends JSON, a form of plain values, or text", slices.Sorted(maps.Keys(b.Content))[0])
	}
	q.media = kind
	t := in.typ(media.Schema)
	switch class(kind) {
	case "text":
		return []*schema.Field{{Name: bodyField, Type: schema.StringType}}, nil
	case "form":
		return d.form(q, t, media)
	}
	if fields := merged(t); fields != nil {
		q.body = map[string]string{}
		for _, f := range fields {
			q.body[f.Name] = f.Name
		}
		return fields, nil
	}
	if p := t.Present().Kind; t.Kind == schema.Opt && (p == schema.String || p == schema.Enum) {
		return nil, d.refuse(b.Origin, "write a Go tool for it", "the body is a JSON text or null")
	}
	return []*schema.Field{{Name: bodyField, Type: t, Description: oneLine(b.Description)}}, nil
}

// merged are the fields of a struct that can stand beside parameters; nil for another type.
func merged(t *schema.Type) []*schema.Field {
	if t.Kind != schema.Struct || len(t.Fields) == 0 {
		return nil
	}
	taken := map[string]bool{}
	var out []*schema.Field
	for _, f := range t.Fields {
		g := goname.Exported(f.Name)
		if !fieldForm.MatchString(f.Name) || len(f.Name) > maxName || taken[g] {
			return nil
		}
		taken[g] = true
		c := *f
		out = append(out, &c)
	}
	return out
}

// form takes the fields of a form that have a text form.
func (d *Document) form(q *Request, t *schema.Type, media *openapi3.MediaType) ([]*schema.Field, error) {
	if t.Kind != schema.Struct {
		return nil, d.refuse(media.Origin, "write a Go tool for it", "the fields of the form are not described")
	}
	q.body = map[string]string{}
	taken := map[string]bool{}
	var out []*schema.Field
	for _, f := range t.Fields {
		c := *f
		c.Name, c.Omit = fieldName(f.Name), false
		e, why := f.Type.Present(), ""
		if e.Kind == schema.List {
			if e = e.Elem; media.Encoding[f.Name] != nil {
				why = "is a list with an encoding of its own"
			}
		}
		g := goname.Exported(c.Name)
		switch e.Kind {
		case schema.String, schema.Int, schema.Float, schema.Bool, schema.Time, schema.Enum:
			if c.Name == "" || taken[g] {
				why = "has a name that a field cannot have"
			}
		default:
			why = "has no text form: its type is " + e.Kind.String()
		}
		if why != "" && f.Required() {
			return nil, d.refuse(media.Origin, "write a Go tool for it", "field `%s` of the form %s", f.Name, why)
		}
		if why != "" {
			q.Left = append(q.Left, "field `"+f.Name+"` of the form "+why)
			continue
		}
		taken[g] = true
		q.body[c.Name] = f.Name
		out = append(out, &c)
	}
	return out, nil
}
