package core

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// The functions of the test language, as a dialect's table declares them.
const enginePath = "github.com/flowgen-dev/flowgen/golden/core/testdata/engine"

var (
	runType   = schema.PointerTo(schema.OpaqueOf(schema.FlowPath, "Run"))
	nodeType  = schema.PointerTo(schema.OpaqueOf(schema.FlowPath, "Node"))
	modelType = schema.PointerTo(schema.OpaqueOf(schema.ModelPath, "Model"))
	toolType  = schema.PointerTo(schema.OpaqueOf(schema.FlowPath, "Tool"))
	slot      = schema.OpaqueOf(schema.DynamicPath, "Slot")
	flowType  = schema.PointerTo(schema.OpaqueOf(enginePath, "Flow"))
	policy    = schema.OpaqueOf(enginePath, "Policy")
	ended     = schema.OpaqueOf(enginePath, "Ended", &schema.Field{Name: "value", Type: schema.DynamicType})
	options   = schema.OpaqueOf(enginePath, "Options", &schema.Field{Name: "name", Type: schema.StringType}, &schema.Field{Name: "deep", Type: schema.DynamicType})
	body      = schema.FuncOf(&schema.Signature{Params: []*schema.Type{runType, flowType, schema.DynamicType, schema.IntType}, Result: ended, Fails: true})
	onText    = schema.FuncOf(&schema.Signature{Params: []*schema.Type{schema.StringType}, Result: schema.StringType, Fails: true})
	onChild   = schema.FuncOf(&schema.Signature{Result: schema.DynamicType, Fails: true})
	dyn       = schema.DynamicType
	onRun     = schema.FuncOf(&schema.Signature{Params: []*schema.Type{runType}, Result: dyn, Fails: true})
	onChoice  = schema.FuncOf(&schema.Signature{Params: []*schema.Type{runType, schema.StringType, schema.PointerTo(schema.OpaqueOf(schema.ValuePath, "Args"))}, Result: schema.AnyType, Fails: true})
	errorType = &schema.Type{Kind: schema.Opaque, Go: &schema.Go{Name: "error"}}
	voice     = schema.OpaqueOf(enginePath, "Voice", &schema.Field{Name: "node", Type: nodeType}, &schema.Field{Name: "model", Type: modelType}, &schema.Field{Name: "text", Type: schema.StringType})

	answerType = schema.PointerTo(schema.OpaqueOf(schema.ModelPath, "Schema"))
)

func engine(name string, f expr.Func, params ...*schema.Type) *expr.Func {
	f.Path, f.Name, f.Params = enginePath, name, params
	return &f
}

var (
	fnNew      = engine("New", expr.Func{Variadic: true, Result: flowType, Pure: true}, slot)
	fnTool     = engine("Tool", expr.Func{Method: true, Result: ended, Fails: true}, flowType, runType, nodeType, toolType, policy, dyn)
	fnEach     = engine("Each", expr.Func{Method: true, Result: ended, Fails: true}, flowType, runType, nodeType, dyn, body)
	fnItems    = engine("Items", expr.Func{Method: true, Result: schema.ListOf(schema.AnyType), Fails: true, Pure: true}, flowType, dyn)
	fnJoin     = engine("Join", expr.Func{Method: true, Variadic: true, Fails: true}, flowType, schema.PointerTo(ended))
	fnAside    = engine("Aside", expr.Func{Method: true, Result: flowType, Pure: true}, flowType)
	fnAsk      = engine("Ask", expr.Func{Method: true, Result: ended, Fails: true}, flowType, runType, nodeType, modelType, schema.StringType)
	fnChild    = engine("Child", expr.Func{Method: true, Result: ended, Fails: true}, flowType, onChild)
	fnStep     = engine("Step", expr.Func{Method: true, Fails: true, Bounds: true}, flowType, runType, nodeType)
	fnRoute    = engine("Route", expr.Func{Method: true, Variadic: true, Result: schema.StringType, Pure: true}, flowType, dyn, schema.StringType)
	fnOK       = engine("OK", expr.Func{Method: true, Result: schema.BoolType, Pure: true}, ended)
	fnAnd      = engine("And", expr.Func{Method: true, Result: ended, Pure: true}, ended, ended)
	fnPut      = engine("Put", expr.Func{}, schema.PointerTo(dyn), dyn)
	fnStatus   = engine("Status", expr.Func{Variadic: true, Result: schema.StringType, Pure: true}, ended)
	fnLess     = engine("Less", expr.Func{Result: schema.BoolType, Pure: true}, dyn, dyn)
	fnShow     = engine("Show", expr.Func{Result: schema.StringType, Pure: true}, dyn)
	fnApply    = engine("Apply", expr.Func{Result: schema.StringType, Fails: true, Pure: true}, onText, schema.StringType)
	fnShout    = engine("Shout", expr.Func{Result: schema.StringType, Fails: true, Pure: true}, schema.StringType)
	fnDescribe = engine("Describe", expr.Func{Result: schema.StringType, Pure: true}, options)
	fnJudge    = engine("Judge", expr.Func{Method: true, Result: ended, Fails: true}, flowType, runType, nodeType, modelType, answerType, schema.StringType)
	fnBounded  = engine("Bounded", expr.Func{Result: schema.StringType, Pure: true}, schema.BytesType, schema.DurationType)
	fnAt       = &expr.Func{Path: schema.DynamicPath, Name: "At", Method: true, Variadic: true, Result: dyn, Pure: true, Params: []*schema.Type{dyn, schema.StringType}}
	fnBind     = engine("Bind", expr.Func{Result: echoType(), Pure: true}, schema.StringType)
	fnBegin    = engine("Begin", expr.Func{Result: flowType, Pure: true})
	fnLoad     = engine("Load", expr.Func{Fails: true}, schema.StringType)
	fnNeed     = engine("Need", expr.Func{Result: schema.StringType, Fails: true}, schema.StringType)
	fnKept     = engine("Kept", expr.Func{Method: true, Result: ended, Fails: true}, flowType, runType, nodeType, onRun)
	fnFailure  = engine("Failure", expr.Func{Result: schema.StringType, Pure: true}, errorType)
	fnSteps    = engine("Steps", expr.Func{Method: true, Result: schema.IntType, Pure: true}, flowType)
	fnPanel    = engine("Panel", expr.Func{Method: true, Result: ended, Fails: true}, flowType, runType, nodeType, schema.ListOf(voice), schema.FuncOf(&schema.Signature{Result: voice}))
	fnSay      = engine("Say", expr.Func{Method: true, Result: ended, Fails: true}, flowType, runType, voice)
	fnPick     = engine("Pick", expr.Func{Method: true, Result: ended, Fails: true}, flowType, runType, nodeType, onChoice, schema.StringType, dyn)
	cFail      = engine("Fail", expr.Func{Const: true, Result: policy, Pure: true})
	cKeep      = engine("Keep", expr.Func{Const: true, Result: policy, Pure: true})
)

