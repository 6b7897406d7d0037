package check

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// Names is the Go identifier of everything the generated file declares. Two ids that meet in one identifier are a
// mistake in the YAML: generated code never has numbered names. Only in public dialects, whose ids are what they are, the
// later one gets a number.
type Names struct {
	Types   map[*schema.Type]string // anonymous and declared struct types, and declared enums
	Ordered []*NamedType            // in the order in which they are declared in Go
	Locals  map[*Step]string        // the variable of a step's result
	Nodes   map[*Step]string        // its entry in the node table
	Tools   map[*ir.Tool]string     // a tool's variable
	Servers map[*ir.Server]string   // that of a server of a tool in use; servers that are the same one share it
	Args    map[*ir.Tool]string     // the function that reads its input from data, of tools that are chosen at run time
	Models  map[*ir.Model]string    // a model's variable; models that are the same one share it
	Keys    map[*ir.Model]string    // the secret that a model of Models authenticates with
	Schemas map[*Step]string        // the variable of the schema of what a model answers
	Texts   map[*ir.TextFunc]string // text functions
	Answers map[*ir.Answer]string   // the same of what a Perform asks for
	Picks   map[*Step]string        // the function that calls the tool that a tool_call node chose
	Agents  map[*Step]string        // the variable of what an agent node runs
	Runs    map[*Step]string        // the function that runs it and picks out its pins
	Slots   map[*ir.Tool]string     // the method of the interface Slots that fills a slot; tools of one class share it
	Bodies  map[*Program]string     // the function of a sub-workflow
	Vars    map[*Var]string
	Blocks  map[*Local]string    // the locals of Blocks
	Scopes  map[*ir.Scope]string // the node that the rounds of a loop of a Block are scopes of

	yields bool // of a public dialect

	wf    *ir.Workflow           // whose nodes are being named
	taken map[string]source.Span // package-level names
	told  map[source.Span]bool   // places whose clash was reported
	decls map[string]*schema.Type
	sink  *diag.Sink
}

// A NamedType is a Go type to declare.
type NamedType struct {
	Name string
	Type *schema.Type
	Doc  string

	In *NamedType // the type that has a field of this one, where Doc says so
}

// reserved are the package-level names every generated file has.
var reserved = []string{"Workflow", "New", "Info"}

// nameEverything names what p and its sub-workflows declare.
func nameEverything(p *Program, sink *diag.Sink) *Names {
	n := &Names{
		Types: map[*schema.Type]string{}, Locals: map[*Step]string{}, Nodes: map[*Step]string{}, Tools: map[*ir.Tool]string{}, Servers: map[*ir.Server]string{}, Slots: map[*ir.Tool]string{}, Args: map[*ir.Tool]string{}, Picks: map[*Step]string{},
		Agents: map[*Step]string{}, Runs: map[*Step]string{}, Models: map[*ir.Model]string{}, Keys: map[*ir.Model]string{}, Schemas: map[*Step]string{}, Answers: map[*ir.Answer]string{}, Texts: map[*ir.TextFunc]string{},
		Bodies: map[*Program]string{}, Vars: map[*Var]string{}, Blocks: map[*Local]string{}, Scopes: map[*ir.Scope]string{}, taken: map[string]source.Span{}, told: map[source.Span]bool{}, decls: map[string]*schema.Type{}, sink: sink, yields: p.WF.Public,
	}
	for _, name := range reserved {
		n.taken[name] = source.Span{}
	}
	n.slots(append([]*Program{p}, p.Flows...))
	n.sections(p, "")
	for _, f := range p.Flows {
		n.sections(f, goname.Exported(f.WF.Name.Name))
	}
	local := map[*Program]map[string]source.Span{}
	for _, f := range append([]*Program{p}, p.Flows...) {
		local[f] = n.locals(f.Body)
	}
	n.program(p, "")
	for _, f := range p.Flows {
		body := goname.Local(f.WF.Name.Name + "_flow")
		if body == "flow" { // the name has no letter, and functions have a variable flow
			body = "childFlow"
		}
		n.Bodies[f] = n.take(body, f.WF.Name.Span)
		n.program(f, goname.Exported(f.WF.Name.Name))
	}
	for _, f := range append([]*Program{p}, p.Flows...) {
		n.giveWay(f.Body, local[f])
		n.blockLocals(f.Body)
		for _, name := range sortedKeys(local[f]) {
			if first, dup := n.taken[name]; dup {
				n.clash(name, local[f][name], first)
			}
		}
		n.inlines(f.Body, local[f])
		n.variables(f.Body, local[f], map[string]*Var{})
	}
	return n
}

