package value

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type taken struct {
	Name  string           `json:"name"`
	N     *float64         `json:"n"`
	Count int8             `json:"count,omitempty"`
	On    bool             `json:"on,omitzero"`
	Any   Value            `json:"any,omitempty"`
	Wait  time.Duration    `json:"wait,omitempty"`
	Word  string           `json:"word" default:"\"none\""`
	Small string           `json:"small,omitempty" flow:"max=3"`
	List  []*taken         `json:"list,omitempty"`
	Map   map[string]int64 `json:"map,omitempty"`
	Bytes []byte           `json:"bytes,omitempty"`
	Deep  struct {
		F float64 `json:"f"`
	} `json:"deep,omitempty"`
}

// TestDecodeValue: a value gives what its JSON gives, and the same errors.
func TestDecodeValue(t *testing.T) {
	for _, text := range []string{
		`{"name":"a"}`, `{"name":"a","n":1,"count":7,"on":true,"any":{"x":[1]},"word":"w","list":[{"name":"b"},null],"map":{"k":3},"deep":{"f":2},"zz":1}`,
		`{"name":"a","n":null,"wait":"1m"}`, `{"name":"a","wait":5,"bytes":"YQ=="}`, `{}`, `{"name":1}`, `{"name":null}`, `{"name":"a","count":300}`,
		`{"name":"a","count":1.0}`, `{"name":"a","small":"four"}`, `{"name":"a","deep":{}}`, `{"name":"a","map":{"k":"v"}}`, `[]`, `null`, `{"name":"a","list":{}}`,
	} {
		same(t.Fatalf, text)
	}
	rapid.Check(t, func(r *rapid.T) {
		word := rapid.SampledFrom([]string{`"a"`, `1`, `-2.5`, `1e3`, `null`, `true`, `[]`, `[{"name":"x"}]`, `{}`, `{"k":1}`, `{"f":1}`, `"1s"`, `300`})
		text := `{"x":0`
		for _, key := range []string{"name", "n", "count", "on", "any", "wait", "word", "small", "list", "map", "bytes", "deep"} {
			if rapid.Bool().Draw(r, key) {
				text += `,"` + key + `":` + word.Draw(r, key+" is")
			}
		}
		same(r.Fatalf, text+`}`)
	})
}

func same(fatal func(string, ...any), text string) {
	v, err := Parse([]byte(text))
	if err != nil {
		fatal("%s: %v", text, err)
	}
	written, err := v.MarshalJSON() // numbers have one form there
	if err != nil {
		fatal("%s: %v", text, err)
	}
	var got, want taken
	gotErr, wantErr := DecodeValue(v, &got), DecodeKnown(written, &want)
	if (gotErr == nil) != (wantErr == nil) || gotErr != nil && gotErr.Error() != wantErr.Error() {
		fatal("%s: %v, not %v", text, gotErr, wantErr)
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(Value.Equal)); diff != "" {
		fatal("%s: (-text +value):\n%s", text, diff)
	}
}

type found struct {
	Name string   `json:"name"`
	N    *float64 `json:"n"`
	Deep struct {
		F float64 `json:"f"`
		G *string `json:"g"`
	} `json:"deep"`
}

// TestDecodeFields: what fits plainly is found without a map, as it is found in one, and what does not is left to it.
func TestDecodeFields(t *testing.T) {
	for text, plain := range map[string]bool{
		`{"name":"a","deep":{"f":1}}`: true, `{"name":"a","n":1,"deep":{"f":2,"g":"h"}}`: true, `{"name":"a","other":[],"n":null,"deep":{"f":2.5,"more":1}}`: true,
		`{}`: false, `{"name":"a"}`: false, `{"name":1,"deep":{"f":1}}`: false, `{"name":"a","deep":{"f":"x"}}`: false, `{"name":null,"deep":{"f":1}}`: false, `{"deep":{"f":1}}`: false,
	} {
		v, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var want found
		err = DecodeValue(v, &want)
		for _, inner := range []string{"", "deep"} {
			got, ok := DecodeFields[found](inner, func(in, key string) (Value, bool) {
				if in == "" {
					return v.Get(key)
				}
				below, _ := v.Get(in)
				return below.Get(key)
			})
			if diff := cmp.Diff(want, got); ok != plain || ok && (diff != "" || err != nil) {
				t.Errorf("%s: %t, %v (-map +found):\n%s", text, ok, err, diff)
			}
		}
	}
	if _, ok := DecodeFields[float64]("", nil); ok {
		t.Error("something other than a struct has fields")
	}
}
