package golden_test

import (
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/codegen"
)

// Go refuses a file whose import has the name of something that another file of the package declares. So no import has one.
func TestImportsYieldToThePackage(t *testing.T) {
	names := map[string]bool{} // of all imports of all programs
	for _, c := range corpus(t) {
		if c.code != "" {
			maps.Copy(names, imported(t, c.code))
		}
	}
	if len(names) < 30 {
		t.Fatalf("programs import %v", slices.Sorted(maps.Keys(names)))
	}
	for _, c := range corpus(t) {
		if c.code == "" {
			continue
		}
		opts := codegen.Options{Package: c.pkg(), Path: c.path(), Name: strings.TrimSuffix(c.output(), ".go"), Declared: names, Embeddable: c.beside}
		text, err := codegen.Generate(c.program, opts)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for name := range imported(t, string(text)) {
			if names[name] {
				t.Errorf("%s imports %s, which another file declares", c.name, name)
			}
		}
	}
}

// imported are the names that the imports of a generated file have.
func imported(t *testing.T, code string) map[string]bool {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "", code, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, i := range f.Imports {
		switch p, _ := strconv.Unquote(i.Path.Value); {
		case i.Name == nil:
			if name := path.Base(p); token.IsIdentifier(name) { // else that of the package is another
				out[name] = true
			}
		case i.Name.Name != "_":
			out[i.Name.Name] = true
		}
	}
	return out
}
