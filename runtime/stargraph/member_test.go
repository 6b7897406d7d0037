package stargraph

import (
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestMember(t *testing.T) {
	v, err := value.Parse([]byte(`{"hits": [{"title": "a"}, {"title": null}], "n": 3}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path []string
		want string
	}{
		{[]string{"hits", "0", "title"}, `"a"`}, {[]string{"hits", "1", "title"}, "null"}, {[]string{"n"}, "3"}, {nil, `{"hits":[{"title":"a"},{"title":null}],"n":3}`},
		{[]string{"hits", "2"}, `error: VALIDATION_ERROR: the value at hits has no "2"`}, {[]string{"hits", "-1"}, `error: VALIDATION_ERROR: the value at hits has no "-1"`},
		{[]string{"m"}, `error: VALIDATION_ERROR: the value has no "m"`}, {[]string{"n", "x"}, `error: VALIDATION_ERROR: the value at n has no "x"`},
	} {
		got, err := Member(v, c.path)
		text := ""
		if err != nil {
			text = "error: " + err.Error()
		} else if b, err := got.MarshalJSON(); err != nil {
			t.Fatal(err)
		} else {
			text = string(b)
		}
		if text != c.want {
			t.Errorf("%v: %s, want %s", c.path, text, c.want)
		}
	}
}
