package plan

import (
	"math"
	"time"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

// maxCount is the largest number that all readers of JSON read exactly.
const maxCount = 1<<53 - 1

// cost is the worst case of a part.
type cost struct {
	calls map[string]Bound // by the tool's full name
	total Bound
	asks  Bound // of models
	uses  Bound // of tools
	time  span
	undo  span // of undos, which run one after the other
	bill
}

// span is a time, or none that could be given.
type span struct {
	d    time.Duration
	open bool
}

func (a Bound) plus(b Bound) Bound {
	if a.Open || b.Open || a.N > maxCount-b.N {
		return Bound{Open: true}
	}
	return Bound{N: a.N + b.N}
}

// times is a repeated; nothing repeated without end is still nothing.
func (a Bound) times(n Bound) Bound {
	switch {
	case a == Bound{} || n == Bound{}:
		return Bound{}
	case a.Open || n.Open || a.N > maxCount/n.N:
		return Bound{Open: true}
	}
	return Bound{N: a.N * n.N}
}

func (a Bound) most(b Bound) Bound {
	if a.Open || b.Open {
		return Bound{Open: true}
	}
	return Bound{N: max(a.N, b.N)}
}

func (a span) plus(b span) span {
	if a.open || b.open || a.d > math.MaxInt64-b.d {
		return span{open: true}
	}
	return span{d: a.d + b.d}
}

func (a span) times(n Bound) span {
	switch {
	case a == span{} || n == Bound{}:
		return span{}
	case a.open || n.Open || int64(a.d) > math.MaxInt64/n.N:
		return span{open: true}
	}
	return span{d: a.d * time.Duration(n.N)}
}

func (a span) most(b span) span {
	if a.open || b.open {
		return span{open: true}
	}
	return span{d: max(a.d, b.d)}
}

// meter adds up a workflow and what it runs.
type meter struct {
	root  *check.Program
	flows map[*check.Program]cost
	why   []string
	told  map[string]bool
	where string // of what is being added up: "section/" inside a sub-workflow

	wf     *ir.Workflow // that is being added up
	capped bool         // the outermost policy bounds cost or tokens
	free   []string     // models that cost nothing
}

// Worst is the most that a workflow does.
func Worst(p *check.Program) AtMost {
	m := &meter{root: p, flows: map[*check.Program]cost{}, told: map[string]bool{}, capped: capped(p.WF.Policy)}
	c := m.program(p)
	out := AtMost{Calls: []Calls{}, Total: c.total, Unbounded: []string{}, Cost: m.costOf(p, c.bill), ModelCalls: c.asks, ToolCalls: c.uses}
	listed, people := map[string]bool{}, false
	for _, s := range p.Table {
		people = people || s.Question != nil || s.AsksFirst() != nil
		if name := check.HumanTool; (s.Question != nil || s.AsksFirst() != nil) && !listed[name] {
			listed[name] = true
			out.Calls = append(out.Calls, Calls{name, ir.EffectsReads.String(), c.calls[name]})
		}
		for _, t := range s.Tools() {
			name := t.FullName()
			if listed[name] {
				continue
			}
			listed[name] = true
			out.Calls = append(out.Calls, Calls{name, check.Effects(t).String(), c.calls[name]})
		}
		for _, model := range s.Models() {
			if name := model.Model.Name + "@1"; !listed[name] {
				listed[name] = true
				out.Calls = append(out.Calls, Calls{name, ir.EffectsAsks.String(), c.calls[name]})
			}
		}
	}
	c.time = c.time.plus(c.undo)
	if pol := p.WF.Policy; pol != nil && pol.MaxTime != nil {
		out.MaxTime = pol.MaxTime.Value.String()
		if most := pol.MaxTime.Value; !people && (c.time.open || most < c.time.d) {
			c.time = span{d: most}
		}
	}
	if !c.time.open {
		out.Time = durationText(c.time.d)
	}
	if c.total.Open || c.time.open {
		out.Unbounded = append(out.Unbounded, m.why...)
		if len(m.why) == 0 {
			out.Unbounded = append(out.Unbounded, "the bounds multiply to more than can be said")
		}
	}
	return out
}

// because notes why something has no bound.
func (m *meter) because(why string) {
	if why = m.where + why; !m.told[why] {
		m.told[why] = true
		m.why = append(m.why, why)
	}
}

func (m *meter) program(p *check.Program) cost {
	if c, done := m.flows[p]; done {
		return c
	}
	saved := m.where
	if p != nil && len(m.flows) > 0 {
		m.where = p.WF.Name.Name + "/"
	}
	m.flows[p] = cost{} // a workflow cannot run itself
	outer := m.wf
	m.wf = p.WF
	c := m.body(p.Body)
	c.bill = c.under(p.WF.Policy)
	m.flows[p] = c
	m.where, m.wf = saved, outer
	return c
}

func (m *meter) body(b *check.Body) cost {
	plan := b.Shown()
	if plan == nil {
		return cost{}
	}
	return m.plan(plan)
}

func (m *meter) plan(p *check.Plan) cost {
	switch p.Kind {
	case check.Leaf:
		return m.step(p.Step)
	case check.Repeat:
		c := m.plan(p.Kids[0])
		n := Bound{N: int64(p.Loop.Max), Open: p.Loop.Max == 0}
		why := "the edge from " + p.Loop.From.Node.ID.Name + " back to " + p.Loop.Header.Node.ID.Name + " is unbounded"
		if n.Open {
			m.because(why)
		}
		return c.times(n, n, m.where+why)
	}
	if p.Kind == check.While || p.Kind == check.Range {
		return m.rounds(p)
	}
	var out cost
	kids := make([]cost, len(p.Kids))
	for i, k := range p.Kids {
		kids[i] = m.plan(k)
		if p.Kind == check.Choose || p.Kind == check.Branch || p.Kind == check.Select {
			out.worse(kids[i])
			continue
		}
		out.add(kids[i])
	}
	switch p.Kind {
	case check.Par:
		out.time = span{}
		for _, k := range kids {
			out.time = out.time.most(k.time)
		}
	case check.Scheduled:
		out.time = longest(kids, p.After)
	}
	return out
}

// rounds is a loop of a Block.
func (m *meter) rounds(p *check.Plan) cost {
	c := m.plan(p.Kids[0])
	n := Bound{N: int64(p.Max), Open: p.Max == 0}
	why := "a loop has as many rounds as its function allows"
	switch {
	case p.Kind == check.Range && p.Scope != nil:
		why = p.Scope.ID.Name + " has no bound on its items"
	case p.Kind == check.Range:
		why = "a list has any number of items"
	}
	if n.Open && !c.empty() {
		m.because(why)
	}
	return c.times(n, n, m.where+why)
}

// perform is a node whose work is a function: what it uses, as often as is said.
func (m *meter) perform(s *check.Step) cost {
	id := s.Node.ID.Name
	v, _ := s.Node.Verb.(*ir.Perform)
	c := cost{}
	for _, u := range s.Uses {
		n := Bound{N: u.AtMost, Open: u.AtMost == 0}
		why := id + " has no bound on its calls"
		if u.Item && v.Items.Most == 0 {
			n.Open, why = true, id+" has no bound on its items"
		} else if u.Item {
			n = n.times(Bound{N: v.Items.Most})
		}
		n = n.times(Bound{N: int64(max(1, v.Attempts))})
		if n.Open {
			m.because(why)
		}
		one := cost{}
		switch of := u.Of.(type) {
		case *ir.Tool:
			one = m.tool(of)
			one.time = m.bounded(s, of)
		case *ir.ToolChoice: // each may be the one
			for _, x := range s.Pick.Choices {
				one.worse(m.tool(x.Tool))
				one.time = one.time.most(m.bounded(s, x.Tool))
			}
		case *ir.Model:
			one = cost{calls: map[string]Bound{of.Model.Name + "@1": {N: 1}}, total: Bound{N: 1}, asks: Bound{N: 1}, time: span{d: s.AskTimeout()}, bill: m.question(s, of)}
		case *ir.Workflow:
			one = m.program(s.Flow)
		}
		c.add(one.times(n, n, m.where+why))
	}
	if v.Person {
		c.add(m.asked(s))
	}
	if s.Agent != nil {
		c.add(m.agent(s, int64(max(1, attempts(s)))))
	}
	if s.Body != nil {
		c.add(m.inside(s, v))
	}
	return c
}

// tool is one call of a tool, without its time, and what a workflow does that the tool runs in this call.
func (m *meter) tool(t *ir.Tool) cost {
	c := cost{calls: map[string]Bound{t.FullName(): {N: 1}}, total: Bound{N: 1}, uses: Bound{N: 1}}
	if t.CostUSD != "" {
		c.fees = money{usd: dollars(t.CostUSD)}
	}
	if b, ok := t.Binding.(*ir.Made); ok && b.Flow != nil {
		in := m.program(m.root.FlowOf(b.Flow))
		in.time = span{} // within that of the call
		c.add(in)
	}
	return c
}

// asked is the question of a node to a user.
func (m *meter) asked(s *check.Step) cost {
	c := cost{calls: map[string]Bound{check.HumanTool: {N: 1}}, total: Bound{N: 1}, uses: Bound{N: 1}, time: span{d: s.Timeout(), open: s.Timeout() == 0}}
	if c.time.open {
		m.because(s.Node.ID.Name + " has no timeout")
	}
	return c
}

// approval is the question whether a call may be made.
func (m *meter) approval(s *check.Step) cost {
	m.because(s.Node.ID.Name + " waits for an approval")
	return cost{calls: map[string]Bound{check.HumanTool: {N: 1}}, total: Bound{N: 1}, uses: Bound{N: 1}, time: span{open: true}}
}

// inside are the nodes that the function of a node runs, for each item of its list if there is one.
func (m *meter) inside(s *check.Step, v *ir.Perform) cost {
	c := m.body(s.Body)
	if v.Items == nil {
		return c
	}
	items := Bound{N: v.Items.Most, Open: v.Items.Most == 0}
	why := s.Node.ID.Name + " has no bound on its items"
	if items.Open && !c.empty() {
		m.because(why)
	}
	rounds := items
	if limit := int64(v.Items.Limit); !items.Open && limit > 0 {
		rounds.N = (items.N + limit - 1) / limit
	}
	return c.times(items, rounds, m.where+why)
}

// longest is the time of a schedule: the longest way through it. A part comes after parts that are before it.
func longest(kids []cost, after [][]int) span {
	var all span
	ends := make([]span, len(kids))
	for i := range kids {
		var start span
		if i < len(after) {
			for _, k := range after[i] {
				if k < i {
					start = start.most(ends[k])
				} else {
					return span{open: true}
				}
			}
		}
		ends[i] = start.plus(kids[i].time)
		all = all.most(ends[i])
	}
	return all
}

func (m *meter) step(s *check.Step) cost {
	c := m.once(s)
	if v, ok := s.Node.Verb.(*ir.Perform); ok && v.Times > 1 {
		n := Bound{N: int64(v.Times)}
		return c.times(n, n, "")
	}
	return c
}

// once is a step without what repeats it.
func (m *meter) once(s *check.Step) (c cost) {
	ir.Switch(s.Node.Verb,
		func(*ir.ToolCall) { c = m.call(s, 1) },
		func(*ir.ToolChoice) { c = m.call(s, 1) },
		func(v *ir.LLM) { c = m.call(s, 1+int64(v.Reask)) },
		func(*ir.Agent) { c = m.agent(s, int64(max(1, attempts(s)))) },
		func(*ir.Human) { c = m.call(s, 1) },
		func(*ir.Let) {}, // computation: no call, and no time worth counting next to calls
		func(*ir.GoCall) {},
		func(v *ir.Map) { c = m.mapNode(s, v) },
		func(v *ir.Loop) { c = m.loop(s, v) },
		func(*ir.Flow) { c = m.program(s.Flow) },
		func(*ir.Fail) {},
		func(v *ir.Wait) { c = m.wait(s, v) },
		func(*ir.Parse) {},
		func(*ir.Perform) { c = m.perform(s) },
	)
	if s.Undo != nil {
		u := m.call(s.Undo, 1)
		u.time, u.undo = span{}, u.time
		c.add(u)
	}
	return c
}

func (m *meter) mapNode(s *check.Step, v *ir.Map) cost {
	c := m.body(s.Body)
	items := Bound{N: int64(v.MaxItems), Open: v.MaxItems == 0}
	why := s.Node.ID.Name + " has no bound on its items"
	if items.Open && !c.empty() {
		m.because(why)
	}
	rounds := items
	if !items.Open && v.Parallel > 0 {
		rounds.N = (items.N + int64(v.Parallel) - 1) / int64(v.Parallel)
	}
	return c.times(items, rounds, m.where+why)
}

func (m *meter) loop(s *check.Step, v *ir.Loop) cost {
	c := m.body(s.Body)
	n := Bound{N: int64(v.Max), Open: v.Max == 0}
	if v.Every != nil && v.Timeout != nil {
		if most := 1 + int64(v.Timeout.Value/max(1, v.Every.Value)); n.Open || n.N > most {
			n = Bound{N: most}
		}
	}
	why := s.Node.ID.Name + " is unbounded"
	if n.Open && !c.empty() {
		m.because(why)
	}
	out := c.times(n, n, m.where+why)
	one := c.time
	if v.Every != nil {
		one = one.most(span{d: v.Every.Value})
	}
	out.time = one.times(n)
	if v.Timeout != nil && !one.open { // the last iteration begins within it
		if most := (span{d: v.Timeout.Value}).plus(c.time); n.Open || out.time.open || out.time.d > most.d {
			out.time = most
		}
	}
	return out
}

// wait is a node that lets time pass.
func (m *meter) wait(s *check.Step, v *ir.Wait) cost {
	if v.For == nil {
		m.because(s.Node.ID.Name + " waits as long as its value says")
		return cost{time: span{open: true}}
	}
	return cost{time: span{d: v.For.Value}}
}

func waitText(v *ir.Wait) string {
	if v.For != nil {
		return v.For.Value.String()
	}
	return v.Value.Source().Text()
}

// call is a call of a tool, a model or a user; a model is asked up to so many questions, each of which has its attempts.
func (m *meter) call(s *check.Step, questions int64) cost {
	tries := int64(max(1, attempts(s)))
	c := cost{total: Bound{N: tries}, time: span{open: true}}
	if s.Question != nil {
		c.calls = map[string]Bound{check.HumanTool: {N: tries}}
	}
	if tools := s.Tools(); len(tools) > 0 {
		one := cost{}
		for _, t := range tools { // of a tool_call each may be the one
			one.worse(m.tool(t))
		}
		c = one.times(c.total, c.total, "")
		c.time = span{open: true}
	} else {
		c.uses = c.total
	}
	c.total = c.total.times(Bound{N: questions})
	for _, model := range s.Models() {
		if c.calls == nil {
			c.calls = map[string]Bound{}
		}
		c.calls[model.Model.Name+"@1"] = c.total
		c.asks, c.uses = c.total, Bound{}
		c.bill = m.question(s, model).times(c.total, "")
	}
	one := span{}
	for _, t := range s.Tools() {
		one = one.most(m.bounded(s, t))
	}
	switch {
	case s.Question != nil:
		one = span{d: s.Timeout(), open: s.Timeout() == 0}
	case len(s.Models()) > 0:
		one = one.most(span{d: s.AskTimeout()})
	}
	if c.time = timed(s, one, Bound{N: tries}, Bound{N: questions}); c.time.open && s.Question != nil {
		m.because(s.Node.ID.Name + " has no timeout")
	}
	if s.Approves() {
		c.add(m.approval(s))
	}
	return c
}

// bounded is the bound of one attempt of a call of t.
func (m *meter) bounded(s *check.Step, t *ir.Tool) span {
	d := s.CallTimeout(t)
	if d == 0 {
		m.because(t.FullName() + " has no timeout")
	}
	return span{d: d, open: d == 0}
}

// timed is the time of a node that makes so many calls, with so many attempts each that take so long.
func timed(s *check.Step, one span, tries, calls Bound) span {
	all := s.Timeout()
	each := one.times(tries).plus(waits(s.Retry())).times(calls)
	if all > 0 && (each.open || all < each.d) {
		return span{d: all}
	}
	return each
}

// agent is an agent node: its model answers so often, and each of its tools may be the one that is called all the time.
func (m *meter) agent(s *check.Step, tries int64) cost {
	id := s.Node.ID.Name
	turns, uses := agentBound(s.Agent.Iterations()), agentBound(s.Agent.ToolCalls())
	asks, calls := id+" may ask its model without bound", id+" may call its tools without bound"
	if turns.Open {
		m.because(asks)
	}
	answers := turns.times(Bound{N: tries})
	c := cost{calls: map[string]Bound{}, total: answers, asks: answers, time: span{open: true}}
	if model := s.Agent.Model; model != nil {
		c.calls[model.Model.Name+"@1"] = answers
		c.bill = m.question(s, model).times(answers, m.where+asks)
	}
	tools, one := s.Agent.Tools, cost{}
	for _, x := range tools { // each may be the one that is called all the time
		one.worse(m.tool(x.Tool))
	}
	if s.AsksFirst() != nil {
		one.add(m.approval(s))
	}
	one = one.times(uses, uses, m.where+calls)
	one.time = span{}
	c.add(one)
	c.bill = c.under(s.Agent.Policy)
	if len(tools) > 0 && uses.Open {
		m.because(calls)
	}
	c.time = timed(s, span{d: s.AskTimeout()}, Bound{N: tries}, turns)
	if all := s.Timeout(); all == 0 {
		longest := span{}
		for _, x := range tools { // those of an answer run at the same time
			longest = longest.most(m.bounded(s, x.Tool))
		}
		c.time = c.time.plus(longest.times(turns))
	}
	return c
}

// waits are the pauses between attempts, as the workflow has them; a server may ask for longer ones.
func waits(r *ir.Retry) span {
	var all span
	if r == nil {
		return all
	}
	base, longest := 500*time.Millisecond, 30*time.Second
	if r.Base != nil {
		base = r.Base.Value
	}
	if r.Cap != nil {
		longest = r.Cap.Value
	}
	wait := min(base, longest)
	for i := 1; i < r.Attempts; i++ {
		if wait == longest || r.Constant {
			return all.plus(span{d: wait}.times(Bound{N: int64(r.Attempts - i)}))
		}
		all = all.plus(span{d: wait})
		if wait = min(wait*2, longest); wait < 0 {
			wait = longest
		}
	}
	return all
}

func (c *cost) empty() bool { return c.total == Bound{} && c.time == span{} }

// add puts k after what is there.
func (c *cost) add(k cost) {
	c.merge(k, Bound.plus)
	c.total, c.time, c.bill = c.total.plus(k.total), c.time.plus(k.time), c.bill.plus(k.bill)
	c.asks, c.uses, c.undo = c.asks.plus(k.asks), c.uses.plus(k.uses), c.undo.plus(k.undo)
}

// worse makes c the worse of both.
func (c *cost) worse(k cost) {
	c.merge(k, Bound.most)
	c.total, c.time, c.bill = c.total.most(k.total), c.time.most(k.time), c.bill.most(k.bill)
	c.asks, c.uses, c.undo = c.asks.most(k.asks), c.uses.most(k.uses), c.undo.most(k.undo)
}

func (c *cost) merge(k cost, f func(a, b Bound) Bound) {
	if c.calls == nil {
		c.calls = map[string]Bound{}
	}
	for t, n := range k.calls {
		c.calls[t] = f(c.calls[t], n)
	}
}

// times is c done calls times, one round of those that run at once after the other. why is said when nothing bounds it.
func (c cost) times(calls, rounds Bound, why string) cost {
	out := cost{calls: map[string]Bound{}, total: c.total.times(calls), time: c.time.times(rounds), undo: c.undo.times(calls), bill: c.bill.times(calls, why), asks: c.asks.times(calls), uses: c.uses.times(calls)}
	for t, n := range c.calls {
		out.calls[t] = n.times(calls)
	}
	return out
}
