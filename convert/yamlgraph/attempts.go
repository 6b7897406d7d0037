package yamlgraph

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
)

// skips leads around a node whose field has a value already.
func (g *graph) skips(n *yamlgraph.Node) {
	a, key := n.Token.Ask, n.Token.Key.Name
	if !a.Skips || !g.resumed || len(g.writes[n]) == 0 {
		return
	}
	id, place := g.IDs[n.ID.Name]+"_there", "state."+key
	var look *ir.Node
	ok := ""
	if g.tree.Upstream {
		look = &ir.Node{ID: convert.Name(g.fresh(id)), Verb: &ir.Let{Fields: []*ir.Entry{convert.Pair("value", convert.Ref(place))}}}
		ok = look.ID.Name + ".value == null"
	} else {
		look = g.call(id, "Truth", convert.Pair("of", convert.Ref(place)))
		ok = "!" + look.ID.Name
	}
	p := g.part(n)
	p.before = append(p.before, step{Node: look, ok: ok})
	p.ways = append(p.ways, way{look.ID.Name, strings.Replace(strings.TrimPrefix(ok, "!"), "==", "!=", 1)})
}

// needs leads around a node that lacks a field which it needs, or a value without which there is no prompt.
func (g *graph) needs(n *yamlgraph.Node) {
	a := n.Token.Ask
	look := &ir.Let{}
	id := g.IDs[n.ID.Name] + "_given"
	var required, variables, holds []string
	add := func(name, field string) {
		if !slices.ContainsFunc(look.Fields, func(e *ir.Entry) bool { return e.Key.Name == name }) {
			look.Fields = append(look.Fields, convert.Pair(name, convert.Ref(g.path(&dialect.Reference{Root: "state", Path: []string{field}}, ""))))
			holds = append(holds, name)
		}
		if g.given[n] == nil {
			g.given[n] = map[string]typed{}
		}
	}
	missing := func(field string) bool {
		return g.shapes[field] != nil && (g.written(field) && (g.starts[field] || !g.certain(field, n)) || !g.written(field) && !g.shapes[field].used())
	}
	for _, r := range n.Token.Requires {
		if missing(r.Name) {
			required = append(required, r.Name)
			add(r.Name, r.Name)
		}
	}
	for _, e := range a.Needs {
		r, is := e.Value.(*dialect.Reference)
		if !is || r.Root != "state" || len(r.Path) != 1 || !missing(r.Path[0]) || !doc.FieldForm.MatchString(e.Key.Name) {
			continue
		}
		add(e.Key.Name, r.Path[0])
		variables = append(variables, e.Key.Name)
	}
	if len(holds) == 0 {
		return
	}
	if len(required) > 0 && len(variables) > 0 && a.Fail != yamlgraph.AskKeep {
		g.Refuse(n.ID.Span, "write `on_error: retry` with `max_retries: 0`, or let nodes before it write the fields", "a field that %s requires and one of its prompt may be missing, with other errors", n.ID.Name)
	}
	node := &ir.Node{ID: convert.Name(g.fresh(id)), Verb: look}
	id = node.ID.Name
	slices.Sort(variables)
	for _, e := range a.Values { // the prompt shows what was found
		r, is := e.Value.(*dialect.Reference)
		if i := slices.IndexFunc(look.Fields, func(f *ir.Entry) bool {
			return is && len(r.Path) == 1 && r.Root == "state" && f.Value.(*ir.Expr).Text.Value == g.path(r, "")
		}); i >= 0 {
			g.given[n][e.Key.Name] = typed{id + "." + look.Fields[i].Key.Name, g.fieldType(r.Path[0])}
		}
	}
	var ok []string
	for _, name := range holds {
		ok = append(ok, id+"."+name+" != null")
	}
	s := step{Node: node, ok: strings.Join(ok, " && ")}
	p := g.part(n)
	switch {
	case a.Fail == yamlgraph.AskSkip && len(required) == 0:
		p.ways = append(p.ways, way{id, negated(s.ok)})
	case a.Fail == yamlgraph.AskRaise && len(required) == 0:
		s.other = g.fresh(g.IDs[n.ID.Name] + "_missing")
		p.more = append(p.more, &ir.Node{ID: convert.Name(s.other), Verb: &ir.Fail{Message: g.lacking(n, id, nil, variables), Code: "VALIDATION_ERROR"}})
	default:
		s.other = g.fresh(g.IDs[n.ID.Name] + "_missing")
		message := g.lacking(n, id, required, variables)
		var v ir.Value = message
		if !strings.Contains(message.Text.Value, "{{") {
			v = convert.Literal(message.Text.Value)
		}
		g.records = true
		p.more = append(p.more, g.record(s.other, n, convert.Literal("VALIDATION_ERROR"), v))
		p.ways = append(p.ways, way{id: s.other})
	}
	p.before = append(p.before, s)
}

