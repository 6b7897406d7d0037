package wire

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/runtime/llm"
)

var taken = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)

// Names come back as they were, however many are alike, and are what every provider takes.
func TestNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfDistinct(rapid.OneOf(
			rapid.StringMatching(`[a-zA-Z0-9_.-]{1,80}`), rapid.StringMatching(`a[._-]b`), rapid.StringMatching(`x{64,70}[._]?y?`), rapid.String(),
		), func(s string) string { return s }).Draw(t, "names")
		var n Names
		seen := map[string]string{}
		for _, name := range names {
			safe := n.Safe(name)
			if !taken.MatchString(safe) {
				t.Fatalf("%q is not taken", safe)
			}
			if other, ok := seen[safe]; ok {
				t.Fatalf("%q and %q are both %q", name, other, safe)
			}
			seen[safe] = name
		}
		for safe, name := range seen {
			if n.Real(safe) != name || n.Safe(name) != safe {
				t.Fatalf("%q does not come back from %q", name, safe)
			}
		}
	})
	if got := new(Names).Real("made_up"); got != "made_up" {
		t.Errorf("a name that was made up is %q", got)
	}
}

func TestSchemaKeepsItsOrder(t *testing.T) {
	text := `{"type":"object","properties":{"z":{"type":"integer","minimum":1.50},"a":{"enum":["<x>",null,1e3]},"m":{"$ref":"#/$defs/M"}},"required":["z","a"],"$defs":{"M":true}}`
	v, ok := ParseSchema(json.RawMessage(text))
	if got := string(Encode(v)); !ok || got != text {
		t.Errorf("got %s", got)
	}
	for _, bad := range []string{``, `{`, `{"a":1}x`, `{"a":}`, `[1,]`, strings.Repeat(`{"not":`, 200) + "{}" + strings.Repeat("}", 200)} {
		if _, ok := ParseSchema(json.RawMessage(bad)); ok {
			t.Errorf("%.40s is taken for a schema", bad)
		}
	}
}

var small = Dialect{Keywords: []string{"type", "properties", "items", "required", "enum", "anyOf", "description", "format", "additionalProperties", "minItems", "$defs", "$ref"},
	Formats: []string{"date"}, ConstAsEnum: true, Occupied: true}

func TestLimit(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{"type":"string","minLength":1,"description":"A."}`, `{"type":"string","description":"A. (minLength: 1)"}`},
		{`{"type":"string","pattern":"^<a>$","maxLength":3}`, `{"type":"string","description":"(pattern: \"^<a>$\", maxLength: 3)"}`},
		{`{"$schema":"x","title":"T","type":"integer","examples":[1]}`, `{"type":"integer"}`},
		{`{"const":5}`, `{"enum":[5]}`},
		{`{"oneOf":[{"const":1},{"type":"string","format":"date"}]}`, `{"anyOf":[{"enum":[1]},{"type":"string","format":"date"}]}`},
		{`{"type":"string","format":"uuid"}`, `{"type":"string","description":"(format: \"uuid\")"}`},
		{`{"type":"array","minItems":1,"items":{"minimum":0}}`, `{"type":"array","minItems":1,"items":{"description":"(minimum: 0)"}}`},
		{`{"type":"array","minItems":2}`, `{"type":"array","description":"(minItems: 2)"}`},
		{`{"properties":{"minimum":{"type":"integer","minimum":0},"const":{"const":1}}}`, `{"properties":{"minimum":{"type":"integer","description":"(minimum: 0)"},"const":{"enum":[1]}}}`},
		{`{"type":"object","additionalProperties":{"type":"string","maxLength":2}}`, `{"type":"object","additionalProperties":{"type":"string","description":"(maxLength: 2)"}}`},
		{`{"$defs":{"T":{"multipleOf":2}},"$ref":"#/$defs/T"}`, `{"$defs":{"T":{"description":"(multipleOf: 2)"}},"$ref":"#/$defs/T"}`},
		{`true`, `true`},
	} {
		v, ok := ParseSchema(json.RawMessage(tt.in))
		if !ok {
			t.Fatal(tt.in)
		}
		small.Limit(v)
		if got := string(Encode(v)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestClose(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"object"}`: "",
		`{"type":"object","additionalProperties":false}`:                                                  `{"type":"object","additionalProperties":false,"properties":{}}`,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{}}}}}`: `{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{},"additionalProperties":false}}},"additionalProperties":false}`,
		`{"anyOf":[{"type":"object","properties":{}},{"type":"null"}]}`:                                   `{"anyOf":[{"type":"object","properties":{},"additionalProperties":false},{"type":"null"}]}`,
		`{"type":["string","null"]}`:                                                                      `{"type":["string","null"]}`,
		`{"$ref":"#/$defs/T","$defs":{"T":{"type":"object","properties":{}}}}`:                            `{"$ref":"#/$defs/T","$defs":{"T":{"type":"object","properties":{},"additionalProperties":false}}}`,
		`{"type":"object","additionalProperties":true}`:                                                   "",
		`{"type":"object","additionalProperties":{"type":"null"}}`:                                        "",
		`{"type":"object","properties":{"a":{}}}`:                                                         "",
		`{"type":"object","properties":{"a":true}}`:                                                       "",
		`{"type":"array"}`:                      "",
		`{"type":["object","null"]}`:            "",
		`{"$defs":{"T":{}},"$ref":"#/$defs/T"}`: "",
		`{"anyOf":[]}`:                          "",
		`{"description":"anything"}`:            "",
	} {
		v, _ := ParseSchema(json.RawMessage(in))
		closed := Close(v, nil)
		if got := string(Encode(v)); closed != (want != "") || closed && got != want {
			t.Errorf("%s: %v, %s", in, closed, got)
		}
	}
}

func TestArgsObject(t *testing.T) {
	for in, want := range map[string]string{`{"a":1}`: `{"a":1}`, " {} ": " {} ", "": "{}", " ": "{}", "[1]": `{"invalid_arguments":"[1]"}`, `{"a":`: `{"invalid_arguments":"{\"a\":"}`, "null": `{"invalid_arguments":"null"}`} {
		if got := string(ArgsObject(in)); got != want {
			t.Errorf("%q: %s", in, got)
		}
	}
}

func TestSeal(t *testing.T) {
	sealed := Seal("a", json.RawMessage(`[{"x":"<1>"}]`))
	if got := string(Unseal("a", sealed)); got != `[{"x":"<1>"}]` {
		t.Errorf("got %s", got)
	}
	for _, bad := range []string{"", "x", `{"a":{}}`, `{"a":null}`, `[]`} {
		if got := Unseal("a", bad); got != nil {
			t.Errorf("%q: %s", bad, got)
		}
	}
	if Unseal("b", sealed) != nil {
		t.Error("another provider takes it")
	}
}

func TestCheck(t *testing.T) {
	good := &llm.Reply{Message: llm.Message{Calls: []llm.Call{{ID: "a", Name: "f"}, {ID: "b", Name: "f"}}}}
	if r, err := Check("h", good); err != nil || cmp.Diff(good, r) != "" {
		t.Errorf("got %v, %v", r, err)
	}
	for want, r := range map[string]*llm.Reply{
		"negative": {Usage: llm.Usage{Output: -1}},
		"no id":    {Message: llm.Message{Calls: []llm.Call{{Name: "f"}}}},
		"one id":   {Message: llm.Message{Calls: []llm.Call{{ID: "a", Name: "f"}, {ID: "a", Name: "g"}}}},
		"10000":    {Message: llm.Message{Calls: make([]llm.Call, 10_001)}},
	} {
		if _, err := Check("h", r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}
