package yamlgraph

import (
	"fmt"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// nodeSection reads the nodes. Fields that they write are known before references to them are read.
func (p *parser) nodeSection(m dialect.Mapping) {
	n := m.Get("nodes")
	switch {
	case n == nil:
		return
	case !p.IsMapping(n, "`nodes`"):
		return
	case len(n.Entries) == 0:
		p.NoNodes(n.Span)
		return
	}
	p.wf.Body.Span = n.Span
	for _, e := range n.Entries {
		id := ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}
		p.Broken(id.Name) // until it is read
		if !idForm.MatchString(strings.ReplaceAll(id.Name, "-", "_")) || id.Name == start || id.Name == end {
			p.Error(diag.BadName, id.Span, "", "a node name has letters, digits, _ and -, starts with a letter or _, and is not START or END")
			continue
		}
		if out := p.node(id, e.Value, false); out != nil {
			p.nodes[id.Name] = out
			p.names = append(p.names, id.Name)
			if out.Verb != nil {
				p.tree.Nodes = append(p.tree.Nodes, out)
			}
		}
	}
}

// node reads a node, nil after a mistake. One that is not compiled has no verb.
func (p *parser) node(id ir.Ident, n *yamlnode.Node, inside bool) *Node {
	if !p.IsMapping(n, "a node") {
		return nil
	}
	kind, at := "llm", dialect.Head(n)
	if t := n.Get("type"); t != nil {
		at = t.Span
		if kind = p.Word(t, "the type of a node", words...); kind == "" {
			return &Node{ID: id, Span: n.Span, Token: &Token{}} // edges know it
		}
	}
	out := &Node{ID: id, Span: n.Span, Token: &Token{Again: true}}
	shape := kinds[kind]
	if shape == nil {
		p.Error(diag.NotSupported, at, "", "nodes of the type %s are not compiled", kind)
		return out
	}
	m, ok := p.Mapping(n, shape)
	if !ok {
		return nil
	}
	if !inside {
		p.types[id.Name] = kind
	}
	if inside && (kind == "map" || kind == "interrupt") {
		p.Error(diag.NotSupported, at, "", "a map of nodes of the type %s is not compiled", kind)
		return nil
	}
	p.everyNode(m, kind, out)
	switch kind {
	case "tool_call":
		p.toolCall(m, out, inside)
	case "python":
		p.pythonNode(m, out)
	case "passthrough":
		p.passthrough(m, out)
	case "map":
		p.mapNode(m, out)
	case "copilot":
		p.copilot(m, out, inside)
	case "llm", "router", "agent", "race":
		p.llm(m, out, kind, inside)
	case "interrupt":
		p.interrupt(m, out)
	case "subgraph":
		p.subgraph(m, out)
	case "tool":
		p.toolNode(m, out)
	}
	return out
}

// key is the field of a node's result: state_key, or the node's own name when the state has such a field.
func (p *parser) key(m dialect.Mapping, id ir.Ident) ir.Ident {
	if k, ok := p.Text(m.Get("state_key"), "`state_key`"); ok {
		p.field(k, schema.AnyType)
		return k
	}
	return ir.Ident{Name: id.Name, Span: id.Span}
}

func (p *parser) onError(m dialect.Mapping) TokenFail {
	n := m.Get("on_error")
	if n == nil {
		return TokenRaise
	}
	if p.Word(n, "`on_error`", "skip", "fail", "retry", "fallback") == "skip" {
		p.field(ir.Ident{Name: "errors", Span: n.Span}, always["errors"])
		return TokenNull
	}
	if w := n.Text.Value; w == "retry" || w == "fallback" {
		p.Warn(diag.IgnoredKey, n.Span, "write `skip` or `fail`", "the engine knows %s for nodes that ask a model only: an error ends the run", w)
	}
	return TokenRaise
}