// lacking says which of several values is missing, as the engine does.
func (g *graph) lacking(n *yamlgraph.Node, id string, required, variables []string) *ir.Template {
	first := "Missing required state: "
	prompt := "Missing required variable(s) for prompt '" + n.Token.Ask.Prompt.File.Name + "': "
	switch {
	case len(required) == 1 && len(variables) == 0:
		return convert.Text(doc.Braces(first + required[0]))
	case len(required) == 0 && len(variables) == 1:
		return convert.Text(doc.Braces(prompt + variables[0]))
	}
	var parts []string
	for _, v := range variables {
		parts = append(parts, id+"."+v+` == null ? `+doc.Escaped(v)+` : ""`)
	}
	text := `""`
	if len(parts) > 0 {
		text = doc.Escaped(prompt) + " + [" + strings.Join(parts, ", ") + `].filter(name, name != "").join(", ")`
	}
	for i, r := range slices.Backward(required) {
		if i == len(required)-1 && len(parts) == 0 {
			text = doc.Escaped(first + r)
			continue
		}
		text = id + "." + r + " == null ? " + doc.Escaped(first+r) + " : " + text
	}
	return convert.Text("{{ " + text + " }}")
}

// attempts adds what is done with an answer, and after an error: the question is asked again, or another model is. It returns the
// last node that asks.
func (g *graph) attempts(n *yamlgraph.Node, out *ir.Node) *ir.Node {
	a, p := n.Token.Ask, g.part(n)
	p.last = out.ID.Name
	sets := func(node *ir.Node) {
		for _, f := range g.writes[n] {
			node.Set = append(node.Set, convert.Set(f, node.ID.Name))
		}
	}
	if a.JSON {
		found := g.found(out.ID.Name)
		sets(found)
		p.after = append(p.after, found)
	} else {
		sets(out)
	}
	again := func(id, model string) *ir.Node {
		llm := *out.Verb.(*ir.LLM)
		llm.Model = convert.Name(modelName(model))
		node := &ir.Node{ID: convert.Name(g.fresh(id)), Verb: &llm, Retry: out.Retry}
		p.more = append(p.more, node)
		return node
	}
	switch a.Fail {
	case yamlgraph.AskRetry:
		last := out
		for range a.Retries {
			next := again(out.ID.Name+"_retry", a.Model.Name)
			sets(next) // what comes then is taken as it is
			g.catches(n, last, next.ID.Name)
			p.ways = append(p.ways, way{id: next.ID.Name})
			last = next
		}
		return last
	case yamlgraph.AskFallback:
		other := again(out.ID.Name+"_fallback", a.Fallback.Name)
		g.catches(n, out, other.ID.Name)
		if !a.JSON {
			sets(other)
			p.ways = append(p.ways, way{id: other.ID.Name})
			return other
		}
		found := g.found(other.ID.Name)
		sets(found)
		p.more = append(p.more, found)
		p.edges = append(p.edges, convert.Edge(other.ID.Name, found.Span, found.ID.Name))
		p.ways = append(p.ways, way{id: found.ID.Name})
		return other
	}
	return out
}

