package golden_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	namedTest = regexp.MustCompile("`([a-z/]+)` (Test[A-Za-z0-9]+)")
	namedPath = regexp.MustCompile("`((?:runtime|ir|codegen)[a-z0-9/_.]*)`")
)

// TestAgentSpec holds docs/agent-spec.md to what it names: files, packages and tests.
func TestAgentSpec(t *testing.T) {
	page, err := os.ReadFile("../docs/agent-spec.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range namedPath.FindAllStringSubmatch(string(page), -1) {
		if _, err := os.Stat(filepath.Join("..", m[1])); err != nil {
			t.Error(err)
		}
	}
	tests := 0
	for _, m := range namedTest.FindAllStringSubmatch(string(page), -1) {
		files, err := filepath.Glob(filepath.Join("..", m[1], "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(text), "func "+m[2]+"(t *testing.T)")
		}
		if !found {
			t.Errorf("there is no test %s in %s", m[2], m[1])
		}
		tests++
	}
	if tests < 30 {
		t.Errorf("the page names %d tests", tests)
	}
}
