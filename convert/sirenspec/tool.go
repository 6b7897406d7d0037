package sirenspec

import (
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/sirenspec"
)

// A request is an http tool while it is made: what it takes of the node.
type request struct {
	node *sirenspec.Node
	tool *ir.Tool
	with []*ir.Entry
}

// request declares the tool of a node that asks an address. It returns what the tool is given.
func (s *siren) request(n *sirenspec.Node) *ir.With {
	q, http := n.Request, &ir.HTTPTool{Method: n.Request.Method}
	t := &ir.Tool{Key: convert.Name(s.IDs[n.ID.Name]), Binding: http, In: convert.Struct(), Effects: ir.EffectsExternal, MaxOutput: 16 << 20, Span: n.Span}
	r := &request{node: n, tool: t}
	s.address(r, q.URL, http)
	typed := false
	for _, h := range q.Headers {
		typed = typed || h.Key.Name == "Content-Type"
		switch segs := h.Value.Segments; {
		case len(segs) == 2 && segs[0].Lit == "Bearer " && secretValue(segs[1].Ref) && strings.EqualFold(h.Key.Name, "Authorization") && t.Auth == nil:
			t.Auth = &ir.Auth{Kind: "bearer", Secret: s.secret(segs[1].Ref)}
		case len(segs) == 1 && secretValue(segs[0].Ref) && t.Auth == nil:
			t.Auth = &ir.Auth{Kind: "header", Header: h.Key.Name, Secret: s.secret(segs[0].Ref)}
		default:
			http.Headers = append(http.Headers, ir.Param{Name: h.Key, Value: convert.Text(s.filled(r, h.Value), h.Value.Text.Span)})
		}
	}
	if q.Body != nil && q.Method == "POST" && !typed {
		http.Headers = append(http.Headers, ir.Param{Name: convert.Name("Content-Type"), Value: convert.Text("application/json")})
	}
	switch {
	case q.Body == nil:
	case constant(q.Body):
		http.Body = convert.Literal(literal(q.Body))
	default:
		http.Body = convert.Ref(s.place(r, "body", s.text(q.Body, n)))
	}
	if s.read[n] {
		t.Out = schema.AnyType
	}
	if q.Method == "GET" {
		t.Effects = ir.EffectsReads
	}
	s.Out.Tools = append(s.Out.Tools, t)
	return convert.With(r.with...)
}

// secretValue reports whether a reference is an environment variable that has to be set.
func secretValue(r *dialect.Reference) bool { return r != nil && r.Root == "env" && r.Filter == "" }

// constant reports whether a text has no references.
func constant(m *dialect.Mixed) bool {
	return !slices.ContainsFunc(m.Segments, func(seg dialect.MixedSegment) bool { return seg.Ref != nil })
}

// literal is a text that has none.
func literal(m *dialect.Mixed) (text string) {
	for _, seg := range m.Segments {
		text += seg.Lit
	}
	return text
}

// address is the URL: what an environment variable begins goes on from it, and values are in their places.
func (s *siren) address(c *request, m *dialect.Mixed, http *ir.HTTPTool) {
	http.URL = convert.Text("")
	segs := m.Segments
	base := ""
	if len(segs) > 0 && secretValue(segs[0].Ref) {
		base = strings.Join(segs[0].Ref.Path, ".")
		if segs = segs[1:]; len(segs) == 0 || !strings.HasPrefix(segs[0].Lit, "/") || !doc.FieldForm.MatchString(base) {
			s.Refuse(m.Text.Span, "let the variable hold what is before a `/`", "this address cannot be said in the native language")
			return
		}
	}
	var b strings.Builder
	encoded := strings.NewReplacer("{", "%7B", "}", "%7D")
	for _, seg := range segs {
		if seg.Ref == nil {
			b.WriteString(encoded.Replace(seg.Lit))
			continue
		}
		if before := b.String(); base == "" && strings.Count(before, "/") < 3 {
			s.Refuse(seg.Ref.Text.Span, "write the host, or let an environment variable hold the base URL", "a value cannot be used in the host")
			return
		}
		if secretValue(seg.Ref) || seg.Ref.Root == "env" {
			s.Refuse(seg.Ref.Text.Span, "make it an input of the workflow, or a secret that the tool sends", "an environment variable can only be the start of a URL")
			return
		}
		b.WriteString("{" + s.place(c, seg.Ref.Path[len(seg.Ref.Path)-1], s.shown(seg.Ref, c.node)) + "}")
		s.Note(seg.Ref.Text.Span, "", "values are encoded where they are in a URL; the engine puts them there as they are")
	}
	http.Base, http.URL = convert.Name(base), convert.Text(b.String())
	if base == "" {
		s.reach(b.String())
	}
}

// filled is text of a request, whose references are fields of the tool's input.
func (s *siren) filled(c *request, m *dialect.Mixed) string {
	var b strings.Builder
	for _, seg := range m.Segments {
		switch {
		case seg.Ref == nil:
			b.WriteString(doc.Braces(seg.Lit))
		case seg.Ref.Root == "env":
			s.Refuse(seg.Ref.Text.Span, "let one header hold it alone, or behind `Bearer `", "an environment variable cannot be used in native text")
		default:
			b.WriteString("{{ " + s.place(c, seg.Ref.Path[len(seg.Ref.Path)-1], s.shown(seg.Ref, c.node)) + " }}")
		}
	}
	return b.String()
}

