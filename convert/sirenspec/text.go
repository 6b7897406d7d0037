package sirenspec

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/sirenspec"
)

// A producer is a node that gives what is at a place.
type producer struct {
	node  *sirenspec.Node
	place string
	typ   *schema.Type
	own   bool     // it is read by the node's own name
	below []string // what is read of the value at the place
	lines bool     // it is read as the lines of a list
}

// gives is the place of the native file at which a node's result stands that is found at a path of the context.
func (s *siren) gives(n *sirenspec.Node, root string, path []string) (p producer, ok bool) {
	id, w := n.ID.Name, n.Writes
	own := root == "working" && len(path) > 1 && path[0] == id
	written := len(w) > 1 && w[0] == root && len(path) == len(w)-1 && slices.Equal(w[1:], path) && !collides(n)
	give := func(place string, typ *schema.Type) (producer, bool) {
		return producer{node: n, place: place, typ: typ, own: root == "working" && path[0] == id}, true
	}
	switch v := n.Verb.(type) {
	case *ir.LLM, *ir.Human:
		if own && len(path) == 2 && path[1] == "output" || written {
			return give(s.said(n), schema.StringType)
		}
	case *sirenspec.Swarm:
		if own && len(path) == 4 && path[1] == "agents" && path[3] == "output" {
			for _, a := range v.Agents() {
				if a.OutputKey == path[2] && !s.silent(a) {
					return give(s.said(a), schema.StringType)
				}
			}
		}
		if own && len(path) == 2 && path[1] == "output" || written {
			return give(s.said(n), schema.AnyType)
		}
	case *sirenspec.Factory:
		if inner, ok := v.Do.Verb.(*sirenspec.Swarm); ok && own && s.making != nil && s.making.node == n {
			for _, a := range inner.Agents() {
				if len(path) == 4 && path[1] == "agents" && a.OutputKey == path[2] && path[3] == "output" {
					return give(s.said(a), schema.StringType)
				}
			}
		}
		switch {
		case own && path[1] == "output" && len(path) == 2:
			p, _ := give(s.said(n), schema.AnyType)
			p.lines = true
			return p, true
		case own && path[1] == "outputs" && len(path) == 2, written:
			return give(s.said(n), schema.AnyType)
		}
	case *ir.Flow:
		var place []string
		if root == "working" && own && path[1] == "output" {
			place = path[2:]
		} else if root == "output" && path[0] == id {
			place = path[1:]
		} else if len(w) > 1 && root == w[0] && len(path) >= len(w)-1 && slices.Equal(w[1:], path[:len(w)-1]) {
			place = path[len(w)-1:]
		} else {
			break
		}
		p, _ := give(s.said(n), schema.AnyType)
		p.below = place
		return p, true
	case *ir.ToolCall, *ir.ToolChoice:
		if own && path[1] == n.OutputKey {
			p, _ := give(s.said(n), schema.AnyType)
			p.below = path[2:]
			return p, true
		}
	}
	return producer{}, false
}

// collides reports whether what a node writes is where the engine keeps its result, which replaces it.
func collides(n *sirenspec.Node) bool {
	w := n.Writes
	return isAgent(n) && len(w) == 2 && w[0] == "working" && w[1] == n.ID.Name
}

func (s *siren) producers(r *dialect.Reference) []producer {
	var out []producer
	for _, n := range s.tree.Nodes {
		if p, ok := s.gives(n, r.Root, r.Path); ok {
			out = append(out, p)
		}
	}
	return out
}

// text is text with references to what agents have said.
func (s *siren) text(m *dialect.Mixed, at *sirenspec.Node) string {
	var b strings.Builder
	for _, seg := range m.Segments {
		if seg.Ref == nil {
			b.WriteString(doc.Braces(seg.Lit))
			continue
		}
		b.WriteString(s.shown(seg.Ref, at))
	}
	return b.String()
}

// shown is a reference as the native language writes it into text.
func (s *siren) shown(r *dialect.Reference, at *sirenspec.Node) string {
	if text, ok := s.instanced(r, at); ok {
		return text
	}
	expr, typ, missing := s.reference(r, at)
	if missing {
		return doc.Braces(r.Default)
	}
	return s.Shown(expr, typ)
}

