package value_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

type sev string

type finding struct {
	Path string         `json:"path"`
	Sev  sev            `json:"sev" flow:"enum=low|high" default:"\"low\""`
	Line *int64         `json:"line" flow:"min=1"`
	Meta map[string]sev `json:"meta,omitempty" flow:"enum=low|high"`
}

type base struct {
	ID uint8 `json:"id"`
}

type report struct {
	base
	Title    string          `json:"title" flow:"min=1,max=5"`
	Findings []finding       `json:"findings" flow:"max=2"`
	Score    float64         `json:"score" flow:"min=0,max=1.5"`
	Ref      *string         `json:"ref" flow:"pattern=^[a-z]{1,3}(,x)?$"`
	Raw      []byte          `json:"raw" default:"\"\""`
	At       time.Time       `json:"at" default:"\"2020-01-02T03:04:05Z\""`
	For      time.Duration   `json:"for" default:"\"1m\""`
	Any      value.Value     `json:"any" default:"null"`
	Next     *report         `json:"next"`
	Two      [2]int8         `json:"two" default:"[1,2]"`
	Opt      map[string]*int `json:"opt" default:"{}"`
	Skipped  int             `json:"-"`
	hidden   int
}

func TestDecode(t *testing.T) {
	text := ` {"id":7,"title":"žluté","findings":[{"path":"a"},{"path":"b","sev":"high","line":2,"meta":{"k":"low"}}],
		"score":1,"ref":"ab,x","raw":"aGk=","for":90,"any":{"z":[1,2.0]},"next":null,"two":[-128,127],"opt":{"a":1,"b":null}} `
	var got report
	if err := value.Decode([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	any, _ := value.Parse([]byte(`{"z":[1,2.0]}`))
	want := report{base: base{7}, Title: "žluté", Score: 1, Ref: flow.Ptr("ab,x"), Raw: []byte("hi"), For: 90, Any: any,
		Findings: []finding{{Path: "a", Sev: "low"}, {Path: "b", Sev: "high", Line: flow.Ptr(int64(2)), Meta: map[string]sev{"k": "low"}}},
		At:       time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC), Two: [2]int8{-128, 127}, Opt: map[string]*int{"a": flow.Ptr(1), "b": nil}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(report{})); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeRefuses(t *testing.T) {
	ok := map[string]string{"id": "1", "title": `"t"`, "findings": "[]", "score": "0"}
	cases := []struct{ field, text, want string }{
		{"id", "", `field "id" is missing`},
		{"id", "256", "id: 256 is out of range"},
		{"id", "-1", "id: -1 is out of range"},
		{"id", "1.0", "id: an integer expected, 1.0 given"},
		{"id", `"1"`, "id: an integer expected, a string given"},
		{"title", "null", "title: a string expected, null given"},
		{"title", "true", "title: a string expected, a bool given"},
		{"title", `""`, "title: has 0 characters, at least 1 needed"},
		{"title", `"žlutéx"`, "title: has 6 characters, at most 5 allowed"},
		{"findings", "null", "findings: a list expected, null given"},
		{"findings", "{}", "findings: a list expected, an object given"},
		{"findings", `[{"path":"a"},{"path":"b","sev":"mid"}]`, `findings[1].sev: "mid" is not one of low, high`},
		{"findings", `[{"path":"a","meta":{"k k":"x"}}]`, `findings[0].meta["k k"]: "x" is not one of low, high`},
		{"findings", `[{"path":"a","line":0}]`, "findings[0].line: 0 is less than 1"},
		{"findings", `[{"path":"a"},{"path":"a"},{"path":"a"}]`, "findings: has 3 items, at most 2 allowed"},
		{"findings", `[{"path":"a","x":1}]`, `findings[0]: unknown field "x"`},
		{"findings", `[{"path":"a","path":"b"}]`, `findings[0]: the key "path" appears twice`},
		{"findings", `[3]`, "findings[0]: an object expected, a number given"},
		{"findings", `[{}]`, `findings[0]: field "path" is missing`},
		{"findings", `[{"path":"a","meta":{"k":"low","k":"low"}}]`, `findings[0].meta: the key "k" appears twice`},
		{"score", "1.6", "score: 1.6 is more than 1.5"},
		{"score", "NaN", "invalid JSON"},
		{"score", "1e400", "score: 1e400 is out of range"},
		{"ref", `"ABC"`, `ref: "ABC" does not match ^[a-z]{1,3}(,x)?$`},
		{"raw", `"%"`, "raw: the string is not base64"},
		{"raw", `[1]`, "raw: a string in base64 expected, a list given"},
		{"at", "1", "at: a time expected, a number given"},
		{"at", `"soon"`, "at: "},
		{"for", `"soon"`, `for: "soon" is not a duration`},
		{"two", "[1]", "two: has 1 item, 2 needed"},
		{"two", "[1,2,3]", "two: has more than 2 items"},
		{"opt", `{"a":1,"a":2}`, `opt: the key "a" appears twice`},
		{"any", `{"a":1,"a":2}`, "appears twice"},
		{"next", `{"id":1}`, `next: field "title" is missing`},
		{"Skipped", "1", `unknown field "Skipped"`},
		{"hidden", "1", `unknown field "hidden"`},
		{"Title", `"t"`, `unknown field "Title"`},
	}
	for _, c := range cases {
		all := map[string]json.RawMessage{}
		var parts []string
		for k, v := range ok {
			if k != c.field {
				parts = append(parts, `"`+k+`":`+v)
			}
			all[k] = nil
		}
		if c.text != "" {
			parts = append(parts, `"`+c.field+`":`+c.text)
		}
		v := report{Title: "before"}
		err := value.Decode([]byte("{"+strings.Join(parts, ",")+"}"), &v)
		if codeOf(err) != value.ValidationError || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %s", c.field, c.text, err, c.want)
		}
		if v.Title != "before" || v.hidden != 0 {
			t.Errorf("%s %s: the target was changed", c.field, c.text)
		}
	}
	var n int
	for _, text := range []string{"", " ", "1 2", "1]", "tru", "\"", "99999999999999999999", "nul"} {
		if err := value.Decode([]byte(text), &n); codeOf(err) != value.ValidationError {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestValidate(t *testing.T) {
	type bad struct {
		N int `json:"n" flow:"most=3"`
	}
	type cyclic struct {
		Next *cyclic `json:"next"`
		F    float64 `json:"f"`
	}
	loop := &cyclic{}
	loop.Next = loop
	cases := []struct {
		v    any
		want string
	}{
		{nil, ""}, {3, ""}, {(*report)(nil), ""}, {[]float64{1, 2}, ""},
		{[]float64{1, math.NaN()}, "[1]: NaN is not a number"},
		{map[string]float64{"b": math.Inf(1), "a": math.Inf(-1)}, "a: -Inf is not a number"},
		{struct{ V any }{math.NaN()}, ""},
		{bad{}, `n: broken flow tag: "most=3" is not a rule`},
		{loop, "nested more than 1000 deep"},
		{&finding{Sev: "low"}, ""},
		{&finding{Sev: "x"}, `sev: "x" is not one of low, high`},
	}
	for _, c := range cases {
		err := value.Validate(c.v)
		if c.want == "" && err != nil || c.want != "" && (codeOf(err) != value.ValidationError || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%T: %v, want %s", c.v, err, c.want)
		}
	}
}

type tree struct {
	B     bool             `json:"b"`
	I     int64            `json:"i"`
	U     uint32           `json:"u"`
	F     float64          `json:"f"`
	S     string           `json:"s"`
	Raw   []byte           `json:"raw"`
	D     time.Duration    `json:"d"`
	P     *string          `json:"p"`
	L     []int64          `json:"l"`
	M     map[string]int64 `json:"m"`
	Kids  []tree           `json:"kids"`
	Value value.Value      `json:"value"`
}

func anyTree(depth int) *rapid.Generator[tree] {
	text := rapid.Map(rapid.String(), func(s string) string { return strings.ToValidUTF8(s, "") })
	return rapid.Custom(func(t *rapid.T) tree {
		x := tree{
			B: rapid.Bool().Draw(t, "b"), I: rapid.Int64().Draw(t, "i"), U: rapid.Uint32().Draw(t, "u"), F: finite(rapid.Float64().Draw(t, "f")),
			S: text.Draw(t, "s"), Raw: rapid.SliceOf(rapid.Byte()).Draw(t, "raw"), D: time.Duration(rapid.Int64().Draw(t, "d")),
			L: rapid.SliceOf(rapid.Int64()).Draw(t, "l"), M: rapid.MapOf(text, rapid.Int64()).Draw(t, "m"),
			Value: anyValue(2).Draw(t, "value"), Kids: []tree{},
		}
		if rapid.Bool().Draw(t, "some") {
			x.P = flow.Ptr(text.Draw(t, "p"))
		}
		if depth > 0 {
			x.Kids = rapid.SliceOfN(anyTree(depth-1), 0, 2).Draw(t, "kids")
		}
		return x
	})
}

func TestDecodeReadsWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyTree(2).Draw(t, "tree")
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got tree
		if err := value.Decode(b, &got); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestDecodeAgreesWithTheStandardLibrary(t *testing.T) {
	// what Decode accepts, encoding/json reads as the same value
	rapid.Check(t, func(t *rapid.T) {
		b, _ := json.Marshal(anyTree(1).Draw(t, "tree"))
		for range rapid.IntRange(0, 3).Draw(t, "edits") {
			i := rapid.IntRange(0, len(b)-1).Draw(t, "at")
			b[i] = rapid.SampledFrom([]byte(`{}[]",:0123456789.-+eEntf\u `)).Draw(t, "byte")
		}
		var got, want tree
		if err := value.Decode(b, &got); err != nil {
			if codeOf(err) != value.ValidationError {
				t.Fatalf("%s: %v", b, err)
			}
			return
		}
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatalf("%s: accepted, but %v", b, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"id":1,"title":"t","findings":[],"score":0,"any":{"a":[1.5e3,"\ud83d\ude00"]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r report
		if err := value.Decode(b, &r); err != nil && codeOf(err) != value.ValidationError {
			t.Error(err)
		}
		v, err := value.Parse(b)
		if checked := value.Check(b); fmt.Sprint(checked) != fmt.Sprint(err) {
			t.Errorf("%v, and without the value %v", err, checked)
		}
		if err != nil {
			return
		}
		c, err := value.Canonicalize(nil, b)
		if err != nil {
			t.Fatalf("%s is a value but %v", b, err)
		}
		w, err := value.Parse(c)
		if err != nil || w.Kind() != v.Kind() && v.Kind() != value.FloatKind {
			t.Errorf("%s became %s, %v", b, c, err)
		}
	})
}
