package yamlgraph

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

var (
	pipelineShape = &dialect.Shape{What: "a pipeline node", Open: true, Keys: []dialect.Key{
		{Name: "type", Doc: "pipeline"}, {Name: "items", Required: true, Doc: "a list of mappings, each with a `name`"},
		{Name: "stages", Required: true, Doc: "a list of nodes, each with a `name`"}, {Name: "description", Doc: "what it is for"},
	}}
	talkShape = &dialect.Shape{What: "an interactive_tool node", Open: true, Keys: []dialect.Key{
		{Name: "type", Doc: "interactive_tool"}, {Name: "description", Doc: "what it is for"},
		{Name: "start", Required: true, Doc: "the python tool that begins"}, {Name: "step", Required: true, Doc: "the python tool that takes an answer"},
		{Name: "end", Doc: "the python tool that ends"}, {Name: "resume_key", Required: true, Doc: "the field of the answer"},
		{Name: "response_key", Required: true, Doc: "the field of what is asked"}, {Name: "loop_until", Required: true, Doc: "the condition after which nothing more is asked"},
		{Name: "max_iterations", Doc: "how often something is asked at most"}, {Name: "on_error", Doc: "what becomes of an error"},
	}}
	itemField = lazyregexp.New(`\{item\.(\w+)\}`)
)

// An expansion is a graph whose nodes of the types pipeline and interactive_tool are written out as the nodes and edges
// that they stand for.
type expansion struct {
	p           *parser
	nodes       []yamlnode.Entry
	edges       []*yamlnode.Node
	more        []*yamlnode.Node  // edges between the new nodes, which are behind all others
	first, last map[string]string // of nodes that are written out: where edges lead to and where they leave
	until       map[string]*yamlnode.Node
}

// expand writes out the nodes of a graph that stand for others.
func (p *parser) expand(root *yamlnode.Node) *yamlnode.Node {
	nodes := root.Get("nodes")
	short := func(e yamlnode.Entry) bool {
		t := e.Value.Get("type")
		return is(t, "pipeline") || is(t, "interactive_tool")
	}
	if nodes == nil || nodes.Kind != yamlnode.Mapping || !slices.ContainsFunc(nodes.Entries, short) {
		return root
	}
	x := &expansion{p: p, first: map[string]string{}, last: map[string]string{}, until: map[string]*yamlnode.Node{}}
	for _, e := range nodes.Entries {
		switch {
		case is(e.Value.Get("type"), "pipeline"):
			x.pipeline(e)
		case is(e.Value.Get("type"), "interactive_tool"):
			x.talk(e)
		default:
			x.nodes = append(x.nodes, e)
		}
	}
	for _, e := range nodes.Entries {
		if short(e) && x.first[e.Key.Text.Value] == "" {
			p.dropped = append(p.dropped, e.Key.Text.Value) // what is wrong with it is reported
		}
	}
	for i, e := range x.nodes {
		x.nodes[i].Value = x.routed(e.Value)
	}
	if edges := root.Get("edges"); edges != nil && edges.Kind == yamlnode.Sequence {
		for _, e := range edges.Items {
			x.edges = append(x.edges, x.edge(e))
		}
	}
	out := *root
	out.Entries = slices.Clone(root.Entries)
	for i, e := range out.Entries {
		switch e.Key.Text.Value {
		case "nodes":
			copied := *nodes
			copied.Entries = x.nodes
			out.Entries[i].Value = &copied
		case "edges":
			if e.Value.Kind == yamlnode.Sequence {
				copied := *e.Value
				copied.Items = append(x.edges, x.more...)
				out.Entries[i].Value = &copied
			}
		case "loop_exits":
			out.Entries[i].Value = x.renamed(e.Value)
		}
	}
	return &out
}

// word is text that is at a place of the file without being written there.
func wordAt(text string, at source.Span) *yamlnode.Node {
	return &yamlnode.Node{Kind: yamlnode.Scalar, Style: yamlnode.DoubleQuoted, Tag: "!!str", Text: source.Text{Value: text, Span: at, Opaque: true}, Span: at}
}

