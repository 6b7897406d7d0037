// Package program builds executables of workflows and keeps them, so that the second run of an unchanged workflow starts
// at once.
//
// Nothing is written into the user's tree. A workflow inside a Go module is built in that module, where its Go tools are:
// the generated package and its main exist only in an overlay of the go command. Outside any module a throw-away one is
// made in the cache.
package program

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/modfile"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/origin"
	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/internal/programs"
)

// A Source is a workflow that compiled without errors.
type Source struct {
	File    string // the workflow file on disk
	Output  string // the name `flowgen generate` gives its Go file
	Package string // the package `flowgen generate` gives it
	Inputs  []string
	Log     io.Writer // is told about a long build; nil: nobody is
	Main    string    // the leaf of the runtime whose Main the program calls, below runtime/; "": cli, what programs have
	Stores  []string  // leaves of the runtime, below runtime/, whose stores the program links
	OwnMain bool      // the program is the one in the folder of the workflow, whose main starts it: HasMain
	// Examples are the name of the workflow and the JSON of its examples, for programs with the verb serve; nil: there are none.
	Examples *[2]string
	Others   []*Source // further workflows of the program, which has the verbs serve and mcp alone then

	// Generate writes the Go, and the files that it embeds by their names below its folder. path is the import path the
	// package will have, "" when it does not matter.
	Generate func(pkg, path string) (flow []byte, assets map[string][]byte, err error)
}

// A CompileError is the go command's refusal of generated code: flowgen's fault, not the user's.
type CompileError struct{ Output string }

func (e *CompileError) Error() string {
	return "the generated code does not compile:\n" + strings.TrimRight(e.Output, "\n")
}

// A workspace is where one program is built.
type workspace struct {
	scratch string   // holds what the overlay points to; removed afterwards
	file    string   // the workflow
	root    string   // folder of the go.mod that the build begins with; "" for scratch
	outside string   // what the build does not use for want of a requirement of flowgen, for errors
	home    string   // folder of the workflow, whose programs are not started; "" for dir
	dir     string   // where the go command runs
	pattern string   // the package to build
	flags   []string // for go build and go list
	env     []string
	build   *progress
}

// prepare makes the workspace of a program in scratch, an empty folder.
func prepare(ctx context.Context, src *Source, scratch string) (*workspace, error) {
	from, err := origin.Find()
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Dir(src.File))
	if err != nil {
		return nil, err
	}
	root, err := ModuleRoot(dir)
	if err != nil {
		return nil, err
	}
	w := &workspace{scratch: scratch, file: src.File, root: root, home: dir, env: programs.BuildEnvironment(os.Environ(), dir), build: newProgress(src.Log, src.File)}
	if len(src.Others) > 0 {
		return w, w.several(ctx, src, from)
	}
	if root == "" {
		return w, w.throwAway(src, from)
	}
	if err := w.inModule(ctx, src, from, root, dir); err != nil {
		return nil, err
	}
	return w, nil
}

// ImportPath is the import path that a package in dir has, "" when dir is in no module. dir need not exist.
func ImportPath(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	root, err := ModuleRoot(dir)
	if root == "" || err != nil {
		return "", err
	}
	text, err := files.Read(filepath.Join(root, "go.mod"), files.Max)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		return "", err
	}
	return path.Join(modfile.ModulePath(text), filepath.ToSlash(rel)), nil
}

// ModuleRoot is the folder of the go.mod that governs dir, "" if none does.
func ModuleRoot(dir string) (string, error) {
	for {
		st, err := os.Stat(filepath.Join(dir, "go.mod"))
		switch {
		case err == nil && !st.IsDir():
			return dir, nil
		case err != nil && !errors.Is(err, os.ErrNotExist):
			return "", err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", nil
		}
		dir = parent
	}
}

// throwAway makes a module of its own for a workflow that is in none.
func (w *workspace) throwAway(src *Source, from origin.Origin) error {
	flow, assets, err := src.Generate("main", "")
	if err != nil {
		return err
	}
	if err := w.write(assets); err != nil {
		return err
	}
	mod := &modfile.File{}
	if err := mod.AddModuleStmt("flowgen.local/" + src.Package); err != nil {
		return err
	}
	if err := mod.AddGoStmt(from.GoVersion()); err != nil {
		return err
	}
	packages := src.runtimePackages(flow)
	if _, err := from.Require(mod, packages...); err != nil {
		return err
	}
	modText, err := mod.Format()
	if err != nil {
		return err
	}
	sums, err := from.Sums(packages...)
	if err != nil {
		return err
	}
	w.dir, w.pattern = w.scratch, "."
	w.flags = []string{"-mod=mod"}
	w.env = append(w.env, "GOWORK=off")
	return w.write(map[string][]byte{"go.mod": modText, "go.sum": sums, src.Output: flow, "main.go": src.mainText("")})
}

