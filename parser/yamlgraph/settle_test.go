package yamlgraph

import (
	"slices"
	"testing"

	"github.com/flowgen-dev/flowgen/ir"
)

// The fields that every state of tokens has are in the program when a function may use them.
func TestCommonFields(t *testing.T) {
	tool := func(name string, text ...string) *ir.Tool {
		x := &ir.Tool{Key: ident(name), Binding: &ir.PythonTool{}, Def: &ir.Definition{}}
		for _, s := range text {
			x.Def.Files = append(x.Def.Files, ir.SourceFile{Text: s})
		}
		return x
	}
	shell := tool("call")
	shell.Binding = &ir.Made{}
	unread := tool("call")
	unread.Def = nil
	call := &Node{ID: ident("n"), Verb: &ir.ToolCall{Name: ident("call")}}
	for name, tt := range map[string]struct {
		tools []*ir.Tool
		node  *Node
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
		"in a map":            {[]*ir.Tool{tool("call", "errors")}, &Node{Verb: &Map{Do: call}}, []string{"errors"}},
		"nothing of the sort": {nil, call, nil},
	} {
		common := []*ir.State{{Name: ident("errors")}, {Name: ident("usage")}}
		p := &parser{wf: &ir.Workflow{Tools: tt.tools}, tree: &Tree{Nodes: []*Node{tt.node}, Common: common}}
		p.commonFields()
		var got []string
		for _, s := range p.wf.State {
			got = append(got, s.Name.Name)
		}
		if !slices.Equal(got, tt.want) || p.tree.Common != nil {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
