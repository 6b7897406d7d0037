package value_test

import (
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// TestViolations: arguments that do not fit are told with everything that is wrong, each with its path.
func TestViolations(t *testing.T) {
	type in struct {
		A int64
		B []string
		C bool
	}
	read := func(a *value.Args) in {
		return in{value.Arg(a, "a", value.AsInt[int64]), value.Arg(a, "b", value.AsList(value.AsString[string])), value.ArgOr(a, "c", value.AsBool[bool], true)}
	}
	for _, tt := range []struct{ args, message, paths string }{
		{`{"a":1,"b":[]}`, "", ""},
		{`{"a":"x","b":["y",2],"c":null}`, "a: an integer expected, a string given", "a b[1] c"},
		{`{}`, `field "a" is missing`, "a b"},
		{`{"x":1,"a":true,"y z":2}`, `unknown field "x"`, `x ["y z"] a b`},
	} {
		v, err := value.Parse([]byte(tt.args))
		if err != nil {
			t.Fatal(err)
		}
		args := value.ValueArgs(v)
		_, te := value.ReadArgs(&args, read)
		if te == nil {
			if tt.message != "" {
				t.Errorf("%s is taken", tt.args)
			}
			continue
		}
		all, _ := te.Details.Get("violations")
		var paths []string
		for i := range all.Len() {
			one := all.Index(i)
			p, _ := one.Get("path")
			paths = append(paths, p.String())
		}
		if te.Message != tt.message || strings.Join(paths, " ") != tt.paths {
			t.Errorf("%s: %s, at %q", tt.args, te.Message, paths)
		}
	}
	var entries []value.Entry
	for i := range 1000 {
		entries = append(entries, value.Entry{Key: strings.Repeat("k", i+1), Value: value.Null()})
	}
	many := value.Map(entries...)
	args := value.ValueArgs(many)
	if _, te := value.ReadArgs(&args, read); te == nil || len(te.Details.String()) > 8<<10 {
		t.Errorf("%d bytes of details", len(te.Details.String()))
	}
}

// TestViolationsOfRules: values that break rules of their types are told with every rule that they break, up to a bound.
func TestViolationsOfRules(t *testing.T) {
	type item struct {
		Sev string `json:"sev" flow:"enum=low|high"`
	}
	type in struct {
		N     int64            `json:"n" flow:"min=1,max=5"`
		Tags  []string         `json:"tags" flow:"max=2,enum=a|b"`
		Items []item           `json:"items"`
		By    map[string]int64 `json:"by" flow:"min=1"`
	}
	err := value.Validate(in{N: 9, Tags: []string{"a", "x", "y"}, Items: []item{{"low"}, {"mid"}}, By: map[string]int64{}})
	te, _ := err.(*value.ToolError)
	if te == nil {
		t.Fatal(err)
	}
	all, _ := te.Details.Get("violations")
	want := `[{"path":"n","message":"n: 9 is more than 5"},{"path":"tags","message":"tags: has 3 items, at most 2 allowed"},` +
		`{"path":"tags[1]","message":"tags[1]: \"x\" is not one of a, b"},{"path":"tags[2]","message":"tags[2]: \"y\" is not one of a, b"},` +
		`{"path":"items[1].sev","message":"items[1].sev: \"mid\" is not one of low, high"},{"path":"by","message":"by: has 0 entries, at least 1 needed"}]`
	if got := all.String(); got != want || te.Message != "n: 9 is more than 5" {
		t.Errorf("%s: %s", te.Message, got)
	}
	v, err := value.Parse([]byte(`{"deep":{"n":9,"tags":["x"],"items":[],"by":{"a":1}},"list":[{"n":1,"tags":[],"items":[{"sev":"mid"}],"by":{}}],"plain":1}`))
	if err != nil {
		t.Fatal(err)
	}
	args := value.ValueArgs(v)
	_, te = value.ReadArgs(&args, func(a *value.Args) in {
		_ = value.Arg(a, "deep", value.As[in])
		_ = value.Arg(a, "list", value.AsList(value.As[in]))
		_ = value.Arg(a, "plain", value.AsString[string])
		return in{}
	})
	all, _ = te.Details.Get("violations")
	want = `[{"path":"deep.n","message":"deep.n: 9 is more than 5"},{"path":"deep.tags[0]","message":"deep.tags[0]: \"x\" is not one of a, b"},` +
		`{"path":"list[0].items[0].sev","message":"list[0].items[0].sev: \"mid\" is not one of low, high"},{"path":"list[0].by","message":"list[0].by: has 0 entries, at least 1 needed"},` +
		`{"path":"plain","message":"plain: a string expected, a number given"}]`
	if got := all.String(); got != want {
		t.Error(got)
	}
	many := in{N: 1, By: map[string]int64{"a": 1}, Items: make([]item, 1_000_000)}
	te, _ = value.Validate(many).(*value.ToolError)
	if all, _ := te.Details.Get("violations"); all.Len() != 20 {
		t.Errorf("%d violations", all.Len())
	}
}
