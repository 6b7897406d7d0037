package yamlgraph

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// MaxSteps is how many steps a graph with a cycle takes at most: between the bounds of the engine's versions.
const MaxSteps = 1000

// maxSuggested is up to how many mistakes somebody reads which spelling is meant.
const maxSuggested = 100

// settle checks the graph and translates it, when the sources of its tools are known: that names are real, that nodes can be
// reached, and how they follow each other. What its values are is known when it runs.
func (p *parser) settle(sink *diag.Sink) {
	p.Sink = sink
	p.commonFields()
	for _, n := range p.tree.Nodes {
		p.refers(n)
		p.lost(n)
	}
	for _, n := range p.tree.Nodes {
		for _, e := range n.Token.Exits {
			e.When.Refs(p.stateReference)
		}
	}
	p.declare()
	p.answerPaths()
	p.graphTools()
	o := p.order()
	if o == nil || sink.HasErrors() { // what is left to check are models and tools
		p.keep()
		p.wf.State, p.wf.Body = nil, ir.Body{Span: p.wf.Body.Span, Block: ir.Block{}}
		return
	}
	p.lower(o)
}

// keep makes the tree a workflow of its own: what is translated changes.
func (p *parser) keep() {
	own := *p.wf
	p.tree.Workflow = &own
}

// commonFields adds the fields that every state has to those of the file, when a function that is given the state may use
// them: when its source names them, or cannot be read.
func (p *parser) commonFields() {
	names, all := map[string]bool{}, false
	var visit func(nodes []*Node)
	visit = func(nodes []*Node) {
		for _, n := range nodes {
			if v, ok := n.Verb.(*Map); ok {
				visit([]*Node{v.Do})
			}
			t := p.functionOf(n)
			switch {
			case t == nil:
			case t.Def == nil || len(t.Def.Files) == 0:
				all = true
			default:
				for _, f := range t.Def.Files {
					for _, word := range wordForm.FindAllString(f.Text, -1) {
						names[word] = true
					}
				}
			}
		}
	}
	visit(p.tree.Nodes)
	for _, s := range p.tree.Common {
		if all || names[s.Name.Name] {
			p.wf.State = append(p.wf.State, s)
		}
	}
	p.tree.Common = nil
}

var wordForm = lazyregexp.New(`[A-Za-z_][A-Za-z0-9_]*`)

// functionOf is the python tool that a node calls with the state; nil when it calls none.
func (p *parser) functionOf(n *Node) *ir.Tool {
	v, ok := n.Verb.(*ir.ToolCall)
	if !ok {
		return nil
	}
	t := p.toolOf(v.Name.Name)
	if t == nil {
		return nil
	}
	if _, python := t.Binding.(*ir.PythonTool); !python {
		return nil
	}
	return t
}

// toolOf is a tool by its key.
func (p *parser) toolOf(name string) *ir.Tool {
	i := slices.IndexFunc(p.wf.Tools, func(t *ir.Tool) bool { return t.Key.Name == name })
	if i < 0 {
		return p.bound[name]
	}
	return p.wf.Tools[i]
}

// refers checks what a node names.
func (p *parser) refers(n *Node) {
	t := n.Token
	see := func(v ir.Value) { dialect.ValueReferences(v, p.stateReference) }
	switch v := n.Verb.(type) {
	case *ir.ToolCall:
		v.Tool = p.toolOf(v.Name.Name)
		if f := p.functionOf(n); f != nil && f.File == p.File {
			p.stateAlone(v, f)
		}
		for _, e := range t.Values {
			see(e.Value)
		}
		see(t.Payload)
	case *ir.ToolChoice:
		see(v.Tool)
		see(v.Args)
	case *ir.Let:
		for _, f := range v.Fields {
			see(f.Value)
		}
	case *ir.Flow:
		for _, pair := range t.Sub.In {
			p.stateReference(pair.Ref)
		}
	case *ir.Human:
		see(t.Payload)
	case *Map:
		if over, ok := v.Over.(*dialect.Reference); ok && over.Root == "state" {
			p.fieldReference(over, "list")
			p.listField(over)
		}
		p.refers(v.Do)
	}
	_, person := n.Verb.(*ir.Human)
	if t.Ask != nil && (!person || t.Ask.Model.Name != "") {
		p.asks(n)
	}
	for _, rules := range [][]*TokenRule{t.Before, t.After, t.Final} {
		for _, r := range rules {
			r.When.Refs(p.stateReference)
		}
	}
}

