package sirenspec

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/sirenspec"
)

// A making is the factory whose instances are written, and what its items are; or a node that is a block of its own.
type making struct {
	block string // the node in such a block; empty: a factory
	node  *sirenspec.Node
	body  *ir.Body
	text  bool   // items are text
	total string // how many there are, as an expression
}

// factory makes a `map` of a factory, whose errors a node looks at when all instances are made, as the engine does.
func (s *siren) factory(n *sirenspec.Node, v *sirenspec.Factory) {
	id := s.IDs[n.ID.Name]
	do := &ir.Map{As: convert.Name("item"), Index: &ir.Ident{Name: "i"}, Parallel: v.Parallel, OnItemError: ir.ItemKeep}
	s.making = &making{node: n, body: &do.Do}
	do.Over = s.items(n, v)
	switch inner := v.Do.Verb.(type) {
	case *ir.LLM:
		s.instance(n, v.Do, inner)
	case *sirenspec.Swarm:
		if n.Limit != nil {
			s.Note(n.ID.Span, "", "each question of %s may take the time of an instance: the engine bounds all of them together", n.ID.Name)
		}
		s.made(n, v.Do, inner)
	}
	s.insertParts(s.making.body)
	s.making = nil
	s.add(n, s.each(n), do)
	results := convert.Pair("results", convert.Ref(s.each(n)))
	s.add(nil, id, convert.Call(guardPath+"Instances", results, convert.Pair("continued", &ir.Scalar{Tag: "!!bool", Text: source.Text{Value: strconv.FormatBool(v.Keep)}})))
}

// each is the id of the map that makes the instances of a factory.
func (s *siren) each(n *sirenspec.Node) string { return s.FreeID(s.IDs[n.ID.Name] + "_each") }

// instance asks the agent of a factory: it receives the inputs, one on a line.
func (s *siren) instance(n, inner *sirenspec.Node, v *ir.LLM) {
	var lines []string
	if n.Args != nil {
		for _, e := range n.Args.Entries {
			lines = append(lines, e.Key.Name+": "+s.bound(e.Value, inner))
		}
	}
	llm := &ir.LLM{Model: v.Model}
	if inner.System != nil && len(inner.System.Segments) > 0 {
		llm.System = convert.Text(s.text(inner.System, inner))
	}
	node := s.voice(inner, convert.Text(strings.Join(lines, "\n")), llm)
	s.bounded(n, node)
	s.making.body.Edges, s.making.body.Result = s.around(inner), convert.Ref(s.said(inner))
}

// bounded asks an agent of a factory within the time of an instance.
func (s *siren) bounded(n *sirenspec.Node, node *ir.Node) {
	node.Timeout = n.Limit
}

// made asks the agents of the swarm of a factory, and what is asked about what they say.
func (s *siren) made(n, inner *sirenspec.Node, v *sirenspec.Swarm) {
	all := &ir.List{}
	for _, a := range v.Nodes {
		s.bounded(n, s.voice(a, convert.Text(s.text(a.Prompt, a)), &ir.LLM{Model: a.Verb.(*ir.LLM).Model}))
		if a != v.Last() {
			all.Items = append(all.Items, convert.Ref(s.said(a)))
		}
	}
	b := s.making.body
	last := s.IDs[n.ID.Name] + "_said"
	if v.Last() != nil {
		b.Edges, last = s.around(v.Last()), s.begins(v.Last())
		b.Result = convert.Ref(s.said(v.Last()))
	} else {
		s.add(nil, last, &ir.Let{Fields: []*ir.Entry{convert.Pair("said", all)}}).Join = ir.JoinAll
		b.Result = convert.Ref(last + ".said")
	}
	for _, a := range v.Agents() {
		b.Edges = append(append(b.Edges, s.around(a)...), convert.Edge(s.said(a), source.Span{}, last))
	}
}

// bound is the text of an input of an instance.
func (s *siren) bound(v ir.Value, at *sirenspec.Node) string {
	switch v := v.(type) {
	case *dialect.Mixed:
		return s.text(v, at)
	case *ir.Scalar:
		switch v.Tag {
		case "!!str", "!!int":
			return convert.Literal(v.Text.Value).Text.Value
		}
	}
	s.Refuse(v.Source(), "write it as text", "a factory input that is not text is not converted")
	return ""
}

// items are what a factory makes instances for: a list of the file, or one that a node reads out of a value.
func (s *siren) items(n *sirenspec.Node, v *sirenspec.Factory) ir.Value {
	no := func() ir.Value {
		s.Refuse(n.ID.Span, "let a node make the list, and write a `map` over it", "what the factory %s makes instances for is not converted", n.ID.Name)
		return &ir.List{}
	}
	switch over := v.Over.(type) {
	case *ir.Scalar:
		count, _ := strconv.Atoi(over.Text.Value)
		return s.counted(count)
	case *ir.List:
		return s.constant(n, dialect.JSON(over))
	case *dialect.Mixed:
		if constant(over) {
			return s.constant(n, literal(over))
		}
		if len(over.Segments) != 1 {
			return no()
		}
		r := over.Segments[0].Ref
		if n.Counted {
			begun, rest := s.begun(r.Path)
			number, is := begun.(*ir.Scalar)
			if r.Root != "working" || len(rest) > 0 || !is || number.Tag != "!!int" || r.Filter != "" {
				return no()
			}
			count, err := strconv.Atoi(number.Text.Value)
			if err != nil || count < 1 || count > 100 {
				return no()
			}
			return s.counted(count)
		}
		return s.readList(n, r)
	}
	return no()
}

