package cli

import (
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/flow"
)

func TestRawText(t *testing.T) {
	for _, c := range []struct{ result, want string }{
		{`{"x": "a\nb\n"}`, "a\nb\n"},
		{`{"x": "a"}`, "a\n"},
		{`{"x": null}`, ""},
		{`{"x": ""}`, ""},
		{`{"x": ["a", "", "b"]}`, "a\n\nb\n"},
		{"{\"x\": \"a\\u001b[31mb\\u202ec\\tд\"}", "a[31mbc\tд\n"},
	} {
		got, err := rawText([]byte(c.result), "x")
		if err != nil || string(got) != c.want {
			t.Errorf("rawText(%s) = %q, %v; want %q", c.result, got, err, c.want)
		}
	}
}

func TestRawField(t *testing.T) {
	info := &flow.Info{Output: []flow.Field{{Name: "notes", Type: "string"}, {Name: "lines", Type: "list<string>"}, {Name: "n", Type: "int"}, {Name: "o", Type: "opt<string>"}}}
	for name, want := range map[string]string{
		"notes": "", "o": "", "lines": "",
		"n":    "--raw: n is int, not text",
		"note": "--raw: the result has no field note",
	} {
		got := ""
		if m := rawField(info, name); m != nil {
			got = m.message
		}
		if got != want {
			t.Errorf("rawField(%q) = %q, want %q", name, got, want)
		}
	}
}