// inModule overlays the user's module with the generated package and a main.
func (w *workspace) inModule(ctx context.Context, src *Source, from origin.Origin, root, dir string) error {
	modText, err := files.Read(filepath.Join(root, "go.mod"), files.Max)
	if err != nil {
		return err
	}
	home, err := ImportPath(dir) // of the package in the workflow's folder
	if err != nil {
		return err
	}
	virtual := filepath.Join(dir, unusedName(dir))
	flow, assets, err := src.Generate("main", "")
	if err != nil {
		return err
	}
	overlay := map[string]string{}
	w.dir = dir
	switch {
	case src.OwnMain:
		err = w.asFolder(src, dir, home, overlay)
	case !imports(flow, home):
		// A package of its own below the folder, so that it sees what is internal to it and the folder's package need
		// not even compile.
		w.pattern = "./" + filepath.Base(virtual)
		overlay[filepath.Join(virtual, src.Output)] = src.Output
		overlay[filepath.Join(virtual, "main.go")] = "main.go"
		if err := w.embed(assets, virtual, overlay); err != nil {
			return err
		}
		err = w.write(map[string][]byte{src.Output: flow, "main.go": src.mainText("")})
	default:
		err = w.inPlace(src, dir, home, virtual, overlay)
	}
	if err != nil {
		return err
	}
	if err := w.writeOverlay(overlay); err != nil {
		return err
	}
	return w.provideRuntime(ctx, src.runtimePackages(flow), from, root, modText)
}

// inPlace builds the generated file as part of the folder's package, because the workflow uses functions of it.
func (w *workspace) inPlace(src *Source, dir, home, virtual string, overlay map[string]string) error {
	flow, assets, err := src.Generate(src.Package, home)
	if err != nil {
		return err
	}
	if err := w.embed(assets, dir, overlay); err != nil {
		return err
	}
	overlay[filepath.Join(dir, src.Output)] = src.Output
	overlay[filepath.Join(dir, strings.TrimSuffix(src.Output, ".go")+"_fakes.go")] = "" // may be older than the workflow
	texts := map[string][]byte{src.Output: flow}
	if src.Package != "main" {
		w.pattern = "./" + filepath.Base(virtual)
		overlay[filepath.Join(virtual, "main.go")] = "main.go"
		texts["main.go"] = src.mainText(home)
		return w.write(texts)
	}
	// The folder is a program already. Its main steps aside for the one that runs this workflow.
	w.pattern = "."
	overlay[filepath.Join(dir, filepath.Base(virtual)+".go")] = "main.go"
	texts["main.go"] = src.mainText("")
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || filepath.Base(name) == src.Output {
			continue
		}
		text, err := files.Read(name, files.Max)
		if err != nil {
			return err
		}
		if renamed, ok := withoutMain(text); ok {
			as := "user_" + filepath.Base(name)
			texts[as] = renamed
			overlay[name] = as
		}
	}
	return w.write(texts)
}

// asFolder builds the program in the folder with the generated file as the workflow is now.
func (w *workspace) asFolder(src *Source, dir, home string, overlay map[string]string) error {
	flow, assets, err := src.Generate("main", home)
	if err != nil {
		return err
	}
	if err := w.embed(assets, dir, overlay); err != nil {
		return err
	}
	w.pattern = "."
	overlay[filepath.Join(dir, src.Output)] = src.Output
	return w.write(map[string][]byte{src.Output: flow})
}

// unusedName is a name for a folder, or a .go file, that is not in dir.
func unusedName(dir string) string {
	for i := 0; ; i++ {
		name := "zz_flowgen_run"
		if i > 0 {
			name += strconv.Itoa(i)
		}
		_, folder := os.Lstat(filepath.Join(dir, name))
		_, file := os.Lstat(filepath.Join(dir, name+".go"))
		if folder != nil && file != nil {
			return name
		}
	}
}

// embed puts what the generated file embeds into the scratch folder, and has it are in dir for the go command.
func (w *workspace) embed(assets map[string][]byte, dir string, overlay map[string]string) error {
	for name := range assets {
		overlay[filepath.Join(dir, filepath.FromSlash(name))] = filepath.FromSlash(name)
	}
	return w.write(assets)
}

