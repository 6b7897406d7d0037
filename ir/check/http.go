package check

import (
	"fmt"
	"net/netip"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// httpTool types the parts of a request, which see the tool's input and nothing else, and checks what the runtime would
// refuse at every call.
func (c *checker) httpTool(t *ir.Tool, h *ir.HTTPTool) {
	e := &env{c: c, params: toolIn(t)}
	if h.URL != nil {
		c.url(h, e)
	}
	for _, q := range h.Query {
		c.param(q.Value, "", e)
	}
	kind := ""
	for _, f := range h.Headers {
		c.param(f.Value, "a header", e)
		c.header(f)
		if text, ok := f.Value.(*ir.Template); ok && strings.EqualFold(f.Name.Name, "Content-Type") {
			kind, _ = text.Tmpl.Literal()
		}
	}
	c.httpBody(t, h, kind, e)
	if t.Auth != nil {
		c.secret(t.Auth.Secret)
		if t.Auth.Kind == "header" && connectionHeader(t.Auth.Header) {
			c.ownHeader(t.Auth.Header, t.Key.Span, "name the header in which the service expects the secret")
		}
	}
	if out := toolOut(t).Kind; h.HTMLText && out != schema.String && out != schema.Invalid {
		c.report(diag.Diagnostic{Code: diag.TypeMismatch, Span: t.Key.Span, Message: fmt.Sprintf("a page as text is a string, and out is %s", toolOut(t))})
	}
}

// param types a header or a parameter of the URL: what has a text form, or several of them in a list, unless single says that it is
// something which has one value.
func (c *checker) param(v ir.Value, single string, e *env) {
	switch v := v.(type) {
	case *ir.Expr:
		t := c.value(v, nil, e).Present()
		switch {
		case t.Kind == schema.List && single == "":
			t = t.Elem
		case t.Kind == schema.List:
			c.report(diag.Diagnostic{Code: diag.TypeMismatch, Span: v.Source(), Message: single + " has one value, and this is a list", Help: "join its items: `{{ " + v.Text.Value + ` | join(", ") }}` + "`"})
			return
		}
		if !hasText(t) {
			c.report(diag.Diagnostic{Code: diag.NoTextForm, Span: v.Source(), Message: fmt.Sprintf("a request part is text, but %s is %s", v.Text.Value, v.Node.Type), Help: "name the field to send, or write it as JSON: `\"{{ " + v.Text.Value + " | json }}\"`"})
		}
	case *ir.List:
		for _, x := range v.Items {
			c.param(x, "an item", e)
		}
	default:
		c.value(v, schema.StringType, e)
	}
}

// hasText reports whether a value that is there has a text form.
func hasText(t *schema.Type) bool {
	switch t.Kind {
	case schema.String, schema.Int, schema.Float, schema.Bool, schema.Time, schema.Duration, schema.Bytes, schema.Invalid:
		return true
	}
	return t.Kind == schema.Enum
}

// secret checks that a secret is declared.
func (c *checker) secret(s ir.Ident) {
	var names []string
	for _, x := range c.wf.Secrets {
		if x.Name.Name == s.Name {
			return
		}
		names = append(names, x.Name.Name)
	}
	if s.Name == "" || c.wf.Library || c.idle {
		return // reported by the parser; declared by those who include the file; of a tool that is never called
	}
	d := diag.Diagnostic{Code: diag.UnknownName, Span: s.Span, Message: fmt.Sprintf("secret %q is not declared", s.Name)}
	diag.Suggest(&d, s.Name, names)
	if d.Help == "" {
		d.Help = "add `secrets: [" + s.Name + "]`"
	}
	c.report(d)
}

var connectionHeaders = []string{"Accept-Encoding", "Connection", "Content-Length", "Expect", "Host", "Keep-Alive", "Proxy-Authorization",
	"Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

func connectionHeader(name string) bool {
	return slices.Contains(connectionHeaders, textproto.CanonicalMIMEHeaderKey(name))
}

// ownHeader reports a header that no tool can set.
func (c *checker) ownHeader(name string, at source.Span, help string) {
	c.report(diag.Diagnostic{Code: diag.BadRequest, Span: at, Message: "header `" + name + "` is set by the connection", Help: help})
}

func (c *checker) header(f ir.Param) {
	if connectionHeader(f.Name.Name) {
		c.ownHeader(f.Name.Name, f.Name.Span, "remove it")
	}
	text, ok := f.Value.(*ir.Template)
	if !ok {
		return
	}
	for _, s := range text.Tmpl.Segments {
		if strings.ContainsFunc(s.Lit, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			c.report(diag.Diagnostic{Code: diag.BadRequest, Span: f.Value.Source(), Message: "a header is one line", Help: "write the value without line breaks and other control characters"})
			return
		}
	}
}

// httpBody types what is sent. Text is sent as it is; everything else is encoded, so that no value can change the shape
// of the document it is in.
func (c *checker) httpBody(t *ir.Tool, h *ir.HTTPTool, kind string, e *env) {
	media, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(kind)), ";")
	switch v := h.Body.(type) {
	case nil:
		return
	case *ir.Object:
		if media == "application/x-www-form-urlencoded" {
			c.form(v, e)
			h.Encoding = ir.BodyForm
			return
		}
	case *ir.Template:
		_, constant := v.Tmpl.Literal()
		structured := strings.Contains(media, "json") || strings.Contains(media, "xml") || strings.Contains(media, "urlencoded")
		if structured && !constant {
			help := "write the body as a mapping, so that values are encoded"
			if strings.Contains(media, "xml") {
				help = "build the document in a Go tool, and send it with `body: $field`"
			}
			c.report(diag.Diagnostic{Code: diag.BadRequest, Span: v.Source(), Message: "a value in this text could change the document that is sent", Help: help})
			return
		}
	}
	h.BodyType = c.inferred(h.Body, e)
	leaveOut(h.Body, h.BodyType)
	if h.Document != nil {
		asDescribed(t, h)
	}
	h.Encoding = ir.BodyJSON
	if h.BodyType.Kind == schema.String && (h.Document == nil || !strings.Contains(media, "json")) {
		h.Encoding = ir.BodyText
	}
	if (h.Method == "GET" || h.Method == "HEAD") && h.BodyType.Kind != schema.Invalid {
		c.report(diag.Diagnostic{Code: diag.BadRequest, Span: h.Body.Source(), Message: "a " + h.Method + " request has no body", Help: "put the values into `query`, or use POST"})
	}
}

