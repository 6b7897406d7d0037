package yamlgraph

import (
	"slices"
	"strconv"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
)

// mapped says what the list of a map is made of, and what its node reads.
func (g *graph) mapped(n *yamlgraph.Node, v *yamlgraph.Map, key string) {
	switch {
	case g.always(n):
		return
	case v.Do == nil:
		g.Refuse(n.ID.Span, "write a native `map`", "the map %s is not converted", n.ID.Name)
		return
	}
	g.writes[n] = g.held(key)
	if t := n.Token.Gather; t != nil {
		g.Only(n.ID.Span, "the map "+n.ID.Name, t, "Key MaxItems Failures Least Share Strict Flat")
		g.writes[n] = append(g.writes[n], g.held(t.Failures)...)
	}
	one, choice := v.Do.Verb.(*ir.ToolChoice)
	over, ref := v.Over.(*dialect.Reference)
	switch {
	case choice && ref && n.Token.Gather == nil && len(over.Path) == 1 && wholeItem(one.Args):
		g.use(over, nil)
		g.shapes["item "+n.ID.Name] = &shape{declared: schema.AnyType}
		return
	case choice && ref && n.Token.Gather == nil:
		list := g.use(over, nil)
		if list == nil {
			return
		}
		if list.item == nil {
			list.item = &shape{name: v.As.Name}
		}
		g.shapes["item "+n.ID.Name] = list.item
		g.choice(one)
		return
	case ref && len(over.Path) == 1:
		if list := g.use(over, nil); list != nil && list.declared.Kind != schema.List {
			list.declared = schema.AnyType // which the engine does not mind
		}
	case ref:
		g.Refuse(over.Text.Span, "write the list to a field of its own", "the map %s goes through a part of a field", n.ID.Name)
	}
	g.shapes["item "+n.ID.Name] = &shape{declared: schema.AnyType}
	own, known := "ID Verb Span Token Timeout Inline Reads Writes Times", "Key Exits Again"
	if v.Do.Token.Ask != nil {
		own, known = own+" Retry Schema AnswerAs", known+" Ask Values"
	}
	g.Only(v.Do.ID.Span, "the node of the map "+n.ID.Name, v.Do, own)
	g.Only(v.Do.ID.Span, "the node of the map "+n.ID.Name, v.Do.Token, known)
	switch one := v.Do.Verb.(type) {
	case *ir.ToolCall:
		f, _ := g.read(one.Tool)
		if f == nil {
			g.NoNode(v.Do.ID, one)
			return
		}
		if slices.ContainsFunc(f.keys, func(k string) bool { return f.maybe[k] }) {
			f.keys, f.unread = nil, true // what an item gives has no type
		}
		for name, s := range g.shapes {
			if f.whole || f.exact[name] {
				s.whole = true
			}
			if f.reads(name) && name != v.As.Name && g.tree.StateField(name) != nil && !g.isAuto(name) {
				g.reads[n] = append(g.reads[n], name)
			}
		}
	case *ir.Let:
		for _, e := range one.Fields {
			g.useValue(e.Value)
		}
	case *ir.LLM, *ir.Agent:
		g.asksItem(n, v)
	default:
		g.Refuse(v.Do.ID.Span, "write a native `map` with the node below `do`", "a map over a node of this kind is not converted")
	}
}

// wholeItem reports whether a value is the item of a map as it is.
func wholeItem(v ir.Value) bool {
	r, is := v.(*dialect.Reference)
	return is && r.Root == "item" && len(r.Path) == 0
}

// mapNode is a map. Its results are in the list with their place, as the engine keeps them.
func (g *graph) mapNode(n *yamlgraph.Node, v *yamlgraph.Map, out *ir.Node) {
	if g.always(n) {
		out.Verb = &ir.Fail{Message: convert.Text(doc.Braces("the list of map node " + strconv.Quote(n.ID.Name) + " is missing")), Code: "VALIDATION_ERROR"}
		return
	}
	if one, choice := v.Do.Verb.(*ir.ToolChoice); choice && n.Token.Gather == nil {
		out.Verb = g.choiceMap(n, v, one)
		for _, f := range g.writes[n] {
			out.Set = append(out.Set, convert.Set(f, out.ID.Name))
		}
		return
	}
	p, id, t := g.part(n), out.ID.Name, n.Token
	item, index := g.free(convert.NativeID(v.As.Name)), convert.Name(g.free("i"))
	m := &ir.Map{Over: g.list(n, v), As: convert.Name(item), Parallel: v.Parallel, OnItemError: ir.ItemKeep}
	if r := t.Gather; r != nil && r.Strict {
		m.MaxItems = r.MaxItems
	}
	do := &ir.Node{ID: convert.Name(g.fresh(id + "_item")), Timeout: v.Do.Timeout}
	m.Do = ir.Body{Nodes: []*ir.Node{do}, Result: convert.Ref(do.ID.Name)}
	switch one := v.Do.Verb.(type) {
	case *ir.ToolCall:
		f, tool := g.python[one.Tool], g.pythonTool(one.Tool)
		m.Index = &index
		state, _ := g.handed(n, f, v.As.Name)
		state.Entries = append(state.Entries, convert.Pair(v.As.Name, convert.Ref(item)), convert.Pair("_map_index", convert.Ref(index.Name)))
		do.Verb = &ir.ToolCall{Name: tool.Key, With: convert.With(convert.Pair(f.param, state))}
		g.anyErrors = true
	case *ir.Let:
		let := &ir.Let{}
		for _, e := range one.Fields {
			let.Fields = append(let.Fields, convert.Pair(e.Key.Name, g.inItem(e.Value, item, m, id+"_"+e.Key.Name)))
		}
		do.Verb = let
	case *ir.LLM, *ir.Agent:
		g.askItem(n, do, item, &m.Do)
	}
	if v.Do.Token.Ask == nil {
		for i, x := range m.Do.Nodes[1:] {
			m.Do.Edges = append(m.Do.Edges, convert.Edge(m.Do.Nodes[i].ID.Name, x.Span, x.ID.Name))
		}
	}
	out.Verb = m
	p.after = append(p.after, g.collects(n, v, id))
}

