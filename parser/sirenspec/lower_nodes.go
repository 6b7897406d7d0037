package sirenspec

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// perform runs a node.
func (l *lowering) perform(n *Node, kind string, call *expr.Node) *ir.RunStmt {
	d := n
	out := l.nodes[n]
	v := &ir.Perform{Call: as(call), Kind: kind, Attempts: d.Attempts}
	see := func(r *dialect.Reference) {
		if r.Root == "working" && len(r.Path) > 0 && l.tree.StateField("working."+r.Path[0]) != nil {
			v.Reads = append(v.Reads, ident("working."+r.Path[0]))
		}
	}
	nodeReferences(n, see)
	insideReferences(n, func(r *dialect.Reference, _ bool) { see(r) })
	for _, route := range d.Routes {
		route.When.Refs(func(r *dialect.Reference) {
			if len(r.Path) > 0 {
				v.Reads = append(v.Reads, ident(r.Root+"."+r.Path[0]))
			}
		})
	}
	v.Writes = []ir.Ident{ident("working." + n.ID.Name)}
	if w := d.Writes; len(w) > 1 {
		v.Writes = append(v.Writes, ident(w[0]+"."+w[1]))
	}
	out.Verb = v
	into := l.local[n]
	if into == n.ID.Name {
		into = "" // it is called so anyway
	}
	return &ir.RunStmt{Node: out, Into: ident(into)}
}

// run writes a node: its call, where its result goes, and its edges.
func (l *lowering) run(b *ir.Block, s *point) {
	n := s.node
	switch v := n.Verb.(type) {
	case *ir.LLM:
		l.agent(b, s, v)
		return
	case *Swarm:
		call, inside := l.swarm(v, expr.Address(l.own(n)))
		run := l.perform(n, "swarm", expr.Invoke(fnSwarm, append([]*expr.Node{runHandle(), expr.Of(expr.UseNode, "", nil)}, call...)...))
		performs(run).Inside = inside
		*b = append(*b, run)
		l.gave(b, n)
		l.after(b, s)
		return
	case *Factory:
		l.factory(b, n, v)
		l.after(b, s)
		return
	case *ir.Flow:
		l.child(b, n, v)
		l.after(b, s)
		return
	case *ir.Human:
		l.question(b, n, v)
		l.after(b, s)
		return
	case *ir.ToolCall:
		if n == l.kept {
			run := l.perform(n, "", expr.Invoke(fnRecall, runHandle(), expr.Of(expr.UseNode, "", nil), l.tool(v.Name.Name)))
			run.Into = ident("memory")
			*b = append(*b, run)
			l.edges(b, s)
			return
		}
	}
	kind := ""
	if _, choice := n.Verb.(*ir.ToolChoice); choice {
		kind = "tool_call"
	}
	*b = append(*b, l.perform(n, kind, l.call(n)), do(fnSet, expr.Address(l.own(n)), expr.Read(l.local[n]), expr.Const(n.OutputKey)))
	l.edges(b, s)
}

func performs(s *ir.RunStmt) *ir.Perform {
	v, _ := s.Node.Verb.(*ir.Perform)
	return v
}

// call is the call of a node's tool.
func (l *lowering) call(n *Node) *expr.Node {
	d := n
	head := []*expr.Node{expr.Read("job"), runHandle(), expr.Of(expr.UseNode, "", nil)}
	switch v := n.Verb.(type) {
	case *ir.ToolChoice:
		name, _ := v.Tool.(*dialect.Mixed)
		return expr.Invoke(fnChoose, append(append(head, expr.Of(expr.UseChoice, n.ID.Name, v), policy(d), l.template(name)), l.arguments(d.Args)...)...)
	case *ir.ToolCall:
		head = append(head, l.tool(v.Name.Name), policy(d))
		if d.Request != nil {
			return expr.Invoke(fnHTTP, append(head, l.request(d.Request))...)
		}
		return expr.Invoke(fnPython, append(append(head, expr.Const(l.functionOf(v.Name.Name))), l.arguments(d.Args)...)...)
	}
	return nil
}

// tool is the Handle of a tool.
func (l *lowering) tool(name string) *expr.Node {
	for _, t := range l.wf.Tools {
		if t.Key.Name == name && t.File == l.File {
			return expr.Of(expr.UseTool, name, t)
		}
	}
	return nil
}

func (l *lowering) functionOf(name string) string {
	for _, t := range l.wf.Tools {
		if b, ok := t.Binding.(*ir.PythonTool); ok && t.Key.Name == name && t.File == l.File {
			return strings.ReplaceAll(b.Ref.Name, ":", ".")
		}
	}
	return ""
}