// reference finds what a placeholder stands for. missing: nothing, so that the text of its filter does.
func (s *siren) reference(r *dialect.Reference, at *sirenspec.Node) (expr string, typ *schema.Type, missing bool) {
	no := func(help, format string, args ...any) (string, *schema.Type, bool) {
		s.Refuse(r.Text.Span, help, format, args...)
		return "input.message", schema.StringType, false
	}
	if r.Filter == "json_or_default" {
		if place, missing, ok := s.orJSON(r); ok {
			return place, schema.StringType, missing
		}
	}
	switch r.Root {
	case "env":
		return no("make it an input, or a secret that a tool is given", "environment variables cannot be used in native text")
	case "inputs":
		switch {
		case r.Path[0] != "message" && slices.ContainsFunc(s.tree.Input, func(f *schema.Field) bool { return f.Name == r.Path[0] }):
			return s.bindable(r, at), schema.StringType, false
		case len(r.Path) != 1 || r.Path[0] != "message":
			return no("", "nothing that is converted is at this place")
		}
		return s.orDefault("input.message", true, r, at)
	case "memory":
		if s.memory != nil {
			return s.inMemory(r, at), schema.StringType, false
		}
	case "working":
		if expr, typ, ok := s.seeded(r.Path); ok && typ.Kind == schema.String {
			return s.orDefault(expr, true, r, at)
		} else if ok && r.Filter == "json_or_default" {
			return s.part(expr, nil, r, at), schema.StringType, false
		} else if ok {
			return expr, typ, false
		}
	}
	var list []producer
	for _, p := range s.producers(r) {
		if at == nil || s.nodes[at.ID.Name] != at || s.at(p.node) < s.at(at) {
			list = append(list, p)
		}
	}
	list = slices.DeleteFunc(list, func(p producer) bool { return at != nil && s.fallback(p.node) == at })
	switch {
	case len(list) == 0 && r.Filter != "":
		return "", schema.StringType, true
	case len(list) == 0:
		return no("", "nothing that is converted is at this place")
	case len(list) > 1:
		return no("write to names of their own", "several nodes write what is here")
	}
	p := list[0]
	by := s.by(at)
	inside := by == p.node // an agent of the same swrm
	sure := inside && !s.keeps(p) || !inside && by != nil && s.flow.Left(p.node, by) && !(p.own && s.unsaid(p.node))
	switch {
	case !inside && by != nil && !s.flow.Before(p.node, by):
		return no("add an edge from "+p.node.ID.Name+" to "+by.ID.Name, "no edge puts %s after %s, whose result it reads", by.ID.Name, p.node.ID.Name)
	case p.typ == schema.AnyType && !sure && r.Filter != "":
		return no("read it without a filter", "a filter of a value that may be anything or missing has no counterpart")
	case !sure && r.Filter == "":
		return no("give it a default: `| default('...')`", "it depends on the run whether %s has given a result here", p.node.ID.Name)
	case p.lines && r.Filter == "":
		return s.part(p.place, linesOf, r, at), schema.StringType, false
	case p.lines:
		return no("read it without a filter", "a filter of the lines of a factory is not converted")
	case p.typ == schema.AnyType && (r.Filter != "" || len(p.below) > 0):
		return s.part(p.place, p.below, r, at), schema.StringType, false
	case p.typ == schema.AnyType:
		return p.place, schema.AnyType, false
	}
	return s.orDefault(p.place, sure, r, at)
}

// bindable is the id of the node that makes the text of an input that a caller may give or leave out.
func (s *siren) bindable(r *dialect.Reference, at *sirenspec.Node) string {
	switch {
	case r.Filter == "json_or_default":
		s.Refuse(r.Text.Span, "use `default`", "`json_or_default` of an input is not converted")
	case r.Filter == "" && at != nil && (at.Failure != nil || at.Skips):
		s.Refuse(r.Text.Span, "give it a default: `| default('...')`", "%s may not be given, and the engine goes on when %s fails", r.Text.Value, at.ID.Name)
	}
	return s.part("input."+r.Path[0], r.Path[1:], r, at)
}

// mayLack reports whether a run may not be given an input that the text of an agent needs.
func (s *siren) mayLack(a *sirenspec.Node) bool {
	found := false
	texts(a, func(r *dialect.Reference) {
		found = found || r.Root == "inputs" && len(r.Path) > 0 && r.Path[0] != "message" && r.Filter == ""
	})
	return found
}

// linesOf is below a list that is read line by line.
var linesOf = []string{"output"}

// keeps reports whether an agent of a swrm may have said nothing.
func (s *siren) keeps(p producer) bool {
	v, ok := p.node.Verb.(*sirenspec.Swarm)
	return ok && v.Keep
}

// A part is a node that makes the text of a placeholder before the node that reads it, which fails where the value is missing.
type part struct {
	id, place string // place: what it is made of
	reader    *sirenspec.Node
	made      *ir.Node
	body      *ir.Body
}