// collects is the node that makes of the results of a map what the engine keeps of them.
func (g *graph) collects(n *yamlgraph.Node, v *yamlgraph.Map, id string) *ir.Node {
	t := n.Token
	with := []*ir.Entry{convert.Pair("results", convert.Ref(id)), convert.Pair("map", convert.Literal(g.title(n)))}
	add := func(name string, set bool, v ir.Value) {
		if set {
			with = append(with, convert.Pair(name, v))
		}
	}
	yes := &ir.Scalar{Tag: "!!bool"}
	yes.Text.Value = "true"
	_, sets := v.Do.Verb.(*ir.Let)
	field, key := v.Do.Token.Key.Name, "result"
	if field == "" {
		field = v.Do.ID.Name
	}
	if t.Gather != nil {
		key = t.Gather.Key
	}
	add("field", !sets, convert.Literal(field))
	add("key", key != "", convert.Literal(key))
	add("sets", sets, yes)
	add("asks", v.Do.Token.Ask != nil, yes)
	if r := t.Gather; r != nil {
		add("flat", r.Flat, yes)
		add("failures", r.Failures != "", yes)
		add("least", r.Least > 0, convert.Number(r.Least))
		share := &ir.Scalar{Tag: "!!float"}
		share.Text.Value = strconv.FormatFloat(r.Share, 'f', -1, 64)
		add("share", r.Share > 0, share)
	}
	results := g.call(id+"_results", "Collect", with...)
	if len(g.held(t.Key.Name)) > 0 {
		results.Set = append(results.Set, convert.Set(t.Key.Name, results.ID.Name+".results"))
	}
	if t.Gather != nil && len(g.held(t.Gather.Failures)) > 0 {
		results.Set = append(results.Set, convert.Set(t.Gather.Failures, results.ID.Name+".failures"))
	}
	if !sets {
		g.records = true
		results.Set = append(results.Set, convert.Set("errors", results.ID.Name+".errors"))
	}
	return results
}

// list is what a map goes through.
func (g *graph) list(n *yamlgraph.Node, v *yamlgraph.Map) ir.Value {
	var over ir.Value
	switch x := v.Over.(type) {
	case *dialect.Reference:
		name := x.Path[0]
		over = convert.Ref(g.path(x, ""), x.Text.Span)
		if sure := g.certain(name, n) && !g.Opt[name] || !g.written(name); !sure || g.shapes[name].declared.Kind != schema.List {
			items := g.call(g.IDs[n.ID.Name]+"_items", "Items", convert.Pair("of", over), convert.Pair("node", convert.Literal(g.title(n))))
			p := g.part(n)
			p.before = append(p.before, step{Node: items})
			over = convert.Ref(items.ID.Name)
		}
	case *ir.List:
		kind := func(v ir.Value) string {
			if s, is := v.(*ir.Scalar); is {
				return s.Tag
			}
			return "mixed"
		}
		over = x
		if slices.ContainsFunc(x.Items, func(v ir.Value) bool { return kind(v) == "mixed" || kind(v) != kind(x.Items[0]) }) {
			name := g.fresh(g.IDs[n.ID.Name] + "_items")
			g.Out.State = append(g.Out.State, &ir.State{Name: convert.Name(name), Type: schema.ListOf(schema.AnyType), Init: &schema.Default{JSON: dialect.JSON(x)}})
			over = convert.Ref("state." + name)
		}
	}
	r := n.Token.Gather
	if r == nil || r.MaxItems == 0 || r.Strict {
		return over
	}
	e, is := over.(*ir.Expr)
	if !is {
		g.Refuse(n.ID.Span, "write the first of them only", "the map %s leaves out some of a constant list", n.ID.Name)
		return over
	}
	text, most := e.Text.Value, strconv.Itoa(r.MaxItems)
	return convert.Ref("size(" + text + ") > " + most + " ? " + text + ".slice(0, " + most + ") : " + text)
}

// inItem is a value of a passthrough node inside of a map.
func (g *graph) inItem(v ir.Value, item string, m *ir.Map, name string) ir.Value {
	r, is := v.(*dialect.Reference)
	switch _, calc := v.(*yamlgraph.Calc); {
	case is && r.Root == "item" && len(r.Path) == 0:
		return convert.Ref(item)
	case is && r.Root == "item":
		at := g.located(name, convert.Ref(item), r.Path)
		m.Do.Nodes = slices.Insert(m.Do.Nodes, len(m.Do.Nodes)-1, at)
		return convert.Ref(at.ID.Name)
	case is:
		return convert.Ref(g.path(r, item))
	case calc:
		var made []*ir.Node
		id := g.computed(v, item, name, "Calculated", &made)
		for _, x := range made {
			m.Do.Nodes = slices.Insert(m.Do.Nodes, len(m.Do.Nodes)-1, x)
		}
		return id
	}
	return g.value(v, item)
}