// toolCall reads a node that calls the tool that the state names. The page says that its result goes into the field of
// the node's own name, the engine takes "result".
func (p *parser) toolCall(m dialect.Mapping, out *Node, inside bool) {
	p.toolCallFails(m, out)
	tool, args := m.Get("tool"), m.Get("args")
	if tool == nil || args == nil {
		return
	}
	v := &ir.ToolChoice{Open: true, Tool: p.value(tool), Allow: p.replaced(out.ID), Span: m.Node.Span}
	switch {
	case args.Kind == yamlnode.Sequence:
		p.WrongShape(args, "`args` is a reference to a mapping, or a mapping")
		return
	case args.Kind == yamlnode.Mapping:
		v.Args = p.inlineArgs(args)
	default:
		v.Args = p.value(args)
	}
	if _, text := v.Args.(*ir.Scalar); text && args.Kind == yamlnode.Scalar {
		p.Warn(diag.IgnoredKey, args.Span, "write a reference such as `{state.task.args}`", "this is text, and arguments are a mapping")
	}
	id := source.Text{Value: "{state.task.id}", Span: out.ID.Span}
	if p.item == "task" || p.fields["task"] != nil {
		v.ID = p.reference(id, "task.id")
	} else {
		v.ID = &ir.Scalar{Text: id, Tag: "!!null"}
	}
	out.Verb = v
	if inside {
		if k := m.Get("state_key"); k != nil {
			p.Text(k, "`state_key`")
		}
		return
	}
	if m.Get("state_key") == nil {
		name := out.ID.Name
		if p.opts.Upstream {
			name = "result"
		}
		out.Token.Key = ir.Ident{Name: name, Span: out.ID.Span}
		p.field(out.Token.Key, schema.AnyType)
		p.keyDiffers(out.ID.Span, name)
		return
	}
	out.Token.Key = p.key(m, out.ID)
}

func (p *parser) pythonNode(m dialect.Mapping, out *Node) {
	n := m.Get("tool")
	if n == nil {
		n = m.Get("function")
	}
	if n == nil {
		p.Error(diag.MissingKey, dialect.Head(m.Node), "add `tool`: the name of a python tool", "a python node needs the key `tool`")
		return
	}
	name, ok := p.Text(n, "`tool`")
	if !ok {
		return
	}
	if p.tools[name.Name] == nil || p.kinds[name.Name] != "python" {
		if kind, declared := p.kinds[name.Name]; declared && kind != "python" && kind != "" {
			p.Error(diag.UnknownName, name.Span, "", "tool %q is a %s tool, and a python node calls python tools", name.Name, kind)
		} else if !declared {
			p.unknownTool(name)
		}
		return
	}
	t := out.Token
	t.OnError = p.onError(m)
	t.Key = p.key(m, out.ID)
	p.seen(m, t)
	out.Verb = &ir.ToolCall{Name: name}
}

// inlineArgs reads arguments that are written as a mapping. The engine of the page takes what is in it for text.
func (p *parser) inlineArgs(n *yamlnode.Node) ir.Value {
	references := false
	for _, e := range n.Entries {
		references = references || e.Value.Kind == yamlnode.Scalar && strings.Contains(e.Value.Text.Value, "{state.")
	}
	if !references {
		return p.constant(n)
	}
	if p.opts.Upstream {
		p.Differs(dialect.Head(n), "take all arguments from the state", "references in these arguments stay text: YAMLGraph 0.4 does not look for them; 0.6 does")
		return p.Value(n, nil)
	}
	p.Differs(dialect.Head(n), "", "references in these arguments are replaced, as in YAMLGraph 0.6; 0.4 leaves them as they are")
	o := &ir.Object{Span: n.Span}
	for _, e := range n.Entries {
		o.Entries = append(o.Entries, &ir.Entry{Key: ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}, Value: p.value(e.Value)})
	}
	return o
}

func (p *parser) unknownTool(id ir.Ident) { p.UnknownTool(id, p.toolNames()) }

func (p *parser) toolNames() (names []string) {
	for _, t := range p.wf.Tools {
		names = append(names, t.Key.Name)
	}
	return names
}

// absentTool warns about a tool of an agent that the file does not declare: the engine runs the agent without it.
func (p *parser) absentTool(id ir.Ident) {
	d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownTool, Span: id.Span, Message: fmt.Sprintf("tool %q is not declared: the agent runs without it", id.Name)}
	diag.Suggest(&d, id.Name, p.toolNames())
	p.Report(d)
}

// passthrough reads a node that sets fields. One without `output` does nothing.
func (p *parser) passthrough(m dialect.Mapping, out *Node) {
	v := &ir.Let{}
	out.Verb = v
	n := m.Get("output")
	if n == nil {
		n = m.Get("outputs")
	}
	if n == nil {
		p.Warn(diag.IgnoredKey, dialect.Head(m.Node), "add `output`", "the node does nothing: it has no `output`")
		return
	}
	if !p.IsMapping(n, "`output`") {
		return
	}
	for _, e := range n.Entries {
		id := ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}
		if p.named(id.Name, id.Span); p.fields[id.Name] == nil {
			out.Writes = append(out.Writes, id) // a node below may add it
		}
		v.Fields = append(v.Fields, &ir.Entry{Key: id, Value: p.value(e.Value)})
	}
}