// part is the id of the node that makes the text of what is below a place.
func (s *siren) part(place string, below []string, r *dialect.Reference, at *sirenspec.Node) string {
	key := place + "." + strings.Join(below, ".") + "|" + r.Filter + r.Default
	for _, p := range s.parts {
		if p.place == key && p.reader == at {
			return p.id
		}
	}
	name := place
	if len(below) > 0 {
		name = below[len(below)-1]
	}
	id := convert.Free(convert.NativeID(s.id(at)+"_"+strings.ReplaceAll(name, ".", "_")), func(id string) bool {
		return s.FreeID(id) != id || slices.ContainsFunc(s.parts, func(p part) bool { return p.id == id })
	})
	path := &ir.List{}
	for _, b := range below {
		path.Items = append(path.Items, convert.Literal(b))
	}
	with := []*ir.Entry{convert.Pair("v", convert.Ref(place)), convert.Pair("path", path)}
	function := "PartText"
	switch r.Filter {
	case "default":
		function = "PartOr"
	case "json_or_default":
		function = "JSONOr"
	}
	switch {
	case r.Root == "inputs" && strings.HasPrefix(place, "input.") && r.Path[0] != "message":
		with[1] = convert.Pair("place", convert.Literal("inputs."+strings.Join(r.Path, ".")))
		function = "GivenText"
		if r.Filter != "" {
			function = "GivenOr"
		}
	case place == "item" && s.making != nil:
		function, with = "ItemText", with[:1]
		if r.Filter != "" {
			function = "ItemOr"
		}
	case len(below) > 0 && &below[0] == &linesOf[0]:
		function, with = "Lines", with[:1]
	}
	if r.Filter != "" {
		with = append(with, convert.Pair("instead", convert.Literal(r.Default)))
	}
	s.parts = append(s.parts, part{id, key, at, &ir.Node{ID: convert.Name(id), Verb: convert.Call(guardPath+function, with...)}, s.within()})
	return id
}

// insertParts puts the nodes that make texts before those that read them.
func (s *siren) insertParts(b *ir.Body) {
	for _, p := range s.parts {
		if p.body == b {
			convert.InsertBefore(b, s.begins(p.reader), p.made)
		}
	}
}

// by is the node of the workflow that at is, or is a part of.
func (s *siren) by(at *sirenspec.Node) *sirenspec.Node {
	if at == nil || s.nodes[at.ID.Name] == at {
		return at
	}
	for _, n := range s.tree.Nodes {
		v, ok := n.Verb.(*sirenspec.Swarm)
		if f, is := n.Verb.(*sirenspec.Factory); is {
			if f.Do == at {
				return n
			}
			v, ok = f.Do.Verb.(*sirenspec.Swarm)
		}
		if ok && slices.Contains(v.Nodes, at) {
			return n
		}
	}
	return nil
}

// unsaid reports whether a text stands for the answer of a node that fails, which its own name does not have.
func (s *siren) unsaid(n *sirenspec.Node) bool {
	f := n.Failure
	return f != nil && f.Action == "use_default"
}

// orDefault puts the text of a filter in place of text that is missing or empty.
func (s *siren) orDefault(place string, sure bool, r *dialect.Reference, at *sirenspec.Node) (string, *schema.Type, bool) {
	switch {
	case r.Filter == "json_or_default":
		if !sure {
			place = "default(" + place + `, "")`
		}
		return s.part(place, nil, r, at), schema.StringType, false
	case r.Filter == "":
		return place, schema.StringType, false
	case r.Default == "" && !sure:
		return "default(" + place + `, "")`, schema.StringType, false
	case r.Default == "":
		return place, schema.StringType, false
	case sure:
		return place + ` != "" ? ` + place + " : " + doc.Escaped(r.Default), schema.StringType, false
	}
	return place + " != null && " + place + ` != "" ? ` + place + " : " + doc.Escaped(r.Default), schema.StringType, false
}

// seeded is a place of the context that nothing but its beginning writes.
func (s *siren) seeded(path []string) (expr string, typ *schema.Type, ok bool) {
	i := slices.IndexFunc(s.Out.State, func(x *ir.State) bool { return x.Name.Name == path[0] })
	if i < 0 || s.overwritten(path[0]) {
		return "", nil, false
	}
	typ = s.Out.State[i].Type
	for _, key := range path[1:] {
		f := typ.Field(key)
		if f == nil {
			return "", nil, false
		}
		typ = f.Type
	}
	return "state." + strings.Join(path, "."), typ, true
}

