package hashes

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

// maker makes hashes, each once.
type maker struct {
	root     *check.Program
	owner    map[*check.Step]*check.Program
	nodes    map[*check.Step]string
	programs map[*check.Program]string
	types    map[typeKey]string
}

func newMaker(p *check.Program) *maker {
	m := &maker{root: p, owner: map[*check.Step]*check.Program{}, nodes: map[*check.Step]string{}, programs: map[*check.Program]string{}, types: map[typeKey]string{}}
	for _, q := range append([]*check.Program{p}, p.Flows...) {
		m.own(q, q.Body)
	}
	return m
}

// own notes whose steps those of a body are.
func (m *maker) own(p *check.Program, b *check.Body) {
	for _, s := range b.Steps {
		m.owner[s] = p
		if s.Undo != nil {
			m.owner[s.Undo] = p
		}
		if s.Body != nil {
			m.own(p, s.Body)
		}
	}
}

// program is the hash of an entire workflow.
func (m *maker) program(p *check.Program) string {
	if have, ok := m.programs[p]; ok {
		return have
	}
	var x text
	for _, f := range p.Input.Fields {
		m.field(&x, "input", f, false)
	}
	for _, s := range p.WF.State {
		m.state(&x, s)
	}
	for _, s := range p.WF.Secrets {
		x.line("secret", append([]string{s.Name.Name}, s.From...)...)
	}
	m.policy(&x, p.WF.Policy)
	m.body(&x, p.Body)
	x.mark("always", p.WF.Outcome.Always)
	x.mark("status", p.WF.Outcome.Status)
	for _, call := range p.WF.Load {
		x.line("loads", value(call))
		functions(&x, call)
	}
	for _, o := range p.Outputs {
		m.field(&x, "output", o.Field, false)
		x.line("is", value(o.Value.Value))
	}
	m.programs[p] = x.sum()
	return m.programs[p]
}

// state writes the declaration of a field of the state.
func (m *maker) state(x *text, s *ir.State) {
	x.line("state", s.Name.Name, m.typ(s.Type, false), strconv.Itoa(int(s.Merge.Kind)))
	x.mark("open", s.Open)
	x.mark("loose", s.Loose)
	x.mark("given", s.Given)
	if s.Group != "" {
		x.line("group", s.Group)
	}
	if s.Init != nil {
		x.line("init", s.Init.JSON)
	}
	m.function(x, s.Merge.Reducer)
}

// body writes the nodes of a body, its edges and its result.
func (m *maker) body(x *text, b *check.Body) {
	for _, s := range b.Steps {
		x.line("node", s.Node.ID.Name, m.node(s))
		if s.Undo != nil { // it decides nothing about what the node does
			x.line("undo", m.node(s.Undo))
		}
	}
	if b.IR.Block != nil {
		block(x, b.IR.Block)
	}
	x.mark("edges", b.IR.EdgesWritten)
	for _, e := range b.IR.Edges {
		x.line("edge", append([]string{e.From.Name}, idents(e.To)...)...)
		x.line("when", value(e.When))
		x.line("switch", value(e.Switch))
		for _, c := range e.Cases {
			x.line("case", append([]string{value(c.Value)}, idents(c.To)...)...)
		}
		x.line("default", idents(e.Default)...)
		if e.Back {
			x.line("max", strconv.Itoa(e.Max))
		}
		if e.Exhausted != nil {
			x.line("exhausted", e.Exhausted.Name)
		}
	}
	if b.IR.Result != nil {
		x.line("result", value(b.IR.Result))
	}
}

func idents(ids []ir.Ident) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = id.Name
	}
	return out
}

// node is the hash of a node, its body included.
func (m *maker) node(s *check.Step) string {
	if have, ok := m.nodes[s]; ok {
		return have
	}
	var x text
	x.line("shell", m.shell(s))
	switch {
	case s.Body != nil:
		m.body(&x, s.Body)
	case s.Flow != nil:
		x.line("flow", m.program(s.Flow))
	}
	m.nodes[s] = x.sum()
	return m.nodes[s]
}

