package check

import (
	"fmt"
	"math/rand"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A model is a random workflow as its edges say it, with an interpreter of its own: dead-path elimination straight from
// core's "Graph semantics", knowing nothing of formulas and plans.
type model struct {
	body *ir.Body
	ids  map[string]int
}

// atoms are conditions of the whole body, in every spelling: they come out the same wherever they stand. Those over state
// do not.
var atoms = map[string]struct {
	key      string
	positive bool
}{
	"g0": {"g0", true}, "!(!g0)": {"g0", true}, "!g0": {"g0", false},
	"g < 1": {"g1", true}, "!(g >= 1)": {"g1", true}, "g >= 1": {"g1", false}, "!(g < 1)": {"g1", false},
	"g == 'a'": {"g2", true}, "g != 'a'": {"g2", false},
	"state.g": {"", true}, "!state.g": {"", false},
}

var spellings = sortedKeys(atoms)

// start is what edges from start leave.
const start = -1

// atom is one of the body's conditions.
func atom(rng *rand.Rand) *ir.Expr { return expression(spellings[rng.Intn(len(spellings))]) }

// modelOptions choose what random workflows have.
type modelOptions struct {
	nodes      int
	density    float64 // of edges beyond those that connect the nodes
	back       int     // tries to add a back edge
	all, catch bool
	when       bool // conditions of nodes, edges from start, conditions that agree
	fail       bool // nodes that fail
}

func expression(text string) *ir.Expr {
	n, problems := expr.Parse(text)
	if len(problems) > 0 {
		panic(problems[0].Message)
	}
	return &ir.Expr{Text: source.Text{Value: text}, Node: n}
}

func ident(s string) ir.Ident { return ir.Ident{Name: s} }

// newModel makes a workflow of nodes n0, n1, ... whose forward edges lead to higher numbers.
func newModel(rng *rand.Rand, o modelOptions) *model {
	m := &model{body: &ir.Body{EdgesWritten: true}, ids: map[string]int{"start": start}}
	out := make([][]int, o.nodes)
	link := func(i, j int) {
		for _, k := range out[i] {
			if k == j {
				return
			}
		}
		out[i] = append(out[i], j)
	}
	for j := 1; j < o.nodes; j++ {
		if rng.Float64() < 0.92 {
			link(max(0, j-1-rng.Intn(min(j, 4))), j)
		}
	}
	for range int(o.density * float64(o.nodes)) {
		if i := rng.Intn(o.nodes); i+1 < o.nodes {
			link(i, min(o.nodes-1, i+1+rng.Intn(4)))
		}
	}
	for i := range o.nodes {
		id := fmt.Sprintf("n%d", i)
		m.ids[id] = i
		n := &ir.Node{ID: ident(id), Verb: &ir.ToolCall{}, Result: schema.StringType}
		if o.all && rng.Intn(6) == 0 {
			n.Join = ir.JoinAll
		}
		if o.when && rng.Intn(4) == 0 {
			n.When = atom(rng)
		}
		if o.fail && rng.Intn(8) == 0 {
			n.Verb = &ir.Fail{}
		}
		m.body.Nodes = append(m.body.Nodes, n)
		if n.When != nil || !failing(n) { // else nothing comes after it
			m.edgesOf(rng, i, out[i], o)
		}
	}
	if o.when && rng.Intn(2) == 0 {
		m.edgesOfStart(rng)
	}
	for range o.back {
		m.backEdge(rng)
	}
	return m
}

func failing(n *ir.Node) bool {
	_, fail := n.Verb.(*ir.Fail)
	return fail
}

// edgesOfStart writes edges from start to some nodes.
func (m *model) edgesOfStart(rng *rand.Rand) {
	e := &ir.Edge{From: ident("start"), Switch: expression("s"), Default: []ir.Ident{ident("end")}}
	for i := range m.body.Nodes {
		switch rng.Intn(6) {
		case 0:
			m.body.Edges = append(m.body.Edges, &ir.Edge{From: ident("start"), When: atom(rng), To: []ir.Ident{name(i)}})
		case 1:
			e.Cases = append(e.Cases, &ir.Case{Value: &ir.Scalar{Text: source.Text{Value: fmt.Sprint(i)}, Tag: "!!int"}, To: []ir.Ident{name(i)}})
		}
	}
	if len(e.Cases) > 0 {
		m.body.Edges = append(m.body.Edges, e)
	}
}

func name(i int) ir.Ident { return ident(fmt.Sprintf("n%d", i)) }

// edgesOf writes the edges that leave node i: plain, conditional, by cases, by errors.
func (m *model) edgesOf(rng *rand.Rand, i int, targets []int, o modelOptions) {
	n := m.body.Nodes[i]
	add := func(e *ir.Edge) {
		e.From = n.ID
		m.body.Edges = append(m.body.Edges, e)
	}
	if o.catch && !failing(n) && len(targets) > 0 && rng.Intn(5) == 0 {
		codes := []string{"TIMEOUT", "RATE_LIMIT", "any"}[rng.Intn(3):]
		for _, c := range codes {
			to := ident("end")
			if len(targets) > 0 && rng.Intn(3) > 0 {
				to = name(targets[len(targets)-1])
				targets = targets[:len(targets)-1]
			}
			n.Catch = append(n.Catch, &ir.Catch{Code: ident(c), Target: to})
		}
	}
	for len(targets) > 0 {
		k := 1 + rng.Intn(len(targets))
		some := targets[:k]
		targets = targets[k:]
		switch rng.Intn(6) {
		case 0, 1:
			e := &ir.Edge{}
			for _, t := range some {
				e.To = append(e.To, name(t))
			}
			add(e)
		case 2: // conditions, often of both polarities
			for j, t := range some {
				cond := fmt.Sprintf("w%d_%d", rng.Intn(2), i) // of this node alone: conditions that ask the same agree
				if j%2 == 1 || rng.Intn(3) == 0 {
					cond = "!" + cond
				}
				when := expression(cond)
				if o.when && rng.Intn(2) == 0 {
					when = atom(rng)
				}
				add(&ir.Edge{When: when, To: []ir.Ident{name(t)}})
			}
		default:
			e := &ir.Edge{Switch: expression("s")}
			for j, t := range some {
				c := &ir.Case{Value: &ir.Scalar{Text: source.Text{Value: fmt.Sprint(j)}, Tag: "!!int"}, To: []ir.Ident{name(t)}}
				if rng.Intn(4) == 0 && len(some) > 1 {
					c.To = append(c.To, name(some[rng.Intn(len(some))]))
				}
				e.Cases = append(e.Cases, c)
			}
			if rng.Intn(2) == 0 || len(e.Cases) == 1 {
				e.Default = []ir.Ident{ident("end")}
				if rng.Intn(2) == 0 {
					e.Default = []ir.Ident{name(some[rng.Intn(len(some))])}
				}
			}
			add(e)
		}
	}
	if len(m.edgesFrom(i)) == 0 {
		add(&ir.Edge{To: []ir.Ident{ident("end")}})
	}
}

func (m *model) edgesFrom(i int) []*ir.Edge {
	var out []*ir.Edge
	for _, e := range m.body.Edges {
		if e.From.Name == m.body.Nodes[i].ID.Name {
			out = append(out, e)
		}
	}
	return out
}

func (m *model) backEdge(rng *rand.Rand) {
	from := rng.Intn(len(m.body.Nodes))
	to := max(0, from-rng.Intn(5))
	e := &ir.Edge{From: name(from), To: []ir.Ident{name(to)}, Back: true, Max: 1 + rng.Intn(3)}
	if rng.Intn(6) > 0 {
		e.When = expression(fmt.Sprintf("%s_%d", []string{"w0", "!w0", "w9"}[rng.Intn(3)], from))
	}
	if e.When == nil || rng.Intn(3) == 0 {
		x := ident("end")
		if to := from + 1 + rng.Intn(2); to < len(m.body.Nodes) {
			x = name(to)
		}
		e.Exhausted = &x
	}
	m.body.Edges = append(m.body.Edges, e)
}

// checked runs the passes about order over a model; nil when the checker refuses it.
func (m *model) checked(limit int) (*Body, *diag.Sink) {
	sink := &diag.Sink{}
	c := &checker{wf: &ir.Workflow{}, sink: sink, limit: limit}
	b := &Body{IR: m.body, byID: map[string]*Step{}, limit: limit}
	for i, n := range m.body.Nodes {
		s := &Step{Node: n, body: b, index: i}
		b.Steps = append(b.Steps, s)
		b.byID[n.ID.Name] = s
	}
	if !c.order(b) || sink.HasErrors() {
		return nil, sink
	}
	return b, sink
}

// A dice says how decisions come out: for a node, what is asked, and how often the node has run before.
type dice func(node int, what string, visit, sides int) int

// A run is what one interpretation of a workflow did.
type run struct {
	m       *model
	dice    dice
	runs    []int // how often each node ran
	ran, ok []bool
	passed  []bool // its turn came, and what comes after it goes on
	outcome []int  // the catch clause taken, counted from 1; 0 = success
	failed  bool   // a loop spent its bound, and nothing was said about that
}

func (m *model) newRun(d dice) *run {
	n := len(m.body.Nodes)
	return &run{m: m, dice: d, runs: make([]int, n), ran: make([]bool, n), ok: make([]bool, n), passed: make([]bool, n), outcome: make([]int, n)}
}

// went reports whether what comes after a node goes on; it does after start.
func (r *run) went(i int) bool { return i == start || r.passed[i] }

// times is how often a node has run.
func (r *run) times(i int) int {
	if i == start {
		return 0
	}
	return r.runs[i]
}

// reset forgets what a node did in the round before.
func (r *run) reset(i int) { r.ran[i], r.ok[i], r.passed[i], r.outcome[i] = false, false, false, 0 }

// do gives a node its turn: without a condition, or where it holds, the node runs.
func (r *run) do(i int) {
	n := r.m.body.Nodes[i]
	r.reset(i)
	if n.When != nil && !r.holds(i, n.When.Text.Value, true) {
		r.passed[i] = true
		return
	}
	r.runs[i]++
	r.ran[i] = true
	if failing(n) {
		return
	}
	r.ok[i] = true
	defer func() { r.passed[i] = r.ok[i] }()
	if len(n.Catch) > 0 {
		r.outcome[i] = r.dice(i, "outcome", r.runs[i], len(n.Catch)+1)
		r.ok[i] = r.outcome[i] == 0
	}
}

// holds is the value of a condition after a node, or of its own.
func (r *run) holds(i int, cond string, own ...bool) bool {
	if a, ok := atoms[cond]; ok {
		if a.key != "" {
			return (r.dice(start, a.key, 0, 2) == 0) == a.positive
		}
		return (r.dice(i, fmt.Sprint("state", own), r.times(i), 2) == 0) == a.positive
	}
	positive := true
	for strings.HasPrefix(cond, "!") {
		cond, positive = cond[1:], !positive
	}
	return (r.dice(i, cond, r.times(i), 2) == 0) == positive
}

// chosen is the case that a switch edge takes; len(Cases) is the default.
func (r *run) chosen(i int, e *ir.Edge) int {
	sides := len(e.Cases)
	if e.Default != nil {
		sides++
	}
	at := 0 // every switch edge decides for itself
	for k, x := range r.m.body.Edges {
		if x == e {
			at = k
		}
	}
	return r.dice(i, fmt.Sprintf("switch%d", at), r.times(i), sides)
}

// incoming lists for a node its edges, and for each whether it is active.
func (r *run) incoming(j int) []bool {
	id := r.m.body.Nodes[j].ID.Name
	var out []bool
	for i, n := range r.m.body.Nodes {
		for k, c := range n.Catch {
			if c.Target.Name == id {
				out = append(out, r.ran[i] && r.outcome[i] == k+1)
			}
		}
	}
	for _, e := range r.m.body.Edges {
		i := r.m.ids[e.From.Name]
		if e.Back {
			if e.Exhausted != nil && e.Exhausted.Name == id { // the loop has ended although its edge holds
				out = append(out, r.went(i) && (e.When == nil || r.holds(i, e.When.Text.Value)))
			}
			continue
		}
		for _, t := range e.To {
			if t.Name == id {
				out = append(out, r.went(i) && (e.When == nil || r.holds(i, e.When.Text.Value)))
			}
		}
		for k, c := range e.Cases {
			for _, t := range c.To {
				if t.Name == id {
					out = append(out, r.went(i) && r.chosen(i, e) == k)
				}
			}
		}
		for _, t := range e.Default {
			if t.Name == id {
				out = append(out, r.went(i) && r.chosen(i, e) == len(e.Cases))
			}
		}
	}
	return out
}

// visit decides about a node all of whose edges are decided.
func (r *run) visit(i int) {
	r.reset(i)
	edges := r.incoming(i)
	all, any := true, false
	for _, active := range edges {
		all, any = all && active, any || active
	}
	if len(edges) == 0 || any && (all || r.m.body.Nodes[i].Join == ir.JoinAny) {
		r.do(i)
	}
}

// reference interprets the workflow: its nodes in the order of their numbers, loops repeated from their headers.
func (m *model) reference(d dice) *run {
	r := m.newRun(d)
	set := make([]int, len(m.body.Nodes))
	for i := range set {
		set[i] = i
	}
	r.level(set, nil)
	return r
}

// forward reports whether edges that do not lead back lead from i to j.
func (m *model) forward(i, j int) bool {
	if i >= j {
		return i == j
	}
	seen := map[int]bool{}
	var reach func(i int) bool
	reach = func(i int) bool {
		if i == j {
			return true
		}
		if seen[i] || i > j {
			return false
		}
		seen[i] = true
		for _, t := range m.successors(i) {
			if reach(t) {
				return true
			}
		}
		return false
	}
	return reach(i)
}

func (m *model) successors(i int) []int {
	var out []int
	add := func(ids ...ir.Ident) {
		for _, t := range ids {
			if j, ok := m.ids[t.Name]; ok {
				out = append(out, j)
			}
		}
	}
	for _, c := range m.body.Nodes[i].Catch {
		add(c.Target)
	}
	for _, e := range m.edgesFrom(i) {
		if e.Back {
			if e.Exhausted != nil {
				add(*e.Exhausted)
			}
			continue
		}
		add(e.To...)
		for _, c := range e.Cases {
			add(c.To...)
		}
		add(e.Default...)
	}
	return out
}

// members are the nodes of the loop that a back edge closes.
func (m *model) members(e *ir.Edge) []int {
	head, from := m.ids[e.To[0].Name], m.ids[e.From.Name]
	var out []int
	for i := head; i <= from; i++ {
		if m.forward(head, i) && m.forward(i, from) {
			out = append(out, i)
		}
	}
	return out
}

func (r *run) level(set []int, inside *ir.Edge) {
	in := map[int]bool{}
	for _, i := range set {
		in[i] = true
	}
	done := map[int]bool{}
	for _, i := range set {
		if done[i] || r.failed {
			continue
		}
		loop := r.loopAt(i, in, inside)
		if loop == nil {
			if inside != nil && i == set[0] {
				r.do(i) // the header: the loop decided that it runs
			} else {
				r.visit(i)
			}
			continue
		}
		members := r.m.members(loop)
		for _, k := range members {
			done[k] = true
		}
		// A loop inside another one that has the same header is refused, so that a header runs here for one reason only.
		if inside != nil && i == set[0] {
			r.repeat(loop, members)
			continue
		}
		r.visit(i)
		if !r.ran[i] && !r.passed[i] {
			for _, k := range members {
				r.reset(k)
			}
			continue
		}
		if r.ran[i] {
			r.runs[i]-- // it runs as the first node of the first round
		}
		r.repeat(loop, members)
	}
}

// loopAt is the outermost loop, of those directly inside the present one, whose header is i.
func (r *run) loopAt(i int, in map[int]bool, inside *ir.Edge) *ir.Edge {
	var found *ir.Edge
	for _, e := range r.m.body.Edges {
		if !e.Back || e == inside || r.m.ids[e.To[0].Name] != i {
			continue
		}
		if inside != nil && len(r.m.members(e)) >= len(r.m.members(inside)) {
			continue
		}
		found = e
	}
	return found
}

func (r *run) repeat(loop *ir.Edge, members []int) {
	from := r.m.ids[loop.From.Name]
	for round := 1; ; round++ {
		for _, k := range members {
			r.reset(k)
		}
		r.level(members, loop)
		if r.failed || !r.passed[from] || loop.When != nil && !r.holds(from, loop.When.Text.Value) {
			return
		}
		if round == loop.Max {
			r.failed = loop.Exhausted == nil
			return
		}
	}
}

// String shows a model in a failed test.
func (m *model) String() string {
	var b strings.Builder
	for _, n := range m.body.Nodes {
		fmt.Fprintf(&b, "%s join %d", n.ID.Name, n.Join)
		if n.When != nil {
			fmt.Fprintf(&b, " when %s", n.When.Text.Value)
		}
		if failing(n) {
			b.WriteString(" fails")
		}
		for _, c := range n.Catch {
			fmt.Fprintf(&b, " catch %s: %s", c.Code.Name, c.Target.Name)
		}
		b.WriteByte('\n')
	}
	ids := func(list []ir.Ident) string {
		var s []string
		for _, id := range list {
			s = append(s, id.Name)
		}
		return strings.Join(s, ", ")
	}
	for _, e := range m.body.Edges {
		fmt.Fprintf(&b, "%s -> %s", e.From.Name, ids(e.To))
		if e.When != nil {
			fmt.Fprintf(&b, " when %s", e.When.Text.Value)
		}
		for k, c := range e.Cases {
			fmt.Fprintf(&b, " %d: %s", k, ids(c.To))
		}
		if e.Default != nil {
			fmt.Fprintf(&b, " default: %s", ids(e.Default))
		}
		if e.Back {
			fmt.Fprintf(&b, " max %d", e.Max)
		}
		if e.Exhausted != nil {
			fmt.Fprintf(&b, " exhausted %s", e.Exhausted.Name)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