// found is a node that looks for JSON in an answer.
func (g *graph) found(answer string) *ir.Node {
	return g.call(answer+"_json", "FindJSON", convert.Pair("text", convert.Ref(answer)))
}

// routes are the edges of a router: what its answer says leads to a node, anything else to the first of its targets.
func (g *graph) routes(n *yamlgraph.Node, exits []*yamlgraph.Exit) (out []*ir.Edge) {
	a, leaving := n.Token.Ask, g.leaving(n)
	target := func(id ir.Ident) string { // of a way that the edge does not have, the first
		if !slices.ContainsFunc(exits, func(x *yamlgraph.Exit) bool { return x.To.Name == id.Name }) {
			id = exits[0].To
		}
		return g.entry(id)
	}
	for _, m := range g.tree.Nodes { // what an earlier router has chosen is taken by one that fails
		if m == n || m.Token.Ask == nil || !g.reaches(m, n, map[*yamlgraph.Node]bool{}) {
			continue
		}
		for _, r := range m.Token.Ask.Routes {
			if r.To.Name != exits[0].To.Name && slices.ContainsFunc(exits, func(x *yamlgraph.Exit) bool { return x.To.Name == r.To.Name }) && len(leaving) > 1 {
				g.Refuse(n.ID.Span, "write `on_error: fail`", "where %s leads when it fails depends on what %s has chosen", n.ID.Name, m.ID.Name)
			}
		}
	}
	other := exits[0].To
	if a != nil && len(a.Routes) > 0 {
		if other = a.Routes[0].To; a.Other.Name != "" {
			other = a.Other
		}
	}
	e := convert.Edge(leaving[0].id, exits[0].Span, target(other))
	if label := g.label(n); label != "" {
		e = &ir.Edge{From: convert.Name(g.leaving(n)[0].id), Span: exits[0].Span, Switch: convert.Ref(label), Default: convert.Names(target(other))}
		for _, r := range a.Routes {
			if !slices.ContainsFunc(e.Cases, func(c *ir.Case) bool { return c.Value.(*ir.Scalar).Text.Value == r.Label }) {
				e.Cases = append(e.Cases, &ir.Case{Value: convert.Literal(r.Label), To: convert.Names(target(r.To))})
			}
		}
	}
	out = append(out, e)
	for _, w := range leaving[1:] {
		out = append(out, w.edge(exits[0].Span, target(exits[0].To)))
	}
	return out
}

// label is the expression of an answer's label; empty: there is none.
func (g *graph) label(n *yamlgraph.Node) string {
	a, id := n.Token.Ask, g.IDs[n.ID.Name]
	if a == nil || len(a.Routes) == 0 || a.Route == "" && n.Schema == "" {
		return ""
	}
	if a.Route != "" && len(g.writes[n]) > 0 {
		g.Refuse(n.ID.Span, "write the label to a field of its own", "the router %s keeps the label of its answer alone", n.ID.Name)
	}
	if n.Schema == "" {
		p := g.part(n)
		from := g.ended(n)[0].id
		m := g.call(id+"_route", "Label", convert.Pair("of", convert.Ref(from)), convert.Pair("field", convert.Literal(a.Route)))
		p.after = append(p.after, m)
		return m.ID.Name
	}
	t := g.answerType(n)
	text := func(name string) string {
		if f := t.Field(name); f != nil && (f.Type.Kind == schema.String || f.Type.Kind == schema.Enum) {
			return id + "." + name
		}
		return ""
	}
	if a.Route != "" {
		if text(a.Route) == "" {
			g.noLabel(n)
		}
		return text(a.Route)
	}
	tone, intent := text("tone"), text("intent")
	switch {
	case t.Field("tone") != nil && tone == "", t.Field("intent") != nil && intent == "":
		g.noLabel(n)
		return ""
	case tone != "" && intent != "":
		return tone + ` != "" ? ` + tone + " : " + intent
	}
	return tone + intent
}

func (g *graph) noLabel(n *yamlgraph.Node) {
	g.Refuse(n.ID.Span, "declare it as `str` in the schema", "the label of %s is not text", n.ID.Name)
}
