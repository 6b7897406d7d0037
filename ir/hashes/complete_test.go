package hashes

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// others are values that no base of these tests has.
var others = map[reflect.Type]any{
	reflect.TypeFor[*ir.PythonModules](): &ir.PythonModules{Package: "another"},
	reflect.TypeFor[ir.Ident]():          ir.Ident{Name: "another"},
	reflect.TypeFor[*ir.Ident]():         &ir.Ident{Name: "another"},
	reflect.TypeFor[[]ir.Ident]():        []ir.Ident{{Name: "another"}},
	reflect.TypeFor[ir.Value]():          scalar("another"),
	reflect.TypeFor[*ir.Template]():      text2("another"),
	reflect.TypeFor[[]*ir.Template]():    []*ir.Template{text2("another")},
	reflect.TypeFor[*ir.Expr]():          expression("another"),
	reflect.TypeFor[*ir.With]():          &ir.With{Entries: []*ir.Entry{{Key: ir.Ident{Name: "another"}, Value: scalar("1")}}},
	reflect.TypeFor[[]*ir.Entry]():       []*ir.Entry{{Key: ir.Ident{Name: "another"}, Value: scalar("1")}},
	reflect.TypeFor[*ir.Prompt]():        &ir.Prompt{Text: text2("another")},
	reflect.TypeFor[*ir.Duration]():      &ir.Duration{Value: 77 * time.Second},
	reflect.TypeFor[*ir.Retry]():         &ir.Retry{Attempts: 77},
	reflect.TypeFor[*ir.OnError]():       &ir.OnError{Kind: ir.OnErrorSkip},
	reflect.TypeFor[[]*ir.Catch]():       []*ir.Catch{{Code: ir.Ident{Name: "any"}, Target: ir.Ident{Name: "end"}}},
	reflect.TypeFor[[]*ir.Set]():         []*ir.Set{{Field: ir.Ident{Name: "another"}, Value: scalar("1")}},
	reflect.TypeFor[[]*ir.Case]():        []*ir.Case{{Value: scalar("1"), To: []ir.Ident{{Name: "another"}}}},
	reflect.TypeFor[[]ir.EnvVar]():       []ir.EnvVar{{Name: ir.Ident{Name: "another"}, Value: text2("1")}},
	reflect.TypeFor[[]ir.Param]():        []ir.Param{{Name: ir.Ident{Name: "another"}, Value: text2("1")}},
	reflect.TypeFor[*ir.Auth]():          &ir.Auth{Kind: "bearer", Secret: ir.Ident{Name: "another"}},
	reflect.TypeFor[*ir.Policy]():        &ir.Policy{MaxCostUSD: "77"},
	reflect.TypeFor[[]ir.Effects]():      []ir.Effects{ir.EffectsReads},
	reflect.TypeFor[*ir.Definition]():    &ir.Definition{Files: []ir.SourceFile{{Name: "another.py", Text: "another"}}},
	reflect.TypeFor[[]string]():          []string{"another"},
	reflect.TypeFor[*int64]():            new(int64),
	reflect.TypeFor[*float64]():          new(float64),
	reflect.TypeFor[*schema.Type]():      schema.DurationType,
	reflect.TypeFor[*schema.Default]():   &schema.Default{JSON: "77"},
	reflect.TypeFor[[]*schema.Field]():   []*schema.Field{{Name: "another", Type: schema.BoolType}},
	reflect.TypeFor[*ir.GoFunc]():        &ir.GoFunc{Ref: ir.Ident{Name: "another"}},
	reflect.TypeFor[*ir.GoBinding]():     &ir.GoBinding{Func: "another"},
	reflect.TypeFor[[]*ir.GoParam]():     []*ir.GoParam{{Name: "another", Type: schema.BoolType}},
	reflect.TypeFor[ir.ModelParams]():    ir.ModelParams{Stop: []string{"another"}},
	reflect.TypeFor[ir.Merge]():          ir.Merge{Kind: ir.MergeAppend},
	reflect.TypeFor[*schema.Decl]():      &schema.Decl{Name: "another"},
	reflect.TypeFor[*schema.Go]():        &schema.Go{Name: "int32"},
	reflect.TypeFor[ir.Binding]():        &ir.StarlarkTool{Function: "another"},
	reflect.TypeFor[ir.Verb]():           &ir.Let{Fields: []*ir.Entry{{Key: ir.Ident{Name: "another"}, Value: scalar("1")}}},
	reflect.TypeFor[ir.Body]():           ir.Body{},
	reflect.TypeFor[*ir.Workflow]():      &ir.Workflow{},
	reflect.TypeFor[[]*ir.Example]():     []*ir.Example{{Description: "another"}},
	reflect.TypeFor[*ir.ModelScript]():   &ir.ModelScript{Answers: "another"},
	reflect.TypeFor[*ir.ModelPrice]():    &ir.ModelPrice{Input: "77"},
	reflect.TypeFor[*ir.ListedModel]():   &ir.ListedModel{Prompt: 77},
	reflect.TypeFor[[]*ir.Pin]():         []*ir.Pin{},
	reflect.TypeFor[[]ir.Directive]():    []ir.Directive{{}},
	reflect.TypeFor[*ir.Doubt]():         &ir.Doubt{Policy: "ask"},
	reflect.TypeFor[*ir.Object]():        &ir.Object{Entries: []*ir.Entry{{Key: ir.Ident{Name: "another"}, Value: scalar("1")}}},
	reflect.TypeFor[*ir.Scalar]():        scalar("another"),
	reflect.TypeFor[[]*ir.Node]():        []*ir.Node{{ID: ir.Ident{Name: "another"}}},
	reflect.TypeFor[[]int]():             []int{77},
	reflect.TypeFor[[]ir.SourceFile]():   []ir.SourceFile{{Text: "another"}},
	reflect.TypeFor[*ir.PythonNode]():    &ir.PythonNode{State: "another:Class"},
	reflect.TypeFor[ir.Block]():          ir.Block{&ir.NextStmt{}},
	reflect.TypeFor[*ir.Expr]():          expression("another"),
	reflect.TypeFor[*ir.Node]():          &ir.Node{ID: ir.Ident{Name: "another"}},
	reflect.TypeFor[*ir.Scope]():         &ir.Scope{ID: ir.Ident{Name: "another"}},
	reflect.TypeFor[[]ir.SwitchArm]():    []ir.SwitchArm{{Value: "another"}},
	reflect.TypeFor[[]ir.Block]():        []ir.Block{{&ir.NextStmt{}}},
	reflect.TypeFor[[]ir.UseBound]():     []ir.UseBound{{Of: &ir.Tool{}, N: 77}},
	reflect.TypeFor[*ir.PerformAgent]():  &ir.PerformAgent{Iterations: 77},
	reflect.TypeFor[*ir.Model]():         &ir.Model{Name: ir.Ident{Name: "another"}},
	reflect.TypeFor[[]expr.Entry]():      []expr.Entry{expr.Put("another", expr.Const(true))},
	reflect.TypeFor[*ir.Reach]():         &ir.Reach{Hosts: []string{"another"}},
	reflect.TypeFor[*expr.Function]():    &expr.Function{Params: []*expr.Param{{Name: "another"}}},
	reflect.TypeFor[expr.Statements]():   ir.Block{&ir.NextStmt{}},
	reflect.TypeFor[[]*expr.Param]():     []*expr.Param{{Name: "another"}},
	reflect.TypeFor[*expr.Func]():        &expr.Func{Path: "a/b", Name: "Another"},
	reflect.TypeFor[*expr.Use]():         &expr.Use{Kind: expr.UseRun, Name: "another"},
	reflect.TypeFor[[]*schema.Variant](): []*schema.Variant{{Tag: "another", Type: schema.IntType}},
	reflect.TypeFor[any]():               "another",
}