// asks checks what a question is made of.
func (p *parser) asks(n *Node) {
	a := n.Token.Ask
	for _, v := range a.Values {
		if v.Value != nil {
			dialect.ValueReferences(v.Value, p.stateReference)
		}
	}
	if call, program := n.Verb.(*ir.ToolCall); program && call != nil {
		return
	}
	for _, id := range append(slices.Clone(n.Reads), n.Token.Requires...) {
		if p.wf.StateField(id.Name) == nil {
			d := diag.Diagnostic{Code: diag.UnknownName, Span: id.Span, Message: fmt.Sprintf("the state has no field %q, which the node requires", id.Name)}
			p.suggest(&d, id.Name)
			p.Report(d)
			return
		}
	}
	if n.Retry == nil && len(a.Candidates) == 0 {
		n.Retry = &ir.Retry{Attempts: 3, Base: &ir.Duration{Value: time.Second}, Cap: &ir.Duration{Value: 30 * time.Second}}
	}
}

// stateAlone holds the function of a node to what it is called with: the state, and nothing else.
func (p *parser) stateAlone(v *ir.ToolCall, t *ir.Tool) {
	if t.Def == nil || t.Def.In == nil {
		return
	}
	need := 0
	for _, f := range t.Def.In.Fields {
		if f.Required() {
			need++
		}
	}
	if n := len(t.Def.In.Fields); n == 0 || need > 1 {
		p.Report(diag.Diagnostic{Code: diag.SourceShape, Span: v.Name.Span, Message: "a python node calls its function with the state alone, and " + t.Def.Name + " takes something else",
			Help: "write a function with one parameter", Related: []diag.Related{{Span: t.Def.Span, Message: "it is defined here"}}})
	}
}

// lost warns about what a node leaves where nothing holds it: the engine drops it without a word.
func (p *parser) lost(n *Node) {
	lost := slices.Clone(n.Writes)
	_, function := n.Verb.(*ir.ToolCall) // most of them return a mapping, whose keys nobody knows
	ask := n.Token.Ask
	router := ask != nil && len(ask.Routes) > 0 // what it gives is where the token goes
	if key := n.Token.Key; key.Name != "" && !function && !router {
		lost = append(lost, key)
	}
	for _, id := range lost {
		if p.wf.StateField(id.Name) == nil {
			p.Report(diag.Diagnostic{Severity: diag.Warning, Code: diag.IgnoredKey, Span: id.Span, Help: "declare it in `state`",
				Message: fmt.Sprintf("the state has no field %q; the node's result is discarded", id.Name)})
		}
	}
}

// stateReference warns about a reference to a field that the state does not have: the engine takes it for a value that is
// missing, so that nobody hears of the mistake.
func (p *parser) stateReference(r *dialect.Reference) { p.fieldReference(r, "str") }

func (p *parser) fieldReference(r *dialect.Reference, kind string) {
	if r != nil && r.Root == "state" && len(r.Path) > 1 {
		p.paths = append(p.paths, r)
	}
	if r == nil || r.Root != "state" || len(r.Path) == 0 || p.wf.StateField(r.Path[0]) != nil {
		return
	}
	if len(r.Path) > 1 {
		kind = "dict"
	}
	d := dialect.NoField(r.Text.Span, r.Path[0])
	p.suggest(&d, r.Path[0])
	d.Fixes = nil // the reference is more than the name
	if p.stateAt.File == nil {
		p.Report(d)
		return
	}
	p.undeclared = append(p.undeclared, undeclared{r.Path[0], kind, d})
}

// undeclared is a field that a graph without the section `state` refers to, and the type that it seems to have.
type undeclared struct {
	name, kind string
	warning    diag.Diagnostic
}

// declare reports the references to fields of a graph that declares none: its values come from the command line, which the
// engine takes for the state. One fix declares all of them.
func (p *parser) declare() {
	section, has := "state:\n", map[string]bool{}
	for _, u := range p.undeclared {
		if !has[u.name] && idForm.MatchString(u.name) {
			has[u.name] = true
			section += "  " + u.name + ": " + u.kind + "\n"
		}
	}
	for _, u := range p.undeclared {
		if has[u.name] && (u.warning.Help == "" || !p.near(u.name)) {
			u.warning.Help = "declare " + u.name + " below `state`: then it is an input"
			u.warning.Fixes = []diag.Fix{{Title: "declare the fields", Edits: []diag.Edit{{Span: p.stateAt, New: section}}}}
		}
		p.Report(u.warning)
	}
}

// near reports whether a name is close to that of a field that the state has: one of the two is misspelled.
func (p *parser) near(name string) bool {
	return slices.ContainsFunc(p.wf.State, func(s *ir.State) bool { return diag.Close(name, s.Name.Name) })
}

// suggest says which field of the state is meant, as long as somebody reads it.
func (p *parser) suggest(d *diag.Diagnostic, name string) {
	if p.Sink.Errors() > maxSuggested {
		return
	}
	var names []string
	for _, s := range p.wf.State {
		names = append(names, s.Name.Name)
	}
	diag.Suggest(d, name, names)
}

// listField warns about a list that is not declared as one: the engine takes what a node has written there.
func (p *parser) listField(r *dialect.Reference) {
	if len(r.Path) != 1 {
		return
	}
	s := p.wf.StateField(r.Path[0])
	if s == nil || s.Type.Kind == schema.List || s.Type.Kind == schema.Any {
		return
	}
	p.Report(dialect.NoList(diag.Warning, r.Text.Span, s))
}

