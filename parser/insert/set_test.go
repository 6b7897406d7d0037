package insert_test

import (
	"testing"

	"github.com/flowgen-dev/flowgen/parser/insert"
)

// TestSet replaces a value where it is, and nothing else.
func TestSet(t *testing.T) {
	for _, tc := range []struct{ text, value, want string }{
		{"nodes:\n  a: {prompt: \"x\", out: string} # c\n", "y: {{ z }}", "nodes:\n  a: {prompt: \"y: {{ z }}\", out: string} # c\n"},
		{"nodes:\n  a:\n    prompt: |\n      one\n      two\n    out: string\n", "one\n\n  three\n", "nodes:\n  a:\n    prompt: |\n      one\n\n        three\n    out: string\n"},
		{"nodes:\n  a:\n    prompt: one\n    out: string\n", "one\ntwo", "nodes:\n  a:\n    prompt: |-\n      one\n      two\n    out: string\n"},
		{"nodes:\n  a: {prompt: x@1} # c\n", "acme.x@2", "nodes:\n  a: {prompt: acme.x@2} # c\n"},
		{"nodes:\n  a: {prompt: {x: 1}}\n", "{x: 2, y: $z}", "nodes:\n  a: {prompt: {x: 2, y: $z}}\n"},
	} {
		got, err := insert.Set(tc.text, insert.Path(nil, "a"), "prompt", tc.value)
		if err != nil || got != tc.want {
			t.Errorf("%v\n%s", err, got)
		}
		if tc.value[0] != '{' && insert.Written(got, insert.Path(nil, "a"), "prompt") != tc.value {
			t.Errorf("it is read as %q", insert.Written(got, insert.Path(nil, "a"), "prompt"))
		}
	}
	for _, text := range []string{"nodes:\n  a: {out: string}\n", "nodes:\n  a: {prompt: &p x}\n", "nodes: {}\n", "nodes:\n  a: {prompt: {x: 1}}\n"} {
		if got, err := insert.Set(text, insert.Path(nil, "a"), "prompt", "]"); err == nil {
			t.Errorf("%s becomes %s", text, got)
		}
	}
}
