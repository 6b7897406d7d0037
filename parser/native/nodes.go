package native

import (
	"cmp"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// verbs are the keys of which a node has exactly one.
var verbs = []string{"tool", "let", "map", "loop", "flow", "go", "llm", "agent", "human", "tool_call", "fail", "wait", "parse"}

// declareIDs files the ids of a body and of the bodies inside it. A workflow has one namespace: an id names the same
// node wherever it is read, in the journal too.
func (p *parser) declareIDs(nodes *yamlnode.Node, alias source.Span) {
	if nodes == nil || nodes.Kind != yamlnode.Mapping {
		return
	}
	alias = cmp.Or(nodes.Alias, alias)
	for _, e := range nodes.Entries {
		id := ir.Ident{Name: e.Key.Text.Value, Span: textSpan(e.Key.Text)}
		first, taken := p.ids[id.Name]
		switch {
		case !taken:
			p.ids[id.Name] = id.Span
		case first == id.Span: // the same text, through an alias
			id.Span = alias
			fallthrough
		default:
			p.duplicate("node", id, first, "ids are unique in a workflow, inside `do:` too: choose another")
		}
		if do := e.Value.Get("do"); do != nil {
			p.declareIDs(do.Get("nodes"), cmp.Or(do.Alias, e.Value.Alias, alias))
		}
	}
}

// body reads the keys nodes, edges and result.
func (p *parser) body(m mapping) ir.Body {
	b := ir.Body{Span: m.node.Span}
	n := m.get("nodes")
	if n != nil && n.Kind == yamlnode.Mapping && len(n.Entries) == 0 {
		p.say(yamlnode.NoNodes(headSpan(n)))
	}
	p.each(n, "nodes", nodeID, func(id ir.Ident, v *yamlnode.Node) {
		b.Nodes = append(b.Nodes, p.node(id, v))
	})
	if e := m.get("edges"); e != nil {
		b.EdgesWritten, b.EdgesSpan = true, e.Span
		b.Edges = p.edges(e)
	}
	if r := m.get("result"); r != nil {
		b.Result = p.value(r)
	}
	return b
}

// do reads the body of a map or a loop: a single node, or nodes with their edges and a result.
func (p *parser) do(n *yamlnode.Node) ir.Body {
	if n == nil {
		return ir.Body{}
	}
	if n.Kind != yamlnode.Mapping {
		p.wrongShape(n, "`do` is a node, or a mapping of `nodes`, `edges` and `result`", "")
		return ir.Body{Span: n.Span}
	}
	if n.Get("nodes") != nil || n.Get("result") != nil || n.Get("edges") != nil {
		m, _ := p.mapping(n, shapeBody)
		return p.body(m)
	}
	node := p.node(ir.Ident{Span: n.Span}, n)
	node.Inline = true
	node.ID.Name, node.ID.Span = inlineID(node.Verb, n)
	if node.Undo != nil {
		node.Undo.ID.Name = node.ID.Name + ir.UndoSuffix
	}
	return ir.Body{Nodes: []*ir.Node{node}, Span: n.Span}
}

// inlineID names the node of a `do:` after the tool it calls, else after its verb.
func inlineID(v ir.Verb, n *yamlnode.Node) (string, source.Span) {
	at := headSpan(n)
	for _, e := range n.Entries {
		if slices.Contains(verbs, e.Key.Text.Value) {
			at = e.Key.Span
			if t, ok := v.(*ir.ToolCall); ok {
				name, _, _ := strings.Cut(t.Name.Name, "@")
				if name = name[strings.LastIndexByte(name, '.')+1:]; idForm.MatchString(name) {
					return name, at
				}
			}
			return e.Key.Text.Value, at
		}
	}
	return "do", at
}

// node reads one node. It is never nil: a node without a verb still is what its id refers to.
func (p *parser) node(id ir.Ident, n *yamlnode.Node) *ir.Node {
	node := &ir.Node{ID: id, Span: n.Span}
	if n.Kind != yamlnode.Mapping {
		p.wrongShape(n, "a node is a mapping with a verb", "write one of "+list(quoted(verbs), "or"))
		return node
	}
	verb := p.verb(id, n)
	m := mapping{node: n, shape: shapeNode, values: map[string]*yamlnode.Node{}, keys: map[string]*yamlnode.Node{}}
	if verb != "" {
		m.shape = nodeShapes[verb]
	}
	p.readKeys(&m, func(key *yamlnode.Node) bool { return verb == "" || p.foreignKey(key.Text.Value, key.Span, verb) })
	p.missingKeys(m, verb)
	p.common(node, m, verb)
	if v := m.get(verb); v != nil {
		node.Verb = p.readVerb(verb, m, v)
	}
	return node
}

// verb finds what a node does. "" means that this was reported.
func (p *parser) verb(id ir.Ident, n *yamlnode.Node) string {
	var found []*yamlnode.Node
	for _, e := range n.Entries {
		if slices.Contains(verbs, e.Key.Text.Value) {
			found = append(found, e.Key)
		}
	}
	if len(found) > 1 {
		p.say(diag.Diagnostic{
			Code: diag.NotOneVerb, Span: found[1].Span,
			Message: "a node does one thing: `" + found[0].Text.Value + "` or `" + found[1].Text.Value + "`",
			Help:    "make two nodes of it",
			Related: []diag.Related{{Span: found[0].Span, Message: "the first verb is here"}},
		})
	}
	if len(found) > 0 {
		return found[0].Text.Value
	}
	for _, e := range n.Entries {
		key := e.Key.Text.Value
		if _, ok := shapeNode.Instead[key]; ok {
			p.unknownKey(&mapping{node: n, shape: shapeNode}, e.Key, key)
			return ""
		}
		if nodeKeyOwners[key] == nil && shapeNode.key(key) == nil {
			if near := p.nearest(key, verbs); near != "" {
				return near // the misspelling is reported when the keys are read
			}
		}
	}
	at := id.Span
	if id.Name == "" {
		at = headSpan(n)
	}
	p.report(diag.NotOneVerb, at, "give it one of "+list(quoted(verbs), "or"), "the node does nothing: it has no verb")
	return ""
}

// foreignKey reports keys that go with another verb.
func (p *parser) foreignKey(key string, at source.Span, verb string) bool {
	if slices.Contains(verbs, key) {
		return true // the second verb of a node: reported
	}
	owners := nodeKeyOwners[key]
	if _, ok := nodeShapes[verb].Instead[key]; ok || owners == nil {
		return false
	}
	p.keyOf(owners, at, key, nodeShapes[verb].What)
	return true
}

// keyOf reports a key that what does not have, and others do.
func (p *parser) keyOf(owners []string, at source.Span, key, what string) {
	p.wrongKey(at, key, what, "`"+key+"` goes with "+list(quoted(owners), "and"))
}

// common reads the keys that every node can have.
func (p *parser) common(node *ir.Node, m mapping, verb string) {
	if v := m.get("when"); v != nil {
		node.When = p.expr(v)
	}
	p.each(m.get("set"), "set", naming{}, func(id ir.Ident, v *yamlnode.Node) {
		node.Set = append(node.Set, &ir.Set{Field: id, Value: p.value(v)})
	})
	if v := m.node.Get("join"); isScalar(v) && v.Text.Value == "all" { // reported with the keys; what reads the results is right
		node.Join = ir.JoinAll
	}
	node.Retry = p.retry(m.get("retry"))
	if verb != "human" {
		node.Timeout = p.duration(m.get("timeout"), "`timeout`")
	}
	node.Catch = p.catch(m.get("catch"))
	node.OnError = p.onError(m.get("on_error"), "`on_error`")
	node.InDoubt = p.doubt(m.get("on_in_doubt"))
	node.Undo = p.undo(node, m)
}

// undo reads the call that undoes a node.
func (p *parser) undo(of *ir.Node, m mapping) *ir.Node {
	n := m.get("undo")
	if n == nil {
		return nil
	}
	u, ok := p.mapping(n, shapeUndo)
	if !ok || !u.has("tool") {
		return nil
	}
	return &ir.Node{
		ID: ir.Ident{Name: of.ID.Name + ir.UndoSuffix, Span: m.keys["undo"].Span}, Span: n.Span,
		Verb:  &ir.ToolCall{Name: p.ref(u.get("tool"), "the name of a tool"), With: p.with(u)},
		Retry: p.retry(u.get("retry")), Timeout: p.duration(u.get("timeout"), "`timeout`"), InDoubt: p.doubt(u.get("on_in_doubt")),
	}
}

var (
	onErrorWords = []string{"fail", "skip"}
	backoffWords = []string{"exponential", "constant"}
	catchWords   = append(slices.Clone(schema.ErrorCodes), "any")
)

// retry reads {attempts, codes, backoff, base, cap, jitter}.
func (p *parser) retry(n *yamlnode.Node) *ir.Retry {
	if n == nil {
		return nil
	}
	if isScalar(n) && n.Tag == "!!int" {
		p.rewrite(diag.WrongShape, n.Span, "{attempts: "+n.Text.Value+"}", "`retry` is a mapping")
		return nil
	}
	m, ok := p.mapping(n, shapeRetry)
	if !ok {
		return nil
	}
	r := &ir.Retry{Span: n.Span, Base: p.duration(m.get("base"), "`base`"), Cap: p.duration(m.get("cap"), "`cap`"), Timeout: p.duration(m.get("timeout"), "`timeout`")}
	if !m.astray && !m.has("attempts") && (!m.has("timeout") || len(n.Entries) > 1) {
		p.missingKey(n, shapeRetry, "attempts")
	}
	if v := m.get("attempts"); v != nil {
		c, _ := p.count(v, "`attempts`", 1)
		r.Attempts = int(c)
	}
	for _, c := range p.refs(m.get("codes"), "an error code") {
		if c.Name = p.oneOf(c, "an error code", schema.ErrorCodes); c.Name != "" {
			r.Codes = append(r.Codes, c)
		}
	}
	if v := m.get("backoff"); v != nil {
		r.Constant = p.word(v, "`backoff`", backoffWords...) == "constant"
	}
	if v := m.get("jitter"); v != nil {
		j, ok := p.number(v, "`jitter`")
		if ok && (j < 0 || j > 1) {
			p.report(diag.BadLiteral, v.Span, "", "`jitter` is a part of the wait, from 0 to 1")
		} else if ok {
			r.Jitter = j
		}
	}
	return r
}

// catch reads a mapping from error codes to nodes.
func (p *parser) catch(n *yamlnode.Node) []*ir.Catch {
	if isScalar(n) && idForm.MatchString(n.Text.Value) {
		p.rewrite(diag.WrongShape, n.Span, "{any: "+n.Text.Value+"}", "`catch` is a mapping from error codes to nodes")
		return nil
	}
	var out []*ir.Catch
	p.each(n, "catch", naming{}, func(code ir.Ident, v *yamlnode.Node) {
		target := p.ref(v, "the target of a catch")
		p.oneOf(code, "an error code", catchWords) // a misspelled code is one all the same: its node is not an orphan too
		if target.Name != "" {
			out = append(out, &ir.Catch{Code: code, Target: target})
		}
	})
	return out
}

// onError reads fail, skip or {default: value}.
func (p *parser) onError(n *yamlnode.Node, what string) *ir.OnError {
	switch {
	case n == nil:
		return nil
	case n.Kind == yamlnode.Mapping:
		m, _ := p.mapping(n, shapeOnError)
		if !m.has("default") {
			return nil
		}
		return &ir.OnError{Kind: ir.OnErrorDefault, Default: p.value(m.get("default")), Span: n.Span}
	}
	switch p.word(n, what, onErrorWords...) {
	case "fail":
		return &ir.OnError{Kind: ir.OnErrorFail, Span: n.Span}
	case "skip":
		return &ir.OnError{Kind: ir.OnErrorSkip, Span: n.Span}
	}
	return nil
}