// An order is how the nodes of a graph follow each other.
type order struct {
	waves  [][]*Node // in parallel, and one after the other; nil: data decides
	start  *Node     // without waves: where the one token begins
	first  []*Node   // without waves and start: where several tokens begin, which data sends on
	cyclic map[*Node]bool
	after  map[*Node][]*Node
	stops  bool // nothing comes after a map of an empty list
}

// order decides how the nodes follow each other, nil after a mistake. Without conditions and cycles that is known now; else one
// token goes from node to node, and there must be no more than one.
func (p *parser) order() *order {
	o := &order{after: map[*Node][]*Node{}, stops: p.opts.Upstream}
	nodes := p.tree.Nodes
	byID := map[string]*Node{}
	for _, n := range nodes {
		byID[n.ID.Name] = n
	}
	conditions := false
	for _, n := range nodes {
		for _, e := range n.Token.Exits {
			if to := byID[e.To.Name]; to != nil {
				o.after[n] = append(o.after[n], to)
			}
			conditions = conditions || e.When != nil || e.Routed || e.Spent
		}
	}
	for _, id := range p.tree.Start {
		if n := byID[id.Name]; n != nil {
			o.first = append(o.first, n)
		}
	}
	if len(o.first) == 0 {
		if len(nodes) > 0 && !p.Sink.HasErrors() { // else it was reported
			p.Report(diag.Diagnostic{Code: diag.Unreachable, Span: nodes[0].ID.Span, Message: "no edge leads from START to a node, so that nothing runs", Help: "add an edge from START to the first node"})
		}
		return nil
	}
	reached := o.reach(o.first)
	for _, n := range nodes {
		if !reached[n] && !p.Sink.HasErrors() { // what led to it may have been left out
			p.Report(diag.Diagnostic{Severity: diag.Warning, Code: diag.Unreachable, Span: n.ID.Span, Message: fmt.Sprintf("no edge leads from START to node %q", n.ID.Name), Help: "add an edge, or remove the node"})
		}
	}
	p.endless(o, reached)
	o.cycles(nodes)
	for n := range o.cyclic {
		n.Times = cmp.Or(p.tree.Limit, MaxSteps)
		if a := n.Token.Ask; a != nil && !a.SkipsSet {
			a.Skips = false
		}
	}
	switch {
	case !conditions && len(o.cyclic) == 0:
		o.waves = o.levels(nodes)
	case o.oneToken(nodes):
		o.start = o.first[0]
	}
	return o
}

// reach is what exits lead to.
func (o *order) reach(from []*Node) map[*Node]bool {
	seen := map[*Node]bool{}
	for from = slices.Clone(from); len(from) > 0; {
		n := from[len(from)-1]
		if from = from[:len(from)-1]; !seen[n] {
			seen[n] = true
			from = append(from, o.after[n]...)
		}
	}
	return seen
}

// cycles finds the nodes that lead back to themselves.
func (o *order) cycles(nodes []*Node) {
	o.cyclic = map[*Node]bool{}
	for _, n := range nodes {
		if o.reach(o.after[n])[n] {
			o.cyclic[n] = true
		}
	}
}

// oneToken reports whether there is never more than one token in a graph whose steps are not known now.
func (o *order) oneToken(nodes []*Node) bool {
	if len(o.first) > 1 {
		return false
	}
	for _, n := range nodes {
		plain, tests := 0, 0
		for _, e := range n.Token.Exits {
			switch {
			case e.When != nil:
				tests++
			case !e.Routed && !e.Spent:
				plain++
			}
		}
		if plain > 1 || plain > 0 && tests > 0 {
			return false
		}
	}
	return true
}

// maxWaves bounds how often nodes are in the Go of a graph whose nodes are reached on ways of several lengths.
const maxWaves = 100

// levels are the nodes of every step: those that the nodes of the step before lead to, in the order of the file. A node that is
// reached on ways of several lengths runs once for each. Nil when only a run knows: to older engines a map hands nothing on
// when its list is empty, and other nodes next to it do.
func (o *order) levels(nodes []*Node) [][]*Node {
	var out [][]*Node
	now := map[*Node]bool{}
	for _, n := range o.first {
		now[n] = true
	}
	for runs := 0; len(now) > 0; {
		var wave []*Node
		next := map[*Node]bool{}
		for _, n := range nodes {
			if !now[n] {
				continue
			}
			wave = append(wave, n)
			for _, to := range o.after[n] {
				next[to] = true
			}
			if o.stops && each(n) && len(now) > 1 && len(o.after[n]) > 0 {
				return nil
			}
		}
		if runs += len(wave); runs > maxWaves {
			return nil
		}
		out = append(out, wave)
		now = next
	}
	return out
}