// policy is what becomes of a tool that fails.
func policy(d *Node) *expr.Node {
	var fields []expr.Entry
	if d.Attempts > 1 {
		fields = append(fields, expr.Put("retries", expr.Const(int64(d.Attempts-1))))
	}
	if d.Skips {
		fields = append(fields, expr.Put("skip", expr.Const(true)))
	}
	return expr.Struct(policyType, fields...)
}

// request is what an http tool sends.
func (l *lowering) request(q *Request) *expr.Node {
	fields := []expr.Entry{expr.Put("method", expr.Const(q.Method)), expr.Put("url", l.template(q.URL))}
	if len(q.Headers) > 0 {
		list := &expr.Node{Op: expr.ListLit}
		for _, h := range q.Headers {
			list.Kids = append(list.Kids, expr.Struct(headerType, expr.Put("name", expr.Const(h.Key.Name)), expr.Put("value", l.template(h.Value))))
		}
		fields = append(fields, expr.Put("headers", list))
	}
	if q.Body != nil {
		fields = append(fields, expr.Put("body", l.template(q.Body)))
	}
	return expr.Struct(requestType, append(fields, expr.Put("timeout", expr.Const(q.Seconds)))...)
}

// toolsMade are the tools with those of the engine made by its functions.
func (l *lowering) toolsMade() {
	of := map[*ir.Tool]*Node{}
	for _, n := range l.tree.Nodes {
		if v, ok := n.Verb.(*ir.ToolCall); ok {
			for _, t := range l.tree.Tools {
				if t.Key.Name == v.Name.Name && t.File == l.File {
					v.Tool, of[t] = t, n
				}
			}
		}
	}
	l.wf.Tools = slices.Clone(l.tree.Tools)
	for i, t := range l.wf.Tools {
		made := *t
		switch n := of[t]; {
		case n != nil && n.Request != nil:
			effects := dialect.External
			if t.Effects == ir.EffectsReads {
				effects = dialect.Reads
			}
			host := n.Request.Host
			if host == "" {
				host = "*"
			}
			made.In = callType
			made.Binding = &ir.Made{New: as(expr.Invoke(fnRequest, expr.Const(t.FullName()), expr.Invoke(effects), expr.Const(n.Request.Host))), Reach: &ir.Reach{Hosts: []string{host}, Env: n.Request.Env}}
		case n != nil && n.Store != nil:
			made.In = recollectionType
			made.Binding = &ir.Made{New: as(expr.Invoke(fnMemory, expr.Const(t.FullName()), expr.Const(n.Store.Path), expr.Const(n.Store.Seconds))), Reach: &ir.Reach{Code: []string{"memory:" + n.Store.Path}}}
		default:
			if b, ok := t.Binding.(*ir.PythonTool); ok && len(b.Env) > 0 {
				b.Filled = as(expr.Invoke(cEnvironment))
			}
			continue
		}
		l.wf.Tools[i], l.tools[t] = &made, &made
	}
}

// remember keeps what a node has written to the memory: the node that reads it runs again.
func (l *lowering) remember(b *ir.Block, n *Node) {
	w := n.Writes
	if len(w) < 2 || w[0] != "memory" || l.kept == nil {
		return
	}
	call, _ := l.kept.Verb.(*ir.ToolCall)
	*b = append(*b, &ir.RunStmt{Node: l.nodes[l.kept], Call: as(expr.Invoke(fnRemember, runHandle(), expr.Of(expr.UseNode, "", nil), l.tool(call.Name.Name), expr.Read("memory"), expr.Const(w[1])))})
}

// gave puts what a node returns where it writes to, which is what the next agent receives.
func (l *lowering) gave(b *ir.Block, n *Node) {
	w := n.Writes
	to, path := l.place(w[0], w[1:])
	*b = append(*b, do(fnGave, append([]*expr.Node{expr.Read("job"), expr.Address(to), expr.Read(l.local[n])}, words(path)...)...))
	l.remember(b, n)
}