// echoType is the type of the one tool.
func echoType() *schema.Type {
	t := *toolType
	g := *t.Go
	g.Args = []*schema.Type{schema.AnyType, schema.AnyType}
	t.Go = &g
	return &t
}

// A language builds a program: a workflow whose body is a Block.
type language struct {
	wf  *ir.Workflow
	at  *ir.Block // where statements are added
	off int       // of the last line that a node has
}

func newLanguage(name string) *language {
	f := source.NewFile(name+".core", strings.Repeat("-\n", 100)) // a line for each node
	l := &language{wf: &ir.Workflow{File: f, Name: ir.Ident{Name: name, Span: source.Span{File: f, Hi: 1}}, Origin: "core"}}
	l.wf.Body.Block = ir.Block{}
	l.at = &l.wf.Body.Block
	return l
}

func ident(name string) ir.Ident { return ir.Ident{Name: name} }

func of(n *expr.Node) *ir.Expr {
	if n == nil {
		return nil
	}
	return &ir.Expr{Node: n}
}

func (l *language) done() *ir.Workflow { return l.wf }

// state declares an open field.
func (l *language) state(name string, t *schema.Type) {
	l.wf.State = append(l.wf.State, &ir.State{Name: ident(name), Type: t, Open: true})
}

// grouped declares an open field of a group.
func (l *language) grouped(group, name string) {
	if !slices.Contains(l.wf.Groups, group) {
		l.wf.Groups = append(l.wf.Groups, group)
	}
	l.wf.State = append(l.wf.State, &ir.State{Name: ident(name), Type: schema.AnyType, Open: true, Group: group})
}

// begin0 begins a run whose nodes write to nothing.
func (l *language) begin0() { l.let("job", expr.Invoke(fnBegin)) }

// within makes a node that the function of another one runs, and that asks a model.
func (l *language) within(id string, m *ir.Model) *ir.Node {
	l.off += 2
	return &ir.Node{ID: ir.Ident{Name: id, Span: source.Span{File: l.wf.File, Lo: l.off, Hi: l.off + 1}}, Verb: &ir.Perform{Kind: "llm", AtMost: []ir.UseBound{{Of: m, N: 1}}}}
}

// tool declares the one tool of the language under a name.
func (l *language) tool(name string) *ir.Tool {
	t := &ir.Tool{Name: ident(name), Key: ident(name), Version: "1", Effects: ir.EffectsReads, In: schema.AnyType, Out: schema.AnyType, File: l.wf.File,
		Binding: &ir.Made{New: of(expr.Invoke(fnBind, expr.Const(name+"@1"))), Reach: &ir.Reach{}}}
	l.wf.Tools = append(l.wf.Tools, t)
	return t
}

// model declares a model that the tests answer for.
func (l *language) model(name string) *ir.Model {
	m := &ir.Model{Name: ident(name), Model: ident("openai:" + name)}
	l.wf.Models = append(l.wf.Models, m)
	l.wf.Secrets = append(l.wf.Secrets, &ir.Secret{Name: ident("OPENAI_API_KEY")})
	return m
}

