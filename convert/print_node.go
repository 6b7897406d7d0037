package convert

import (
	"strings"

	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// A nodePrinter writes the entries of one node. Comments come along from the entries of tree that they are made of.
type nodePrinter struct {
	*Converter
	m    *doc.Mapping
	tree *yamlnode.Node
}

// put adds an entry. own is its place where the dialect's table has none.
func (p *nodePrinter) put(key string, v doc.Value, own ...source.Span) {
	var other source.Span
	if len(own) > 0 {
		other = own[0]
	}
	p.m.Add(key, v, p.at(p.tree, key, "", other))
}

// node is a node: its verb, and what goes with every verb.
func (c *Converter) node(n *ir.Node) doc.Value {
	p := &nodePrinter{c, &doc.Mapping{}, NodeAt(c.Root, n.Span)}
	if n.When != nil {
		p.put("when", p.condition(n.When), n.When.Text.Span)
	}
	switch v := n.Verb.(type) { // of verbs that no conversion makes there is nothing to print
	case nil: // which was refused
	case *ir.ToolCall:
		p.put("tool", doc.Scalar(doc.Quoted(v.Name.Name)))
		p.with(v.With)
	case *ir.GoCall:
		p.put("go", doc.Scalar(doc.Quoted(v.Func.Ref.Name)))
		p.with(v.With)
	case *ir.Let:
		p.put("let", c.object(v.Fields))
	case *ir.ToolChoice:
		p.toolChoice(v)
	case *ir.LLM:
		p.llm(v)
	case *ir.Human:
		p.human(v)
	case *ir.Map:
		p.mapNode(v)
	case *ir.Loop:
		p.loop(v)
	case *ir.Agent:
		p.agent(v)
	case *ir.Fail:
		p.fail(v)
	case *ir.Wait:
		p.put("wait", p.value(v.Value))
	case *ir.Flow:
		p.put("flow", doc.Scalar(doc.Quoted(v.Path.Name)))
		p.with(v.With)
	case *ir.Parse:
		p.put("parse", p.value(v.Value))
		p.put("out", p.typ(v.Out, n.Span))
	default:
		c.NoNode(n.ID, n.Verb)
	}
	if n.Timeout != nil {
		p.put("timeout", doc.Scalar(doc.Duration(n.Timeout.Value)))
	}
	if len(n.Set) > 0 {
		set := doc.Flow()
		for _, s := range n.Set {
			set.Add(s.Field.Name, c.value(s.Value), Join(s.Field.Span, s.Value.Source()))
		}
		p.put("set", set)
	}
	if n.Join == ir.JoinAll {
		p.put("join", doc.Scalar("all")) // which canonical writes as a condition
	}
	if n.Retry != nil {
		p.put("retry", retry(n.Retry), n.Retry.Span)
	}
	p.onError("on_error", n.OnError)
	if len(n.Catch) > 0 {
		ends := doc.Flow()
		for _, x := range n.Catch {
			ends.Add(x.Code.Name, doc.Scalar(c.id(x.Target)), source.Span{})
		}
		p.put("catch", ends, n.Catch[0].Code.Span)
	}
	_, let := n.Verb.(*ir.Let)
	_, parse := n.Verb.(*ir.Parse)
	p.m.Flow = parse && len(p.m.Entries) == 2 || let && len(p.m.Entries) == 1 && doc.PlainEntries(p.m.Entries)
	return p.m
}

func (p *nodePrinter) with(w *ir.With) {
	if w != nil && len(w.Entries) > 0 {
		p.put("with", p.object(w.Entries), w.Span)
	}
}

func (p *nodePrinter) toolChoice(v *ir.ToolChoice) {
	if e, is := v.Tool.(*ir.Expr); is && strings.HasPrefix(e.Text.Value, `"`) {
		p.put("tool_call", doc.Scalar(doc.Quoted("$"+e.Text.Value))) // a constant would be refused
	} else {
		p.put("tool_call", p.value(v.Tool))
	}
	if v.Args != nil {
		p.put("with", p.value(v.Args))
	}
	if v.ID != nil {
		p.put("id", p.value(v.ID))
	}
	if len(v.Allow) > 0 {
		allow := &doc.List{Flow: true}
		for _, id := range v.Allow {
			allow.Add(doc.Scalar(id.Name), id.Span)
		}
		p.put("allow", allow)
	}
}

func (p *nodePrinter) llm(v *ir.LLM) {
	p.put("llm", doc.Scalar(NativeID(v.Model.Name)))
	system := v.System
	if system == nil && v.Prompt != nil {
		system = v.Prompt.System
	}
	if system != nil {
		p.put("system", p.value(system), system.Text.Span)
	}
	if !p.question(v.Prompt, v.Span) {
		return
	}
	p.out(v.Out, v.Span)
	if v.Reask > 0 {
		p.put("reask", doc.Number(v.Reask))
	}
}

// question is the prompt of a node, false when it was refused.
func (p *nodePrinter) question(prompt *ir.Prompt, at source.Span) bool {
	if prompt == nil || prompt.File.Name != "" || prompt.Text == nil {
		p.Refuse(at, "write `prompt` on the native node", "this prompt is not converted")
		return false
	}
	p.put("prompt", p.value(prompt.Text))
	return true
}

// out is the type of an answer, which is text where it is not written.
func (p *nodePrinter) out(t *schema.Type, at source.Span) {
	if t != nil && (t.Kind != schema.String || t.Decl != nil) {
		p.put("out", p.typ(t, at))
	}
}

func (p *nodePrinter) human(v *ir.Human) {
	p.put("human", p.value(v.Prompt))
	p.out(v.Out, v.Span)
	if v.Timeout != nil {
		p.put("timeout", doc.Scalar(doc.Duration(v.Timeout.Value)))
	}
	p.onError("on_timeout", v.OnTimeout)
}

// onError is what becomes of an error, or of a time that has run out.
func (p *nodePrinter) onError(key string, e *ir.OnError) {
	switch {
	case e == nil:
	case e.Kind == ir.OnErrorSkip:
		p.put(key, doc.Scalar("skip"), e.Span)
	case e.Kind == ir.OnErrorDefault:
		p.put(key, doc.Flow(doc.Pair("default", p.value(e.Default))), e.Span)
	}
}

func (p *nodePrinter) mapNode(v *ir.Map) {
	p.put("map", p.value(v.Over))
	p.put("as", doc.Scalar(v.As.Name))
	if v.Index != nil {
		p.put("index", doc.Scalar(v.Index.Name))
	}
	if v.Parallel > 0 {
		p.put("parallel", doc.Number(v.Parallel))
	}
	p.put("max_items", most(v.MaxItems))
	if v.OnItemError == ir.ItemKeep {
		p.put("on_item_error", doc.Scalar("keep"))
	}
	p.do(v.Do)
}

// most is a bound; 0: none.
func most(n int) doc.Value {
	if n == 0 {
		return doc.Scalar("unbounded")
	}
	return doc.Number(n)
}

// retry says when a node is called again.
func retry(r *ir.Retry) doc.Value {
	m := doc.Flow()
	if r.Attempts > 0 {
		m.Add("attempts", doc.Number(r.Attempts), source.Span{})
	}
	var codes []string
	for _, code := range r.Codes {
		codes = append(codes, code.Name)
	}
	m.AddUnlessEmpty("codes", doc.Words(codes...), source.Span{})
	if r.Constant {
		m.Add("backoff", doc.Scalar("constant"), source.Span{})
	}
	if r.Base != nil {
		m.Add("base", doc.Scalar(doc.Duration(r.Base.Value)), source.Span{})
	}
	if r.Cap != nil {
		m.Add("cap", doc.Scalar(doc.Duration(r.Cap.Value)), source.Span{})
	}
	if r.Jitter != 0 {
		float(m, "jitter", &r.Jitter)
	}
	if r.Timeout != nil {
		m.Add("timeout", doc.Scalar(doc.Duration(r.Timeout.Value)), source.Span{})
	}
	return m
}
