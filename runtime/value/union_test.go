package value

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type shape interface{ tagOfShape() string }

type circle struct {
	Kind string   `json:"kind" flow:"enum=circle"`
	R    float64  `json:"r"`
	In   []shape  `json:"in"`
	Tag  *string  `json:"tag"`
	More *squares `json:"more"`
}

type squares struct {
	Kind string           `json:"kind" flow:"enum=squares"`
	By   map[string]shape `json:"by"`
}

func (circle) tagOfShape() string  { return "circle" }
func (squares) tagOfShape() string { return "squares" }

var _ = Union("kind", map[string]shape{"circle": circle{}, "squares": squares{}})

type drawing struct {
	Main  shape   `json:"main"`
	Other *shape  `json:"other"`
	All   []shape `json:"all"`
}

// TestUnionDecode: what comes from outside is read by its tag, strictly.
func TestUnionDecode(t *testing.T) {
	const c = `{"kind":"circle","r":1,"in":[],"tag":null,"more":null}`
	for _, tt := range []struct{ text, want string }{
		{c, ""},
		{`{"r":1,"in":[` + c + `],"tag":"x","more":{"kind":"squares","by":{"a":` + c + `}},"kind":"circle"}`, ""},
		{`{"kind":"squares","by":{}}`, ""},
		{`null`, "main: an object expected, null given"},
		{`"circle"`, "main: an object expected, a string given"},
		{`[]`, "main: an object expected, a list given"},
		{`{}`, `main: field "kind" is missing`},
		{`{"kind":null}`, "main.kind: a string expected, null given"},
		{`{"kind":{"kind":"circle"}}`, "main.kind: a string expected, an object given"},
		{`{"kind":"Circle"}`, `main.kind: "Circle" is none of circle, squares`},
		{`{"kind":"circle","kind":"squares","by":{}}`, `main: the key "kind" appears twice`},
		{`{"kind":"squares","by":{},"r":1}`, `main: unknown field "r"`},
		{`{"kind":"squares","by":{"a":{"kind":"circle","r":"1"}}}`, "main.by.a.r: a number expected, a string given"},
		{`{"kind":"squares"`, ""},
		{`{"kind":"squares","by":` + strings.Repeat(`{"a":{"kind":"squares","by":`, 2000), ""},
	} {
		var got drawing
		text := `{"main":` + tt.text + `,"other":null,"all":[]}`
		err := Decode([]byte(text), &got)
		switch {
		case strings.HasPrefix(tt.text, `{"kind":"squares"`) && !json.Valid([]byte(tt.text)):
			if err == nil {
				t.Errorf("%.80s is read", tt.text)
			}
		case tt.want == "":
			if err != nil {
				t.Errorf("%s: %v", tt.text, err)
				continue
			}
			var again drawing
			out, _ := json.Marshal(got)
			if err := Decode(out, &again); err != nil || cmp.Diff(got, again) != "" {
				t.Errorf("%s comes back as %s: %v", tt.text, out, err)
			}
			if err := Unmarshal(out, &again); err != nil || cmp.Diff(got, again) != "" {
				t.Errorf("%s: Unmarshal of %s: %v", tt.text, out, err)
			}
			v, err := Of(got)
			if err != nil || DecodeValue(v, &again) != nil || cmp.Diff(got, again) != "" {
				t.Errorf("%s as a value: %v %v", tt.text, v, err)
			}
		case err == nil || !strings.Contains(err.Error(), tt.want):
			t.Errorf("%s: %v, want %q", tt.text, err, tt.want)
		}
	}
}

// TestUnionUnmarshal: what a journal holds comes back as it was, nil slices and maps too.
func TestUnionUnmarshal(t *testing.T) {
	other := shape(squares{Kind: "squares"})
	for _, in := range []drawing{
		{},
		{Main: circle{Kind: "circle"}, Other: &other},
		{Main: squares{Kind: "squares", By: map[string]shape{"a": circle{Kind: "circle", In: []shape{squares{Kind: "squares"}}}}}, All: []shape{nil, other}},
	} {
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var got drawing
		if err := Unmarshal(text, &got); err != nil || cmp.Diff(in, got) != "" {
			t.Errorf("%s: %v\n%s", text, err, cmp.Diff(in, got))
		}
	}
	for _, text := range []string{`{"main":{"kind":"none"}}`, `{"main":{}}`, `{"main":[]}`, `{"all":{}}`, `{"all":[1]}`, `{`} {
		if err := Unmarshal([]byte(text), new(drawing)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

// TestUnionIsChecked: a Go program can leave out a value, and write a struct whose field does not say what it is.
func TestUnionIsChecked(t *testing.T) {
	for _, tt := range []struct {
		in   drawing
		want string
	}{
		{drawing{}, "main: "},
		{drawing{Main: circle{}}, "main.kind: "},
		{drawing{Main: circle{Kind: "circle", In: []shape{nil}}}, "main.in[0]: "},
		{drawing{Main: circle{Kind: "circle"}}, ""},
	} {
		err := Validate(tt.in)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%+v: %v, want %q", tt.in, err, tt.want)
		}
	}
}
