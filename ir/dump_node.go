package ir

import (
	"github.com/flowgen-dev/flowgen/ir/schema"
	"strconv"
	"strings"
)

func (d *dumper) body(b *Body) {
	for _, n := range b.Nodes {
		d.node(n)
	}
	for _, t := range TextFuncs(b.Block.Walk) {
		for line := range strings.Lines(t.String()) {
			d.line(strings.TrimSuffix(line, "\n"))
		}
	}
	for line := range strings.Lines(b.Block.String()) {
		d.line(strings.TrimSuffix(line, "\n"))
	}
	if b.EdgesWritten {
		d.line("edges")
		d.in(func() {
			for _, e := range b.Edges {
				d.edge(e)
			}
		})
	}
	if b.Result != nil {
		d.line("result", dumpValue(b.Result))
	}
}

func (d *dumper) node(n *Node) {
	word := "node"
	if n.Inline {
		word = "inline"
	}
	d.line(word, n.ID.Name)
	d.in(func() {
		if n.When != nil {
			d.line("when", dumpValue(n.When))
		}
		d.verb(n.Verb)
		for _, s := range n.Set {
			d.line("set", s.Field.Name, "=", dumpValue(s.Value))
		}
		if n.Join == JoinAll {
			d.line("join all")
		}
		if n.Retry != nil {
			d.line("retry", dumpRetry(n.Retry))
		}
		d.line(dumpOpt("timeout", dumpSpan(n.Timeout)))
		for _, c := range n.Catch {
			d.line("catch", c.Code.Name, "->", c.Target.Name)
		}
		if n.OnError != nil {
			d.line("on_error", dumpOnError(n.OnError))
		}
		d.doubt(n.InDoubt)
		if n.Undo != nil {
			d.line("undo")
			d.node(n.Undo)
		}
	})
}

func (d *dumper) with(w *With) {
	if w != nil {
		d.entries("with", w.Entries)
	}
}

func (d *dumper) entries(word string, entries []*Entry) {
	for _, e := range entries {
		d.line(word, e.Key.Name, "=", dumpValue(e.Value))
	}
}

func (d *dumper) verb(v Verb) {
	if v == nil {
		d.line("nothing")
	}
	Switch(v,
		func(v *ToolCall) {
			d.line("tool", v.Name.Name)
			d.with(v.With)
		},
		d.toolChoice, d.llm,
		func(v *Agent) {
			d.line("agent", v.Agent.Name)
			d.agent(v)
		},
		d.human,
		func(v *Let) {
			if v.Value != nil {
				d.line("let", dumpValue(v.Value))
			}
			d.entries("let", v.Fields)
		},
		func(v *GoCall) {
			d.line("go", v.Func.Ref.Name)
			d.with(v.With)
		},
		d.mapVerb,
		func(v *Loop) {
			d.line("loop max", dumpBound(v.Max))
			if v.Until != nil {
				d.line("until", dumpValue(v.Until))
			}
			if v.Every != nil {
				d.line("every", dumpSpan(v.Every))
			}
			if v.Timeout != nil {
				d.line("timeout", dumpSpan(v.Timeout))
			}
			if v.GoOn {
				d.line("on_max go_on")
			}
			d.in(func() { d.body(&v.Do) })
		},
		func(v *Flow) {
			name := ""
			if v.Flow != nil {
				name = v.Flow.Name.Name
			}
			d.line("flow", v.Path.Name, dumpOpt("is", name))
			d.with(v.With)
		},
		func(v *Fail) {
			d.line("fail", v.Code, dumpTemplate(v.Message))
			if v.Cause != nil {
				d.line("error", dumpValue(v.Cause))
			}
		},
		func(v *Wait) {
			if v.For != nil {
				d.line("wait", dumpSpan(v.For))
				return
			}
			d.line("wait", dumpValue(v.Value))
		},
		func(v *Parse) {
			d.line("parse", dumpValue(v.Value))
			d.line("out", dumpTypeText(v.Out))
		},
		func(v *Perform) { d.line("perform", v.Kind) }, // its call is in the block
	)
}

func (d *dumper) llm(v *LLM) {
	d.line("llm", v.Model.Name)
	if v.System != nil {
		d.line("system", dumpTemplate(v.System))
	}
	d.prompt("prompt", v.Prompt)
	d.with(v.With)
	if v.Media != nil {
		d.line("media", dumpValue(v.Media))
	}
	d.answer(v.Messages, v.Out, v.Reask)
}

func (d *dumper) answer(before Value, out *schema.Type, reask int) {
	if before != nil {
		d.line("messages", dumpValue(before))
	}
	if out != nil {
		d.line("out", dumpTypeText(out))
	}
	if reask != 0 {
		d.line("reask", strconv.Itoa(reask))
	}
}

func (d *dumper) mapVerb(v *Map) {
	words := []string{"map", dumpValue(v.Over), "as", v.As.Name}
	if v.Index != nil {
		words = append(words, "index", v.Index.Name)
	}
	d.line(append(words, "parallel", dumpBound(v.Parallel), "max_items", dumpBound(v.MaxItems), "on_item_error", [...]string{"fail", "keep", "skip", "default"}[v.OnItemError])...)
	if v.ItemDefault != nil {
		d.in(func() { d.line("default", dumpValue(v.ItemDefault)) })
	}
	d.in(func() { d.body(&v.Do) })
}

