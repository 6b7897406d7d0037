package flowgen_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// compilerTrees are the folders of packages that compile workflows. What tests and make targets use is not among them.
var (
	compilerTrees = []string{"ir", "parser", "convert", "codegen", "templates", "internal", "cmd/flowgen"}
	notCompiler   = []string{"internal/mutants", "internal/release", "internal/site", "internal/offline", "internal/built", "internal/cputime", "internal/straced"}
)

// doors are the functions that look at a disk or start a program, by import path; "*" stands for all of a package.
var doors = map[string][]string{
	"os":                               {"Open", "OpenFile", "OpenInRoot", "OpenRoot", "ReadFile", "ReadDir", "DirFS", "CopyFS", "Stat", "Lstat", "Readlink", "NewFile", "Root", "StartProcess"},
	"path/filepath":                    {"Walk", "WalkDir", "Glob", "EvalSymlinks"},
	"io/ioutil":                        {"*"},
	"syscall":                          {"*"},
	"golang.org/x/sys/unix":            {"*"},
	"os/exec":                          {"Command", "CommandContext", "LookPath", "Cmd"},
	"go/build":                         {"Import", "ImportDir", "Default", "Context"},
	"go/importer":                      {"*"},
	"html/template":                    {"ParseFiles", "ParseGlob"},
	"text/template":                    {"ParseFiles", "ParseGlob"},
	"golang.org/x/tools/go/packages":   {"Load"},
	"github.com/evanw/esbuild/pkg/api": {"Build", "Context"},
}

const (
	ownCache  = "files of flowgen's own: its cache, the user's module, the program that is built"
	ownWrites = "looks at what it is about to write"
	newFolder = "`flowgen init` looks at the folder where it makes a project, and runs the user's own go command there"
	metadata  = "compares names, reads no content"
	starts    = "starts the user's own program, see internal/programs"
	runs      = "runs the program that was built: that is what the command is for"
)

// exceptions are the files that use a door, with what they use and why. Everything else reads through internal/files.
var exceptions = []struct{ file, uses, why string }{
	{"internal/files/files.go", "filepath.EvalSymlinks os.OpenRoot os.Root", "is the door"},
	{"internal/files/open.go", "syscall.O_NONBLOCK", "is the door"},
	{"internal/files/named.go", "filepath.WalkDir os.Lstat os.OpenFile os.Stat", "is the door for names that the user typed"},
	{"internal/files/message.go", "syscall.ELOOP syscall.ENAMETOOLONG syscall.ENOTDIR syscall.ENXIO", "says what errors mean"},
	{"internal/programs/programs.go", "exec.CommandContext exec.LookPath filepath.EvalSymlinks os.Readlink os.Stat", "looks for programs in PATH, and asks the go command for its folders"},
	{"internal/programs/signals.go", "syscall.SIGHUP syscall.SIGTERM", "passes signals on"},
	{"ir/bind/load.go", "os.Stat packages.Load", starts + "; what that names is read through internal/files"},
	{"ir/bind/jssource/sources.go", "filepath.EvalSymlinks", metadata},
	{"ir/bind/jssource/bundle.go", "api.Build", "esbuild reads through a plugin of this package"},
	{"ir/bind/pysource/probe.go", "exec.Cmd exec.CommandContext", starts},
	{"cmd/flowgen/internal/atomicfile/atomicfile.go", "filepath.EvalSymlinks os.OpenFile os.Stat", ownWrites},
	{"cmd/flowgen/internal/origin/origin.go", "os.Open os.ReadFile", "reads flowgen's own executable and module"},
	{"cmd/flowgen/internal/program/cache.go", "filepath.EvalSymlinks os.ReadDir os.ReadFile os.Stat", ownCache},
	{"cmd/flowgen/internal/program/inputs.go", "exec.LookPath filepath.EvalSymlinks os.OpenFile os.ReadDir os.ReadFile os.Stat syscall.O_NONBLOCK", ownCache},
	{"cmd/flowgen/internal/program/stamp.go", "os.ReadDir", ownCache},
	{"cmd/flowgen/internal/program/mainfile.go", "filepath.Glob", ownCache},
	{"cmd/flowgen/internal/program/workspace.go", "exec.Cmd exec.CommandContext filepath.Glob os.Lstat os.Stat", ownCache},
	{"cmd/flowgen/internal/starter/gomod.go", "exec.Cmd exec.CommandContext", newFolder},
	{"cmd/flowgen/internal/starter/starter.go", "filepath.Glob os.Lstat os.OpenFile os.Stat", newFolder},
	{"cmd/flowgen/internal/toolchain/toolchain.go", "exec.LookPath filepath.WalkDir os.Open os.Stat", "files of flowgen's own: the Go that it downloads"},
	{"cmd/flowgen/exec_other.go", "exec.Command", runs},
	{"cmd/flowgen/exec_unix.go", "syscall.Exec", runs},
	{"cmd/flowgen/runsource.go", "exec.CommandContext", "runs the program that --temporal names"},
	{"cmd/flowgen/studio.go", "exec.Cmd exec.Command syscall.SIGTERM", "starts flowgen itself, with the acts of the page"},
	{"cmd/flowgen/studiotemporal.go", "exec.CommandContext exec.LookPath", "runs the program that --temporal names"},
	{"cmd/flowgen/studioproject.go", "os.Stat", "compares times of files, reads no content"},
	{"cmd/flowgen/testcommand.go", "exec.CommandContext", runs},
	{"cmd/flowgen/testfrom.go", "os.OpenRoot", ownWrites},
	{"cmd/flowgen/torture.go", "exec.CommandContext", runs},
}

