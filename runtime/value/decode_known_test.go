package value

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeKnown(t *testing.T) {
	type item struct {
		Name string `json:"name"`
		Sub  []struct {
			N int64 `json:"n"`
		} `json:"sub"`
	}
	var got item
	err := DecodeKnown([]byte(`{"x":{"y":[1,{"z":null}]},"name":"a","sub":[{"n":1,"m":2},{"N":3,"n":4}]}`), &got)
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "a" || len(got.Sub) != 2 || got.Sub[0].N != 1 || got.Sub[1].N != 4 {
		t.Errorf("got %+v", got)
	}
	for text, want := range map[string]string{
		`{"name":"a"}`:                        `VALIDATION_ERROR: field "sub" is missing`,
		`{"name":"a","sub":[],"x":tru}`:       "",
		`{"name":"a","sub":[],"name":"b"}`:    "VALIDATION_ERROR: the key \"name\" appears twice",
		`{"name":1,"sub":[]}`:                 "VALIDATION_ERROR: name: a string expected, a number given",
		`{"name":"a","sub":[{"n":1}],"x":1} `: "none",
	} {
		err := DecodeKnown([]byte(text), &item{})
		switch {
		case want == "none":
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
		case err == nil || want != "" && err.Error() != want:
			t.Errorf("%s: %v", text, cmp.Diff(want, err))
		}
	}
}
