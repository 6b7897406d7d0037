// Package plan describes how a workflow runs, before it does: its steps in order with their conditions, what runs side by
// side, what bounds them, what they do to the world, and the most calls and the longest time that can come of it.
package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

// Version is the version of the JSON form.
const Version = 1

// A Plan is how a workflow runs.
type Plan struct {
	Version  int     `json:"plan"`
	Workflow string  `json:"workflow"`
	Source   string  `json:"source"` // name of the file, without folders
	Parts    []*Part `json:"parts"`  // one after the other
	Flows    []*Flow `json:"flows"`  // the workflows that it runs, each once
	AtMost   AtMost  `json:"at_most"`

	// Needs are the capabilities that the tools claim, sorted: what a policy must grant.
	Needs []string `json:"needs,omitempty"`

	Servers []*Server `json:"servers,omitempty"`
}

// A Flow is a workflow that another one runs.
type Flow struct {
	Workflow string  `json:"workflow"`
	Source   string  `json:"source"`
	Parts    []*Part `json:"parts"`
}

// A Part is a step, or several with the structure in which they run:
//
//	step       one node; its body, if it has one, is in Parts
//	if         Parts run when When holds
//	choose     one of the Parts runs, each with its Case, after When
//	parallel   Parts run in parallel
//	scheduled  each of the Parts runs as soon as those that After names have ended
//	repeat     Parts run up to MaxIterations times, again while When holds
//	sequence   Parts run one after the other, inside choose, parallel and scheduled
type Part struct {
	Kind string `json:"kind"`
	Case string `json:"case,omitempty"`
	When string `json:"when,omitempty"`

	Node          string   `json:"node,omitempty"`
	Verb          string   `json:"verb,omitempty"`
	Tool          string   `json:"tool,omitempty"`  // name@version
	Tools         []string `json:"tools,omitempty"` // of a tool_call or an agent: those that it can call
	Model         string   `json:"model,omitempty"` // provider:name
	Flow          string   `json:"flow,omitempty"`
	Effects       string   `json:"effects,omitempty"`
	Sandbox       string   `json:"sandbox,omitempty"`         // of a tool: native (in the program), wasm, process, gvisor, or none for processes without isolation
	Timeout       string   `json:"timeout,omitempty"`         // of the node with all its attempts
	PerAttempt    string   `json:"attempt_timeout,omitempty"` // of one attempt; of an agent: of a question to its model
	PerCall       []string `json:"tool_timeouts,omitempty"`   // of one call of a tool, where the tool or its agent says it: "search@1 10s", "build@1 unbounded"
	Attempts      int      `json:"attempts,omitempty"`
	Parallel      int      `json:"parallel,omitempty"`
	MaxItems      *Bound   `json:"max_items,omitempty"`
	MaxIterations *Bound   `json:"max_iterations,omitempty"` // of an agent: the most answers of its model
	Approve       []string `json:"approve,omitempty"`        // the calls that a user is asked for before
	Fixed         []string `json:"fixed,omitempty"`          // of an agent: its tools under names of their own or with fixed arguments
	MaxToolCalls  *Bound   `json:"max_tool_calls,omitempty"` // of an agent with tools, as the rest
	MaxCostUSD    string   `json:"max_cost_usd,omitempty"`   // a decimal
	MaxTokens     *int64   `json:"max_total_tokens,omitempty"`
	Until         string   `json:"until,omitempty"`
	Every         string   `json:"every,omitempty"` // of a loop: from the beginning of an iteration to that of the next one
	For           string   `json:"for,omitempty"`   // of a loop: no iteration begins later; of a wait: how long it is
	Catch         []Catch  `json:"catch,omitempty"`
	OnError       string   `json:"on_error,omitempty"`

	Follows []Follows `json:"follows,omitempty"` // of a step, where Why has added it: the nodes that it comes after
	Undo    *Part     `json:"undo,omitempty"`    // the call that undoes the step when the run fails later

	After []int   `json:"after,omitempty"` // of a part of a schedule: the numbers of the parts it comes after, from 0
	Parts []*Part `json:"parts,omitempty"`
}

// Catch is where an error leads.
type Catch struct {
	Code string `json:"code"`
	To   string `json:"to"`
}

// Follows is a node that a step comes after, and why: edge, catch, reference, when, writes or wait.
type Follows struct {
	Node string         `json:"node"`
	Why  []check.Reason `json:"why"`
}