// write puts files into the scratch folder.
func (w *workspace) write(files map[string][]byte) error {
	for name, text := range files {
		file := filepath.Join(w.scratch, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(file, text, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// writeOverlay gives the go command a map from places in the user's tree to files in the scratch folder.
func (w *workspace) writeOverlay(overlay map[string]string) error {
	replace := make(map[string]string, len(overlay))
	for at, file := range overlay {
		if replace[at] = ""; file != "" { // else the go command finds no such file
			replace[at] = filepath.Join(w.scratch, file)
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	w.flags = append(w.flags, "-overlay="+filepath.Join(w.scratch, "overlay.json"))
	return w.write(map[string][]byte{"overlay.json": text})
}

// provideRuntime sees to it that the module can import packages of flowgen's runtime: with a copy of its go.mod that requires
// their modules. The copy is made even when the module requires them: what a tidy go.mod says of modules that only the program
// needs, and the module does not, is incomplete. A workspace and a vendor folder cannot be copied and are used as they are,
// when they have the runtime; so is flowgen's own module.
func (w *workspace) provideRuntime(ctx context.Context, packages []string, from origin.Origin, root string, modText []byte) error {
	goMod := filepath.Join(root, "go.mod")
	mod, err := modfile.Parse(shown(goMod), modText, nil)
	if err != nil {
		return err
	}
	w.outside = unrequired(root)
	foreign := own(mod, goMod)
	if w.outside != "" || foreign != nil {
		if _, err := w.output(ctx, append([]string{"list", "-deps", "-f={{.ImportPath}}"}, packages...)...); err == nil {
			return nil
		}
	}
	if foreign != nil {
		return foreign
	}
	if _, err := from.Require(mod, packages...); err != nil {
		return err
	}
	if from.Newer(mod) {
		if err := mod.AddGoStmt(from.GoVersion()); err != nil {
			return err
		}
	}
	newMod, err := mod.Format()
	if err != nil {
		return err
	}
	sums, err := files.Read(filepath.Join(root, "go.sum"), files.Max)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	own, err := from.Sums(packages...)
	if err != nil {
		return err
	}
	// -modfile needs the copy's go.sum next to it, and does not work in workspaces.
	w.flags = append(w.flags, "-mod=mod", "-modfile="+filepath.Join(w.scratch, "go.mod"))
	w.env = append(w.env, "GOWORK=off")
	return w.write(map[string][]byte{"go.mod": newMod, "go.sum": origin.MergeSums(sums, own)})
}

// goTime is how long the go command may take: the first build on a busy computer takes minutes.
const goTime = time.Hour

// goBuild builds the program into out.
func (w *workspace) goBuild(ctx context.Context, out string, more ...string) error {
	// Without -trimpath the name of the scratch folder would be part of the program, and of the keys of Go's build cache.
	args := append([]string{"build", "-v", "-trimpath", "-o", out}, w.flags...)
	args = append(append(args, more...), w.pattern)
	ctx, cancel := context.WithTimeout(ctx, goTime)
	defer cancel()
	cmd, err := w.command(ctx, args)
	if err == nil {
		cmd.Stderr = w.build
		err = cmd.Run()
	}
	return w.failed(ctx, err, w.build.done())
}

// output runs the go command. An error holds what it said.
func (w *workspace) output(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, goTime)
	defer cancel()
	cmd, err := w.command(ctx, args)
	var stdout, stderr bytes.Buffer
	if err == nil {
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err = cmd.Run()
	}
	return stdout.Bytes(), w.failed(ctx, err, stderr.String())
}

func (w *workspace) command(ctx context.Context, args []string) (*exec.Cmd, error) {
	exe, err := programs.Go(cmp.Or(w.home, w.dir))
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Dir = w.dir
	cmd.Env = append(w.env, "PWD="+w.dir)
	return cmd, nil
}

// failed makes an error of how the go command ended, and of what it said.
func (w *workspace) failed(ctx context.Context, err error, text string) error {
	var strange *programs.GoError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &strange):
		return fmt.Errorf("%w; %s", strange, strange.Help())
	case errors.Is(err, exec.ErrNotFound):
		return errors.New("the go command is not installed or not in PATH; flowgen needs it to build programs: install Go, or download it with flowgen toolchain")
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%s: the go command has not built the program within %v", shown(w.file), goTime)
	case ctx.Err() != nil:
		return ctx.Err()
	case w.blamesGenerated(text):
		return &CompileError{Output: text}
	}
	return w.refused(text)
}

// blamesGenerated tells whether the go command found mistakes in generated files; the ones in user files among them
// (which the overlay copies) do not count.
func (w *workspace) blamesGenerated(text string) bool {
	for line := range strings.Lines(text) {
		file, rest, ok := strings.Cut(line, ".go:")
		if !ok || rest == "" || rest[0] < '0' || rest[0] > '9' {
			continue
		}
		if !filepath.IsAbs(file) {
			file = filepath.Join(w.dir, file)
		}
		if within(w.scratch, file) && !strings.HasPrefix(filepath.Base(file), "user_") {
			return true
		}
	}
	return false
}
