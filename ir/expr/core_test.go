package expr

import (
	"testing"

	"github.com/flowgen-dev/flowgen/ir/schema"
)

// coreEnv is an environment without names, in which every handle is a run of a workflow without input.
type coreEnv struct{ Env }

func (coreEnv) TypeOf(*Use) (*schema.Type, string) { return schema.StringType, "" }
func (coreEnv) Input(*Use) *schema.Type            { return schema.EmptyType }

func (coreEnv) Do(*Function, []*Symbol, *schema.Signature) []Problem { return nil }

// A call takes as many arguments as its function has parameters; the last one of a variadic function any number of times.
func TestArgumentsOfIntrinsics(t *testing.T) {
	kids := func(n int) (list []*Node) {
		for range n {
			list = append(list, &Node{Op: Make})
		}
		return list
	}
	for _, tt := range []struct {
		params   int
		variadic bool
		most     int // arguments that are tried
		ok       []bool
	}{
		{0, false, 1, []bool{true, false}},
		{2, false, 3, []bool{false, false, true, false}},
		{1, true, 3, []bool{true, true, true, true}},
		{3, true, 4, []bool{false, false, true, true, true}},
	} {
		f := &Func{Path: "x", Name: "F", Variadic: tt.variadic, Pure: true}
		for range tt.params {
			f.Params = append(f.Params, schema.DynamicType)
		}
		for n := range tt.most + 1 {
			probs := CheckAt(&Node{Op: Intrinsic, Func: f, Kids: kids(n)}, coreEnv{}, nil, Place{})
			if (len(probs) == 0) != tt.ok[n] {
				t.Errorf("%d arguments for %d parameters, variadic %v: %v", n, tt.params, tt.variadic, probs)
			}
		}
	}
}

// Only a run of a sub-workflow can fail among the handles.
func TestHandlesThatFail(t *testing.T) {
	for _, kind := range []UseKind{UseRun, UseFlow} {
		for _, fails := range []bool{false, true} {
			n := &Node{Op: Handle, Use: &Use{Kind: kind, Name: "sub"}, Kids: []*Node{{Op: Make}}}
			probs := CheckAt(n, coreEnv{}, nil, Place{Fails: fails})
			if want := fails || kind != UseFlow; (len(probs) == 0) != want {
				t.Errorf("kind %d where it may fail %v: %v", kind, fails, probs)
			}
		}
	}
}

func TestIntrinsicsArePrinted(t *testing.T) {
	text, number := schema.StringType, schema.IntType
	for want, n := range map[string]*Node{
		"b.F()":                    {Func: &Func{Path: "a/b", Name: "F", Method: true}},
		"{}.F()":                   {Func: &Func{Path: "a/b", Name: "F", Method: true}, Kids: []*Node{{Op: Make}}},
		"b.F[string]({})":          {Func: &Func{Path: "b", Name: "F", TypeArgs: []*schema.Type{text}}, Kids: []*Node{{Op: Make}}},
		"b.F[string, int]({}, {})": {Func: &Func{Path: "a/b", Name: "F", TypeArgs: []*schema.Type{text, number}}, Kids: []*Node{{Op: Make}, {Op: Make}}},
		"b.C":                      {Func: &Func{Path: "a/b", Name: "C", Const: true}},
	} {
		n.Op = Intrinsic
		if got := n.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