// with is a mapping with an entry set.
func with(n *yamlnode.Node, key string, value *yamlnode.Node) *yamlnode.Node {
	out := *n
	out.Entries = slices.Clone(n.Entries)
	for i, e := range out.Entries {
		if e.Key.Text.Value == key {
			out.Entries[i].Value = value
			return &out
		}
	}
	out.Entries = append(out.Entries, yamlnode.Entry{Key: wordAt(key, n.Span), Value: value})
	return &out
}

func mappingAt(at source.Span) *yamlnode.Node {
	return &yamlnode.Node{Kind: yamlnode.Mapping, Tag: "!!map", Span: at}
}

// next adds an edge between new nodes.
func (x *expansion) next(from, to string, at source.Span, when *yamlnode.Node) {
	e := with(with(mappingAt(at), "from", wordAt(from, at)), "to", wordAt(to, at))
	if when != nil {
		e = with(e, "condition", when)
	}
	x.more = append(x.more, e)
}

// edge has an edge lead to the first of the nodes that a node stands for, and leave the last.
func (x *expansion) edge(e *yamlnode.Node) *yamlnode.Node {
	if e.Kind != yamlnode.Mapping {
		return e
	}
	if to := e.Get("to"); to != nil {
		e = with(e, "to", x.target(to))
	}
	if from := e.Get("from"); from != nil && from.Kind == yamlnode.Scalar {
		if last := x.last[from.Text.Value]; last != "" {
			if until := x.until[from.Text.Value]; until != nil {
				e = with(e, "condition", until)
			}
			e = with(e, "from", wordAt(last, from.Span))
		}
	}
	return e
}

func (x *expansion) target(to *yamlnode.Node) *yamlnode.Node {
	if to.Kind == yamlnode.Sequence {
		out := *to
		out.Items = nil
		for _, it := range to.Items {
			out.Items = append(out.Items, x.target(it))
		}
		return &out
	}
	if first := x.first[to.Text.Value]; first != "" && to.Kind == yamlnode.Scalar {
		return wordAt(first, to.Span)
	}
	return to
}

// renamed has the values of a mapping lead to the first node.
func (x *expansion) renamed(n *yamlnode.Node) *yamlnode.Node {
	if n.Kind != yamlnode.Mapping {
		return n
	}
	out := *n
	out.Entries = slices.Clone(n.Entries)
	for i, e := range out.Entries {
		out.Entries[i].Value = x.target(e.Value)
	}
	return &out
}

// routed has the routes of a router lead to first nodes.
func (x *expansion) routed(n *yamlnode.Node) *yamlnode.Node {
	if r := n.Get("routes"); r != nil {
		n = with(n, "routes", x.renamed(r))
	}
	if r := n.Get("default_route"); r != nil {
		n = with(n, "default_route", x.target(r))
	}
	return n
}

// named reads the items or the stages of a pipeline: mappings with a name.
func (x *expansion) named(m dialect.Mapping, key string) (out []dialect.Mapping, names []ir.Ident) {
	n := m.Get(key)
	if n == nil {
		return nil, nil // reported
	}
	if !x.p.IsList(n, "`"+key+"`") {
		return nil, nil
	}
	if len(n.Items) == 0 {
		x.p.Error(diag.MissingKey, n.Span, "", "the `%s` of a pipeline are at least one", key)
	}
	shape := &dialect.Shape{What: "one of the `" + key + "`", Any: true, Keys: []dialect.Key{{Name: "name", Required: true, Doc: "its part of the names of nodes"}}}
	for _, it := range n.Items {
		if one, ok := x.p.Mapping(it, shape); ok {
			if id, ok := x.p.Text(one.Get("name"), "a name in `"+key+"`"); ok {
				out, names = append(out, one), append(names, id)
			}
		}
	}
	return out, names
}

// maxPipeline bounds the nodes that one pipeline stands for.
const maxPipeline = 1000

