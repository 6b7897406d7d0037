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