// sections names the types of input, output and state. Those of all workflows come first: a result that is a
// sub-workflow's output has that name.
func (n *Names) sections(p *Program, prefix string) {
	at, whose := source.Span{}, "the workflow's" // every generated file has them
	if prefix != "" {
		at, whose = p.WF.Name.Span, p.WF.Name.Name+"'s"
	}
	if p.State != nil && p.State.Open { // the state is what the run gives
		n.named(p.State, prefix+"State", "is "+whose+" state: a field that nothing has written is absent.", at)
	}
	n.named(p.Input, prefix+"Input", "is "+whose+" input section.", at)
	n.named(p.Output, prefix+"Output", "is "+whose+" output section.", at)
	if p.State != nil {
		n.named(p.State, lowerFirst(prefix+"FlowState"), "is "+whose+" state section.", at)
		for _, s := range p.WF.State {
			in := p.State
			if group := in.Field(s.Group); s.Group != "" && group != nil {
				in = group.Type
			}
			if f := in.Field(s.Name.Name); f != nil {
				s.GoName = f.GoName
			}
		}
	}
}

func (n *Names) program(p *Program, prefix string) {
	for _, d := range p.WF.Types {
		n.declared(d)
	}
	used := map[*ir.Tool]bool{}
	for _, s := range stepsOf(p.Body) {
		for _, t := range s.Tools() {
			used[t] = true
		}
	}
	for _, t := range p.WF.Tools {
		if used[t] {
			n.server(ServerOf(p.WF, t), prefix)
			n.tool(t, prefix)
		}
	}
	id := "" // by which the names of a sub-workflow's nodes begin
	if prefix != "" {
		id = p.WF.Name.Name + "_"
	}
	n.wf = p.WF
	n.body(p.Body, prefix, id)
	n.scopes(p.Body, id)
	n.texts(p, id)
}

func stepsOf(b *Body) []*Step {
	var out []*Step
	for _, s := range b.Steps {
		out = append(out, s)
		if s.Undo != nil {
			out = append(out, s.Undo)
		}
		if s.Body != nil {
			out = append(out, stepsOf(s.Body)...)
		}
	}
	return out
}

// All lists every step of a body and the bodies inside it, in file order.
func (b *Body) All() []*Step { return stepsOf(b) }

func (n *Names) tool(t *ir.Tool, prefix string) {
	if n.Tools[t] != "" {
		return
	}
	key, _, _ := strings.Cut(t.Key.Name, "@")
	if t.Version != "1" {
		key += "_v" + t.Version
	}
	if prefix != "" && t.File != nil {
		key = prefix + "_" + key
	}
	n.Tools[t] = n.take(goname.Local(key+"_tool"), t.Key.Span)
	name := goname.Exported(key)
	if t.In != nil && (t.In.Go == nil || t.In.Go.Path == "") && len(t.In.Fields) > 0 {
		n.named(t.In, name+"In", "is the input of tool "+t.Key.Name+".", t.Key.Span)
	}
	if s, ok := t.Binding.(*ir.SlotTool); ok && s.Told != nil {
		n.anonymous(s.Told, n.Slots[t]+"Config", "is what the file says of the nodes of "+s.Name.Name+".", t.Key.Span)
	}
	if h, ok := t.Binding.(*ir.HTTPTool); ok && h.BodyType != nil {
		n.anonymous(h.BodyType, name+"Body", "is the body of a request of tool "+t.Key.Name+".", t.Key.Span)
	}
	if t.Out != nil {
		n.anonymous(t.Out, name+"Out", "is the output of tool "+t.Key.Name+".", t.Key.Span)
	}
}

// pick names what a tool_call node needs: the function with its tools, and one for the input of each.
func (n *Names) pick(s *Step, prefix string) {
	at := s.Node.ID.Span
	n.Picks[s] = n.take(strings.TrimSuffix(n.Nodes[s], "Node")+"Choice", at)
	for _, t := range s.Tools() {
		n.args(t)
	}
	if s.Pick.Out != nil {
		n.anonymous(s.Pick.Out, prefix+goname.Exported(strings.TrimSuffix(n.Nodes[s], "Node"))+"Out", "is the result of the tool that "+s.Node.ID.Name+" calls.", at)
	}
}

