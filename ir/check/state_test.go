package check

import (
	"slices"
	"testing"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// The fields that every state of tokens has are in the program when a function may use them.
func TestTokenState(t *testing.T) {
	tool := func(name string, text ...string) *ir.Tool {
		x := &ir.Tool{Key: ident(name), Binding: &ir.PythonTool{}, Def: &ir.Definition{}}
		for _, s := range text {
			x.Def.Files = append(x.Def.Files, ir.SourceFile{Text: s})
		}
		return x
	}
	shell := tool("call")
	shell.Binding = &ir.ShellTool{}
	unread := tool("call")
	unread.Def = nil
	call := &ir.Node{ID: ident("n"), Verb: &ir.ToolCall{Name: ident("call")}}
	for name, tt := range map[string]struct {
		tools []*ir.Tool
		node  *ir.Node
		want  []string
	}{
		"names the last":      {[]*ir.Tool{tool("call", "def call(state):\n    return state['errors']")}, call, []string{"errors"}},
		"in the second file":  {[]*ir.Tool{tool("call", "import b", "usage = 1")}, call, []string{"usage"}},
		"names none":          {[]*ir.Tool{tool("call", "def call(state):\n    return 1")}, call, nil},
		"part of a name":      {[]*ir.Tool{tool("call", "usage_of = errors2")}, call, nil},
		"without files":       {[]*ir.Tool{tool("call")}, call, []string{"errors", "usage"}},
		"not bound":           {[]*ir.Tool{unread}, call, []string{"errors", "usage"}},
		"another is called":   {[]*ir.Tool{tool("other", "errors")}, call, nil},
		"a shell":             {[]*ir.Tool{shell}, call, nil},
		"the second":          {[]*ir.Tool{tool("other", "usage"), tool("call", "errors")}, call, []string{"errors"}},
		"in a map":            {[]*ir.Tool{tool("call", "errors")}, &ir.Node{Verb: &ir.Map{Do: ir.Body{Nodes: []*ir.Node{call}}}}, []string{"errors"}},
		"nothing of the sort": {nil, call, nil},
	} {
		common := []*ir.State{{Name: ident("errors")}, {Name: ident("usage")}}
		c := &checker{wf: &ir.Workflow{Body: ir.Body{Nodes: []*ir.Node{tt.node}}, Tools: tt.tools,
			Dynamic: &ir.Dynamic{Tokens: &ir.Tokens{Common: common}}}}
		c.tokenState()
		var got []string
		for _, s := range c.wf.State {
			got = append(got, s.Name.Name)
		}
		if !slices.Equal(got, tt.want) || c.wf.Dynamic.Tokens.Common != nil {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// What is set with a reducer is held to the second parameter of the reducer, when that is one of the field's type.
func TestSetsWithReducer(t *testing.T) {
	binding := func(reducer bool, out *schema.Type) *ir.GoBinding {
		return &ir.GoBinding{Reducer: reducer, Out: out, Params: []*ir.GoParam{{Type: schema.IntType}, {Type: schema.IntType}}}
	}
	for name, tt := range map[string]struct {
		bind  *ir.GoBinding
		tag   string
		wrong bool
	}{
		"fits":         {binding(true, schema.IntType), "!!int", false},
		"does not fit": {binding(true, schema.IntType), "!!bool", true},
		"not bound":    {nil, "!!bool", false},
		"no reducer":   {binding(false, schema.IntType), "!!bool", false},
		"another type": {binding(true, schema.StringType), "!!bool", false},
	} {
		sink := &diag.Sink{}
		field := &ir.State{Name: ident("f"), Type: schema.IntType, Merge: ir.Merge{Kind: ir.MergeReducer, Reducer: &ir.GoFunc{Bind: tt.bind}}}
		c := &checker{wf: &ir.Workflow{}, sink: sink, state: map[string]*ir.State{"f": field}, stateSet: map[string]bool{}}
		text := map[string]string{"!!int": "1", "!!bool": "true"}[tt.tag]
		s := &Step{Node: &ir.Node{ID: ident("n"), Set: []*ir.Set{{Field: ident("f"), Value: &ir.Scalar{Text: source.Text{Value: text}, Tag: tt.tag}}}}}
		c.sets(s)
		if got := sink.HasErrors(); got != tt.wrong || len(s.Sets) != 1 {
			t.Errorf("%s: %v, want errors: %v", name, sink.List(), tt.wrong)
		}
	}
}