// counted are the numbers of so many instances.
func (s *siren) counted(count int) ir.Value {
	l := &ir.List{}
	for i := range count {
		l.Items = append(l.Items, convert.Number(i+1))
	}
	s.making.total = strconv.Itoa(count)
	return l
}

// constant is a list of the file: texts as they are, others by a node that reads them.
func (s *siren) constant(n *sirenspec.Node, text string) ir.Value {
	var list []string
	if json.Unmarshal([]byte(text), &list) == nil && !strings.Contains(text, "null") {
		l := &ir.List{}
		for _, item := range list {
			l.Items = append(l.Items, convert.Literal(item))
		}
		s.making.text, s.making.total = len(list) > 0, strconv.Itoa(len(list))
		if len(list) > 0 {
			return l
		}
	}
	return s.list(n, convert.Literal(text), nil, nil)
}

// readList is the list that a placeholder stands for.
func (s *siren) readList(n *sirenspec.Node, r *dialect.Reference) ir.Value {
	plain := *r
	if plain.Filter = ""; r.Filter != "" && s.missing(&plain) {
		return s.constant(n, r.Default)
	}
	if s.tree.Upstream || r.Filter == "" {
		plain.Default = ""
	} else if plain.Filter = r.Filter; r.Filter != "json_or_default" {
		s.Refuse(r.Text.Span, "use `json_or_default`", "`default` of a list is not converted")
	}
	if plain.Filter == "" {
		place, below, ok := s.raw(&plain, n)
		if ok {
			return s.list(n, convert.Ref(place), below, nil)
		}
	} else if place, below, ok := s.raw(&plain, n); ok {
		return s.list(n, convert.Ref(place), below, convert.Literal(r.Default))
	}
	return &ir.List{}
}

// raw is a place that certainly has a value, with what is read of it.
func (s *siren) raw(r *dialect.Reference, at *sirenspec.Node) (place string, below []string, ok bool) {
	if r.Root == "inputs" && len(r.Path) == 1 && r.Path[0] == "message" {
		return "input.message", nil, true
	}
	if r.Root == "memory" && s.memory != nil {
		return "state." + s.memory.field, r.Path, true
	}
	if expr, _, ok := s.seeded(r.Path); r.Root == "working" && ok {
		return expr, nil, true
	}
	list := s.producers(r)
	if len(list) == 1 && s.flow.Left(list[0].node, at) && !(list[0].own && s.unsaid(list[0].node)) && !list[0].lines {
		return list[0].place, list[0].below, true
	}
	s.Refuse(r.Text.Span, "", "nothing that is converted is certainly at this place")
	return "", nil, false
}

// list is what a node reads out of a value: a list, or text that is one in JSON, also in a fence.
func (s *siren) list(n *sirenspec.Node, v ir.Value, below []string, instead ir.Value) ir.Value {
	id := s.FreeID(s.IDs[n.ID.Name] + "_items")
	path := &ir.List{}
	for _, b := range below {
		path.Items = append(path.Items, convert.Literal(b))
	}
	with := []*ir.Entry{convert.Pair("v", v), convert.Pair("path", path)}
	name := "ListOf"
	if instead != nil {
		name, with = "ListOr", append(with, convert.Pair("instead", instead))
	}
	s.Out.Body.Nodes = append(s.Out.Body.Nodes, &ir.Node{ID: convert.Name(id), Verb: convert.Call(guardPath+name, with...)})
	s.lists[n] = id
	s.making.text, s.making.total = false, "size("+id+")"
	return convert.Ref(id)
}

// instanced is a placeholder that has its value in an instance of a factory; ok is false for others.
func (s *siren) instanced(r *dialect.Reference, at *sirenspec.Node) (text string, ok bool) {
	m := s.making
	if m == nil || m.block != "" {
		return "", false
	}
	switch r.Root {
	case "index":
		return "{{ i }}", true
	case "total":
		return "{{ " + m.total + " }}", true
	case "item":
		switch {
		case m.node.Counted && r.Filter != "":
			return convert.Literal(r.Default).Text.Value, true
		case m.text && r.Filter == "default":
			expr, typ, _ := s.orDefault("item", true, r, at)
			return s.Shown(expr, typ), true
		case m.node.Counted || r.Filter == "json_or_default":
			s.Refuse(r.Text.Span, "", "what stands here for an item is not converted")
			return "", true
		case m.text:
			return "{{ item }}", true
		}
		return "{{ " + s.part("item", nil, r, at) + " }}", true
	case "inputs":
		if m.node.Args == nil {
			return "", false
		}
		i := slices.IndexFunc(m.node.Args.Entries, func(e *ir.Entry) bool { return e.Key.Name == r.Path[0] })
		if i < 0 {
			return "", false
		}
		if len(r.Path) > 1 || r.Filter != "" {
			s.Refuse(r.Text.Span, "", "a part or a default of an input of a factory is not converted")
			return "", true
		}
		return s.bound(m.node.Args.Entries[i].Value, at), true
	}
	return "", false
}
