package stargraph

import (
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A router makes edges of the exits of nodes.
type router struct {
	*parser
	exits   [][]choice
	reached []bool
	next    string // the state field that says which node comes next; empty: none is needed
	machine bool
}

// to is where a choice leads: the index of a node, -1 for the end.
func (r *router) to(c choice) int {
	if x := r.byID[c.target.Name]; c.target.Name != "" && x != nil {
		return x.index
	}
	return -1
}

// backs are the nodes that the exits of a node lead back to, each once.
func (r *router) backs(i int) []int {
	var out []int
	for _, c := range r.exits[i] {
		if to := r.to(c); to >= 0 && to <= i && !slices.Contains(out, to) {
			out = append(out, to)
		}
	}
	return out
}

// plan decides whether the graph has the structure that edges can say.
func (r *router) plan() {
	r.machine = !r.structured() || r.opts.Child && r.loops() // whoever runs it bounds how many nodes run
	need := r.machine
	for i := range r.list {
		need = need || r.reached[i] && len(r.backs(i)) > 0 && r.ways(i) > 2 && r.on(i) == nil
	}
	if need {
		r.next = "next_node"
		for r.fields[r.next] != nil {
			r.next += "_"
		}
	}
}

// ways is how many different places the exits of a node lead to.
func (r *router) ways(i int) int {
	var out []int
	for _, c := range r.exits[i] {
		if to := r.to(c); !slices.Contains(out, to) {
			out = append(out, to)
		}
	}
	return len(out)
}

// loops reports whether some node leads back.
func (r *router) loops() bool {
	for i := range r.list {
		if r.reached[i] && (len(r.backs(i)) > 0 || r.lateBack(i)) {
			return true
		}
	}
	return false
}

// on is the one field that all rules of a node compare with texts; nil when there is no such.
func (r *router) on(i int) *field {
	var on *field
	for _, c := range r.exits[i] {
		if c.cond == "" {
			continue
		}
		t := c.rule.tests
		if len(t) != 1 || t[0].not || t[0].field.texts != nil || r.mayMiss(t[0].field) || on != nil && on != t[0].field || t[0].field.typ.Kind != schema.String && t[0].field.typ.Kind != schema.Enum {
			return nil
		}
		on = t[0].field
	}
	return on
}

// structured reports whether every loop has one node that it is entered through and one that it leads back from, and
// loops lie apart or inside of each other.
func (r *router) structured() bool {
	var loops [][]int
	headers := map[int]bool{}
	always := 0
	for i := range r.list {
		back := r.backs(i)
		switch {
		case r.reached[i] && r.lateBack(i):
			return false
		case !r.reached[i] || len(back) == 0:
			continue
		case len(back) > 1 || headers[back[0]]:
			return false
		}
		if len(r.exits[i]) == 1 {
			always++
		}
		headers[back[0]] = true
		members, ok := r.members(back[0], i)
		if !ok {
			return false
		}
		for _, other := range loops {
			shared := 0
			for _, m := range members {
				if slices.Contains(other, m) {
					shared++
				}
			}
			if shared != 0 && shared != len(members) && shared != len(other) {
				return false
			}
		}
		loops = append(loops, members)
	}
	return always < 2
}

// lateBack reports whether a node whose question nobody answers leads back.
func (r *router) lateBack(i int) bool {
	late := r.list[i].late
	to := (*node)(nil)
	if late != nil {
		to = r.byID[late.Name]
	}
	return to != nil && to.index <= i
}

// leads reports whether a run can go from one node to another.
func (r *router) leads(from, to int) bool {
	if late := r.list[from].late; late != nil && r.byID[late.Name] == r.list[to] {
		return true
	}
	return slices.ContainsFunc(r.exits[from], func(c choice) bool { return r.to(c) == to })
}

// members are the nodes between the first and the last node of a loop; ok is false when it is entered in the middle.
func (r *router) members(header, from int) ([]int, bool) {
	in := []int{from}
	for k := 0; k < len(in); k++ {
		if in[k] == header {
			continue
		}
		if in[k] == 0 {
			return nil, false
		}
		for i := range in[k] { // only what comes before leads on
			if !r.reached[i] || slices.Contains(in, i) || !r.leads(i, in[k]) {
				continue
			}
			if i < header {
				return nil, false
			}
			in = append(in, i)
		}
	}
	return in, slices.Contains(in, header)
}

// state is the field that says which node comes next.
func (r *router) state(at source.Span) *ir.State {
	first := ""
	if r.machine {
		first = r.list[0].id.Name
	}
	return &ir.State{Name: ir.Ident{Name: r.next, Span: at}, Type: schema.StringType, Init: &schema.Default{JSON: strconv.Quote(first), Span: at}, Span: at}
}

// graph makes the nodes and their edges.
func (r *router) graph() {
	body := &r.wf.Body
	for i, x := range r.list {
		if r.reached[i] {
			r.leave(i, r.place(body, x).ID)
		}
	}
}

// place adds the steps of a node and the edges between them. It returns the last.
func (r *router) place(body *ir.Body, x *node) *ir.Node {
	if x.block != nil {
		r.forked(body, x, func(t *node) bool { return r.reached[t.index] })
	} else {
		list := r.steps(x)
		body.Nodes = append(body.Nodes, list...)
		r.chain(body, list)
	}
	return body.Nodes[len(body.Nodes)-1]
}

// chain leads from each step of a node to the next, and past the steps that only run under a condition.
func (p *parser) chain(body *ir.Body, list []*ir.Node) {
	for i, n := range list[1:] {
		e := &ir.Edge{From: list[i].ID, To: []ir.Ident{n.ID}, Span: list[0].ID.Span}
		body.Edges = append(body.Edges, e)
		if conds, ok := p.unless[n.ID.Name]; ok {
			e.When = conds[0]
			body.Edges = append(body.Edges, &ir.Edge{From: list[i].ID, To: []ir.Ident{list[i+2].ID}, When: conds[1], Span: e.Span})
		}
	}
}

func (r *router) edge(e *ir.Edge) { r.wf.Body.Edges = append(r.wf.Body.Edges, e) }

// leave makes the edges that lead from the last step of a node.
func (r *router) leave(i int, from ir.Ident) {
	exits, back := r.exits[i], r.backs(i)
	last := exits[len(exits)-1]
	switch on := r.on(i); {
	case len(back) > 0 && r.ways(i) == 1:
		r.edge(&ir.Edge{From: from, To: []ir.Ident{last.target}, When: reference(last.span, "true"), Back: true, Span: last.span})
	case r.ways(i) == 1:
		if last.target.Name != "" {
			r.edge(&ir.Edge{From: from, To: []ir.Ident{last.target}, Span: last.span})
		}
	case r.ways(i) == 2 && (len(back) > 0 || on == nil):
		r.twoWays(from, exits, back)
	case on != nil && (len(back) == 0 || r.to(last) != back[0]):
		r.onField(from, exits, on.path(), back)
	default:
		r.onNext(i, from, back)
	}
}

// twoWays leads to one node under a condition, and to another else.
func (r *router) twoWays(from ir.Ident, exits []choice, back []int) {
	yes := exits[0]
	var alt *choice
	for k := range exits {
		if r.to(exits[k]) != r.to(yes) {
			alt = &exits[k]
		}
	}
	cond := r.leadsTo(exits, r.to(yes))
	not := "!(" + cond + ")"
	if len(exits) == 2 && strings.Count(cond, "==") == 1 && !strings.Contains(cond, "&&") {
		not = strings.Replace(cond, "==", "!=", 1)
	} else if len(exits) == 2 && !strings.ContainsAny(cond, " ") {
		if not = "!" + cond; cond[0] == '!' {
			not = cond[1:]
		}
	}
	for _, e := range []struct {
		to   choice
		when string
	}{{yes, cond}, {*alt, not}} {
		isBack := r.to(e.to) >= 0 && slices.Contains(back, r.to(e.to))
		r.edge(&ir.Edge{From: from, To: []ir.Ident{orEnd(e.to.target, e.to.span)}, When: reference(e.to.span, e.when), Back: isBack, Span: e.to.span})
	}
}

// leadsTo is the condition under which exits lead to a node.
func (r *router) leadsTo(exits []choice, to int) string {
	cond := ""
	for _, c := range slices.Backward(exits) {
		switch hit := r.to(c) == to; {
		case c.cond == "":
			cond = strconv.FormatBool(hit)
		case hit && cond == "false":
			cond = c.cond
		case hit:
			cond = group(c.cond, "||") + " || " + group(cond, "||")
		case cond != "false":
			cond = "!(" + c.cond + ") && " + group(cond, "&&")
		}
	}
	return cond
}

// group puts parentheses around a condition where it is next to an operator.
func group(cond, beside string) string {
	other := "||"
	if beside == "||" {
		other = "&&"
	}
	if strings.Contains(cond, other) {
		return "(" + cond + ")"
	}
	return cond
}

// onField is a switch over the texts of a field. The value that leads back leaves the switch by its own edge.
func (r *router) onField(from ir.Ident, exits []choice, path string, back []int) {
	last := exits[len(exits)-1]
	e := &ir.Edge{From: from, Span: from.Span, Switch: reference(last.span, path), Default: []ir.Ident{orEnd(last.target, last.span)}}
	if last.rule != nil {
		e.Span = last.span
	}
	e.Switch = reference(e.Span, path)
	var conds []string
	var backTo choice
	for _, c := range exits[:len(exits)-1] {
		target := orEnd(c.target, c.span)
		if slices.Contains(back, r.to(c)) {
			conds, backTo = append(conds, c.cond), c
			target = ir.Ident{Name: "end", Span: c.span}
		}
		e.Cases = append(e.Cases, &ir.Case{Value: &ir.Scalar{Text: c.rule.tests[0].value, Tag: "!!str"}, To: []ir.Ident{target}})
	}
	if len(conds) > 0 {
		r.edge(&ir.Edge{From: from, To: []ir.Ident{backTo.target}, When: reference(backTo.span, strings.Join(conds, " || ")), Back: true, Span: backTo.span})
	}
	r.edge(e)
}

// onNext is a switch over the id of the node that comes next, which a node of its own decides where a loop ends here.
func (r *router) onNext(i int, from ir.Ident, back []int) {
	x, exits := r.list[i], r.exits[i]
	last := exits[len(exits)-1]
	e := &ir.Edge{From: from, Span: x.id.Span, Switch: reference(last.span, r.decision(exits)), Default: []ir.Ident{{Name: "end", Span: last.span}}}
	if len(back) > 0 {
		d := r.decide(i)
		r.wf.Body.Nodes = append(r.wf.Body.Nodes, d)
		r.edge(&ir.Edge{From: from, To: []ir.Ident{d.ID}, Span: x.id.Span})
		e.From, e.Switch = d.ID, reference(last.span, "state."+r.next)
	}
	seen := map[int]bool{-1: true}
	for _, c := range exits {
		to := r.to(c)
		if seen[to] {
			continue
		}
		seen[to] = true
		target := c.target
		if slices.Contains(back, to) {
			target = ir.Ident{Name: "end", Span: c.span}
			r.edge(&ir.Edge{From: e.From, To: []ir.Ident{c.target}, When: reference(c.span, "state."+r.next+" == "+strconv.Quote(c.target.Name)), Back: true, Span: c.span})
		}
		e.Cases = append(e.Cases, &ir.Case{Value: &ir.Scalar{Text: source.Text{Value: c.target.Name, Span: c.span, Opaque: true}, Tag: "!!str"}, To: []ir.Ident{target}})
	}
	r.edge(e)
}

// decision is the id of the node that comes next; empty text is the end.
func (r *router) decision(exits []choice) string {
	out := ""
	for _, c := range slices.Backward(exits) {
		if c.cond == "" {
			out = strconv.Quote(c.target.Name)
			continue
		}
		if strings.HasPrefix(out, `"`) && out == strconv.Quote(c.target.Name) {
			continue
		}
		out = c.cond + " ? " + strconv.Quote(c.target.Name) + " : " + out
	}
	return out
}

// decide is a node that says which node comes after another.
func (r *router) decide(i int) *ir.Node {
	x := r.list[i]
	at := x.id.Span
	return &ir.Node{ID: ir.Ident{Name: r.free(x.id.Name + "_next"), Span: at}, Verb: &ir.Let{}, Span: at,
		Set: []*ir.Set{{Field: ir.Ident{Name: r.next, Span: at}, Value: reference(at, r.decision(r.exits[i]))}}}
}

// run makes a loop of a node that goes to the one that comes next, until that is the end.
func (r *router) run(at source.Span) {
	pick := &ir.Node{ID: ir.Ident{Name: r.free("step"), Span: at}, Verb: &ir.Let{}, Span: at}
	body := ir.Body{Nodes: []*ir.Node{pick}, EdgesWritten: true, EdgesSpan: at, Span: at, Result: reference(at, "state."+r.next)}
	e := &ir.Edge{From: pick.ID, Span: at, Switch: reference(at, "state."+r.next), Default: []ir.Ident{{Name: "end", Span: at}}}
	body.Edges = append(body.Edges, e)
	for i, x := range r.list {
		if !r.reached[i] {
			continue
		}
		k, d := len(body.Nodes), r.decide(i)
		last := r.place(&body, x)
		e.Cases = append(e.Cases, &ir.Case{Value: &ir.Scalar{Text: source.Text{Value: x.id.Name, Span: x.id.Span, Opaque: true}, Tag: "!!str"}, To: []ir.Ident{x.id}})
		if len(r.exits[i]) == 1 && x.late == nil { // nothing is asked: the node itself says what comes next
			last.Set = append(last.Set, d.Set...)
		} else {
			body.Nodes = append(body.Nodes, d)
			r.chain(&body, []*ir.Node{last, d})
		}
		if first := body.Nodes[k]; x.late != nil && len(first.Catch) > 0 {
			to := &ir.Node{ID: r.part(x, "late"), Verb: &ir.Let{}, Span: x.id.Span, Set: []*ir.Set{{Field: d.Set[0].Field, Value: reference(x.late.Span, strconv.Quote(x.late.Name))}}}
			first.Catch[0].Target = ir.Ident{Name: to.ID.Name, Span: x.late.Span}
			body.Nodes = append(body.Nodes, to)
		}
	}
	id := ir.Ident{Name: r.free("run"), Span: at}
	loop := &ir.Loop{Until: reference(at, id.Name+` == ""`), Do: body, Span: at}
	r.wf.Body.Nodes = append(r.wf.Body.Nodes, &ir.Node{ID: id, Verb: loop, Span: at})
}