// swarm are the arguments of the call of a swarm, which puts what its agents say below own, and the nodes that it runs.
func (l *lowering) swarm(v *Swarm, own *expr.Node) ([]*expr.Node, *ir.Body) {
	inside := &ir.Body{Span: v.Span}
	side := &ir.SideStmt{}
	agents := &expr.Node{Op: expr.ListLit}
	for _, n := range v.Agents() {
		agents.Kids = append(agents.Kids, l.voiced(n, inside))
		side.Arms = append(side.Arms, ir.Block{&ir.RunStmt{Node: l.nodes[n]}})
	}
	inside.Block = ir.Block{side}
	if len(side.Arms) == 1 {
		inside.Block = side.Arms[0]
	}
	fields := []expr.Entry{expr.Put("agents", agents)}
	if v.Parallel > 0 && v.Parallel < len(agents.Kids) {
		fields = append(fields, expr.Put("side", expr.Const(int64(v.Parallel))))
	}
	if v.Keep {
		fields = append(fields, expr.Put("keep", expr.Const(true)))
	}
	if l.counts() {
		fields = append(fields, expr.Put("flow", expr.Read("job")))
	}
	if last := v.Last(); last != nil {
		fields = append(fields, expr.Put("last", expr.Fn(l.voiced(last, inside))))
		inside.Block = append(inside.Block, &ir.RunStmt{Node: l.nodes[last]})
	}
	return []*expr.Node{own, expr.Struct(voicesType, fields...)}, inside
}

// within makes the node that a function runs and that asks a model.
func (l *lowering) within(n *Node, model string, inside *ir.Body) *expr.Node {
	l.nodes[n] = n.made(&ir.Perform{Kind: "llm", AtMost: []ir.UseBound{{Of: l.modelOf(model), N: 1}}})
	inside.Nodes = append(inside.Nodes, l.nodes[n])
	return l.at(n)
}

// voiced is what an agent of a swarm is asked.
func (l *lowering) voiced(n *Node, inside *ir.Body) *expr.Node {
	d := n
	v, _ := n.Verb.(*ir.LLM)
	var fields []expr.Entry
	if id := d.OutputKey; id != "" {
		fields = append(fields, expr.Put("id", expr.Const(id)))
	}
	fields = append(fields, expr.Put("node", l.within(n, v.Model.Name, inside)), expr.Put("model", l.model(v.Model.Name)), expr.Put("prompt", l.template(d.Prompt)))
	if len(d.Guards) > 0 {
		fields = append(fields, expr.Put("guards", guards(d.Guards)))
	}
	return expr.Struct(voiceType, fields...)
}

// factory writes a node that makes an instance for each item of a list.
func (l *lowering) factory(b *ir.Block, n *Node, v *Factory) {
	d := n
	fields := []expr.Entry{expr.Put("items", l.items(d, v))}
	if v.Keep {
		fields = append(fields, expr.Put("keep", expr.Const(true)))
	}
	if l.counts() {
		fields = append(fields, expr.Put("flow", expr.Read("job")))
	}
	if limit := d.Limit; limit != nil {
		fields = append(fields, expr.Put("limit", expr.Const(limit.Value)))
	}
	l.making = &making{}
	if d.Args != nil && len(d.Args.Entries) > 0 {
		fields = append(fields, expr.Put("inputs", expr.Fn(&expr.Node{Op: expr.ListLit, Kids: l.arguments(d.Args)}, "each")))
		for _, e := range d.Args.Entries {
			l.making.bound = append(l.making.bound, e.Key.Name)
		}
	}
	inside := &ir.Body{Span: v.Span}
	make := l.instance(n, v.Do, inside)
	l.making = nil
	run := l.perform(n, "map", expr.Invoke(fnFactory, runHandle(), expr.Of(expr.UseNode, "", nil), expr.Address(l.own(n)), expr.Struct(factoryType, append(fields, expr.Put("make", make))...)))
	p := performs(run)
	p.Inside, p.Items = inside, &ir.Inside{Do: make, Most: int64(v.MaxItems), Limit: v.Parallel}
	*b = append(*b, run)
	l.gave(b, n)
}

// instance is the function that makes one instance.
func (l *lowering) instance(of, n *Node, inside *ir.Body) *expr.Node {
	if v, ok := n.Verb.(*Swarm); ok {
		l.making.own = of.ID.Name
		call, voices := l.swarm(v, expr.Address(expr.Read("own")))
		made := n.made(&ir.Perform{Kind: "swarm", Inside: voices})
		l.nodes[n] = made
		inside.Nodes, inside.Block = []*ir.Node{made}, ir.Block{&ir.RunStmt{Node: made}}
		return expr.FnDo(ir.Block{&ir.LetStmt{Name: ident("own"), Type: schema.DynamicType},
			&ir.ReturnStmt{Value: as(expr.Invoke(fnInstanceSwarm, append([]*expr.Node{expr.Read("each"), expr.Read("run"), l.at(n)}, call...)...))}}, "run", "each")
	}
	v, _ := n.Verb.(*ir.LLM)
	ask := expr.Invoke(fnInstanceAsk, expr.Read("each"), expr.Read("run"), l.within(n, v.Model.Name, inside), l.model(v.Model.Name), l.prompt(n))
	inside.Block = ir.Block{&ir.RunStmt{Node: l.nodes[n]}}
	return expr.Fn(ask, "run", "each")
}

