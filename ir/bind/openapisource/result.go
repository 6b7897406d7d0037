package openapisource

import (
	"maps"
	"mime"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// class is what a media type is to a tool: json, form, text, or "" for what it can neither send nor read.
func class(media string) string {
	kind, _, err := mime.ParseMediaType(media)
	switch {
	case err != nil:
		return ""
	case kind == "application/json" || strings.HasSuffix(kind, "+json"):
		return "json"
	case kind == "application/x-www-form-urlencoded":
		return "form"
	case strings.HasPrefix(kind, "text/") && kind != "text/event-stream" || kind == "application/xml" || strings.HasSuffix(kind, "+xml"):
		return "text"
	}
	return ""
}

// choose is the media type of the first class that there is; plain JSON before other JSON.
func choose(content openapi3.Content, classes ...string) (kind string, media *openapi3.MediaType) {
	names := slices.Sorted(maps.Keys(content))
	if m := content["application/json"]; m != nil {
		return "application/json", m
	}
	for _, c := range classes {
		for _, name := range names {
			if class(name) == c && content[name] != nil && !strings.Contains(name, "*") {
				return name, content[name]
			}
		}
	}
	return "", nil
}

// result is the type of what comes back: of all responses of success. Where they differ it is any.
func (d *Document) result(q *Request) error {
	if q.Out = schema.EmptyType; q.Operation.Method == "HEAD" {
		return nil
	}
	out := d.reading(false)
	var list []*openapi3.Response
	all := q.Operation.op.Responses.Map()
	for _, status := range slices.Sorted(maps.Keys(all)) {
		if ref := all[status]; strings.HasPrefix(status, "2") && ref != nil && ref.Value != nil {
			list = append(list, ref.Value)
		}
	}
	if len(list) == 0 { // errors only, or a default that may be one
		q.Out = schema.AnyType
		return nil
	}
	var t *schema.Type
	for _, r := range list {
		one := schema.EmptyType
		if len(r.Content) > 0 {
			kind, media := choose(r.Content, "json", "text")
			switch {
			case media != nil && class(kind) == "text":
				one = schema.StringType
			case media != nil:
				one = out.typ(media.Schema)
			case r.Content["*/*"] != nil:
				one = schema.AnyType
			default:
				return d.refuse(r.Origin, "write a Go tool for it", "the response is %s, and a tool reads JSON and text", slices.Sorted(maps.Keys(r.Content))[0])
			}
		}
		switch {
		case t == nil:
			t = one
		case !foreign.Same(t, one):
			t = schema.AnyType
		}
	}
	if t.Kind == schema.Opt { // JSON null
		t = schema.AnyType
	}
	q.Out = t
	return nil
}

// A Way is one way to authenticate.
type Way struct {
	Kind   string // bearer, basic or header, as in `auth`
	Header string
	Scheme string // its name in the document
}

// security takes the ways to authenticate that `auth` can express. An operation that has none of them is refused.
func (d *Document) security(q *Request) error {
	list := d.doc.Security
	if s := q.Operation.op.Security; s != nil {
		list = *s
	}
	why := ""
	for _, alternative := range list {
		if len(alternative) == 0 {
			q.Free = true
			continue
		}
		names := slices.Sorted(maps.Keys(alternative))
		if len(names) > 1 {
			why = strings.Join(names, " and ") + " together"
			continue
		}
		way, other := d.scheme(names[0])
		if other != "" {
			why = other
			continue
		}
		q.Ways = append(q.Ways, way)
	}
	q.Free = q.Free || len(list) == 0
	if len(q.Ways) == 0 && !q.Free {
		return d.refuse(q.Operation.op.Origin, "write a Go tool for it", "it authenticates with %s, which `auth` cannot express", why)
	}
	return nil
}

// scheme is the way of a security scheme; other says what it is when `auth` cannot express it.
func (d *Document) scheme(name string) (way Way, other string) {
	var s *openapi3.SecurityScheme
	if d.doc.Components != nil && d.doc.Components.SecuritySchemes[name] != nil {
		s = d.doc.Components.SecuritySchemes[name].Value
	}
	if s == nil {
		return way, name + ", which is not described,"
	}
	switch http := strings.ToLower(s.Scheme); {
	case s.Type == "http" && (http == "bearer" || http == "basic"):
		return Way{Kind: http, Scheme: name}, ""
	case s.Type == "oauth2" || s.Type == "openIdConnect":
		return Way{Kind: "bearer", Scheme: name}, ""
	case s.Type == "apiKey" && s.In == "header":
		return Way{Kind: "header", Header: s.Name, Scheme: name}, ""
	case s.Type == "apiKey":
		return way, "a key in the " + s.In
	}
	return way, s.Type + " " + s.Scheme
}