// shell is the hash of what a node itself says.
func (m *maker) shell(s *check.Step) string {
	var x text
	n := s.Node
	m.verb(&x, s)
	if n.When != nil {
		x.line("when", value(n.When))
	}
	x.mark("join all", n.Join == ir.JoinAll)
	if r := s.Retry(); r != nil {
		retry(&x, r)
	}
	attempt, all := s.AttemptTimeout(), s.Timeout()
	if attempt == 0 && s.Single() {
		attempt, all = all, 0 // the same
	}
	if attempt > 0 {
		x.line("timeout", attempt.String())
	}
	if all > 0 {
		x.line("timeout of all", all.String())
	}
	for _, c := range n.Catch {
		x.line("catch", c.Code.Name, c.Target.Name)
	}
	onError(&x, "on_error", n.OnError)
	for _, f := range n.Set {
		x.line("set", f.Field.Name, value(f.Value))
	}
	m.reads(&x, s)
	return x.sum()
}

// reads writes the declarations of what a node reads and sets: an initial value or a merge rule decides what it gets.
func (m *maker) reads(x *text, s *check.Step) {
	p, r := m.owner[s], readsOf(s.Node)
	for _, f := range s.Node.Set {
		r.state[f.Field.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(r.input)) {
		for _, f := range p.Input.Fields {
			if f.Name == name || name == "*" {
				x.line("reads", f.Name, m.typ(f.Type, false))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.state)) {
		for _, f := range p.WF.State {
			if f.Name.Name == name || name == "*" {
				m.state(x, f)
			}
		}
	}
}

func retry(x *text, r *ir.Retry) {
	x.line("retry", strconv.Itoa(r.Attempts), strconv.FormatBool(r.Constant), strconv.FormatFloat(r.Jitter, 'g', -1, 64))
	x.line("codes", idents(r.Codes)...)
	x.duration("base", r.Base)
	x.duration("cap", r.Cap)
}

func onError(x *text, word string, e *ir.OnError) {
	if e == nil || e.Kind == ir.OnErrorFail {
		return
	}
	x.line(word, strconv.Itoa(int(e.Kind)), value(e.Default))
}

// verb writes what a node does.
func (m *maker) verb(x *text, s *check.Step) {
	ir.Switch(s.Node.Verb,
		func(v *ir.ToolCall) {
			x.line("tool", m.tool(s.Tool, false))
			x.with("with", v.With)
		},
		func(v *ir.ToolChoice) {
			x.line("tool_call", value(v.Tool), value(v.Args), value(v.ID), m.typ(v.Out, false))
			m.choices(x, s.Pick.Choices, false)
		},
		func(v *ir.LLM) { m.llm(x, s, v) },
		func(v *ir.Agent) { m.agent(x, s, v) },
		func(v *ir.Human) {
			x.line("human", template(v.Prompt), m.typ(v.Out, false))
			onError(x, "on_timeout", v.OnTimeout)
		},
		func(v *ir.Let) {
			if v.Value != nil {
				x.line("let", "", value(v.Value))
			}
			for _, f := range v.Fields {
				x.line("let", f.Key.Name, value(f.Value))
			}
		},
		func(v *ir.GoCall) {
			m.function(x, v.Func)
			x.with("with", v.With)
		},
		func(v *ir.Map) {
			x.line("map", value(v.Over), v.As.Name, strconv.Itoa(v.Parallel), strconv.Itoa(v.MaxItems), strconv.Itoa(int(v.OnItemError)))
			if v.ItemDefault != nil {
				x.line("default", value(v.ItemDefault))
			}
			if v.Index != nil {
				x.line("index", v.Index.Name)
			}
		},
		func(v *ir.Loop) {
			x.line("loop", strconv.Itoa(v.Max), value(v.Until))
			x.duration("every", v.Every)
			x.duration("timeout", v.Timeout)
			x.mark("go_on", v.GoOn)
		},
		func(v *ir.Flow) {
			x.mark("flow", true)
			x.with("with", v.With)
		},
		func(v *ir.Fail) { x.line("fail", template(v.Message), v.Code, value(v.Cause)) },
		func(v *ir.Wait) {
			x.line("wait", value(v.Value))
			x.duration("for", v.For)
		},
		func(v *ir.Parse) { x.line("parse", value(v.Value), m.typ(v.Out, false)) },
		func(v *ir.Perform) { m.perform(x, s, v) },
	)
}

func (m *maker) choices(x *text, list []check.Choice, told bool) {
	for _, c := range list {
		x.line("choice", c.Name, m.tool(c.Tool, told))
		if c.Of != nil {
			x.with("fixed", c.Of.With)
		}
	}
}

func (m *maker) llm(x *text, s *check.Step, v *ir.LLM) {
	x.line("llm", m.models(s))
	x.line("system", template(v.System))
	m.prompt(x, "prompt", v.Prompt)
	x.with("with", v.With)
	if v.Media != nil {
		x.line("media", value(v.Media))
	}
	if v.Messages != nil {
		x.line("messages", value(v.Messages))
	}
	x.line("out", m.typ(v.Out, true))
	x.number("reask", int64(v.Reask))
}

func (m *maker) agent(x *text, s *check.Step, v *ir.Agent) {
	x.line("agent", m.models(s))
	m.prompt(x, "system", v.System)
	m.prompt(x, "prompt", v.Prompt)
	x.with("with", v.With)
	if v.Messages != nil {
		x.line("messages", value(v.Messages))
	}
	if v.Out != nil {
		x.line("out", m.typ(v.Out, true))
	}
	if v.Reask != 0 {
		x.number("reask", int64(v.Reask))
	}
	m.choices(x, s.Agent.Tools, true)
	for _, e := range v.Approve {
		x.line("approve", e.String())
	}
	x.duration("tool_timeout", v.PerCall)
	m.policy(x, v.Policy)
	x.line("caps", strconv.FormatInt(s.Agent.Iterations(), 10), strconv.FormatInt(s.Agent.ToolCalls(), 10))
	for _, p := range s.Agent.Pins {
		x.line("pin", p.IR.Name.Name, p.IR.Strategy, p.IR.OnMissing, m.tool(p.Tool, false), value(p.IR.CallID))
		if p.IR.Default != nil {
			x.line("default", value(p.IR.Default))
		}
	}
}

// models is the hash of the models that a step asks, without their prices.
func (m *maker) models(s *check.Step) string {
	var x text
	for _, q := range s.Models() {
		x.line("model", q.Model.Name, q.Address(), m.root.Names.Keys[q])
		if q.New != nil {
			x.line("made", value(q.New))
			functions(&x, q.New)
		}
		if q.BaseEnv != "" {
			x.line("base_env", q.BaseEnv)
		}
		if q.Provided {
			x.line("provided", "yes")
		}
		if q.Script != nil {
			x.line("answers", q.Script.Answers)
		}
		p := q.Params
		params, err := json.Marshal([]any{p.Temperature, p.TopP, p.MaxTokens, p.Seed, p.Stop})
		if err != nil {
			params = nil // numbers of a file are finite
		}
		x.line("params", string(params))
	}
	return x.sum()
}

// prompt writes what a prompt says, wherever it stands.
func (m *maker) prompt(x *text, word string, p *ir.Prompt) {
	if p == nil {
		return
	}
	x.line(word, template(p.Text))
	x.line(word+" system", template(p.System))
	if p.With != nil {
		for _, f := range p.With.Fields {
			m.field(x, word+" takes", f, false)
		}
	}
}

func (m *maker) policy(x *text, p *ir.Policy) {
	if p == nil {
		return
	}
	x.mark("policy", true)
	for _, n := range []struct {
		name string
		v    *int64
	}{{"max_iterations", p.MaxIterations}, {"max_tool_calls", p.MaxToolCalls}, {"max_tokens", p.MaxTokens}} {
		if n.v != nil {
			x.line(n.name, strconv.FormatInt(*n.v, 10))
		}
	}
	x.line("max_cost_usd", p.MaxCostUSD)
	x.duration("max_time", p.MaxTime)
	x.mark("no models", p.NoModels)
	var effects []string
	for _, e := range p.Effects {
		effects = append(effects, e.String())
	}
	x.line("effects", strings.Join(effects, " "))
	x.line("grants", p.Grants...)
	x.line("net", p.NetAllow...)
	if p.EnvironmentProxy {
		x.line("proxy", "environment")
	}
	x.line("sandbox", p.SandboxMin)
}