func scalar(s string) ir.Value { v := &ir.Scalar{Tag: "!!str"}; v.Text.Value = s; return v }

func text2(s string) *ir.Template { t := &ir.Template{}; t.Text.Value = s; return t }

func expression(s string) *ir.Expr { n, _ := expr.Parse(s); return &ir.Expr{Node: n} }

// covers holds a hash to the fields of a struct: each decides, but for those that are left out, and those decide nothing.
func covers[T any](t *testing.T, base T, hash func(*T) string, without ...string) {
	t.Helper()
	typ := reflect.TypeFor[T]()
	before := hash(&base)
	for i := range typ.NumField() {
		f := typ.Field(i)
		other := base
		v := reflect.ValueOf(&other).Elem().Field(i)
		switch {
		case others[f.Type] != nil:
			v.Set(reflect.ValueOf(others[f.Type]))
		case v.Kind() == reflect.String:
			v.SetString(v.String() + "another")
		case v.Kind() == reflect.Bool:
			v.SetBool(!v.Bool())
		case v.CanInt():
			v.SetInt(v.Int() + 1)
		case v.CanUint():
			v.SetUint(v.Uint() + 1)
		case v.CanFloat():
			v.SetFloat(v.Float() + 0.5)
		default:
			if !slices.Contains(without, f.Name) {
				t.Errorf("%s.%s: there is no other value of %s", typ, f.Name, f.Type)
			}
			continue
		}
		if changed := hash(&other) != before; changed == slices.Contains(without, f.Name) {
			t.Errorf("%s.%s: the hash changes with it: %t", typ, f.Name, changed)
		}
	}
}