func (n *Names) body(b *Body, prefix, idPrefix string) {
	for _, s := range b.Steps {
		id := s.Node.ID
		if s.performed() { // two swarms may have agents of the same name
			n.Nodes[s] = n.take(strings.TrimSuffix(n.Nodes[b.parent], "Node")+goname.Exported(id.Name)+"Node", id.Span)
		} else if s.Node.Inline { // named after the node it is in
			n.Nodes[s] = n.take(strings.TrimSuffix(n.Nodes[b.parent], "Node")+"DoNode", id.Span)
		} else {
			n.Nodes[s] = n.take(goname.Local(idPrefix+id.Name+"_node"), id.Span)
		}
		if s.Undo != nil {
			n.Nodes[s.Undo] = n.take(strings.TrimSuffix(n.Nodes[s], "Node")+"UndoNode", s.Undo.Node.ID.Span)
		}
		if s.Body != nil {
			n.body(s.Body, prefix, idPrefix)
		}
		if s.Pick != nil {
			n.pick(s, prefix)
		}
		if len(s.Uses) > 0 {
			for _, m := range s.Models() {
				n.model(m, n.wf, prefix)
			}
		}
		n.answers(s)
		if s.Ask != nil {
			n.ask(s, n.wf, prefix)
		}
		if s.Agent != nil {
			n.agent(s, n.wf, prefix)
		}
		if r := s.Node.Result; r != nil {
			if s.Node.Inline {
				outer := b.parent.Node.ID
				n.anonymous(r, prefix+goname.Exported(outer.Name)+"Item", "is the result of one item of "+outer.Name+".", id.Span)
			} else {
				n.anonymous(r, prefix+goname.Exported(id.Name)+"Result", "is the result of "+id.Name+".", id.Span)
			}
		}
		if b := s.Body; b != nil && b.Result != nil {
			n.anonymous(b.Result, prefix+goname.Exported(id.Name)+"Item", "is one item of "+id.Name+".", id.Span)
		}
	}
	for _, s := range b.Steps {
		switch len(s.back) {
		case 0:
		case 1:
			n.take(strings.TrimSuffix(n.Nodes[s], "Node")+"Back", s.back[0].edge.Span)
		default:
			if !n.sink.HasErrors() {
				n.sink.Report(diag.Diagnostic{Code: diag.GoNameClash, Span: s.back[1].edge.Span, Message: "two loops that end with " + s.Node.ID.Name + " would have one name in Go",
					Help: "use a `loop` node for one of them", Related: related(s.back[0].edge.Span, "the other one")})
			}
		}
	}
}

// locals names the variables of one workflow's function, those of the functions inside it included. None of them may
// hide another, or something that the file declares.
func (n *Names) locals(b *Body) map[string]source.Span {
	local := map[string]source.Span{}
	take := func(name string, at source.Span) {
		if first, dup := local[name]; dup {
			n.clash(name, at, first)
		}
		local[name] = at
	}
	for _, s := range stepsOf(b) {
		if s.Node.Inline || s.performed() || s.undoes != nil {
			continue
		}
		name := goname.Local(s.Node.ID.Name)
		if n.yields {
			name = free(name, func(name string) bool { return used(local, name) })
		}
		n.Locals[s] = name
		take(name, s.Node.ID.Span)
		if s.ErrorRead {
			take(name+"Err", s.Node.ID.Span)
		}
		if s.Flag {
			take(name+"Ran", s.Node.ID.Span)
		}
		if s.FailuresRead {
			take(name+"Failures", s.Node.ID.Span)
		}
		if s.ReceiptsRead {
			take(name+"Receipts", s.Node.ID.Span)
		}
	}
	return local
}

// free is the name, or where it is taken the first one with a number that is not. No other name that is made from an id
// has an underscore inside.
func free(name string, taken func(string) bool) string {
	out := name
	for i := 2; taken(out); i++ {
		out = strings.TrimSuffix(name, "_") + "_" + strconv.Itoa(i)
	}
	return out
}