// A guard is a node that looks at what an agent receives or says.
type guard struct {
	id, name string
	function string
	args     []*ir.Entry
}

// call is what the node does with a text.
func (g guard) call(text ir.Value) *ir.GoCall {
	return convert.Call(g.function, append([]*ir.Entry{convert.Pair("text", text)}, g.args...)...)
}

// guardPath is the package with what guardrails are in the native language.
const guardPath = schema.RuntimePath + "/sirenspec."

// guards are those that look at what a node is told, or with answer at what it says.
func (s *siren) guards(n *sirenspec.Node, answer bool) []guard {
	if s.failed[n] != nil {
		return nil // it is never called
	}
	var out []guard
	side := "told"
	if answer {
		side = "checked"
	}
	id := s.id(n)
	for _, r := range n.Guards {
		g := guard{name: r.Name, id: id + "_" + side}
		if len(n.Guards) > 1 && r.Name != "injection" {
			g.id += "_" + r.Name
		}
		switch {
		case r.Name == "injection":
			g.function = guardPath + "Uninjected"
		case r.Name == "length" && !answer, r.Name == "schema" && !answer, r.Name == "pii" && r.Action == "flag":
			continue
		case r.Name == "length":
			g.function = guardPath + "Shortened"
			if r.Raise {
				g.function = guardPath + "Short"
			}
			g.args = append(g.args, convert.Pair("most", convert.Number(int(r.Most))))
		case r.Name == "schema":
			g.function = guardPath + "Fitting"
			g.args = append(g.args, convert.Pair("schema", convert.Literal(r.Schema)))
		case r.Name == "pii":
			g.function = guardPath + "Redacted"
			what := r.What
			if len(what) == 0 {
				what = []string{"email", "phone", "ssn", "credit_card"}
			}
			list := &ir.List{}
			for _, w := range what {
				list.Items = append(list.Items, convert.Literal(w))
			}
			g.args = append(g.args, convert.Pair("entities", list))
			if r.Action == "block" {
				g.function = guardPath + "Impersonal"
			} else {
				g.args = append(g.args, convert.Pair("instead", convert.Literal(r.Instead)))
			}
		default:
			s.Refuse(n.ID.Span, "check the text in a `go` node of the native language", "the guardrail %s of %s is not converted", r.Name, n.ID.Name)
			continue
		}
		out = append(out, g)
	}
	for _, g := range out {
		for _, other := range s.tree.Nodes {
			if s.IDs[other.ID.Name] == g.id {
				s.Refuse(other.ID.Span, "rename it", "the guardrails of %s become a node with this name", n.ID.Name)
			}
		}
	}
	return out
}

// begins is the first node of those that a node becomes.
func (s *siren) begins(n *sirenspec.Node) string {
	if m := s.making; m != nil && m.node == n && m.block != "" && !isAgent(n) {
		return m.block
	}
	if _, ok := n.Verb.(*sirenspec.Factory); ok {
		if id, ok := s.lists[n]; ok {
			return id
		}
		return s.each(n)
	}
	if s.making == nil && s.wrapped(n) {
		return s.said(n)
	}
	if list := s.guards(n, false); isAgent(n) && len(list) > 0 {
		return list[0].id
	}
	return s.id(n)
}

// id is the native id of a node or an agent of a swrm or a factory.
func (s *siren) id(n *sirenspec.Node) string {
	by := s.nodes[n.ID.Name]
	if by == n {
		return s.IDs[n.ID.Name]
	}
	return convert.NativeID(s.IDs[s.by(n).ID.Name] + "_" + strings.ReplaceAll(n.ID.Name, "-", "_"))
}

// last is the node that has the answer of an agent, after its guardrails.
func (s *siren) last(n *sirenspec.Node) string {
	if list := s.guards(n, true); len(list) > 0 && !s.rechecked(n) {
		return list[len(list)-1].id
	}
	return s.id(n)
}

// said is the text of a node as others read it.
func (s *siren) said(n *sirenspec.Node) string {
	switch v := n.Verb.(type) {
	case *ir.LLM:
		if s.wrapped(n) {
			return s.id(n) + "_said"
		}
		return s.last(n)
	case *ir.ToolChoice:
		if open(v) {
			return s.FreeID(s.id(n) + "_result")
		}
	case *ir.Flow:
		return s.FreeID(s.id(n) + "_output")
	case *sirenspec.Swarm:
		if v.Last() == nil {
			return s.id(n) + ".said"
		}
	}
	return s.id(n)
}
