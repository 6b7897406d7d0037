package sirenspec

import (
	"context"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// TestRef: the value at a path, and of one that leads nowhere the first name that is not there.
func TestRef(t *testing.T) {
	field := dynamic.Object(dynamic.Put("output", dynamic.Object(dynamic.Put("n", dynamic.Whole(1)))))
	for _, tt := range []struct {
		path string
		of   dynamic.Field
		want string
	}{
		{"a.output.n", field, "1"}, {" a . output . n ", field, "1"}, {"a", dynamic.Text("x"), "x"}, {"inputs.x", dynamic.Text("y"), "y"}, {"inputs.x.output.n", field, "1"},
		{"a.output", dynamic.Field{}, "[a]: Key 'a' not found"}, {"a.out.n", field, "[a]: Key 'out' not found"}, {"a.output.m.k", field, "[a]: Key 'm' not found"},
		{"inputs.x", dynamic.Field{}, "[inputs]: Key 'x' not found"}, {"inputs.x.output.m", field, "[inputs]: Key 'm' not found"}, {"inputs", dynamic.Field{}, "[inputs]: Key '' not found"},
		{"item", dynamic.Field{}, "[item]: Not inside a factory loop context"},
	} {
		p := Ref(tt.path, tt.of).As("written")
		got, err := p.resolved()
		if err != nil {
			got = err.Error()
		}
		if want := tt.want; got != want && (err == nil || !strings.HasSuffix(got, "InterpolationError in '{{ written }}' "+want)) {
			t.Errorf("%s: %s, want %s", tt.path, got, want)
		}
	}
}

// TestChoose: each call has the arguments of its own, whatever the one before had.
func TestChoose(t *testing.T) {
	r, n := start(t)
	var got []string
	tool := flow.Bind("any@1", flow.None, func(_ context.Context, in value.Value) (value.Value, error) {
		got = append(got, in.String())
		return in, nil
	})
	call := func(r *flow.Run, name string, args *value.Args) (value.Value, error) {
		return flow.Dispatch(r, n, tool, args, value.AnyArgs, value.ToValue)
	}
	f := New("hello")
	first, err := f.Choose(r, n, call, Policy{}, Template{Lit("any")}, Arg{"a", Const(dynamic.Whole(1))}, Arg{"b", List(Const(dynamic.Null()), Filled(Lit("x")))})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]Arg{{{"c", Filled(Lit("y"))}}, nil, {{"d", Map(Arg{"e", Content{}})}}} {
		if _, err := f.Choose(r, n, call, Policy{}, Template{Lit("any")}, args...); err != nil {
			t.Fatal(err)
		}
	}
	if all := strings.Join(got, " "); all != `{"a":1,"b":[null,"x"]} {"c":"y"} {} {"d":{"e":null}}` || first.Value().String() != got[0] {
		t.Error(all, first.Value())
	}
}