// used reports whether a variable, or one of those that may go with it, has a name.
func used[T any](names map[string]T, name string) bool {
	for _, end := range []string{"", "Err", "Ran", "Failures"} {
		if _, taken := names[name+end]; taken {
			return true
		}
	}
	return false
}

// giveWay numbers the variables of a public dialect that would hide what the file declares.
func (n *Names) giveWay(b *Body, local map[string]source.Span) {
	if !n.yields {
		return
	}
	for _, s := range stepsOf(b) {
		name := n.Locals[s]
		if name == "" || !used(n.taken, name) {
			continue
		}
		n.Locals[s] = free(name, func(name string) bool { return used(n.taken, name) || used(local, name) })
		for _, end := range []string{"", "Err", "Ran", "Failures"} {
			if at, taken := local[name+end]; taken {
				delete(local, name+end)
				local[n.Locals[s]+end] = at
			}
		}
	}
}

// inlines names the single nodes of `do:`s, which give way to all others.
func (n *Names) inlines(b *Body, local map[string]source.Span) {
	vars := map[string]bool{} // of maps
	for _, s := range stepsOf(b) {
		for _, v := range s.Vars {
			vars[goname.Local(v.Name)] = true
		}
	}
	for _, s := range stepsOf(b) {
		if !s.Node.Inline {
			continue
		}
		name := goname.Local(s.Node.ID.Name)
		if _, dup := local[name]; dup || n.Taken(name) || vars[name] {
			name = goname.Local(s.body.parent.Node.ID.Name + "_item")
		}
		n.Locals[s] = name
	}
}

// variables names what the maps of a body bring in. outer are those of the maps around it.
func (n *Names) variables(b *Body, local map[string]source.Span, outer map[string]*Var) {
	for _, s := range b.Steps {
		inside := maps.Clone(outer)
		for _, v := range s.Vars {
			name := goname.Local(v.Name)
			if n.yields {
				name = free(name, func(name string) bool { return n.Taken(name) || used(local, name) || inside[name] != nil })
			}
			n.Vars[v] = name
			at := s.Node.ID.Span
			if m, ok := s.Node.Verb.(*ir.Map); ok {
				at = m.As.Span
				if m.Index != nil && v.Name == m.Index.Name {
					at = m.Index.Span
				}
			}
			for _, names := range []map[string]source.Span{n.taken, local} {
				if first, dup := names[name]; dup {
					n.clash(name, at, first)
				}
			}
			if inside[name] != nil {
				n.clash(name, at, inside[name].Step.Node.ID.Span)
			}
			inside[name] = v
		}
		if s.Body != nil {
			n.variables(s.Body, local, inside)
		}
	}
}

func lowerFirst(s string) string {
	if s == "" || s != strings.ToUpper(s[:1])+s[1:] {
		return s
	}
	return goname.Local(s)
}

// take reserves a package-level name.
func (n *Names) take(name string, at source.Span) string {
	if n.yields {
		name = free(name, n.Taken)
	}
	if first, dup := n.taken[name]; dup {
		n.clash(name, at, first)
	}
	n.taken[name] = at
	return name
}

// Taken reports whether the generated file declares the name at package level.
func (n *Names) Taken(name string) bool {
	_, ok := n.taken[name]
	return ok
}

// clash reports two ids that meet in one Go name, once for a place. The same id twice was reported by the parser.
func (n *Names) clash(name string, at, first source.Span) {
	if n.told[at] || !first.IsZero() && at != first && at.Text() == first.Text() && at.File == first.File {
		return
	}
	n.told[at] = true
	d := diag.Diagnostic{Code: diag.GoNameClash, Span: at, Help: "rename one of them", Related: related(first, "this becomes it, too")}
	switch {
	case first.IsZero():
		d.Message, d.Help = fmt.Sprintf("this becomes %s in Go, a name that every generated file has", name), "rename it"
	case at == first:
		d.Message, d.Related = fmt.Sprintf("two names made from this become %s in Go", name), nil
	default:
		d.Message = fmt.Sprintf("this becomes %s in Go, a name that is made from another one already", name)
	}
	n.sink.Report(d)
}

// named gives a type its Go name and declares it.
func (n *Names) named(t *schema.Type, name, doc string, at source.Span) {
	if n.Types[t] != "" || t.Go != nil {
		return
	}
	name = n.take(name, at)
	n.Types[t] = name
	n.Ordered = append(n.Ordered, &NamedType{Name: name, Type: t, Doc: doc})
	n.fields(t, name)
}

