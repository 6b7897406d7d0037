package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// The buckets of a SirenSpec context, in the order of the fields of Program.State.
var buckets = []string{"working", "output"}

// sirenspec checks a SirenSpec workflow: one node at a time, each when an edge to it holds, on a context of two buckets
// whose names are known and whose values are not.
func (c *checker) sirenspec() *Program {
	c.declareInput()
	p := &Program{WF: c.wf, Input: c.inputType, State: &schema.Type{Kind: schema.Struct}}
	c.declareTools()
	for _, name := range buckets {
		p.State.Fields = append(p.State.Fields, &schema.Field{Name: name, Type: c.bucket(name)})
	}
	p.Output = &schema.Type{Kind: schema.Struct, Fields: []*schema.Field{
		{Name: "status", Type: &schema.Type{Kind: schema.Enum, Values: []string{"success", "failed"}}},
		{Name: "error", Type: dynamicField, Omit: true, Description: "what a run that failed has ended with"},
		{Name: "output", Type: p.State.Fields[1].Type},
		{Name: "working", Type: p.State.Fields[0].Type},
	}}
	for _, budget := range c.wf.Dynamic.Budgets {
		if budget.Declared {
			p.Output.Fields = append(p.Output.Fields, &schema.Field{Name: "budget", Type: dynamicField, Description: "what was spent"})
		}
	}
	p.Body = c.sirenspecBody(p)
	c.checkTools()
	return p
}

// dynamicField is a value that may be absent.
var dynamicField = &schema.Type{Kind: schema.Any, Go: &schema.Go{Path: DynamicPath, Name: "Field"}}

// bucket is a part of the context as a struct of fields that may be absent.
func (c *checker) bucket(name string) *schema.Type {
	t := &schema.Type{Kind: schema.Struct}
	for _, s := range c.wf.State {
		if key, ok := strings.CutPrefix(s.Name.Name, name+"."); ok {
			typ := *s.Type
			typ.Go = &schema.Go{Path: DynamicPath, Name: "Field"}
			t.Fields = append(t.Fields, &schema.Field{Name: key, Type: &typ, Span: s.Name.Span, Omit: true})
		}
	}
	return t
}

func (c *checker) sirenspecBody(p *Program) *Body {
	b := &Body{IR: &c.wf.Body, byID: map[string]*Step{}, limit: c.limit}
	for i, n := range c.wf.Body.Nodes {
		s := &Step{Node: n, body: b, index: i, defaults: &ir.Defaults{}, effects: c.nodeEffects(n)}
		n.Result = schema.InvalidType
		b.Steps = append(b.Steps, s)
		b.byID[n.ID.Name] = s
		c.contextVerb(s)
	}
	c.sirenspecArcs(b)
	if !c.sortSteps(b) {
		return b
	}
	in := map[*Step]bool{}
	for _, s := range b.Steps {
		in[s] = true
	}
	phase := &DynamicPhase{}
	if len(c.wf.Dynamic.Phases) > 0 {
		phase.IR = c.wf.Dynamic.Phases[0]
		p.Phases = []*DynamicPhase{phase}
	}
	b.Plan = &Plan{Kind: Seq}
	order := b.kahn(in)
	for _, s := range order {
		phase.Waves = append(phase.Waves, []*Step{s})
		leaf := &Plan{Kind: Leaf, Step: s}
		if !s.Always() {
			cond := &Cond{}
			for _, a := range s.in {
				t := Term{Ran: a.from}
				if a.decision != nil {
					t.Decision, t.Cases = a.decision, []int{0}
				}
				cond.Any = append(cond.Any, t)
			}
			leaf = &Plan{Kind: If, Cond: cond, Kids: []*Plan{leaf}}
		}
		b.Plan.Kids = append(b.Plan.Kids, leaf)
	}
	c.placeholders(order)
	return b
}