func (d *dumper) human(v *Human) {
	d.line("human", dumpTemplate(v.Prompt))
	if v.Out != nil {
		d.line("out", dumpTypeText(v.Out))
	}
	d.line(dumpOpt("timeout", dumpSpan(v.Timeout)))
	if v.OnTimeout != nil {
		d.line("on_timeout", dumpOnError(v.OnTimeout))
	}
}

func (d *dumper) toolChoice(v *ToolChoice) {
	d.line("tool_call", dumpValue(v.Tool), "args", dumpValue(v.Args), "id", dumpValue(v.ID))
	d.line(dumpOpt("allow", dumpNames(v.Allow)))
	if v.Out != nil {
		d.line("out", dumpTypeText(v.Out))
	}
}

// dumpBound is a count, 0 of which means that there is none.
func dumpBound(n int) string {
	if n == 0 {
		return "unbounded"
	}
	return strconv.Itoa(n)
}

func dumpNames(ids []Ident) string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = id.Name
	}
	return strings.Join(out, ", ")
}

func (d *dumper) prompt(word string, p *Prompt) {
	switch {
	case p == nil:
	case p.File.Name == "":
		d.line(word, dumpTemplate(p.Text))
	default:
		d.line(word, "file", p.File.Name)
		d.in(func() {
			if p.System != nil {
				d.line("system", dumpTemplate(p.System))
			}
			if p.With != nil {
				for _, f := range p.With.Fields {
					d.field("takes", f)
				}
			}
			if p.Text != nil {
				d.line("text", dumpTemplate(p.Text))
			}
		})
	}
}

func (d *dumper) agent(a *Agent) {
	d.line(dumpOpt("model", a.Model.Name))
	d.prompt("system", a.System)
	d.prompt("prompt", a.Prompt)
	d.with(a.With)
	d.answer(a.Messages, a.Out, a.Reask)
	d.agentTools(a.Tools)
	var asked []string
	for _, e := range a.Approve {
		asked = append(asked, e.String())
	}
	d.line(dumpOpt("approve", strings.Join(asked, " ")))
	d.line(dumpOpt("tool_timeout", dumpSpan(a.PerCall)))
	d.policy(a.Policy)
	for _, p := range a.Pins {
		call := ""
		if p.CallID != nil {
			call = dumpValue(p.CallID)
		}
		d.line("pin", p.Name.Name, "tool", p.Tool.Name, p.Strategy, dumpOpt("call_id", call), "on_missing", p.OnMissing)
		if p.Default != nil {
			d.in(func() { d.line("default", dumpValue(p.Default)) })
		}
	}
}

// agentTools are one line, unless one of them has a name or arguments of its own.
func (d *dumper) agentTools(tools []*AgentTool) {
	var names []Ident
	long := false
	for _, t := range tools {
		names = append(names, t.Tool)
		long = long || t.Named || t.With != nil
	}
	if !long {
		d.line(dumpOpt("tools", dumpNames(names)))
		return
	}
	for _, t := range tools {
		as := ""
		if t.Named {
			as = t.As.Name
		}
		d.line("tool", t.Tool.Name, dumpOpt("as", as))
		d.in(func() { d.with(t.With) })
	}
}

func (d *dumper) edge(e *Edge) {
	if e.Switch != nil {
		d.line(e.From.Name, "switch", dumpValue(e.Switch))
		d.in(func() {
			for _, c := range e.Cases {
				d.line("case", dumpValue(c.Value), "->", dumpNames(c.To))
			}
			d.line(dumpOpt("default ->", dumpNames(e.Default)))
		})
		return
	}
	words := []string{e.From.Name, "->", dumpNames(e.To)}
	if e.When != nil {
		words = append(words, "when", dumpValue(e.When))
	}
	if e.Back {
		words = append(words, "max", dumpBound(e.Max))
	}
	if e.Exhausted != nil {
		words = append(words, "exhausted", e.Exhausted.Name)
	}
	d.line(words...)
}

// dumpTemplate is a template as written, quoted.
func dumpTemplate(t *Template) string {
	if t == nil {
		return "-"
	}
	return strconv.Quote(t.Text.Value)
}

// dumpValue writes data in one line: expressions with their dollar, templates after a t, plain text quoted.
func dumpValue(v Value) string {
	switch v := v.(type) {
	case *Expr:
		if v == nil {
			return "-"
		}
		if v.Node == nil {
			return "$" + strconv.Quote(v.Text.Value)
		}
		return "$(" + v.Node.String() + ")"
	case *Template:
		return "t" + dumpTemplate(v)
	case *Scalar:
		switch v.Tag {
		case "!!int", "!!float", "!!bool":
			return v.Text.Value
		case "!!null":
			return "null"
		}
		return strconv.Quote(v.Text.Value)
	case *List:
		out := make([]string, len(v.Items))
		for i, x := range v.Items {
			out[i] = dumpValue(x)
		}
		return "[" + strings.Join(out, ", ") + "]"
	case *Object:
		out := make([]string, len(v.Entries))
		for i, e := range v.Entries {
			out[i] = strconv.Quote(e.Key.Name) + ": " + dumpValue(e.Value)
		}
		return "{" + strings.Join(out, ", ") + "}"
	}
	return "-"
}
