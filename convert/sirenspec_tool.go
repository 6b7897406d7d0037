package convert

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A call is an http tool while it is written: what its request takes of the node.
type call struct {
	node     *ir.Node
	in, with *mapping
}

// request writes a node that asks an address, and its tool.
func (s *siren) request(n *ir.Node, m *mapping) {
	q := n.Dynamic.Context.Request
	id, tree := s.ids[n.ID.Name], nodeAt(s.root, n.Span)
	config := tree.Get("config")
	c := &call{node: n, in: flow(), with: flow()}
	http := &mapping{flow: true}
	http.add("method", scalar(q.Method), below(config, "method"))
	s.address(c, q.URL, http, below(config, "url"))
	headers, auth := flow(), (*mapping)(nil)
	typed := false
	for _, h := range q.Headers {
		typed = typed || h.Key.Name == "Content-Type"
		switch segs := h.Value.Segments; {
		case len(segs) == 2 && segs[0].Lit == "Bearer " && secretValue(segs[1].Ref) && strings.EqualFold(h.Key.Name, "Authorization") && auth == nil:
			auth = flow(pair("bearer", scalar(s.secret(segs[1].Ref))))
		case len(segs) == 1 && secretValue(segs[0].Ref) && auth == nil:
			auth = flow(pair("header", scalar(quoted(h.Key.Name))), pair("secret", scalar(s.secret(segs[0].Ref))))
		default:
			headers.add(key(h.Key.Name), scalar(quoted(s.filled(c, h.Value))), join(h.Key.Span, h.Value.Text.Span))
		}
	}
	if q.Body != nil && q.Method == "POST" && !typed {
		headers.add("Content-Type", scalar("application/json"), source.Span{})
	}
	if len(headers.entries) > 0 {
		http.add("headers", headers, below(config, "headers"))
	}
	switch {
	case q.Body == nil:
	case s.constant(q.Body):
		http.add("body", spell(data(s.filled(c, q.Body))), below(config, "body"))
	default:
		name := s.place(c, "body", scalar(quoted(s.text(q.Body, n))))
		if text := s.text(q.Body, n); strings.Contains(text, "\n") {
			c.with.entries[len(c.with.entries)-1].value, c.with.flow = spell(text), false
		}
		http.add("body", scalar("$"+name), below(config, "body"))
	}
	def := &mapping{}
	def.add("http", http, source.Span{})
	if auth != nil {
		def.add("auth", auth, source.Span{})
	}
	if len(c.in.entries) > 0 {
		def.add("in", c.in, source.Span{})
	}
	if s.read[n] {
		def.add("out", scalar("any"), source.Span{})
	}
	effects := "external"
	if q.Method == "GET" {
		effects = "reads"
	}
	def.add("effects", scalar(effects), source.Span{})
	def.add("max_output", scalar("16MiB"), source.Span{})
	s.tools.add(id, def, source.Span{})
	m.add("tool", scalar(id), below(tree, "tool"))
	s.withUnlessEmpty(m, c.with, source.Span{})
	m.add("timeout", number(int(q.Seconds))+"s", below(config, "timeout"))
}

// secretValue reports whether a reference is a variable of the environment that has to be set.
func secretValue(r *ir.Reference) bool { return r != nil && r.Root == "env" && r.Filter == "" }

// constant reports whether a text has no references.
func (s *siren) constant(m *ir.Mixed) bool {
	return !slices.ContainsFunc(m.Segments, func(seg ir.MixedSegment) bool { return seg.Ref != nil })
}

// address writes the URL: what a variable of the environment begins goes on from it, and values stand in their places.
func (s *siren) address(c *call, m *ir.Mixed, http *mapping, at source.Span) {
	segs := m.Segments
	base := ""
	if len(segs) > 0 && secretValue(segs[0].Ref) {
		base = strings.Join(segs[0].Ref.Path, ".")
		if segs = segs[1:]; len(segs) == 0 || !strings.HasPrefix(segs[0].Lit, "/") || !fieldForm.MatchString(base) {
			s.refuse(m.Text.Span, "let the variable hold what stands before a `/`", "this address cannot be said in the native language")
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
			s.refuse(seg.Ref.Text.Span, "write the host, or let a variable of the environment hold the beginning of the address", "a value cannot stand in the host")
			return
		}
		if secretValue(seg.Ref) || seg.Ref.Root == "env" {
			s.refuse(seg.Ref.Text.Span, "make it an input of the workflow, or a secret that the tool sends", "a variable of the environment stands in no place of a URL but its beginning")
			return
		}
		b.WriteString("{" + s.place(c, seg.Ref.Path[len(seg.Ref.Path)-1], scalar(quoted(s.shown(seg.Ref, c.node)))) + "}")
		if !s.again {
			s.note(seg.Ref.Text.Span, "", "values are encoded where they stand in a URL; the engine puts them there as they are")
		}
	}
	if base != "" {
		http.add("base", scalar(base), source.Span{})
		http.add("url", scalar(quoted(b.String())), at)
		return
	}
	http.add("url", scalar(escaped(b.String())), at)
	s.reach(b.String())
}