// asDescribed makes a body have the null of a field that its document requires.
func asDescribed(t *ir.Tool, h *ir.HTTPTool) {
	body, ok := h.Body.(*ir.Object)
	if !ok {
		return
	}
	for _, entry := range body.Entries {
		x, _ := entry.Value.(*ir.Expr)
		if f := h.BodyType.Field(entry.Key.Name); f != nil && x != nil {
			f.Omit = t.In.Field(x.Node.Text).Omit
		}
	}
}

// leaveOut makes a body lack the optional values in it that are absent.
func leaveOut(v ir.Value, t *schema.Type) {
	switch v := v.(type) {
	case *ir.Object:
		for _, entry := range v.Entries {
			f := t.Field(entry.Key.Name)
			if t.Kind != schema.Struct || f == nil {
				continue
			}
			if _, value := entry.Value.(*ir.Expr); value && f.Type.Kind == schema.Opt {
				f.Omit = true
			}
			leaveOut(entry.Value, f.Type)
		}
	case *ir.List:
		for _, x := range v.Items {
			if t.Kind == schema.List {
				leaveOut(x, t.Elem)
			}
		}
	}
}

// form checks the fields of a form: each has a text form, may be absent, or be a list of several.
func (c *checker) form(v *ir.Object, e *env) {
	for _, entry := range v.Entries {
		switch x := entry.Value.(type) {
		case *ir.Expr:
			if x.Node == nil {
				continue
			}
			if t := c.inferred(x, e); t.Kind == schema.Opt || t.Kind == schema.List { // absent, or several of the name
				c.param(x, "", e)
				continue
			}
			text := &ir.Template{Text: x.Text, Tmpl: &expr.Template{Segments: []expr.Segment{{Expr: x.Node, Hi: len(x.Text.Value)}}}}
			entry.Value = text
			c.template(text, e)
		case *ir.Template:
			c.template(x, e)
		case *ir.Scalar:
			c.inferred(x, e) // any but null has a text
		default:
			c.mismatch(x.Source(), schema.StringType, "a list or mapping")
		}
	}
}

var (
	placeForm = regexp.MustCompile(`\{[^{}]*\}`)
	placeName = regexp.MustCompile(`^\+?[A-Za-z_][A-Za-z0-9_]*$`)
)

// maxPlaces bounds the fields in one URL.
const maxPlaces = 100

