package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/origin"
	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/program"
	"github.com/flowgen-dev/flowgen/internal/files"
)

// unrequired is a line with the command that adds to go.mod the modules of flowgen which generated Go imports and go.mod does not require:
// a change of model or of a tool's kind may need another one. It is "" where nothing lacks, and where flowgen cannot tell:
// without a go.mod, in a workspace, and in flowgen's own modules.
func unrequired(outputs []output) (hint string) {
	if len(outputs) == 0 {
		return ""
	}
	root, err := program.ModuleRoot(filepath.Dir(outputs[0].file))
	if err != nil || root == "" || program.Workspace(root) != "" {
		return ""
	}
	text, err := files.Read(filepath.Join(root, "go.mod"), files.Max)
	if err != nil {
		return ""
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil || mod.Module == nil || strings.HasPrefix(mod.Module.Mod.Path+"/", origin.Module+"/") {
		return ""
	}
	var edit, get []string
	for _, module := range origin.Modules(imports(outputs)...) {
		if slices.ContainsFunc(mod.Require, func(r *modfile.Require) bool { return r.Mod.Path == module }) {
			continue
		}
		version := ""
		for _, r := range mod.Require { // all of flowgen's modules have one version
			if r.Mod.Path == origin.Runtime {
				version = "@" + r.Mod.Version
			}
		}
		for _, r := range mod.Replace { // a source tree
			if r.Old.Path == origin.Runtime && r.New.Version == "" {
				version = "@v0.0.0" // not the latest one, for which the go command would ask a proxy
				edit = append(edit, "-replace="+module+"="+r.New.Path+strings.TrimPrefix(module, origin.Runtime))
			}
		}
		get = append(get, module+version)
	}
	if get == nil {
		return ""
	}
	name := filepath.Join(root, "go.mod")
	if here, err := filepath.Abs("."); err == nil {
		if rel, err := filepath.Rel(here, name); err == nil {
			name = rel
		}
	}
	command := "go get " + strings.Join(get, " ")
	if edit != nil {
		command = "go mod edit " + strings.Join(edit, " ") + " && " + command
	}
	return fmt.Sprintf("flowgen: %s does not require what the Go code imports; add it:\n    %s\n", oneLine(filepath.ToSlash(name)), command)
}

// imports are the packages that generated files import.
func imports(outputs []output) (list []string) {
	for _, o := range outputs {
		f, err := parser.ParseFile(token.NewFileSet(), o.file, o.text, parser.ImportsOnly)
		if err != nil {
			continue
		}
		for _, spec := range f.Imports {
			if name, err := strconv.Unquote(spec.Path.Value); err == nil {
				list = append(list, name)
			}
		}
	}
	return list
}
