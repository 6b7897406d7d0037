package flowgen_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestForgottenVerb adds a verb to ir.Switch, in an overlay: then each pass that does not know it has an argument too few.
func TestForgottenVerb(t *testing.T) {
	if testing.Short() {
		t.Skip("type-checks the compiler")
	}
	name, err := filepath.Abs("ir/verb.go")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	added := string(text)
	for before, more := range map[string]string{"perform func(*Perform),": " yell func(*Yell),", "\t\tperform(v)\n": "\tcase *Yell:\n\t\tyell(v)\n", "func (*Perform) verb()    {}\n": "type Yell struct{}\nfunc (*Yell) verb() {}\n"} {
		if strings.Count(added, before) != 1 {
			t.Fatalf("ir/verb.go has %q %d times", before, strings.Count(added, before))
		}
		added = strings.Replace(added, before, before+more, 1)
	}
	pkgs, err := packages.Load(&packages.Config{
		Mode:    packages.NeedName | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedTypes | packages.NeedSyntax | packages.NeedExportFile,
		Overlay: map[string][]byte{name: []byte(added)},
	}, "./ir/...", "./codegen")
	if err != nil {
		t.Fatal(err)
	}
	call := regexp.MustCompile(`(?:^|[^.\w])(?:ir\.)?Switch\(`)
	wanted, broken := map[string]int{}, map[string]int{}
	for _, p := range pkgs {
		for _, file := range p.CompiledGoFiles {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if code, _, _ := strings.Cut(line, "//"); call.MatchString(code) && !strings.HasPrefix(code, "func ") {
					wanted[base(file)]++
				}
			}
		}
		for _, e := range p.Errors {
			if e.Kind != packages.TypeError || strings.HasPrefix(e.Msg, "\t") {
				continue
			}
			if !strings.Contains(e.Msg, "not enough arguments in call to") {
				t.Errorf("%s: %s", e.Pos, e.Msg)
				continue
			}
			file, _, _ := strings.Cut(e.Pos, ".go:")
			broken[base(file+".go")]++
		}
	}
	if !maps.Equal(wanted, broken) {
		t.Errorf("a new verb breaks %v, the calls of ir.Switch are in %v", broken, wanted)
	}
	passes := []string{"codegen/step.go", "ir/check/step.go", "ir/check/tools.go", "ir/dump_node.go", "ir/hashes/node.go", "ir/manifest/of.go", "ir/plan/worst.go", "ir/verb.go", "ir/walk.go"}
	if got := slices.Sorted(maps.Keys(broken)); !slices.Equal(got, passes) {
		t.Errorf("the passes are %v, want %v", got, passes)
	}
}

// base is a file by its name in the module.
func base(file string) string {
	wd, _ := os.Getwd()
	rel, err := filepath.Rel(wd, file)
	if err != nil {
		return file
	}
	return filepath.ToSlash(rel)
}
