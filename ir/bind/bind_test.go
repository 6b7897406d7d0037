package bind

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

const testPath = "github.com/flowgen-dev/flowgen/ir/bind/testdata/src/"

// A sample is a workflow built by hand, with the file its spans point into.
type sample struct {
	wf  *ir.Workflow
	dir string
}

// sampleFile makes a workflow whose file holds one reference per line: `- "REF"`.
func sampleFile(name string, refs ...string) (*ir.Workflow, []ir.Ident) {
	var text strings.Builder
	var at []int
	for _, ref := range refs {
		text.WriteString(`é - "`)
		at = append(at, text.Len())
		text.WriteString(ref + "\"\n")
	}
	f := source.NewFile(name, text.String())
	ids := make([]ir.Ident, len(refs))
	for i, ref := range refs {
		ids[i] = ir.Ident{Name: ref, Span: source.Span{File: f, Lo: at[i], Hi: at[i] + len(ref)}}
	}
	return &ir.Workflow{File: f}, ids
}

func tools(refs ...string) sample {
	wf, ids := sampleFile("flows/t.flowgen.yaml", refs...)
	for _, id := range ids {
		wf.Tools = append(wf.Tools, &ir.Tool{Binding: &ir.GoTool{Func: &ir.GoFunc{Ref: id}}})
	}
	return sample{wf: wf, dir: "testdata/src"}
}

func (s sample) bind(i int) *ir.GoBinding { return s.wf.Tools[i].Binding.(*ir.GoTool).Func.Bind }

func (s sample) resolve(t *testing.T) []diag.Diagnostic {
	t.Helper()
	return s.resolveWith(t, Options{})
}

func (s sample) resolveWith(t *testing.T, opts Options) []diag.Diagnostic {
	t.Helper()
	if opts.Dir == "" {
		dir, err := filepath.Abs(s.dir)
		if err != nil {
			t.Fatal(err)
		}
		opts.Dir = dir
	}
	var sink diag.Sink
	Resolve(s.wf, opts, &sink)
	return sink.List()
}

// show is one line per diagnostic: code, the exact text of the span, message, help, related places, fix.
func show(list []diag.Diagnostic) []string {
	var out []string
	for _, d := range list {
		line := fmt.Sprintf("%s <%s> %s", d.Code, d.Span.Text(), d.Message)
		if d.Help != "" && !strings.Contains(d.Help, shapes) {
			line += " | " + d.Help
		}
		for _, rel := range d.Related {
			p := rel.Span.Start()
			line += fmt.Sprintf(" @ %s:%d:%d <%s> %s", rel.Span.File.Name, p.Line, p.Col, rel.Span.Text(), rel.Message)
		}
		for _, fix := range d.Fixes {
			for _, e := range fix.Edits {
				line += fmt.Sprintf(" ! %s -> %s", e.Span.Text(), e.New)
			}
		}
		out = append(out, line)
	}
	return out
}

// spell writes a type with everything bind says about it.
func spell(t *schema.Type) string {
	var b strings.Builder
	switch t.Kind {
	case schema.List, schema.Map, schema.Opt:
		fmt.Fprintf(&b, "%s<%s>", t.Kind, spell(t.Elem))
	case schema.Enum:
		fmt.Fprintf(&b, "enum<%s>", strings.Join(t.Values, "|"))
	case schema.Struct:
		b.WriteString("{")
		for i, f := range t.Fields {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(f.Name)
			if f.GoName != "" && f.GoName != f.Name {
				b.WriteString("/" + f.GoName)
			}
			b.WriteString(": " + spell(f.Type))
			if f.Default != nil {
				b.WriteString(" = " + f.Default.JSON)
			}
			if f.Min != nil {
				fmt.Fprintf(&b, " >=%v", *f.Min)
			}
			if f.Max != nil {
				fmt.Fprintf(&b, " <=%v", *f.Max)
			}
			if f.Pattern != "" {
				b.WriteString(" ~" + f.Pattern)
			}
			if f.Description != "" {
				b.WriteString(" (" + f.Description + ")")
			}
		}
		b.WriteString("}")
	default:
		b.WriteString(t.Kind.String())
	}
	if g := t.Go; g != nil {
		b.WriteString("@")
		if g.Ptr {
			b.WriteString("*")
		}
		if g.Path != "" {
			b.WriteString(strings.TrimPrefix(g.Path, testPath) + ".")
		}
		b.WriteString(g.Name)
		for _, a := range g.Args {
			b.WriteString("[" + spell(a) + "]")
		}
	}
	return b.String()
}

