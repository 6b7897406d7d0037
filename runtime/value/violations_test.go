package value_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

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

// TestViolationsOfTypes: of values that do not fit, every place is told: in nested objects, in lists and maps of them.
func TestViolationsOfTypes(t *testing.T) {
	type item struct {
		Name  string `json:"name"`
		Count int8   `json:"count"`
	}
	type in struct {
		N     int64            `json:"n"`
		When  time.Time        `json:"when"`
		Item  item             `json:"item"`
		Items []item           `json:"items"`
		By    map[string]int64 `json:"by"`
	}
	const text = `{"n":"x","when":7,"item":{"name":1,"count":300,"more":[1,{"a":2}]},"items":[{"name":"a","count":1},{"name":null},5],"by":{"a":true,"b":1}}`
	const inside = `%[1]sn|%[1]swhen|%[1]sitem.name|%[1]sitem.count|%[1]sitem|%[1]sitems[1].name|%[1]sitems[1]|%[1]sitems[2]|%[1]sby.a`
	paths := func(te *value.ToolError) string {
		var all []string
		list, _ := te.Details.Get("violations")
		for i := range list.Len() {
			at, _ := list.Index(i).Get("path")
			message, _ := list.Index(i).Get("message")
			if !strings.HasPrefix(message.String(), at.String()+": ") || strings.Count(message.String(), at.String()+": ") != 1 {
				t.Errorf("%s is told as %s", at.String(), message.String())
			}
			all = append(all, at.String())
		}
		return strings.Join(all, "|")
	}
	var out in
	te, _ := value.Decode([]byte(text), &out).(*value.ToolError)
	if te == nil || te.Message != "n: an integer expected, a string given" || paths(te) != fmt.Sprintf(inside, "") {
		t.Errorf("%v: %s", te, paths(te))
	}
	v, err := value.Parse([]byte(`{"deep":` + text + `,"list":[` + text + `,{}],"flags":["x",true,1]}`))
	if err != nil {
		t.Fatal(err)
	}
	args := value.ValueArgs(v)
	_, te = value.ReadArgs(&args, func(a *value.Args) in {
		_ = value.Arg(a, "flags", value.AsList(value.AsBool[bool]))
		_ = value.Arg(a, "deep", value.As[in])
		_ = value.Arg(a, "list", value.AsList(value.As[in]))
		return in{}
	})
	if got, want := paths(te), "flags[0]|flags[2]|"+fmt.Sprintf(inside, "deep.")+"|"+fmt.Sprintf(inside, "list[0]."); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for text, want := range map[string]string{
		`{"n":"x"`:     "n: an integer expected, a string given", // and it ends early
		`{"n":"x","n`:  "n: an integer expected, a string given",
		`{"n":`:        "invalid JSON at byte 5: the text ends where a value is expected",
		`[]`:           "an object expected, a list given",
		`{"n":1}`:      `field "when" is missing`,
		`{"item":{"x"`: "invalid JSON at byte 12: the text ends where ':' is expected",
	} {
		te, _ := value.Decode([]byte(text), &out).(*value.ToolError)
		if te == nil || te.Message != want {
			t.Errorf("%s: %v, want %s", text, te, want)
		}
	}
	if te, _ := value.Decode([]byte(`{"items":[`+strings.Repeat("1,", 100_000)+`1]}`), &out).(*value.ToolError); strings.Count(paths(te), "|") != 19 {
		t.Error(paths(te))
	}
}
