package lsp

import (
	"context"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/index"
	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/ir/diag"
)

// pause is how long Watch waits before it looks at files again.
const pause = 250 * time.Millisecond

// Watch checks workflows as the server does, but from the disk: at once, and again what is made of files that change. find lists the
// workflows; found tells that nobody named them, so that those that only serve others are seen through these. report gets all
// diagnostics whenever something was compiled, and how many files are watched. Watch ends with ctx.
func Watch(ctx context.Context, opts Options, find func() (names []string, found bool, err error), report func(list []diag.Diagnostic, files int) error) error {
	w := newWorkspace(opts)
	w.all = true
	loaded := make(chan func(), 1)
	var seen map[string]string
	for {
		names, found, err := find()
		if err == nil {
			for _, n := range names {
				if w.roots[n] == nil {
					w.mark(n)
				}
			}
		}
		now := w.stamps(names)
		for _, name := range differing(seen, now) {
			w.onDisk(name)
		}
		seen = now
		compiled := len(w.dirty) > 0
		w.settle()
		w.loadPackages(func(done func()) { loaded <- done })
		if w.loading {
			select {
			case done := <-loaded:
				done()
				w.settle()
				compiled = true
			case <-ctx.Done():
				return nil
			}
		}
		if compiled {
			seen = w.stamps(names) // what was found to be read is watched from here on
			if err := report(w.diagnostics(names, found), len(seen)); err != nil {
				return err
			}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil
		}
	}
}

// stamps are what changes with each file that workflows are made of, and with the folders that tests and Go functions are in.
func (w *workspace) stamps(names []string) map[string]string {
	out := map[string]string{}
	add := func(name string) {
		if _, known := out[name]; known {
			return
		}
		out[name] = ""
		if info, err := files.Lstat(filepath.FromSlash(name)); err == nil {
			out[name] = info.ModTime().String() + " " + info.Mode().String()
			if !info.IsDir() {
				out[name] += " " + time.Duration(info.Size()).String()
			}
		}
	}
	inside := func(dir, ending string) {
		entries, _ := files.List(filepath.FromSlash(dir))
		for _, e := range entries {
			if !e.IsDir() && path.Ext(e.Name()) == ending {
				add(path.Join(dir, e.Name()))
			}
		}
	}
	for _, n := range names {
		add(n)
		inside(path.Dir(n), ".yaml")
	}
	for _, r := range sortedRoots(w.roots) {
		for _, f := range slices.Sorted(maps.Keys(r.files)) {
			add(f)
		}
		if r.index == nil {
			continue
		}
		folders := map[string]bool{}
		for _, n := range r.index.Names {
			if n.Kind == index.Function && n.At.File != nil && path.Ext(n.At.File.Name) == ".go" {
				folders[path.Dir(nameOfFile(n.At.File.Name))] = true
			}
		}
		for dir := range folders {
			inside(dir, ".go")
		}
	}
	return out
}

// differing are the names whose stamps differ, in order. Before the first look nothing does.
func differing(before, now map[string]string) []string {
	if before == nil {
		return nil
	}
	out := map[string]bool{}
	for name, stamp := range now {
		if old, known := before[name]; known && old != stamp || !known && stamp != "" {
			out[name] = true
		}
	}
	for name := range before {
		if _, still := now[name]; !still {
			out[name] = true
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// diagnostics are those of workflows, each once.
func (w *workspace) diagnostics(names []string, found bool) []diag.Diagnostic {
	served := w.served()
	if !slices.ContainsFunc(names, func(n string) bool { return !served[n] }) {
		served = nil // they all call each other
	}
	sink := &diag.Sink{}
	var list []diag.Diagnostic
	for _, n := range names {
		if r := w.roots[n]; r != nil && !(found && served[n]) {
			for _, d := range r.list {
				file := fileOf(d, n)
				if !slices.ContainsFunc(list, func(o diag.Diagnostic) bool { return sameMistake(d, o) && fileOf(o, "") == file }) {
					list = append(list, d)
				}
			}
		}
	}
	for _, d := range list {
		sink.Report(d)
	}
	return sink.List()
}