func describeBinding(b *ir.GoBinding) string {
	if b == nil {
		return "nothing"
	}
	s := b.Package + "." + b.Func + "("
	if b.Context {
		s += "ctx "
	}
	if b.Struct {
		s += "struct "
	}
	for _, p := range b.Params {
		s += p.Name + " "
	}
	s = strings.TrimSuffix(s, " ") + ") out " + spell(b.Out)
	if b.Err {
		s += " err"
	}
	if b.Reducer {
		s += " reducer"
	}
	return s + " at " + b.Pos
}

const (
	searchIn = `{query/Query: string (what to look for.), limit/Limit: opt<int@int> (how many at most), tags/Tags: list<string> = [], exact/Exact: bool = false}`
	hit      = `{URL: string, score/Score: float@float32, Kind: enum<page|article>@model.Kind, when/When: time, took/Took: duration, raw/Raw: bytes, next/Next: opt<list<string>@tools.Hits>, Count: map<int@uint16>}@tools.Hit`
)

func TestShapes(t *testing.T) {
	tests := []struct{ ref, bind, in string }{
		{"./tools.Search", "tools.Search(ctx struct in) out list<" + hit + "> err at tools/tools.go:63:6", searchIn + "@tools.SearchIn"},
		{testPath + "tools.Find", "tools.Find(struct in) out opt<" + hit + "> err at tools/tools.go:66:6", searchIn + "@*tools.SearchIn"},
		{"./tools.Pure", "tools.Pure(struct in) out " + hit + " at tools/tools.go:68:6", searchIn + "@tools.SearchIn"},
		{"./tools.Named", "tools.Named(ctx text n at path) out enum<high|low|mid>@tools.Level err at tools/tools.go:70:6", "{text: string, n: int@int, at: time, path: string@tools.Path}"},
		{"./tools.At", "tools.At(at) out duration at tools/tools.go:74:6", "{at: time}"},
		{"./tools.Nothing", "tools.Nothing(ctx) out {} err at tools/tools.go:76:6", "{}"},
		{"./tools.Silent", "tools.Silent() out {} at tools/tools.go:78:6", "{}"},
		{"./tools.Value", "tools.Value() out {items/Items: list<" + hit + ">}@tools.Page[" + hit + "] at tools/tools.go:80:6", "{}"},
		{"./tools.Unnamed", "tools.Unnamed(ctx struct in) out {} err at tools/tools.go:82:6", searchIn + "@tools.SearchIn"},
		{"./tools.Union", "tools.Union(old new) out list<string> reducer at tools/tools.go:85:6", "{old: list<string>, new: list<string>}"},
		{"strings.ToUpper", "strings.ToUpper(s) out string at strings/strings.go:LINE:6", "{s: string}"},
		{"path.Base", "path.Base(path) out string at path/path.go:LINE:6", "{path: string}"},
		{"./bad.NamedEmbed", "bad.NamedEmbed(struct in) out {} err at bad/types.go:LINE:6", "{base/Base: {X: string}@bad.Base}@bad.NamedEmbedIn"},
	}
	var refs []string
	for _, tt := range tests {
		refs = append(refs, tt.ref)
	}
	s := tools(refs...)
	if got := s.resolve(t); got != nil {
		t.Fatal(strings.Join(show(got), "\n"))
	}
	for i, tt := range tests {
		t.Run(tt.ref, func(t *testing.T) {
			b := s.bind(i)
			got := describeBinding(b)
			if strings.Contains(tt.bind, "LINE") { // not ours to number
				parts := strings.Split(got, ":")
				parts[len(parts)-2] = "LINE"
				got = strings.Join(parts, ":")
			}
			if diff := cmp.Diff(tt.bind, got); diff != "" {
				t.Errorf("binding (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.in, spell(b.In)); diff != "" {
				t.Errorf("in (-want +got):\n%s", diff)
			}
			if b.PosSpan.Text() != b.Func {
				t.Errorf("PosSpan covers %q", b.PosSpan.Text())
			}
			tool := s.wf.Tools[i]
			if tool.In != b.In || tool.Out != b.Out || tool.Description != b.Doc {
				t.Error("the tool was not filled from the binding")
			}
		})
	}
	if b := s.bind(0); b.Doc != "finds pages about a query, best first." || b.PosSpan.File.Name != "flows/tools/tools.go" {
		t.Errorf("doc %q, file %q", b.Doc, b.PosSpan.File.Name)
	}
	if d := s.wf.Tools[10].Description; !strings.HasPrefix(d, "returns s with all Unicode letters") {
		t.Errorf("description of strings.ToUpper: %q", d)
	}
}

func TestRuntimeTypes(t *testing.T) {
	s := tools("./dynamic.Do", "./dynamic.Pointer")
	got := show(s.resolve(t))
	want := []string{"FG0606 <./dynamic.Pointer> parameter `v` of dynamic.Pointer is a pointer to a value.Value, which cannot be journalled | a value.Value can itself be null @ flows/dynamic/dynamic.go:20:6 <Pointer> declared here"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	b := s.bind(0)
	if got := spell(b.In); got != "{v: any}" {
		t.Error(got)
	}
	for _, f := range b.Out.Fields {
		want := map[string]string{"any": "any", "map": "map<any>", "err": "opt<Error>"}[f.Name]
		if want != "" && f.Type.String() != want {
			t.Errorf("%s is %s", f.Name, f.Type)
		}
	}
	if code := b.Out.Field("code").Type; !schema.Equal(code, schema.ErrorType.Field("code").Type) {
		t.Errorf("code is %s", code)
	}
	if item := b.Out.Field("items").Type.Elem; !schema.Equal(item, schema.ItemOf(schema.StringType)) {
		t.Errorf("items hold %s", item)
	}
}

func TestNoReferences(t *testing.T) {
	wf, _ := sampleFile("t.flowgen.yaml", "x")
	wf.Tools = []*ir.Tool{{Binding: &ir.CommandTool{}}}
	wf.Body.Nodes = []*ir.Node{{Verb: &ir.Let{}}}
	var sink diag.Sink
	// With an environment like this any go command would fail, and be reported.
	Resolve(wf, Options{Dir: "/nonexistent", Env: []string{"PATH=/nonexistent"}}, &sink)
	if got := show(sink.List()); got != nil {
		t.Error(got)
	}
}

// One call of the go command serves everything; an enum of a package that nobody names costs a second one.
func TestCalls(t *testing.T) {
	for _, tt := range []struct {
		refs []string
		want int
	}{
		{[]string{"strings.ToUpper", "./app.Up", "path.Base", "strings.Clone"}, 1},
		{[]string{"./tools.Search", "./tools.Pure"}, 2},
		{nil, 0},
	} {
		s := tools(tt.refs...)
		dir, _ := filepath.Abs(s.dir + "/app")
		var sink diag.Sink
		r := newResolver(s.wf, Options{Dir: dir}, &sink)
		for i := range tt.refs {
			g := s.wf.Tools[i].Binding.(*ir.GoTool).Func
			if strings.HasPrefix(g.Ref.Name, "./app") {
				g.Ref.Name = "./.Up"
			} else {
				g.Ref.Name = strings.Replace(g.Ref.Name, "./tools", "../tools", 1)
			}
		}
		r.run()
		if sink.HasErrors() || r.calls != tt.want {
			t.Errorf("%v: %d calls, want %d; %v", tt.refs, r.calls, tt.want, show(sink.List()))
		}
	}
}

func TestPlaces(t *testing.T) {
	// Every place a reference can stand in, in a workflow and in a sub-workflow of another folder.
	wf, ids := sampleFile("flows/t.flowgen.yaml", "go:./tools.Union", "strconv.Itoa", "path.Base", "go:./tools.Level", "math.Max")
	fns := make([]*ir.GoFunc, len(ids))
	for i, id := range ids {
		fns[i] = &ir.GoFunc{Ref: id}
	}
	typ := &ir.GoType{Ref: ids[3], Type: &schema.Type{Go: &schema.Go{Path: "./tools", Name: "Level"}}}
	wf.GoTypes = []*ir.GoType{typ}
	wf.State = []*ir.State{{Merge: ir.Merge{Kind: ir.MergeReducer, Reducer: fns[0]}}, {}}
	loop := &ir.Node{Verb: &ir.Loop{Do: ir.Body{Nodes: []*ir.Node{{Verb: &ir.GoCall{Func: fns[2]}}}}}}
	wf.Body.Nodes = []*ir.Node{
		{Verb: &ir.GoCall{Func: fns[1]}},
		{Verb: &ir.Map{Do: ir.Body{Nodes: []*ir.Node{loop}}}},
		{},
	}
	sub, subIDs := sampleFile("flows/deep/sub/s.flowgen.yaml", "../../tools.Pure")
	fn := &ir.GoFunc{Ref: subIDs[0]}
	sub.Tools = []*ir.Tool{{Binding: &ir.GoTool{Func: fn}}}
	sub.Flows = []*ir.Workflow{wf}
	wf.Flows = []*ir.Workflow{sub, nil}
	wf.Tools = []*ir.Tool{{Binding: &ir.GoTool{Func: fns[4]}}, {}}

	if got := show(sample{wf: wf, dir: "testdata/src"}.resolve(t)); got != nil {
		t.Fatal(strings.Join(got, "\n"))
	}
	for i, f := range append(fns, fn) {
		if i != 3 && f.Bind == nil {
			t.Errorf("%s is not bound", f.Ref.Name)
		}
	}
	if got := spell(typ.Type); got != "enum<high|low|mid>@tools.Level" {
		t.Errorf("type: %s", got)
	}
	if !fns[0].Bind.Reducer || !fns[4].Bind.Reducer {
		t.Error("merge rules are not reducers")
	}
}
