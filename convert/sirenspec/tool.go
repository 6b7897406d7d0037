package sirenspec

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/sirenspec"
)

// A call is an http tool while it is written: what its request takes of the node.
type call struct {
	node     *sirenspec.Node
	in, with *doc.Mapping
}

// request writes a node that asks an address, and its tool.
func (s *siren) request(n *sirenspec.Node, m *doc.Mapping) {
	q := n.Request
	id, tree := s.IDs[n.ID.Name], convert.NodeAt(s.Root, n.Span)
	config := tree.Get("config")
	c := &call{node: n, in: doc.Flow(), with: doc.Flow()}
	http := &doc.Mapping{Flow: true}
	http.Add("method", doc.Scalar(q.Method), convert.Below(config, "method"))
	s.address(c, q.URL, http, convert.Below(config, "url"))
	headers, auth := doc.Flow(), (*doc.Mapping)(nil)
	typed := false
	for _, h := range q.Headers {
		typed = typed || h.Key.Name == "Content-Type"
		switch segs := h.Value.Segments; {
		case len(segs) == 2 && segs[0].Lit == "Bearer " && secretValue(segs[1].Ref) && strings.EqualFold(h.Key.Name, "Authorization") && auth == nil:
			auth = doc.Flow(doc.Pair("bearer", doc.Scalar(s.secret(segs[1].Ref))))
		case len(segs) == 1 && secretValue(segs[0].Ref) && auth == nil:
			auth = doc.Flow(doc.Pair("header", doc.Scalar(doc.Quoted(h.Key.Name))), doc.Pair("secret", doc.Scalar(s.secret(segs[0].Ref))))
		default:
			headers.Add(doc.Key(h.Key.Name), doc.Scalar(doc.Quoted(s.filled(c, h.Value))), convert.Join(h.Key.Span, h.Value.Text.Span))
		}
	}
	if q.Body != nil && q.Method == "POST" && !typed {
		headers.Add("Content-Type", doc.Scalar("application/json"), source.Span{})
	}
	if len(headers.Entries) > 0 {
		http.Add("headers", headers, convert.Below(config, "headers"))
	}
	switch {
	case q.Body == nil:
	case s.constant(q.Body):
		http.Add("body", doc.Spell(doc.Data(s.filled(c, q.Body))), convert.Below(config, "body"))
	default:
		name := s.place(c, "body", doc.Scalar(doc.Quoted(s.text(q.Body, n))))
		if text := s.text(q.Body, n); strings.Contains(text, "\n") {
			c.with.Entries[len(c.with.Entries)-1].Value, c.with.Flow = doc.Spell(text), false
		}
		http.Add("body", doc.Scalar("$"+name), convert.Below(config, "body"))
	}
	def := &doc.Mapping{}
	def.Add("http", http, source.Span{})
	if auth != nil {
		def.Add("auth", auth, source.Span{})
	}
	if len(c.in.Entries) > 0 {
		def.Add("in", c.in, source.Span{})
	}
	if s.read[n] {
		def.Add("out", doc.Scalar("any"), source.Span{})
	}
	effects := "external"
	if q.Method == "GET" {
		effects = "reads"
	}
	def.Add("effects", doc.Scalar(effects), source.Span{})
	def.Add("max_output", doc.Scalar("16MiB"), source.Span{})
	s.tools.Add(id, def, source.Span{})
	m.Add("tool", doc.Scalar(id), convert.Below(tree, "tool"))
	s.WithUnlessEmpty(m, c.with, source.Span{})
	m.Add("timeout", doc.Number(int(q.Seconds))+"s", convert.Below(config, "timeout"))
}

// secretValue reports whether a reference is a variable of the environment that has to be set.
func secretValue(r *dialect.Reference) bool { return r != nil && r.Root == "env" && r.Filter == "" }

// constant reports whether a text has no references.
func (s *siren) constant(m *dialect.Mixed) bool {
	return !slices.ContainsFunc(m.Segments, func(seg dialect.MixedSegment) bool { return seg.Ref != nil })
}

// address writes the URL: what a variable of the environment begins goes on from it, and values stand in their places.
func (s *siren) address(c *call, m *dialect.Mixed, http *doc.Mapping, at source.Span) {
	segs := m.Segments
	base := ""
	if len(segs) > 0 && secretValue(segs[0].Ref) {
		base = strings.Join(segs[0].Ref.Path, ".")
		if segs = segs[1:]; len(segs) == 0 || !strings.HasPrefix(segs[0].Lit, "/") || !doc.FieldForm.MatchString(base) {
			s.Refuse(m.Text.Span, "let the variable hold what stands before a `/`", "this address cannot be said in the native language")
			return
		}
	}
	var b strings.Builder
	literal := strings.NewReplacer("{", "%7B", "}", "%7D")
	for _, seg := range segs {
		if seg.Ref == nil {
			b.WriteString(literal.Replace(seg.Lit))
			continue
		}
		if before := b.String(); base == "" && strings.Count(before, "/") < 3 {
			s.Refuse(seg.Ref.Text.Span, "write the host, or let a variable of the environment hold the beginning of the address", "a value cannot stand in the host")
			return
		}
		if secretValue(seg.Ref) || seg.Ref.Root == "env" {
			s.Refuse(seg.Ref.Text.Span, "make it an input of the workflow, or a secret that the tool sends", "a variable of the environment stands in no place of a URL but its beginning")
			return
		}
		b.WriteString("{" + s.place(c, seg.Ref.Path[len(seg.Ref.Path)-1], doc.Scalar(doc.Quoted(s.shown(seg.Ref, c.node)))) + "}")
		if !s.Again {
			s.Note(seg.Ref.Text.Span, "", "values are encoded where they stand in a URL; the engine puts them there as they are")
		}
	}
	if base != "" {
		http.Add("base", doc.Scalar(base), source.Span{})
		http.Add("url", doc.Scalar(doc.Quoted(b.String())), at)
		return
	}
	http.Add("url", doc.Scalar(doc.Escaped(b.String())), at)
	s.reach(b.String())
}

