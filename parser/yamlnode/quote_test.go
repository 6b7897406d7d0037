package yamlnode_test

import (
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// TestQuote: text that is quoted reads as itself.
func TestQuote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		if !utf8.ValidString(s) {
			t.Skip("no text")
		}
		root, problems := yamlnode.Parse(source.NewFile("x.yaml", "k: "+yamlnode.Quote(s)+"\n"))
		if root == nil || len(problems) > 0 {
			t.Fatalf("%q is written as %s, which is no YAML: %v", s, yamlnode.Quote(s), problems)
		}
		if got := root.Get("k").Text.Value; got != s {
			t.Fatalf("%q is written as %s, which reads as %q", s, yamlnode.Quote(s), got)
		}
	})
}
