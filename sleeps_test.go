package flowgen_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sleeps are the files that call time.Sleep, how often, and why.
var sleeps = map[string]struct {
	calls int
	why   string
}{
	"runtime/sandbox/folder.go":                 {1, "tries again to remove a folder: the end of others' writes sends no signal"},
	"runtime/torture/torture.go":                {1, "polls the number of goroutines, whose end sends no signal"},
	"runtime/internal/eventually/eventually.go": {1, "is how tests poll"},
	"golden/crash/children_test.go":             {1, "picks a moment to stop a program"},
	"golden/testdata/program/main.go":           {1, "polls the number of goroutines; the program is built where eventually cannot be imported"},
	"golden/deploy/deploy_test.go":              {1, "asks probes again, as a cluster does; eventually cannot be imported here"},
	"golden/temporal/server_test.go":            {1, "polls a server that does not say when it is ready"},
	"runtime/temporal/testdata/hand/main.go":    {1, "polls a server that does not say when it knows a version"},
	"golden/crash/world_test.go":                {2, "plays a server that takes its time"},
	"cmd/flowgen/hostile_test.go":               {1, "picks a moment to kill a program"},
	"runtime/httptool/hostile_test.go":          {1, "plays a server that trickles"},
	"runtime/journal/runs/live_test.go":         {1, "leaves a file in the way for a try or two, of which no signal tells"},
	"runtime/sandbox/attacks_test.go":           {1, "plays an attack that goes on until it is killed"},
	"cmd/flowgen/lsp_resources_test.go":         {1, "measures what a server does that nobody asks, in a benchmark"},
	"cmd/flowgen/lsp_speed_test.go":             {1, "measures what a server does that nobody asks, in a benchmark"},
}

// TestSleeps: a test that sleeps until something must have happened is slow on an idle machine and fails on a busy one. Tests wait
// for a channel, a pipe, a process or eventually.True instead; in synctest's bubbles, whose time is virtual, they may sleep.
func TestSleeps(t *testing.T) {
	found := map[string]int{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".go" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(text), "time.Sleep") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if n := sleepsOf(file); n > 0 {
			found[filepath.ToSlash(name)] = n
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if have := sleeps[name]; found[name] > have.calls {
			t.Errorf("%s calls time.Sleep %d times, expected %d: wait for the event, or say here why it must sleep", name, found[name], have.calls)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sleeps)) {
		if s := sleeps[name]; found[name] < s.calls || s.why == "" {
			t.Errorf("%s calls time.Sleep %d times, expected %d: correct the list", name, found[name], s.calls)
		}
	}
}

// sleepsOf counts the calls of time.Sleep outside of synctest.Test, also in functions of the file that it is given by name.
func sleepsOf(file *ast.File) (n int) {
	bubbles := map[string]bool{}
	isCall := func(n ast.Node, pkg, name string) (*ast.CallExpr, bool) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return nil, false
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != name {
			return nil, false
		}
		id, ok := sel.X.(*ast.Ident)
		return call, ok && id.Name == pkg
	}
	ast.Inspect(file, func(x ast.Node) bool {
		if call, ok := isCall(x, "synctest", "Test"); ok && len(call.Args) == 2 {
			if id, ok := call.Args[1].(*ast.Ident); ok {
				bubbles[id.Name] = true
			}
		}
		return true
	})
	ast.Inspect(file, func(x ast.Node) bool {
		if _, ok := isCall(x, "synctest", "Test"); ok {
			return false
		}
		if f, ok := x.(*ast.FuncDecl); ok && f.Recv == nil && bubbles[f.Name.Name] {
			return false
		}
		if _, ok := isCall(x, "time", "Sleep"); ok {
			n++
		}
		return true
	})
	return n
}

func TestSleepsAreFound(t *testing.T) {
	const text = `package p
func TestA(t *testing.T) { synctest.Test(t, func(t *testing.T) { time.Sleep(1) }); time.Sleep(2) }
func TestB(t *testing.T) { synctest.Test(t, testB) }
func testB(t *testing.T) { time.Sleep(3) }
func other() { for ; ; time.Sleep(4) {} }
`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n := sleepsOf(file); n != 2 {
		t.Errorf("%d calls found, expected 2", n)
	}
}