// TestOneDoor: the compiler reads through internal/files and starts programs where the table says, and nowhere else.
func TestOneDoor(t *testing.T) {
	used := map[string][]string{}
	count := 0
	for _, tree := range compilerTrees {
		err := filepath.WalkDir(filepath.FromSlash(tree), func(name string, e fs.DirEntry, err error) error {
			slash := filepath.ToSlash(name)
			switch {
			case err != nil:
				return err
			case e.IsDir() && (e.Name() == "testdata" || slices.Contains(notCompiler, slash)):
				return filepath.SkipDir
			case e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			count++
			found, err := doorsOf(name, nil)
			used[slash] = found
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range exceptions {
		if got := strings.Join(used[e.file], " "); got != e.uses {
			t.Errorf("%s uses %q, its exception says %q", e.file, got, e.uses)
		}
		delete(used, e.file)
	}
	for file, found := range used {
		if len(found) > 0 {
			t.Errorf("%s uses %v: read through internal/files, or add an exception with a reason", file, found)
		}
	}
	if count < 200 {
		t.Errorf("only %d files were looked at", count)
	}
}

// doorsOf lists the doors that a file uses, by any name that it imports them under.
func doorsOf(name string, text any) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	imported := map[string]string{}
	var out []string
	for _, spec := range file.Imports {
		of, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		as := path.Base(of)
		if spec.Name != nil {
			as = spec.Name.Name
		}
		imported[as] = of
		if _, door := doors[of]; door && as == "." {
			out = append(out, ". "+of)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && readsGo(call, imported) {
			out = append(out, "parser.ParseFile")
		}
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if ok && (slices.Contains(doors[imported[x.Name]], sel.Sel.Name) || slices.Contains(doors[imported[x.Name]], "*")) {
			out = append(out, path.Base(imported[x.Name])+"."+sel.Sel.Name)
		}
		return true
	})
	slices.Sort(out)
	return slices.Compact(out), nil
}

// readsGo tells calls of go/parser that open the file themselves, as they do when they are given no text.
func readsGo(call *ast.CallExpr, imported map[string]string) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	if !ok || imported[x.Name] != "go/parser" {
		return false
	}
	if sel.Sel.Name == "ParseDir" {
		return true
	}
	if sel.Sel.Name != "ParseFile" || len(call.Args) < 3 {
		return false
	}
	text, ok := call.Args[2].(*ast.Ident)
	return ok && text.Name == "nil"
}

func TestDoorsAreSeen(t *testing.T) {
	for text, want := range map[string]string{
		`import "os"; var _ = os.ReadFile`:                                                "os.ReadFile",
		`import o "os"; func f() { o.Open("x") }`:                                         "os.Open",
		`import . "os"; func f() { Open("x") }`:                                           ". os",
		`import "path/filepath"; func f() { filepath.Join("x"); filepath.Glob("x") }`:     "filepath.Glob",
		`import "os/exec"; func f() { exec.Command("x").Run() }`:                          "exec.Command",
		`import "go/parser"; func f() { parser.ParseFile(nil, "x", nil, 0) }`:             "parser.ParseFile",
		`import "go/parser"; func f(text []byte) { parser.ParseFile(nil, "x", text, 0) }`: "",
		`import "os"; func f() { os.Getenv("x"); os.WriteFile("x", nil, 0) }`:             "",
		`type d struct{}; func (d) Open() {}; func f(os d) { os.Open() }`:                 "",
		`import s "syscall"; func f() { s.Open("x", 0, 0) }`:                              "syscall.Open",
	} {
		found, err := doorsOf("x.go", "package p; "+text)
		if got := strings.Join(found, " "); err != nil || got != want {
			t.Errorf("%s: %q, want %q (%v)", text, got, want, err)
		}
	}
}