// AtMost is the worst case.
type AtMost struct {
	Calls     []Calls  `json:"calls"`              // by tool, in order of first use; repeated attempts count
	Total     Bound    `json:"total"`              // of all tools
	Time      *string  `json:"time"`               // all calls and waits, as a Go duration; null when nothing bounds it
	MaxTime   string   `json:"max_time,omitempty"` // of the work of a run, as its policy says: waiting for answers does not count
	Unbounded []string `json:"unbounded"`          // why calls or time have no bound
	Cost      *Cost    `json:"cost,omitempty"`     // nil: nothing costs

	ModelCalls Bound `json:"-"` // of Total
	ToolCalls  Bound `json:"-"` // the others; where models and tools exclude each other both can be part of a larger sum than Total
}

// Calls are the calls of a tool.
type Calls struct {
	Tool    string `json:"tool"`
	Effects string `json:"effects"`
	AtMost  Bound  `json:"at_most"`
}

// A Bound is a number, or null in JSON for none. Numbers larger than JSON's readers agree on count as none.
type Bound struct {
	N    int64
	Open bool
}

// MarshalJSON implements json.Marshaler.
func (b Bound) MarshalJSON() ([]byte, error) {
	if b.Open {
		return []byte("null"), nil
	}
	return json.Marshal(b.N)
}

// Of describes a workflow.
func Of(p *check.Program) *Plan {
	out := &Plan{Version: Version, Workflow: p.WF.Name.Name, Source: path.Base(p.WF.File.Name), Parts: body(p.Body), Flows: []*Flow{}}
	for _, f := range p.Flows {
		out.Flows = append(out.Flows, &Flow{Workflow: f.WF.Name.Name, Source: f.WF.File.Short(), Parts: body(f.Body)})
	}
	out.AtMost = Worst(p)
	for _, s := range p.Table {
		for _, t := range s.Tools() {
			out.Needs = append(out.Needs, t.Permissions...)
		}
	}
	slices.Sort(out.Needs)
	out.Needs = slices.Compact(out.Needs)
	out.Servers = servers(p)
	return out
}