// sirenspecArcs makes arcs of the edges, in the order of the file, which the order of the nodes depends on.
func (c *checker) sirenspecArcs(b *Body) {
	var routes []*ir.Route
	for _, s := range b.Steps {
		routes = append(routes, s.Node.Dynamic.Routes...)
	}
	slices.SortStableFunc(routes, func(x, y *ir.Route) int { return x.Span.Lo - y.Span.Lo })
	for _, r := range routes {
		from, to := b.byID[r.From.Name], b.byID[r.To.Name]
		if from == nil || to == nil {
			continue // reported by the parser
		}
		a := &arc{from: from, to: to, at: r.To.Span}
		if r.When != nil {
			a.decision = &Decision{Step: from, Kind: When, Cases: []Case{{Label: r.When.String()}, {Label: "else"}}}
			r.When.Refs(c.contextPlace)
		}
		from.out, to.in, b.arcs = append(from.out, a), append(to.in, a), append(b.arcs, a)
	}
	c.rescues(b)
}

// Leads are the steps that s leads to, each with its condition, in the order of the file.
func (s *Step) Leads(f func(to *Step, when *ir.Predicate)) {
	for _, a := range s.out {
		for _, r := range a.to.Node.Dynamic.Routes {
			if r.To.Span == a.at {
				f(a.to, r.When)
			}
		}
	}
}

// contextPlace warns about a place of a condition that nothing writes: the engine takes the condition for false.
func (c *checker) contextPlace(r *ir.Reference) {
	if len(r.Path) == 0 || c.named(r.Root, r.Path[0]) {
		return
	}
	c.unwritten(r, r.Root, r.Path[0], fmt.Sprintf("nothing writes %s.%s: a condition that asks for it never holds", r.Root, r.Path[0]))
}

// named reports whether a bucket of the context has a name.
func (c *checker) named(bucket, name string) bool {
	return slices.ContainsFunc(c.wf.State, func(s *ir.State) bool { return s.Name.Name == bucket+"."+name })
}

// unwritten warns about a name that a bucket does not have.
func (c *checker) unwritten(r *ir.Reference, bucket, name, message string) {
	d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownName, Span: r.Text.Span, Message: message}
	var names []string
	for _, s := range c.wf.State {
		if key, ok := strings.CutPrefix(s.Name.Name, bucket+"."); ok && key != "_budget" {
			names = append(names, key)
		}
	}
	if c.suggesting() {
		diag.Suggest(&d, name, names)
		d.Fixes = nil // the reference is more than the name
	}
	c.report(d)
}

// placeholders checks what stands in the texts of the nodes, in the order in which they run.
func (c *checker) placeholders(order []*Step) {
	place := map[string]int{}
	for i, s := range order {
		place[s.Node.ID.Name] = i
	}
	// written are the names that something besides the node of that name writes, or that are there from the beginning.
	written := map[string]bool{}
	if seeds := c.wf.Dynamic.Seeds; seeds != nil {
		for _, bucket := range seeds.Entries {
			if o, ok := bucket.Value.(*ir.Object); ok && bucket.Key.Name == "working" {
				for _, e := range o.Entries {
					written[e.Key.Name] = true
				}
			}
		}
	}
	for _, s := range order {
		if w := s.Node.Dynamic.Context.Writes; len(w) > 1 && w[0] == "working" {
			written[w[1]] = true
		}
	}
	round := map[*ir.Reference]bool{}
	if len(order) > 0 {
		round = c.circles(order[0].body, written)
	}
	for i, s := range order {
		nodeReferences(s.Node, func(r *ir.Reference) {
			if r.Root == "working" && !round[r] {
				c.placeholder(r, s, i, place, written)
			}
		})
		insideReferences(s.Node, func(r *ir.Reference, own bool) {
			switch {
			case r.Root != "working" || round[r]:
			case r.Path[0] == s.Node.ID.Name && !written[r.Path[0]]:
				c.ownValue(r, s, own)
			default:
				c.placeholder(r, s, i, place, written)
			}
		})
	}
}

// placeholder checks one reference to the working bucket.
func (c *checker) placeholder(r *ir.Reference, s *Step, at int, place map[string]int, written map[string]bool) {
	name := r.Path[0]
	producer, isNode := place[name]
	switch {
	case isNode && !written[name]:
		c.nodeValue(r, s, at, producer)
	case isNode || written[name]:
	case name == "working" && len(r.Path) > 1 && c.workingPath(r, place):
	case (name == "working" || name == "output") && r.Filter == "":
		c.rootOfPath(r, s, place)
	case r.Filter == "":
		if c.named("working", name) {
			return // a node that was refused
		}
		c.unwritten(r, "working", name, fmt.Sprintf("nothing is called %s: the node fails when it runs", name))
	}
}