// declared names a type of `types:`. The same declaration, included by two workflows, is one Go type.
func (n *Names) declared(d *schema.Decl) {
	t := d.Type
	if t.Kind != schema.Struct && t.Kind != schema.Enum && t.Kind != schema.Union || t.Go != nil {
		return
	}
	p := d.Span.Start()
	key := fmt.Sprintf("%s:%d:%d", d.Span.File.Name, p.Line, p.Col)
	if first := n.decls[key]; first != nil {
		n.Types[t] = n.Types[first]
		n.fieldsAs(t, first)
		return
	}
	n.decls[key] = t
	name := n.take(goname.Exported(d.Name), d.Span)
	n.Types[t] = name
	doc := d.Description
	if doc == "" {
		doc = "is a type of the workflow."
	} else {
		doc = "is " + doc
	}
	n.Ordered = append(n.Ordered, &NamedType{Name: name, Type: t, Doc: doc})
	for _, v := range t.Values {
		n.take(name+goname.Exported(v), d.Span)
	}
	if t.Kind != schema.Union { // the one field is a method
		n.fields(t, name)
	}
}

// fieldsAs gives the anonymous types inside a second copy of a declaration the names of the first.
func (n *Names) fieldsAs(t, first *schema.Type) {
	for i, f := range t.Fields {
		if i < len(first.Fields) {
			n.sameNames(f.Type, first.Fields[i].Type)
		}
	}
}

func (n *Names) sameNames(t, first *schema.Type) {
	if t == nil || first == nil {
		return
	}
	if t.Elem != nil {
		n.sameNames(t.Elem, first.Elem)
	}
	if name := n.Types[first]; name != "" && n.Types[t] == "" {
		n.Types[t] = name
		n.fieldsAs(t, first)
	}
}

// anonymous names the anonymous structs inside a type.
func (n *Names) anonymous(t *schema.Type, name, doc string, at source.Span) {
	for t.Kind == schema.List || t.Kind == schema.Map || t.Kind == schema.Opt {
		t = t.Elem
	}
	if t.Go != nil && len(t.Go.Args) > 0 {
		for _, a := range t.Go.Args {
			n.anonymous(a, strings.TrimSuffix(name, "Result")+"Item", doc, at)
		}
		return
	}
	if t.Kind == schema.Struct && t.Decl == nil && t.Go == nil && len(t.Fields) > 0 {
		n.named(t, name, doc, at)
	}
	if t.Kind == schema.Union && t.Decl == nil {
		n.union(t, name, doc, at)
	}
}

// union names a union that no declaration does, and its structs.
func (n *Names) union(t *schema.Type, name, doc string, at source.Span) {
	if n.Types[t] != "" {
		return
	}
	name = n.take(name, at)
	n.Types[t] = name
	n.Ordered = append(n.Ordered, &NamedType{Name: name, Type: t, Doc: doc})
	for _, v := range t.Variants {
		n.named(v.Type, strings.TrimSuffix(name, "Result")+goname.Exported(v.Tag), "is "+name+" with "+t.By+" "+v.Tag+".", at)
	}
}

func (n *Names) fields(t *schema.Type, name string) {
	seen, plain := map[string]*schema.Field{}, map[string]bool{}
	for _, f := range t.Fields {
		if !strings.HasSuffix(f.Name, "_") {
			plain[goname.Exported(f.Name)] = true
		}
	}
	whose := n.Ordered[len(n.Ordered)-1]
	for _, f := range t.Fields {
		g := goname.Exported(f.Name)
		if strings.HasSuffix(f.Name, "_") && plain[g] && !n.yields { // the mark at the end is all that tells them apart
			g += "_"
			f.GoName = g
		}
		if first := seen[g]; first != nil && n.yields {
			g = free(g, func(g string) bool { return seen[g] != nil })
			f.GoName = g
		} else if first != nil {
			n.clash(g, f.Span, first.Span)
		}
		seen[g] = f
		next := len(n.Ordered)
		n.anonymous(f.Type, strings.TrimSuffix(name, "Result")+g, "is field "+f.Name+" of "+name+".", f.Span)
		if next < len(n.Ordered) {
			n.Ordered[next].In = whose
		}
	}
}