func sumOf(write func(x *text)) string {
	var x text
	write(&x)
	return x.sum()
}

// TestEveryFieldCounts: a field of the workflow that nobody thought of fails here until somebody has.
func TestEveryFieldCounts(t *testing.T) {
	newM := func() *maker {
		p := &check.Program{WF: &ir.Workflow{}, Input: &schema.Type{}, Names: &check.Names{}, Body: &check.Body{}}
		return newMaker(p)
	}
	tool := ir.Tool{Name: ir.Ident{Name: "a"}, Version: "1", Binding: &ir.CommandTool{}}
	covers(t, tool, func(x *ir.Tool) string { return newM().tool(x, true) },
		"Key", "EffectsSpan", "OutSpan", "Rate", "Queue", "CostUSD", "Usage", "Category", "Tags", "Examples", "InDoubt", "Def", "File", "Span", "SandboxAt")
	covers(t, tool, func(x *ir.Tool) string { return newM().tool(x, false) },
		"Key", "Description", "EffectsSpan", "OutSpan", "Rate", "Queue", "CostUSD", "Usage", "Category", "Tags", "Examples", "InDoubt", "Def", "File", "Span", "SandboxAt")

	withFiles := func(b ir.Binding) func() string {
		return func() string {
			x := tool
			x.Binding = b
			return newM().tool(&x, false)
		}
	}
	covers(t, ir.CommandTool{}, func(b *ir.CommandTool) string { return withFiles(b)() }, "Span")
	covers(t, ir.HTTPTool{}, func(b *ir.HTTPTool) string { return withFiles(b)() }, "Span", "Places", "BodyType", "Encoding", "Document")
	covers(t, ir.PythonTool{}, func(b *ir.PythonTool) string { return withFiles(b)() })
	covers(t, ir.JSTool{Bundle: "x"}, func(b *ir.JSTool) string { return withFiles(b)() }, "Path")
	covers(t, ir.SQLTool{}, func(b *ir.SQLTool) string { return withFiles(b)() }, "Schema", "Query", "RowsAt", "Tables") // Text counts, and the types
	covers(t, ir.StarlarkTool{}, func(b *ir.StarlarkTool) string { return withFiles(b)() }, "Path")
	covers(t, ir.MCPTool{}, func(b *ir.MCPTool) string { return withFiles(b)() },
		"Ref", "Server", "Parts", "Open", "Why", "Help", "Near", "Related", "Reported") // Hash is that of all Parts
	covers(t, ir.GoFunc{}, func(f *ir.GoFunc) string { return sumOf(func(x *text) { newM().function(x, f) }) })
	covers(t, ir.GoBinding{}, func(b *ir.GoBinding) string {
		return sumOf(func(x *text) { newM().function(x, &ir.GoFunc{Bind: b}) })
	}, "Package", "Doc", "Pos", "PosSpan", "Reducer", "Directives")
	covers(t, ir.Definition{Files: []ir.SourceFile{{Name: "a.py"}}}, func(d *ir.Definition) string {
		return sumOf(func(x *text) { sources(x, &ir.Tool{Def: d}, true) })
	}, "Name", "Span", "In", "Out", "Open", "Async", "Wrong", "Root", "Says") // with what Wrong says there is no program
	covers(t, ir.SourceFile{}, func(f *ir.SourceFile) string {
		return sumOf(func(x *text) { sources(x, &ir.Tool{Def: &ir.Definition{Files: []ir.SourceFile{*f}}}, true) })
	}, "Disk")
	covers(t, ir.Server{Name: ir.Ident{Name: "s"}}, func(s *ir.Server) string {
		x := &ir.Tool{Binding: &ir.MCPTool{Server: ir.Ident{Name: "s"}}}
		m := newM()
		c := *s
		c.Name.Name = "s" // another name is the same server
		m.root.WF.Servers, m.root.WF.Tools = []*ir.Server{&c}, []*ir.Tool{x}
		return m.tool(x, false)
	}, "Name", "Span")

	verb := func(v ir.Verb) string {
		s := &check.Step{Node: &ir.Node{Verb: v}, Tool: &ir.Tool{}, Pick: &check.Pick{}, Agent: &check.Agent{}, Body: nil}
		m := newM()
		m.owner[s] = m.root
		return m.shell(s)
	}
	covers(t, ir.ToolCall{}, func(v *ir.ToolCall) string { return verb(v) }, "Name", "Tool") // that of the step counts
	covers(t, ir.Let{}, func(v *ir.Let) string { return verb(v) })
	covers(t, ir.Map{}, func(v *ir.Map) string { return verb(v) }, "Do", "Span", "ParallelSpan", "MaxItemsSpan")
	covers(t, ir.Loop{}, func(v *ir.Loop) string { return verb(v) }, "Do", "Span")
	covers(t, ir.Flow{}, func(v *ir.Flow) string { return verb(v) }, "Path", "Flow") // the workflow counts, not its file
	covers(t, ir.GoCall{Func: &ir.GoFunc{}}, func(v *ir.GoCall) string { return verb(v) })
	covers(t, ir.LLM{}, func(v *ir.LLM) string { return verb(v) }, "Model", "Span")
	covers(t, ir.Agent{}, func(v *ir.Agent) string { return verb(v) }, "Agent", "Model", "Tools", "Pins", "Span") // those that check resolved count
	covers(t, ir.Fail{}, func(v *ir.Fail) string { return verb(v) })
	covers(t, ir.Parse{}, func(v *ir.Parse) string { return verb(v) })
	covers(t, ir.Wait{}, func(v *ir.Wait) string { return verb(v) })
	covers(t, ir.Human{}, func(v *ir.Human) string { return verb(v) }, "Span")
	covers(t, ir.ToolChoice{}, func(v *ir.ToolChoice) string { return verb(v) }, "Allow", "Open", "AllowAt", "Span") // the choices count

	covers(t, ir.Node{Verb: &ir.Let{}}, func(n *ir.Node) string {
		s := &check.Step{Node: n}
		m := newM()
		m.owner[s] = m.root
		return m.shell(s)
	}, "ID", "InDoubt", "Undo", "Span", "Inline", "Result") // an undo is a step of its own
	coversCore(t, func(v ir.Verb) string { return verb(v) }, func(b ir.Binding) string { return withFiles(b)() })
	covers(t, ir.Retry{Attempts: 2}, func(r *ir.Retry) string { return sumOf(func(x *text) { retry(x, r) }) }, "Timeout", "Span") // Timeout is that of the step
	covers(t, ir.OnError{Kind: ir.OnErrorSkip}, func(e *ir.OnError) string { return sumOf(func(x *text) { onError(x, "e", e) }) }, "Span")
	covers(t, ir.Edge{From: ir.Ident{Name: "a"}}, func(e *ir.Edge) string {
		b := &check.Body{IR: &ir.Body{Edges: []*ir.Edge{e}}}
		if e.Max != 0 {
			e.Back = true
		}
		return sumOf(func(x *text) { newM().body(x, b) })
	}, "Span")
	covers(t, ir.Body{}, func(b *ir.Body) string {
		return sumOf(func(x *text) { newM().body(x, &check.Body{IR: b}) })
	}, "Nodes", "Edges", "EdgesSpan", "Span") // nodes are those of the check.Body
	covers(t, ir.State{}, func(s *ir.State) string { return sumOf(func(x *text) { newM().state(x, s) }) }, "Span", "GoName")
	covers(t, ir.Policy{}, func(p *ir.Policy) string { return sumOf(func(x *text) { newM().policy(x, p) }) }, "SandboxSpan", "Span")
	covers(t, ir.Model{}, func(q *ir.Model) string {
		return newM().models(&check.Step{Ask: &check.Ask{Model: q}})
	}, "Name", "Key", "Price", "Listed", "Unbounded", "Reach", "Span") // the key is that of Names; what New reaches follows from it; no bound is no bound, whether it is written or not
	covers(t, ir.ModelParams{}, func(p *ir.ModelParams) string {
		return newM().models(&check.Step{Ask: &check.Ask{Model: &ir.Model{Params: *p}}})
	}, "TemperatureSpan", "SeedSpan", "StopSpan")
	covers(t, ir.Prompt{}, func(p *ir.Prompt) string { return sumOf(func(x *text) { newM().prompt(x, "p", p) }) }, "File", "With", "Span")
	covers(t, schema.Field{Type: schema.IntType}, func(f *schema.Field) string {
		return sumOf(func(x *text) { newM().field(x, "f", f, true) })
	}, "GoName", "Span")
	covers(t, schema.Type{}, func(typ *schema.Type) string { return newM().typ(typ, true) }, "Why", "Func", "Open", "Known") // what proves Known counts
}