// pipeline writes out a pipeline: a node for each stage of each item, one after the other.
func (x *expansion) pipeline(e yamlnode.Entry) {
	m, ok := x.p.Mapping(e.Value, pipelineShape)
	if !ok {
		return
	}
	items, itemNames := x.named(m, "items")
	stages, stageNames := x.named(m, "stages")
	if len(items)*len(stages) > maxPipeline {
		x.p.Error(diag.WrongShape, m.Key("items"), "make a map of it", "a pipeline stands for at most %d nodes, and this one for %d", maxPipeline, len(items)*len(stages))
		return
	}
	told := map[*yamlnode.Node]bool{}
	before := ""
	for i, item := range items {
		for j, stage := range stages {
			name := e.Key.Text.Value + "__" + itemNames[i].Name + "__" + stageNames[j].Name
			x.nodes = append(x.nodes, yamlnode.Entry{Key: wordAt(name, itemNames[i].Span), Value: x.stage(stage.Node, item.Node, told)})
			if before == "" {
				x.first[e.Key.Text.Value] = name
			} else {
				x.next(before, name, stageNames[j].Span, nil)
			}
			before = name
		}
	}
	x.last[e.Key.Text.Value] = before
}

// stage is the node that a stage is for an item: the fields of the item are written into its prompt, its state_key and its
// variables.
func (x *expansion) stage(stage, item *yamlnode.Node, told map[*yamlnode.Node]bool) *yamlnode.Node {
	out := *stage
	out.Entries = nil
	for _, e := range stage.Entries {
		switch e.Key.Text.Value {
		case "name":
			continue
		case "prompt", "state_key":
			e.Value = x.filled(e.Value, item, told)
		case "variables":
			if e.Value.Kind == yamlnode.Mapping {
				vars := *e.Value
				vars.Entries = slices.Clone(vars.Entries)
				for i, v := range vars.Entries {
					vars.Entries[i].Value = x.filled(v.Value, item, told)
				}
				e.Value = &vars
			}
		default:
			x.unfilled(e.Value, told)
		}
		out.Entries = append(out.Entries, e)
	}
	return &out
}

// unfilled warns about fields of the item where the engine does not look for them.
func (x *expansion) unfilled(n *yamlnode.Node, told map[*yamlnode.Node]bool) {
	if n.Kind == yamlnode.Scalar && itemField.MatchString(n.Text.Value) && !told[n] {
		told[n] = true
		x.p.Warn(diag.IgnoredKey, n.Span, "put it into `variables`", "this stays text: fields of the item are read in `prompt`, `state_key` and `variables`")
	}
	for _, e := range n.Entries {
		x.unfilled(e.Value, told)
	}
}

// filled writes fields of an item into text.
func (x *expansion) filled(n, item *yamlnode.Node, told map[*yamlnode.Node]bool) *yamlnode.Node {
	if n.Kind != yamlnode.Scalar || !itemField.MatchString(n.Text.Value) {
		return n
	}
	out, at := "", 0
	for _, m := range itemField.FindAllStringSubmatchIndex(n.Text.Value, -1) {
		name := n.Text.Value[m[2]:m[3]]
		out += n.Text.Value[at:m[0]]
		at = m[1]
		v := item.Get(name)
		switch {
		case v == nil && !told[n]:
			told[n] = true
			d := diag.Diagnostic{Code: diag.UnknownName, Span: n.Text.At(m[2], m[3]), Message: "an item has no field `" + name + "`"}
			var names []string
			for _, e := range item.Entries {
				names = append(names, e.Key.Text.Value)
			}
			diag.Suggest(&d, name, names)
			x.p.Report(d)
		case v != nil && v.Kind != yamlnode.Scalar && !told[n]:
			told[n] = true
			x.p.Error(diag.WrongShape, n.Text.At(m[2], m[3]), "", "the field `%s` of an item is a %s, and only text and numbers can be put into text", name, v.Kind)
		case v != nil:
			out += pythonText(x.p, v)
		}
	}
	return wordAt(out+n.Text.Value[at:], n.Span)
}

