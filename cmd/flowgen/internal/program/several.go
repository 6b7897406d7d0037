package program

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/origin"
	"github.com/flowgen-dev/flowgen/internal/files"
)

// all are the workflows of the program.
func (s *Source) all() []*Source { return append([]*Source{s}, s.Others...) }

// several makes the workspace of a program with several workflows: each is a package of its own, below a throw-away module or in
// the module of the files.
func (w *workspace) several(ctx context.Context, src *Source, from origin.Origin) error {
	mod, packages := "flowgen.local/"+src.Package, src.runtimePackages(nil)
	packages = append(packages, origin.Runtime+"/serving")
	overlay, taken := map[string]string{}, map[string]string{}
	var imported []string
	for i, one := range src.all() {
		dir, err := filepath.Abs(filepath.Dir(one.File))
		if err != nil {
			return err
		}
		root, err := ModuleRoot(dir)
		if err != nil {
			return err
		}
		if root != w.root {
			return fmt.Errorf("%s and %s are in different Go modules, so they cannot be one program; serve them apart", shown(src.File), shown(one.File))
		}
		name := "w" + strconv.Itoa(i)
		home, err := ImportPath(dir)
		if err != nil {
			return err
		}
		if root == "" {
			home = mod
		}
		flow, assets, err := one.Generate(name, "")
		if err != nil {
			return err
		}
		packages = append(packages, one.runtimePackages(flow)...)
		at, place := path.Join(home, name), filepath.Join(w.scratch, name)
		switch {
		case root == "":
		case !imports(flow, home):
			at, place = path.Join(home, unusedName(dir)+name), filepath.Join(dir, unusedName(dir)+name)
		case one.Package == "main":
			return fmt.Errorf("%s uses functions of a folder that is a program of its own, which others cannot import; serve it alone", shown(one.File))
		case taken[dir] != "":
			return fmt.Errorf("%s and %s both use functions of their folder, so they cannot be one program; serve them apart", taken[dir], shown(one.File))
		default:
			at, place, taken[dir] = home, dir, shown(one.File)
			if flow, assets, err = one.Generate(one.Package, home); err != nil {
				return err
			}
			overlay[filepath.Join(dir, strings.TrimSuffix(one.Output, ".go")+"_fakes.go")] = "" // may be older than the workflow
		}
		texts := map[string][]byte{}
		for asset, text := range assets {
			texts[path.Join(name, asset)] = text
		}
		texts[path.Join(name, one.Output)] = flow
		for file := range texts {
			overlay[filepath.Join(place, filepath.FromSlash(strings.TrimPrefix(file, name+"/")))] = filepath.FromSlash(file)
		}
		if err := w.write(texts); err != nil {
			return err
		}
		imported = append(imported, at)
	}
	if w.root == "" {
		return w.severalAlone(src, from, mod, packages, imported)
	}
	virtual := unusedName(w.home)
	overlay[filepath.Join(w.home, virtual, "main.go")] = "main.go"
	w.dir, w.pattern = w.home, "./"+virtual
	modText, err := files.Read(filepath.Join(w.root, "go.mod"), files.Max)
	err = errors.Join(err, w.write(map[string][]byte{"main.go": src.severalText(imported)}), w.writeOverlay(overlay))
	if err != nil {
		return err
	}
	return w.provideRuntime(ctx, packages, from, w.root, modText)
}

// severalAlone is the module of workflows that are in none.
func (w *workspace) severalAlone(src *Source, from origin.Origin, name string, packages, imported []string) error {
	mod := &modfile.File{}
	if err := errors.Join(mod.AddModuleStmt(name), mod.AddGoStmt(from.GoVersion())); err != nil {
		return err
	}
	if _, err := from.Require(mod, packages...); err != nil {
		return err
	}
	text, err := mod.Format()
	if err != nil {
		return err
	}
	sums, err := from.Sums(packages...)
	if err != nil {
		return err
	}
	w.dir, w.pattern, w.flags, w.env = w.scratch, ".", []string{"-mod=mod"}, append(w.env, "GOWORK=off")
	return w.write(map[string][]byte{"go.mod": text, "go.sum": sums, "main.go": src.severalText(imported)})
}

// severalText is the main of a program with several workflows.
func (s *Source) severalText(imported []string) []byte {
	var head, list strings.Builder
	for _, leaf := range append([]string{"cli", "serving"}, s.Stores...) {
		name := "_ "
		if leaf == "cli" || leaf == "serving" {
			name = ""
		}
		head.WriteString("\t" + name + strconv.Quote(origin.Runtime+"/"+leaf) + "\n")
	}
	for i, at := range imported {
		fmt.Fprintf(&head, "\tw%d %q\n", i, at)
		fmt.Fprintf(&list, "\t\tserving.Of(w%[1]d.Info, w%[1]d.New),\n", i)
	}
	return []byte("package main\n\nimport (\n" + head.String() + ")\n\nfunc main() {\n\tcli.Serve(\n" + list.String() + "\t)\n}\n" + s.examplesText())
}