// child declares a workflow that this one runs.
func (l *language) child(name string, build func(l *language)) *ir.Workflow {
	in := newLanguage(name)
	in.wf.File = l.wf.File
	in.wf.Name.Span = l.wf.Name.Span
	build(in)
	l.wf.Flows = append(l.wf.Flows, in.wf)
	return in.wf
}

func (l *language) output(name string, v *expr.Node) {
	l.wf.Output = append(l.wf.Output, &ir.Output{Name: ir.Ident{Name: name, Span: l.wf.Name.Span}, Value: of(v)})
}

func (l *language) input(name string, t *schema.Type) {
	l.wf.Input = append(l.wf.Input, &schema.Field{Name: name, Type: t})
}

// in adds statements to another block.
func (l *language) in(f func()) ir.Block {
	var b ir.Block
	saved := l.at
	l.at = &b
	f()
	l.at = saved
	return b
}

func (l *language) add(s ir.Stmt) { *l.at = append(*l.at, s) }
func (l *language) let(name string, v *expr.Node) {
	l.add(&ir.LetStmt{Name: ident(name), Value: of(v)})
}
func (l *language) set(target, v *expr.Node) { l.add(&ir.SetStmt{Target: of(target), Value: of(v)}) }
func (l *language) do(call *expr.Node)       { l.add(&ir.DoStmt{Call: of(call)}) }
func (l *language) when(cond *expr.Node, then func()) {
	l.add(&ir.IfStmt{Cond: of(cond), Then: l.in(then)})
}
func (l *language) zero(name string, t *schema.Type)            { l.add(&ir.LetStmt{Name: ident(name), Type: t}) }
func (l *language) ret()                                        { l.add(&ir.ReturnStmt{}) }
func (l *language) begin()                                      { l.let("job", expr.Invoke(fnNew, expr.Of(expr.UseSlots, "", nil))) }
func (l *language) perform(id string, call *expr.Node) *ir.Node { return l.into("", id, call) }

// into runs a new node whose result goes to a local.
func (l *language) into(local, id string, call *expr.Node) *ir.Node {
	n := l.node(id, call)
	l.add(&ir.RunStmt{Node: n, Into: ident(local)})
	return n
}

// node makes a node that no statement runs yet.
func (l *language) node(id string, call *expr.Node) *ir.Node {
	l.off += 2
	n := &ir.Node{ID: ir.Ident{Name: id, Span: source.Span{File: l.wf.File, Lo: l.off, Hi: l.off + 1}}, Verb: &ir.Perform{Call: of(call)}}
	l.wf.Body.Nodes = append(l.wf.Body.Nodes, n)
	return n
}

func (l *language) scope(id, name string) *ir.Scope {
	return &ir.Scope{ID: ir.Ident{Name: id, Span: l.wf.Name.Span}, Name: name}
}

// run runs a node.
func (l *language) run(local string, n *ir.Node) { l.add(&ir.RunStmt{Node: n, Into: ident(local)}) }

// verb is what a node performs.
func (l *language) verb(n *ir.Node) *ir.Perform {
	v, _ := n.Verb.(*ir.Perform)
	return v
}

// atMost bounds how often a node uses something.
func (l *language) atMost(n *ir.Node, of any, times int64) {
	p := n.Verb.(*ir.Perform)
	p.AtMost = append(p.AtMost, ir.UseBound{Of: of, N: times})
}

func (l *language) side(arms ...func()) {
	s := &ir.SideStmt{}
	for _, arm := range arms {
		s.Arms = append(s.Arms, l.in(arm))
	}
	l.add(s)
}

// call is a call of the language's tool.
func (l *language) call(t *ir.Tool, p *expr.Func, args ...expr.Entry) *expr.Node {
	return callOf("job", t, p, args...)
}

func callOf(flow string, t *ir.Tool, p *expr.Func, args ...expr.Entry) *expr.Node {
	return expr.Invoke(fnTool, expr.Read(flow), run(), node(), use(t), expr.Invoke(p), expr.Object(args...))
}

func run() *expr.Node                { return expr.Of(expr.UseRun, "", nil) }
func node() *expr.Node               { return expr.Of(expr.UseNode, "", nil) }
func use(t *ir.Tool) *expr.Node      { return expr.Of(expr.UseTool, t.Key.Name, t) }
func read(path ...string) *expr.Node { return expr.Read(path[0], path[1:]...) }
func ok(name string) *expr.Node      { return expr.Invoke(fnOK, read(name)) }
func text(s string) *expr.Node       { return expr.Const(s) }
func whole(n int64) *expr.Node       { return expr.Const(n) }

// give is an object that the tool gives back.
func give(args ...expr.Entry) expr.Entry { return expr.Put("give", expr.Object(args...)) }

// below is a field of a value.
func below(n *expr.Node, field string) *expr.Node {
	return &expr.Node{Op: expr.Field, Text: field, Kids: []*expr.Node{n}}
}