// items are what a factory makes instances for.
func (l *lowering) items(d *Node, v *Factory) *expr.Node {
	switch over := v.Over.(type) {
	case *ir.Scalar:
		return expr.Invoke(fnCount, number(over.Text.Value))
	case *dialect.Mixed:
		text := expr.Const(over.Text.Value)
		switch r := whole(over); {
		case d.Counted:
			return expr.Invoke(fnTimes, text, l.template(over))
		case r != nil && l.tree.Upstream:
			return expr.Invoke(fnEachUpstream, text, l.part(r))
		case r != nil:
			return expr.Invoke(fnEach, text, l.part(r))
		}
		return expr.Invoke(fnParsed, text, l.template(over))
	}
	return expr.Invoke(fnConstant, dialect.Constant(v.Over))
}

// child writes a node that runs another workflow.
func (l *lowering) child(b *ir.Block, n *Node, v *ir.Flow) {
	bound := map[string]bool{}
	if d := n; d.Args != nil {
		for _, e := range d.Args.Entries {
			bound[e.Key.Name] = true
		}
	}
	var input []expr.Entry
	for i, f := range v.Flow.Input {
		given := func() *expr.Node { return expr.Invoke(dialect.At, expr.Read("given"), expr.Const(f.Name)) }
		switch {
		case i == 0 && bound[f.Name]:
			input = append(input, expr.Put(f.Name, expr.Invoke(fnText, expr.Invoke(dialect.Value, given()))))
		case i == 0: // the workflow's own message counts only when it is run by itself
			input = append(input, expr.Put(f.Name, expr.Invoke(fnMessage, expr.Read("job"))))
		case bound[f.Name]:
			input = append(input, expr.Put(f.Name, given()))
		}
	}
	out := &expr.Node{Op: expr.Field, Text: "output", Kids: []*expr.Node{expr.Of(expr.UseFlow, v.Flow.Name.Name, v.Flow, expr.Object(input...), expr.Read("run"))}}
	run := expr.FnDo(ir.Block{&ir.ReturnStmt{Value: as(out)}}, "run", "given")
	*b = append(*b, l.perform(n, "flow", expr.Invoke(fnChild, append([]*expr.Node{expr.Read("job"), runHandle(), expr.Of(expr.UseNode, "", nil), run}, l.arguments(n.Args)...)...)),
		do(fnSet, expr.Address(l.own(n)), expr.Read(l.local[n]), expr.Const("output")))
	if w := n.Writes; w[0] != "output" || w[1] != n.ID.Name || len(w) > 2 {
		to, _ := l.place("output", []string{n.ID.Name})
		*b = append(*b, do(fnSet, expr.Address(to), expr.Read(l.local[n])))
	}
	l.gave(b, n)
}

// question writes a node that asks a user.
func (l *lowering) question(b *ir.Block, n *Node, v *ir.Human) {
	f, args := fnPerson, []*expr.Node{runHandle(), expr.Of(expr.UseNode, "", nil), l.template(n.Prompt)}
	if v.OnTimeout != nil {
		instead, _ := v.OnTimeout.Default.(*ir.Scalar)
		f, args = fnPersonOr, append(args, expr.Const(instead.Text.Value))
	}
	run := l.perform(n, "human", expr.Invoke(f, args...))
	run.Node.Timeout = v.Timeout
	performs(run).Person = true
	*b = append(*b, run)
	w := n.Writes
	to, path := l.place(w[0], w[1:])
	*b = append(*b, do(fnWrote, append([]*expr.Node{expr.Read("job"), expr.Address(to), expr.Read(l.local[n])}, words(path)...)...),
		do(fnSet, expr.Address(l.own(n)), expr.Read(l.local[n]), expr.Const("output")))
	l.remember(b, n)
}

// beside is the name of a file as the program looks for it: from the folder of the workflow that is compiled, while the file
// says it from its own.
func (l *lowering) beside(name string) string {
	if l.opts.Root == "" || l.File.Name == l.opts.Root || path.IsAbs(name) {
		return name
	}
	rel, err := filepath.Rel(filepath.FromSlash(path.Dir(l.opts.Root)), filepath.FromSlash(path.Dir(l.File.Name)))
	if err != nil {
		return name
	}
	return path.Join(filepath.ToSlash(rel), name)
}