// url checks a URL and types its places. A value may be in the path, in the query, and for the port; scheme and host
// are written in the file.
func (c *checker) url(h *ir.HTTPTool, e *env) {
	text := h.URL.Text
	raw := text.Value
	bad := func(lo, hi int, message, help string) {
		c.report(diag.Diagnostic{Code: diag.BadURL, Span: text.At(lo, hi), Message: message, Help: help})
	}
	start, end := 0, 0
	switch scheme, rest, ok := strings.Cut(raw, "://"); {
	case h.Base.Name != "":
		if !strings.HasPrefix(raw, "/") || strings.HasPrefix(raw, "//") {
			bad(0, len(raw), "after a `base`, a URL starts with `/`", "write it as in `/items/{id}`: the variable "+h.Base.Name+" has the part before it")
			return
		}
	case !ok || scheme != "http" && scheme != "https":
		help := "write it as in `https://example.com/items/{id}`"
		if strings.HasPrefix(raw, "/") {
			help += ", or name the environment variable with the base URL: `base: API_URL`"
		}
		bad(0, len(raw), "a URL starts with `https://` or `http://`", help)
		return
	default:
		start, end = len(scheme)+3, len(raw)
		if i := strings.IndexAny(rest, "/?#"); i >= 0 {
			end = start + i
		}
	}
	before := c.sink.Errors()
	var plain strings.Builder // the URL with something harmless in its places
	at := 0
	places := placeForm.FindAllStringIndex(raw, maxPlaces+1)
	if len(places) > maxPlaces {
		bad(places[maxPlaces][0], places[maxPlaces][1], fmt.Sprintf("a URL has at most %d placeholders", maxPlaces), "send long data in the body")
		return
	}
	for _, m := range places {
		plain.WriteString(raw[at:m[0]])
		name := raw[m[0]+1 : m[1]-1]
		if !placeName.MatchString(name) {
			bad(m[0], m[1], "braces in a URL contain a field name", "write `{id}`, or `{+path}` to keep slashes")
			return
		}
		in := m[0] < end
		port := in && raw[m[0]-1] == ':' && m[1] == end && name[0] != '+'
		switch {
		case in && !port:
			bad(m[0], m[1], "a value cannot be used in the host", "write the host; a value can be the port, a part of the path or of the query")
		case name[0] == '+' && strings.Contains(raw[:m[0]], "?"):
			bad(m[0], m[1], "`{+...}` keeps the slashes of a path, and this is the query", "write `{"+name[1:]+"}`")
		}
		plain.WriteString("1")
		bare := strings.TrimPrefix(name, "+")
		place := cutText(text, m[1]-1-len(bare), m[1]-1)
		h.Places = append(h.Places, c.place(place, port, e))
		at = m[1]
	}
	plain.WriteString(raw[at:])
	if c.sink.Errors() > before {
		return
	}
	if i := strings.IndexAny(plain.String(), "{}"); i >= 0 {
		j := strings.IndexAny(raw, "{}") // of what is no place
		bad(j, j+1, "a brace in a URL stands for a field", "write `%7B` and `%7D` for braces as text")
		return
	}
	u, err := url.Parse(plain.String())
	switch {
	case err != nil || u.Hostname() == "" && h.Base.Name == "":
		bad(start, max(end, start), "this is not a valid host", "write it as in `https://example.com/items/{id}`")
	case strings.ContainsAny(raw, " \t\n\r\\"):
		j := strings.IndexAny(raw, " \t\n\r\\")
		bad(j, j+1, "a URL has no spaces or backslashes", "write `%20` for a space")
	case u.User != nil:
		bad(start, end, "a URL cannot contain a user or password", "declare a secret and use `auth`")
	case strings.Contains(raw, "#"):
		bad(strings.IndexByte(raw, '#'), len(raw), "what follows `#` is not sent", "remove it")
	case slices.ContainsFunc(strings.Split(u.Path, "/"), func(s string) bool { return s == "." || s == ".." }):
		bad(end, len(raw), "the path has a `.` or `..` segment", "write the resolved path")
	}
}

// place types one place of a URL, whose name is in text.
func (c *checker) place(text source.Text, port bool, e *env) *ir.Template {
	n := len(text.Value) // the name of a field, whatever it means in expressions
	node := &expr.Node{Op: expr.Name, Text: text.Value, Hi: n, NameHi: n}
	t := &ir.Template{Text: text, Tmpl: &expr.Template{Segments: []expr.Segment{{Expr: node, Hi: n}}}}
	problems := expr.CheckTemplate(t.Tmpl, e, e.facts())
	for i := range problems { // filters and functions have no place here
		switch problems[i].Code {
		case diag.NoTextForm:
			problems[i].Help, problems[i].Replace = "a URL placeholder takes text, a number, a bool or a time", nil
		case diag.OptionalUse:
			problems[i].Help, problems[i].Replace = "declare a default for the field, or make it required", nil
		}
	}
	c.problems(text, problems)
	if port && len(problems) == 0 && node.Type != nil && node.Type.Kind != schema.Int && node.Type.Kind != schema.Invalid {
		c.report(diag.Diagnostic{Code: diag.BadURL, Span: text.Span, Message: fmt.Sprintf("a port is an int, and %s is %s", text.Value, node.Type), Help: "declare the field as int"})
	}
	return t
}

// cutText is the piece [lo, hi) of a text, at its place in the file.
func cutText(t source.Text, lo, hi int) source.Text {
	return source.Text{Value: t.Value[lo:hi], Span: t.At(lo, hi), Opaque: true}
}

var hostForm = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_.])?$`)

// netAllow checks the addresses that the policy lets requests reach.
func (c *checker) netAllow() {
	if c.wf.Policy == nil {
		return
	}
	for _, entry := range c.wf.Policy.NetAllow {
		if _, err := netip.ParsePrefix(entry); err == nil {
			continue
		}
		if _, err := netip.ParseAddr(strings.Trim(entry, "[]")); err == nil || hostForm.MatchString(entry) {
			continue
		}
		c.report(diag.Diagnostic{Code: diag.BadURL, Span: c.wf.Policy.Span, Message: fmt.Sprintf("`net.allow` cannot hold %q", entry),
			Help: "write `loopback`, `private`, an address, a range as in `10.1.0.0/16`, or the name of a host"})
	}
}