// TestWords: different data is different text.
func TestWords(t *testing.T) {
	num := &ir.Scalar{Tag: "!!int"}
	num.Text.Value = "1"
	list := func(items ...ir.Value) ir.Value { return &ir.List{Items: items} }
	tmpl := func(s string) ir.Value {
		p, _ := expr.ParseTemplate(s)
		v := text2(s)
		v.Tmpl = p
		return v
	}
	values := []ir.Value{scalar("1"), num, scalar(""), scalar("null"), &ir.Scalar{Tag: "!!null"}, scalar("$a"), expression("a"), expression("a.b"), list(), list(list()),
		list(scalar("a"), scalar("b")), list(scalar(`a","b`)), tmpl("a"), tmpl("{{ a }}"), tmpl("{{ a | json }}"), tmpl(`{{ a | join(",") }}`), tmpl(`{{ "{{ a }}" }}`), tmpl(`a"{{ a }}`),
		&ir.Object{Entries: []*ir.Entry{{Key: ir.Ident{Name: "a"}, Value: scalar("1")}}}}
	seen := map[string]int{}
	for i, v := range values {
		s := value(v)
		if j, dup := seen[s]; dup {
			t.Errorf("values %d and %d are both %s", i, j, s)
		}
		seen[s] = i
	}
	for _, same := range [][2]string{{"{{a}}", "{{  a }}"}, {"{{ a.b+1 }}", "{{ (a.b) + 1 }}"}, {"x{{a|json}}", "x{{ a | json() }}"}} {
		if a, b := value(tmpl(same[0])), value(tmpl(same[1])); a != b {
			t.Errorf("%s is %s, %s is %s", same[0], a, same[1], b)
		}
	}
}