// workingPath makes `{{ working.x }}` of a name that is no node's what the pages say it is. It reports whether it did.
func (c *checker) workingPath(r *ir.Reference, place map[string]int) bool {
	name := r.Path[1]
	if _, node := place[name]; node || !c.named("working", name) {
		return false
	}
	help := "write `{{ " + strings.Join(r.Path[1:], ".") + " }}`"
	d := diag.Diagnostic{Severity: diag.Note, Code: diag.DialectDiffers, Span: r.Text.Span, Help: help,
		Message: fmt.Sprintf("by the pages this is what stands at working.%s; in the engine `working` is no root of a placeholder, and the node fails", name)}
	if c.wf.Dynamic.Upstream {
		return false
	}
	if r.Filter != "" {
		d.Message = fmt.Sprintf("by the pages this is what stands at working.%s; in the engine `working` is no root of a placeholder, and the filter's text stands for it", name)
	}
	c.report(d)
	r.Path = r.Path[1:]
	return true
}

// rootOfPath reports a path that begins with the name of a bucket, which templates do not know. Nodes are refused below
// working where the engine's own linter looks, which does not see tools and people.
func (c *checker) rootOfPath(r *ir.Reference, s *Step, place map[string]int) {
	d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownName, Span: r.Text.Span, Message: fmt.Sprintf("`%s` is no root of a placeholder: the node fails when it runs", r.Path[0])}
	if r.Path[0] == "output" {
		d.Help = "write the value to `working.NAME`, and read it as `NAME`"
	} else if len(r.Path) > 1 {
		_, node := place[r.Path[1]]
		if node || c.named("working", r.Path[1]) {
			d.Help = "replace with `" + strings.Join(r.Path[1:], ".") + "`"
		}
		switch s.Node.Verb.(type) {
		case *ir.ToolCall, *ir.Human:
		default:
			if node {
				d.Severity, d.Message = diag.Error, fmt.Sprintf("`working.%s` is a node, which placeholders name without `working`", r.Path[1])
			}
		}
	}
	c.report(d)
}

// nodeValue checks a reference to the result of a node.
func (c *checker) nodeValue(r *ir.Reference, s *Step, at, producer int) {
	from := s.body.byID[r.Path[0]]
	keys := resultKeys(from.Node)
	key := keys[0]
	d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownName, Span: r.Text.Span}
	switch {
	case r.Filter != "":
		return
	case producer >= at:
		d.Message = fmt.Sprintf("%q runs after %q: the value is not there yet, and the node fails", r.Path[0], s.Node.ID.Name)
		d.Help = "add an edge from " + r.Path[0] + " to " + s.Node.ID.Name
	case len(r.Path) > 2 && r.Path[1] == "agents" && slices.Contains(keys, "agents") && !slices.Contains(agentIDs(from.Node), r.Path[2]):
		c.noAgent(r, from)
		return
	case len(r.Path) > 1 && !slices.Contains(keys, r.Path[1]):
		d.Message = fmt.Sprintf("the result of %q is `%s.%s`: the node fails when it runs", r.Path[0], r.Path[0], key)
		d.Help = "replace with `" + strings.Join(append([]string{r.Path[0], key}, r.Path[2:]...), ".") + "`"
	default:
		return
	}
	c.report(d)
}

// nodeReferences calls f for every reference of a node's texts.
func nodeReferences(n *ir.Node, f func(*ir.Reference)) {
	d := n.Dynamic
	texts := []*ir.Mixed{d.System, d.Prompt}
	if v, ok := n.Verb.(*ir.ToolChoice); ok {
		ir.ValueReferences(v.Tool, f)
	}
	if q := d.Context.Request; q != nil {
		texts = append(texts, q.URL, q.Body)
		for _, h := range q.Headers {
			texts = append(texts, h.Value)
		}
	}
	for _, t := range texts {
		if t != nil {
			ir.ValueReferences(t, f)
		}
	}
	if d.Args != nil {
		ir.ValueReferences(d.Args, f)
	}
}
