package main

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/program"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/runtime/cli"
)

// leadingFiles are the files that begin the arguments of a verb, and the flags for its program.
func leadingFiles(args []string) (files, rest []string) {
	n := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") })
	if n < 0 {
		n = len(args)
	}
	return slices.Clone(args[:n]), args[n:]
}

// startSeveral becomes the program of several workflows, which serves them all.
func (a *app) startSeveral(ctx context.Context, verb string, trace bool, files, args []string) error {
	if trace {
		return usage("--trace takes one FILE")
	}
	cache, err := a.cache()
	if err == nil {
		cache, err = cache.Beside(files[1:]...)
	}
	if err != nil {
		return err
	}
	stores := append(cli.StoreLeaves(args, os.Getenv), cli.VerbLeaves()[verb])
	exe, ok := cache.FindMain(files[0], "", stores...)
	if !ok {
		a.serves = verb == "serve"
		src, err := a.severalSource(files)
		if err != nil {
			return err
		}
		src.Stores = stores
		if exe, err = cache.Executable(ctx, src); err != nil {
			return a.goFailed(files[0], err)
		}
	}
	if err := severalAt(files); err != nil {
		return err
	}
	return replaceProcess(exe, append([]string{verb}, args...))
}

// severalSource compiles the workflows of one program. Each mistake is reported, those of all files.
func (a *app) severalSource(files []string) (*program.Source, error) {
	var first *program.Source
	var failure error
	named := map[string]string{}
	for _, file := range files {
		src, c, err := a.compiledSource(file)
		if err != nil {
			failure = cmp.Or(failure, err)
			continue
		}
		name := c.workflow.Name
		if other := named[name.Name]; other != "" {
			err := a.report([]diag.Diagnostic{{Code: diag.OutputClash, Span: name.Span,
				Message: "workflow `" + diag.Printable(name.Name) + "` of " + oneLine(other) + " has the same name, by which requests find it",
				Help:    "rename one of the two, or serve them apart"}}, false)
			failure = cmp.Or(failure, error(unbuilt{err}))
			continue
		}
		named[name.Name] = file
		if first == nil {
			first = src
		} else {
			first.Others = append(first.Others, src)
		}
	}
	return first, failure
}

// severalAt tells a program of several workflows which files they are. Relative paths of programs are found from their folder when
// it is the same for all.
func severalAt(files []string) error {
	list, err := json.Marshal(files)
	if err != nil {
		return err
	}
	if err := os.Setenv("FLOWGEN_FILES", string(list)); err != nil {
		return err
	}
	for _, file := range files[1:] {
		if filepath.Dir(file) != filepath.Dir(files[0]) {
			return os.Unsetenv("FLOWGEN_FILE")
		}
	}
	if err := os.Setenv("FLOWGEN_FILE", files[0]); err != nil {
		return err
	}
	return rootAt(files[0])
}