// place adds a field of text to what a tool takes, and gives its name.
func (s *siren) place(c *request, name, text string) string {
	v := ir.Value(convert.Text(text))
	if strings.HasPrefix(text, "{{ ") && strings.HasSuffix(text, " }}") && strings.Count(text, "{{") == 1 && !strings.ContainsAny(text, "\"\\|?\n") {
		if expr := text[3 : len(text)-3]; s.isText(expr) {
			v = convert.Ref(expr)
		}
	}
	name = convert.NativeID(name)
	for _, e := range c.with {
		if e.Key.Name == name {
			if reflect.DeepEqual(e.Value, v) {
				return name
			}
			name += "_"
		}
	}
	c.tool.In.Fields = append(c.tool.In.Fields, convert.Field(name, schema.StringType))
	c.with = append(c.with, convert.Pair(name, v))
	return name
}

// isText reports whether what text shows is text itself: a number is in text only where the context begins with it.
func (s *siren) isText(expr string) bool {
	path, seeded := strings.CutPrefix(expr, "state.")
	if !seeded {
		return true
	}
	_, typ, ok := s.seeded(strings.Split(path, "."))
	return ok && typ.Kind == schema.String
}

// reach allows a host that the file names and that is not public, as the engine does.
func (s *siren) reach(address string) {
	u, err := url.Parse(address)
	if err != nil {
		return
	}
	host := u.Hostname()
	if ip, err := netip.ParseAddr(host); err != nil && strings.Contains(host, ".") && !strings.HasSuffix(host, ".local") && !strings.HasSuffix(host, ".internal") || err == nil && !ip.IsLoopback() && !ip.IsPrivate() {
		return
	}
	if s.Out.Policy == nil {
		s.Out.Policy = &ir.Policy{}
	}
	if p := s.Out.Policy; !slices.Contains(p.NetAllow, host) {
		p.NetAllow = append(p.NetAllow, host)
	}
}

// secret is an environment variable, which is a secret in the native language.
func (s *siren) secret(r *dialect.Reference) ir.Ident {
	name := convert.Name(strings.Join(r.Path, "."))
	if !doc.FieldForm.MatchString(name.Name) {
		s.Refuse(r.Text.Span, "use a variable of upper-case letters, digits and _", "this variable cannot be the name of a secret")
	}
	if !slices.ContainsFunc(s.Out.Secrets, func(x *ir.Secret) bool { return x.Name.Name == name.Name }) {
		s.Out.Secrets = append(s.Out.Secrets, &ir.Secret{Name: name})
	}
	return name
}

// pythonCall declares the tool of a node that calls a function. It returns what the tool is given.
func (s *siren) pythonCall(n *sirenspec.Node, t *ir.Tool, b *ir.PythonTool) *ir.With {
	if t.Def == nil || t.Def.Root != "" || convert.LooksAround(t) != "" {
		s.Refuse(n.ID.Span, "put the module next to the file, and hand it values as arguments, or as secrets", "the module of %s is not here, or looks at the environment, which a tool of the native language does not see", n.ID.Name)
	}
	tool := &ir.Tool{Key: convert.Name(s.IDs[n.ID.Name]), Binding: b, Effects: ir.EffectsExternal}
	s.Out.Tools = append(s.Out.Tools, tool)
	with := &ir.With{Span: convert.Below(convert.NodeAt(s.Root, n.Span), "config")}
	var given []*schema.Field
	if n.Args != nil {
		for _, e := range n.Args.Entries {
			with.Entries = append(with.Entries, &ir.Entry{Key: e.Key, Value: s.argument(e.Value, n)})
			given = append(given, convert.Field(e.Key.Name, argumentType(e.Value)))
		}
	}
	if convert.Keywords(t) {
		tool.In = convert.Struct(given...) // its source does not name them
	}
	return with
}

// argumentType is the type of a value that a function is given.
func argumentType(v ir.Value) *schema.Type {
	switch v := v.(type) {
	case *dialect.Mixed:
		return schema.StringType
	case *ir.Scalar:
		return convert.TypeOf(v)
	}
	return schema.AnyType
}

// argument is a value that a function is given: its texts are filled at any depth.
func (s *siren) argument(v ir.Value, n *sirenspec.Node) ir.Value {
	if m, is := v.(*dialect.Mixed); is && constant(m) {
		return &ir.Scalar{Tag: "!!str", Text: m.Text}
	} else if is {
		return convert.Text(s.text(m, n), m.Text.Span)
	}
	return convert.Rewrite(v, func(v ir.Value) ir.Value { return s.argument(v, n) })
}

// failure says what becomes of a tool that fails: nothing reads its result, so that a failure that is skipped leaves
// nothing behind.
func (s *siren) failure(n *sirenspec.Node, node *ir.Node) {
	tree := convert.NodeAt(s.Root, n.Span)
	if n.Attempts > 1 {
		node.Retry = &ir.Retry{Attempts: n.Attempts, Codes: convert.Names(schema.ErrorCodes...), Constant: true, Base: convert.Duration(time.Millisecond), Span: convert.Below(tree, "retry")}
		node.BoundAttempts(node.Timeout) // that of a request
		node.Timeout = nil
	}
	if n.Skips {
		node.OnError = &ir.OnError{Kind: ir.OnErrorSkip, Span: convert.Below(tree, "on_failure")}
	}
}