// JSON is the plan as one line of JSON: the same bytes for the same workflow.
func (p *Plan) JSON() string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil {
		panic(err) // there is nothing in it that JSON could not hold
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func body(b *check.Body) []*Part {
	plan := b.Shown()
	if plan == nil {
		return []*Part{}
	}
	return parts(plan)
}

// parts are the parts of a plan: those of a sequence, or the plan itself.
func parts(p *check.Plan) []*Part {
	if p.Kind != check.Seq {
		return []*Part{part(p)}
	}
	out := []*Part{}
	for _, k := range p.Kids {
		if !silent(k) {
			out = append(out, parts(k)...)
		}
	}
	return out
}

// silent reports a statement of a Block that runs no node.
func silent(p *check.Plan) bool {
	switch p.Kind {
	case check.Assign, check.Effect, check.Next, check.Break, check.Return:
		return true
	case check.Seq, check.Branch, check.Select, check.While, check.Range:
		return !slices.ContainsFunc(p.Kids, func(k *check.Plan) bool { return !silent(k) })
	}
	return false
}

func part(p *check.Plan) *Part {
	switch p.Kind {
	case check.Leaf:
		if w := p.Step.Node.When; w != nil {
			return &Part{Kind: "if", When: w.Node.String(), Parts: []*Part{step(p.Step)}}
		}
		return step(p.Step)
	case check.If:
		return &Part{Kind: "if", When: condition(p.Cond), Parts: parts(p.Kids[0])}
	case check.Choose:
		out := &Part{Kind: "choose", When: question(p.Decision)}
		for i, k := range p.Kids {
			arm := part(k)
			if arm.Kind == "choose" || arm.Kind == "if" { // its own case and that of this choice are different things
				arm = &Part{Kind: "sequence", Parts: []*Part{arm}}
			}
			arm.Case = labels(p.Decision, p.Arms[i])
			out.Parts = append(out.Parts, arm)
		}
		return out
	case check.Par:
		return &Part{Kind: "parallel", Parts: each(p.Kids)}
	case check.Scheduled:
		out := &Part{Kind: "scheduled", Parts: each(p.Kids)}
		for i, after := range p.After {
			out.Parts[i].After = after
		}
		return out
	case check.Repeat:
		out := &Part{Kind: "repeat", MaxIterations: limit(p.Loop.Max), Parts: parts(p.Kids[0])}
		if p.Loop.When != nil {
			out.When = p.Loop.When.Cases[p.Loop.Case].Label
		}
		return out
	}
	if p.Kind == check.Seq {
		if all := parts(p); len(all) != 1 {
			return &Part{Kind: "sequence", Parts: all}
		} else {
			return all[0]
		}
	}
	return statement(p)
}

// statement is a statement of a Block.
func statement(p *check.Plan) *Part {
	switch p.Kind {
	case check.Branch:
		if len(p.Kids) == 1 {
			return &Part{Kind: "if", When: p.Label, Parts: parts(p.Kids[0])}
		}
		return cases(p, []any{true, false})
	case check.Select:
		return cases(p, p.Values)
	case check.While:
		out := &Part{Kind: "repeat", MaxIterations: limit(p.Max), Parts: parts(p.Kids[0])}
		if p.Expr != nil {
			out.When = cmp.Or(p.Label, p.Expr.Node.String())
		}
		return out
	}
	return &Part{Kind: "repeat", MaxIterations: limit(0), Parts: parts(p.Kids[0])} // Range: as many as the list has
}

// cases is a choice between the kids of a statement.
func cases(p *check.Plan, values []any) *Part {
	out := &Part{Kind: "choose", When: cmp.Or(p.Label, p.Expr.Node.String())}
	for i, k := range p.Kids {
		arm := &Part{Kind: "sequence", Case: "default", Parts: parts(k)}
		if i < len(values) {
			arm.Case = fmt.Sprint(values[i])
		}
		out.Parts = append(out.Parts, arm)
	}
	return out
}

func each(kids []*check.Plan) []*Part {
	out := []*Part{}
	for _, k := range kids {
		out = append(out, part(k))
	}
	return out
}

func limit(n int) *Bound { return &Bound{N: int64(n), Open: n == 0} }

// caps are the bounds of an agent.
func (p *Part) caps(a *check.Agent) {
	most := agentBound(a.Iterations())
	p.MaxIterations = &most
	if len(a.Tools) > 0 {
		most := agentBound(a.ToolCalls())
		p.MaxToolCalls = &most
	}
	if a.Policy != nil {
		p.MaxCostUSD, p.MaxTokens = a.Policy.MaxCostUSD, a.Policy.MaxTokens
	}
}

// fixed says of which tools an agent's model does not choose everything: `open_runbook: opens.runbook@1 with port`.
func (p *Part) fixed(a *check.Agent) {
	for _, x := range a.Tools {
		if x.Of == nil || !x.Of.Named && len(x.Fixed) == 0 {
			continue
		}
		text := x.Name + ": " + x.Tool.FullName()
		for i, arg := range x.Fixed {
			text += []string{" with ", ", "}[min(i, 1)] + arg.Field.Name
		}
		p.Fixed = append(p.Fixed, text)
	}
}

func agentBound(n int64) Bound {
	if n == ir.Unbounded {
		return Bound{Open: true}
	}
	return Bound{N: n}
}

// perCall lists the bounds of single calls that tools, or the agent that calls them, say.
func perCall(s *check.Step) []string {
	var out []string
	for _, t := range s.Tools() {
		if t.Timeout == nil && (s.Agent == nil || s.Agent.PerCall == nil) {
			continue
		}
		d := "unbounded"
		if b := s.CallTimeout(t); b > 0 {
			d = b.String()
		}
		out = append(out, t.FullName()+" "+d)
	}
	return out
}

// effects is the worst that a step does. Asking a model is an effect of its own.
func effects(s *check.Step) string {
	worst := ir.EffectsNone
	for _, t := range s.Tools() {
		worst = max(worst, check.Effects(t))
	}
	if len(s.Models()) == 0 || s.Body != nil || s.Flow != nil {
		return s.Effects().String()
	}
	if worst <= ir.EffectsReads {
		return ir.EffectsAsks.String()
	}
	return worst.String()
}

func step(s *check.Step) *Part {
	n := s.Node
	out := &Part{Kind: "step", Node: n.ID.Name, Verb: ir.Key(n.Verb), Effects: effects(s), Attempts: attempts(s)}
	if t := s.Timeout(); t > 0 {
		out.Timeout = t.String()
	}
	if t := s.AttemptTimeout(); t > 0 {
		out.PerAttempt = t.String()
	}
	out.PerCall = perCall(s)
	if s.Question != nil {
		out.Tool = check.HumanTool
	}
	if s.Tool != nil {
		out.Tool, out.Sandbox = s.Tool.FullName(), s.Sandbox
	}
	for _, m := range s.Models() {
		out.Model = m.Model.Name
	}
	if tools := s.Tools(); len(s.Uses) > 0 && len(tools) == 1 {
		out.Tool, out.Sandbox = tools[0].FullName(), s.Sandbox
	}
	if s.Pick != nil || s.Agent != nil || len(s.Uses) > 1 {
		for _, t := range s.Tools() {
			out.Tools = append(out.Tools, t.FullName())
		}
		if s.Sandbox != "native" {
			out.Sandbox = s.Sandbox
		}
	}
	out.Approve = s.AsksFirst()
	if s.Agent != nil {
		out.caps(s.Agent)
		out.fixed(s.Agent)
	}
	switch v := n.Verb.(type) {
	case *ir.Map:
		out.Parallel, out.MaxItems = v.Parallel, limit(v.MaxItems)
	case *ir.Perform:
		if v.Items != nil && v.Inside != nil {
			out.Parallel, out.MaxItems = v.Items.Limit, limit(int(v.Items.Most))
		}
	case *ir.Wait:
		out.For = waitText(v)
	case *ir.Loop:
		out.MaxIterations = limit(v.Max)
		if v.Every != nil {
			out.Every = v.Every.Value.String()
		}
		if v.Timeout != nil {
			out.For = v.Timeout.Value.String()
		}
		if s.Until != nil {
			out.Until = s.Until.String()
		}
	}
	if s.Flow != nil {
		out.Flow = s.Flow.WF.Name.Name
	}
	if s.Body != nil {
		out.Parts = body(s.Body)
	}
	if s.Undo != nil {
		out.Undo = step(s.Undo)
	}
	for _, c := range n.Catch {
		out.Catch = append(out.Catch, Catch{c.Code.Name, c.Target.Name})
	}
	if n.OnError != nil {
		out.OnError = [...]string{ir.OnErrorFail: "", ir.OnErrorSkip: "skip", ir.OnErrorDefault: "default"}[n.OnError.Kind]
	}
	return out
}

// attempts is 0 for one attempt.
func attempts(s *check.Step) int {
	if r := s.Retry(); r != nil && r.Attempts > 1 {
		return r.Attempts
	}
	if v, ok := s.Node.Verb.(*ir.Perform); ok && v.Attempts > 1 {
		return v.Attempts
	}
	return 0
}

// condition says when a part runs.
func condition(c *check.Cond) string {
	var terms []string
	for _, t := range c.Any {
		var parts []string
		if t.Ran != nil {
			parts = append(parts, t.Ran.Node.ID.Name+" ran")
		}
		if t.Decision != nil {
			parts = append(parts, holds(t.Decision, t.Cases))
		}
		terms = append(terms, strings.Join(parts, " and "))
	}
	word := " or "
	if c.All {
		word = " and "
	}
	return strings.Join(terms, word)
}

// holds says that a decision took one of the cases.
func holds(d *check.Decision, cases []int) string {
	if len(cases) == len(d.Cases) && !d.Open {
		return d.Step.Node.ID.Name + " ran"
	}
	if d.Kind == check.Switch {
		return question(d) + " is " + labels(d, cases)
	}
	return labels(d, cases)
}

// question is what a decision asks.
func question(d *check.Decision) string {
	switch {
	case d.Kind == check.Switch && d.Value != nil:
		return d.Value.Text.Value
	case d.Kind == check.Outcome:
		return "how " + d.Step.Node.ID.Name + " ends"
	}
	return ""
}

func labels(d *check.Decision, cases []int) string {
	var out []string
	for _, i := range cases {
		c := d.Cases[i]
		switch {
		case c.Default:
			out = append(out, "anything else")
		case d.Kind == check.Outcome && c.Code == "":
			out = append(out, d.Step.Node.ID.Name+" succeeded")
		case d.Kind == check.Outcome && c.Code == "any":
			out = append(out, d.Step.Node.ID.Name+" failed")
		case d.Kind == check.Outcome:
			out = append(out, d.Step.Node.ID.Name+" failed with "+c.Code)
		default:
			out = append(out, c.Label)
		}
	}
	return strings.Join(out, " or ")
}

func durationText(d time.Duration) *string {
	s := d.String()
	return &s
}
