package convert_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/ir"
)

var quotedText = regexp.MustCompile("`[^`]*`" + `|"[^"]*"`)

// TestWords: refusals speak of the user's file, and not of the fields that hold it here.
func TestWords(t *testing.T) {
	names := treeFields(t)
	for _, part := range []any{ir.Workflow{}, ir.Node{}, ir.State{}, ir.LLM{}, ir.Agent{}, ir.Policy{}, ir.Model{}, ir.CommandTool{}} {
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

// treeFields are the fields of the trees that the readers of the dialects have. They are read from the sources, as a test that imports
// a dialect would go with it.
func treeFields(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for dialect := range roots {
		files, err := filepath.Glob(filepath.Join("..", "parser", dialect, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("parser/%s: %d files, %v", dialect, len(files), err)
		}
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				decl, ok := n.(*ast.TypeSpec)
				if !ok {
					return true
				}
				if fields, ok := decl.Type.(*ast.StructType); ok && slices.Contains([]string{"Tree", "Node", "Token", "TokenAsk"}, decl.Name.Name) {
					for _, f := range fields.Fields.List {
						for _, id := range f.Names {
							names[id.Name] = id.IsExported() && strings.ToUpper(id.Name) != id.Name
						}
					}
				}
				return false
			})
		}
	}
	if len(names) < 30 {
		t.Fatalf("only %d fields were found", len(names))
	}
	return names
}
