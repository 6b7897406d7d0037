package js

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// values are what JavaScript and this package have to agree on; "" is undefined.
var values = []string{"", "null", "true", "false", "0", "-0.0", "1", "1.5", "10", "-3", "1e21", "9007199254740993", `""`, `" "`, `"1"`, `"10"`, `"9"`, `"abc"`, `"ABC"`, `"0x1F"`, `"1e3"`, `" 7 "`, `"é"`, `"𝒳"`, `"\uffff"`, `"Infinity"`, `"-"`, `"1_0"`, `"\n"`,
	"[]", "[1]", "[1,2]", `["a"]`, "[null]", "[[1],[2,[3]]]", "{}", `{"a":1}`, `{"b":[1.0,{"c":null}],"a":"\"<&>\u2028"}`}

func field(t *testing.T, text string) dynamic.Field {
	t.Helper()
	if text == "" {
		return dynamic.Field{}
	}
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return dynamic.Of(v)
}

const script = `
const values = JSON.parse(process.argv[1]).map((s) => (s === "" ? undefined : JSON.parse(s)))
const out = []
const missing = (a) => a === undefined
for (const a of values) {
  out.push([Boolean(a), a === undefined ? "" : typeof a === "string" ? a : JSON.stringify(a), a === undefined ? "" : JSON.stringify(a, null, 2),
    Array.isArray(a) || typeof a === "string" ? a.length : 0])
  for (const b of values) {
    const any = missing(a) || missing(b)
    out.push([!any && a === b, any ? missing(a) !== missing(b) : a !== b, !any && a < b, !any && a <= b, !any && a > b, !any && a >= b])
  }
}
console.log(JSON.stringify(out))
`

// TestNode holds the package to Node itself: every pair of values, under every operator. Two places of a state are never
// the same object, which the pairs of one object with itself are in JavaScript.
func TestNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	arg, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	text, err := exec.CommandContext(t.Context(), node, "-e", script, string(arg)).Output()
	if err != nil {
		t.Fatal(err)
	}
	var want [][]any
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	next := func() string {
		row := fmt.Sprint(want[0]...)
		want = want[1:]
		return row
	}
	for i, x := range values {
		a := field(t, x)
		shown, indented := "", ""
		if a.Present() {
			shown, indented = Text(a), Indent(a)
		}
		if got, wanted := fmt.Sprint(True(a), shown, indented, Length(a).Value().Float()), next(); got != wanted {
			t.Errorf("%q: got %s, want %s", x, got, wanted)
		}
		for j, y := range values {
			b := field(t, y)
			got, wanted := fmt.Sprint(Equal(a, b), NotEqual(a, b), Less(a, b), LessOrEqual(a, b), Greater(a, b), GreaterOrEqual(a, b)), next()
			if object := a.Value().Kind() >= value.ListKind; object && i == j {
				continue
			}
			if got != wanted {
				t.Errorf("%q and %q: got %s, want %s", x, y, got, wanted)
			}
		}
	}
}

func TestAt(t *testing.T) {
	a := field(t, `{"list": [{"x": 1}, "s"], "s": "text"}`)
	for path, want := range map[string]string{"list.0.x": "1", "list.length": "2", "list.2": "", "list.00": "", "list.-1": "", "s.length": "", "s.0": "", "none": "", "list.1": `"s"`} {
		got := ""
		if f := At(a, strings.Split(path, ".")...); f.Present() {
			got = JSON(f.Value())
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}