// filled is text of a request, whose references are fields of the tool's input.
func (s *siren) filled(c *call, m *ir.Mixed) string {
	var b strings.Builder
	for _, seg := range m.Segments {
		switch {
		case seg.Ref == nil:
			b.WriteString(braces(seg.Lit))
		case seg.Ref.Root == "env":
			s.refuse(seg.Ref.Text.Span, "let one header hold it alone, or behind `Bearer `", "a variable of the environment stands in no text of the native language")
		default:
			b.WriteString("{{ " + s.place(c, seg.Ref.Path[len(seg.Ref.Path)-1], scalar(quoted(s.shown(seg.Ref, c.node)))) + " }}")
		}
	}
	return b.String()
}

// place adds a field of text to what a tool takes, and gives its name.
func (s *siren) place(c *call, name string, v scalar) string {
	name = nativeID(name)
	for i := range c.with.entries {
		if e := c.with.entries[i]; e.key == name {
			if e.value == v {
				return name
			}
			name += "_"
		}
	}
	if text := string(v); strings.HasPrefix(text, `"{{ `) && strings.HasSuffix(text, ` }}"`) && strings.Count(text, "{{") == 1 && !strings.Contains(text, "|") && !strings.Contains(text, "?") {
		v = scalar(quoted("$" + text[4:len(text)-4]))
	}
	c.in.add(name, scalar("string"), source.Span{})
	c.with.add(name, v, source.Span{})
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
	if !slices.ContainsFunc(s.hosts.items, func(e *entry) bool { return e.value == scalar(quoted(host)) }) {
		s.hosts.add(scalar(quoted(host)), source.Span{})
	}
}

// secret is a variable of the environment, which is a secret in the native language.
func (s *siren) secret(r *ir.Reference) string {
	name := strings.Join(r.Path, ".")
	if !fieldForm.MatchString(name) {
		s.refuse(r.Text.Span, "", "this variable cannot be the name of a secret")
	}
	if !slices.Contains(s.extern, name) && !slices.ContainsFunc(s.wf.Secrets, func(x *ir.Secret) bool { return x.Name.Name == name }) {
		s.extern = append(s.extern, name)
	}
	return name
}

// pythonCall writes a node that calls a function.
func (s *siren) pythonCall(n *ir.Node, b *ir.PythonTool, m *mapping) {
	t := n.Verb.(*ir.ToolCall).Tool
	id, tree := s.ids[n.ID.Name], nodeAt(s.root, n.Span)
	if t.Def == nil || t.Def.Root != "" || slices.ContainsFunc(t.Def.Files, func(f ir.SourceFile) bool { return pyWorld.MatchString(f.Text) }) {
		s.refuse(n.ID.Span, "", "the module of %s is not here, or looks at the environment, which a tool of the native language does not see", n.ID.Name)
	}
	def := flow(pair("python", scalar(quoted(b.Ref.Name))), pair("effects", scalar("external")))
	s.tools.add(id, def, source.Span{})
	m.add("tool", scalar(id), below(tree, "tool"))
	with := flow()
	if n.Dynamic.Args != nil {
		for _, e := range n.Dynamic.Args.Entries {
			with.add(key(e.Key.Name), s.argument(e.Value, n), join(e.Key.Span, e.Value.Source()))
		}
	}
	s.withUnlessEmpty(m, with, below(tree, "config"))
}

// argument is a value that a function is given: its texts are filled at any depth.
func (s *siren) argument(v ir.Value, n *ir.Node) value {
	switch v := v.(type) {
	case *ir.Mixed:
		if s.constant(v) {
			return spell(data(v.Text.Value))
		}
		return spell(s.text(v, n))
	case *ir.List:
		l := &list{flow: true}
		for _, it := range v.Items {
			l.add(s.argument(it, n), it.Source())
		}
		return l
	case *ir.Object:
		m := flow()
		for _, e := range v.Entries {
			m.add(key(e.Key.Name), s.argument(e.Value, n), join(e.Key.Span, e.Value.Source()))
		}
		return m
	}
	return s.native(v)
}

// failure writes what becomes of a tool that fails: nothing reads its result, so that a failure that is skipped leaves
// nothing behind.
func (s *siren) failure(n *ir.Node, m *mapping) {
	tree := nodeAt(s.root, n.Span)
	if n.Dynamic.Attempts > 1 {
		codes := &list{flow: true}
		for _, c := range schema.ErrorCodes {
			codes.add(scalar(c), source.Span{})
		}
		m.add("retry", flow(pair("attempts", number(n.Dynamic.Attempts)), pair("codes", codes), pair("backoff", scalar("constant")), pair("base", scalar("1ms"))), below(tree, "retry"))
	}
	if n.Dynamic.OnSpent == ir.SpentSkip {
		m.add("on_error", scalar("skip"), below(tree, "on_failure"))
	}
}