// pythonText is a constant as Python writes it.
func pythonText(p *parser, n *yamlnode.Node) string {
	s := p.scalar(n)
	switch s.Tag {
	case "!!bool":
		return strings.ToUpper(s.Text.Value[:1]) + s.Text.Value[1:]
	case "!!null":
		return "None"
	}
	return s.Text.Value
}

// talk writes out an interactive_tool node: a tool that begins, a user who is asked, a tool that takes the answer, until
// a condition holds, and a tool that ends.
func (x *expansion) talk(e yamlnode.Entry) {
	m, ok := x.p.Mapping(e.Value, talkShape)
	if !ok {
		return
	}
	name, at := e.Key.Text.Value, e.Key.Span
	until, asks, reply := m.Get("loop_until"), m.Get("response_key"), m.Get("resume_key")
	if until == nil || asks == nil || reply == nil || m.Get("start") == nil || m.Get("step") == nil {
		return // reported
	}
	response, ok := x.p.Text(asks, "`response_key`")
	if !ok {
		return
	}
	node := func(part string, kind string, entries ...yamlnode.Entry) string {
		n := with(mappingAt(e.Value.Span), "type", wordAt(kind, at))
		for _, more := range entries {
			if more.Value != nil {
				n = with(n, more.Key.Text.Value, more.Value)
			}
		}
		x.nodes = append(x.nodes, yamlnode.Entry{Key: wordAt(name+"__"+part, at), Value: n})
		return name + "__" + part
	}
	put := func(key string, v *yamlnode.Node) yamlnode.Entry {
		return yamlnode.Entry{Key: wordAt(key, at), Value: v}
	}
	start := node("start", "python", put("tool", m.Get("start")), put("on_error", m.Get("on_error")))
	ask := node("ask", "interrupt", put("message", wordAt("{"+response.Name+"}", response.Span)), put("resume_key", reply), put("idempotent", &yamlnode.Node{Kind: yamlnode.Scalar, Tag: "!!bool", Explicit: true, Text: source.Text{Value: "false", Span: at, Opaque: true}, Span: at}))
	most := m.Get("max_iterations")
	if most == nil {
		most = &yamlnode.Node{Kind: yamlnode.Scalar, Tag: "!!int", Text: source.Text{Value: "10", Span: at, Opaque: true}, Span: at}
	}
	step := node("step", "python", put("tool", m.Get("step")), put("loop_limit", most), put("on_error", m.Get("on_error")))
	x.first[name], x.last[name] = start, step
	x.next(start, ask, at, nil)
	x.next(ask, step, at, nil)
	x.next(step, ask, until.Span, wordAt(negated(until.Text.Value), until.Span))
	if m.Get("end") == nil {
		x.until[name] = until
		return
	}
	x.last[name] = node("end", "python", put("tool", m.Get("end")), put("on_error", m.Get("on_error")))
	x.next(step, x.last[name], until.Span, until)
}

var opposite = map[string]string{"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}

// negated is the condition that holds where another one does not. Parts that are not a comparison stay, and are reported where
// the condition is read.
func negated(text string) string {
	for _, joint := range []struct {
		word  *lazyregexp.Regexp
		other string
	}{{orWord, " and "}, {andWord, " or "}} {
		if parts := unquoted(text, joint.word); len(parts) > 1 {
			for i, part := range parts {
				parts[i] = negated(part)
			}
			return strings.Join(parts, joint.other)
		}
	}
	m := comparison.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	return m[1] + " " + opposite[m[2]] + " " + m[3]
}

// unquoted divides text at a word that is outside of quotes.
func unquoted(text string, word *lazyregexp.Regexp) []string {
	var out []string
	from := 0
	for _, cut := range word.FindAllStringIndex(text, -1) {
		if !quoted(text[:cut[0]]) {
			out = append(out, text[from:cut[0]])
			from = cut[1]
		}
	}
	return append(out, text[from:])
}
