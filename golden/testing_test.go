package golden_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/parser/native"
)

// TestTestingIsComplete holds the page about test files to what can be written in them, and the table of their shapes
// together.
func TestTestingIsComplete(t *testing.T) {
	page, err := os.ReadFile("../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	shapes := map[string]*native.Shape{}
	for _, s := range native.CaseShapes() {
		shapes[s.Name] = s
		for _, k := range s.Keys {
			if !regexp.MustCompile("`[^`\n]*\\b" + k.Name + "\\b[^`\n]*`").Match(page) {
				t.Errorf("the key `%s` of %s is not explained", k.Name, s.What)
			}
			if k.Doc == "" || s.Instead[k.Name] != "" {
				t.Errorf("the key `%s` of %s has no doc, or is explained as none", k.Name, s.What)
			}
		}
	}
	for _, s := range native.CaseShapes() {
		for _, k := range s.Keys {
			for f := &k.Value; f != nil; f = f.Elem {
				for _, form := range append(f.Any, *f) {
					if form.Kind == native.FormShape && shapes[form.Shape] == nil {
						t.Errorf("%s.%s: no shape %q", s.Name, k.Name, form.Shape)
					}
				}
			}
		}
	}
	for _, c := range ir.Conditions {
		if !strings.Contains(string(page), "{"+c+": ") {
			t.Errorf("the condition %s is not explained", c)
		}
	}
}