// filled is text of a request, whose references are fields of the tool's input.
func (s *siren) filled(c *call, m *dialect.Mixed) string {
	var b strings.Builder
	for _, seg := range m.Segments {
		switch {
		case seg.Ref == nil:
			b.WriteString(doc.Braces(seg.Lit))
		case seg.Ref.Root == "env":
			s.Refuse(seg.Ref.Text.Span, "let one header hold it alone, or behind `Bearer `", "a variable of the environment stands in no text of the native language")
		default:
			b.WriteString("{{ " + s.place(c, seg.Ref.Path[len(seg.Ref.Path)-1], doc.Scalar(doc.Quoted(s.shown(seg.Ref, c.node)))) + " }}")
		}
	}
	return b.String()
}

// place adds a field of text to what a tool takes, and gives its name.
func (s *siren) place(c *call, name string, v doc.Scalar) string {
	name = convert.NativeID(name)
	for i := range c.with.Entries {
		if e := c.with.Entries[i]; e.Key == name {
			if e.Value == v {
				return name
			}
			name += "_"
		}
	}
	if text := string(v); strings.HasPrefix(text, `"{{ `) && strings.HasSuffix(text, ` }}"`) && strings.Count(text, "{{") == 1 && !strings.Contains(text, "|") && !strings.Contains(text, "?") {
		v = doc.Scalar(doc.Quoted("$" + text[4:len(text)-4]))
	}
	c.in.Add(name, doc.Scalar("string"), source.Span{})
	c.with.Add(name, v, source.Span{})
	return name
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
	if !slices.ContainsFunc(s.hosts.Items, func(e *doc.Entry) bool { return e.Value == doc.Scalar(doc.Quoted(host)) }) {
		s.hosts.Add(doc.Scalar(doc.Quoted(host)), source.Span{})
	}
}

// secret is a variable of the environment, which is a secret in the native language.
func (s *siren) secret(r *dialect.Reference) string {
	name := strings.Join(r.Path, ".")
	if !doc.FieldForm.MatchString(name) {
		s.Refuse(r.Text.Span, "", "this variable cannot be the name of a secret")
	}
	if !slices.Contains(s.extern, name) && !slices.ContainsFunc(s.tree.Secrets, func(x *ir.Secret) bool { return x.Name.Name == name }) {
		s.extern = append(s.extern, name)
	}
	return name
}

// pythonCall writes a node that calls a function.
func (s *siren) pythonCall(n *sirenspec.Node, b *ir.PythonTool, m *doc.Mapping) {
	t := n.Verb.(*ir.ToolCall).Tool
	id, tree := s.IDs[n.ID.Name], convert.NodeAt(s.Root, n.Span)
	if t.Def == nil || t.Def.Root != "" || slices.ContainsFunc(t.Def.Files, func(f ir.SourceFile) bool { return convert.PyWorld.MatchString(f.Text) }) {
		s.Refuse(n.ID.Span, "", "the module of %s is not here, or looks at the environment, which a tool of the native language does not see", n.ID.Name)
	}
	def := doc.Flow(doc.Pair("python", doc.Scalar(doc.Quoted(b.Ref.Name))), doc.Pair("effects", doc.Scalar("external")))
	s.tools.Add(id, def, source.Span{})
	m.Add("tool", doc.Scalar(id), convert.Below(tree, "tool"))
	with := doc.Flow()
	if n.Args != nil {
		for _, e := range n.Args.Entries {
			with.Add(doc.Key(e.Key.Name), s.argument(e.Value, n), convert.Join(e.Key.Span, e.Value.Source()))
		}
	}
	s.WithUnlessEmpty(m, with, convert.Below(tree, "config"))
}

// argument is a value that a function is given: its texts are filled at any depth.
func (s *siren) argument(v ir.Value, n *sirenspec.Node) doc.Value {
	switch v := v.(type) {
	case *dialect.Mixed:
		if s.constant(v) {
			return doc.Spell(doc.Data(v.Text.Value))
		}
		return doc.Spell(s.text(v, n))
	case *ir.List:
		l := &doc.List{Flow: true}
		for _, it := range v.Items {
			l.Add(s.argument(it, n), it.Source())
		}
		return l
	case *ir.Object:
		m := doc.Flow()
		for _, e := range v.Entries {
			m.Add(doc.Key(e.Key.Name), s.argument(e.Value, n), convert.Join(e.Key.Span, e.Value.Source()))
		}
		return m
	}
	return s.Native(v)
}

// failure writes what becomes of a tool that fails: nothing reads its result, so that a failure that is skipped leaves
// nothing behind.
func (s *siren) failure(n *sirenspec.Node, m *doc.Mapping) {
	tree := convert.NodeAt(s.Root, n.Span)
	if n.Attempts > 1 {
		codes := &doc.List{Flow: true}
		for _, c := range schema.ErrorCodes {
			codes.Add(doc.Scalar(c), source.Span{})
		}
		m.Add("retry", doc.Flow(doc.Pair("attempts", doc.Number(n.Attempts)), doc.Pair("codes", codes), doc.Pair("backoff", doc.Scalar("constant")), doc.Pair("base", doc.Scalar("1ms"))), convert.Below(tree, "retry"))
	}
	if n.Skips {
		m.Add("on_error", doc.Scalar("skip"), convert.Below(tree, "on_failure"))
	}
}
