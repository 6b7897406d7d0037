package convert_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/parser/openexpertise"
	"github.com/flowgen-dev/flowgen/parser/sirenspec"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
)

var quotedText = regexp.MustCompile("`[^`]*`" + `|"[^"]*"`)

// TestWords: refusals speak of the user's file, and not of the fields that hold it here.
func TestWords(t *testing.T) {
	names := map[string]bool{}
	for _, part := range []any{ir.Workflow{}, ir.Node{}, ir.State{}, ir.LLM{}, ir.Agent{}, ir.Policy{}, ir.Model{}, ir.CommandTool{},
		openexpertise.Tree{}, openexpertise.Node{}, sirenspec.Tree{}, sirenspec.Node{}, yamlgraph.Tree{}, yamlgraph.Node{}, yamlgraph.Token{}, yamlgraph.TokenAsk{}} {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(part)) {
			names[f.Name] = strings.ToUpper(f.Name) != f.Name // JSON is a word of its own
		}
	}
	for _, c := range cases(t) {
		if strings.Contains(c.reason, "without a native counterpart") {
			t.Errorf("%s: no words are known for what is refused: %s", c.dir, c.reason)
		}
		for _, word := range strings.FieldsFunc(quotedText.ReplaceAllString(c.reason, ""), func(r rune) bool { return strings.ContainsRune(" :,;.()", r) }) {
			if names[word] {
				t.Errorf("%s: the refusal names the internal field %s: %s", c.dir, word, c.reason)
			}
		}
	}
}
