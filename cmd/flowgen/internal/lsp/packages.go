package lsp

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/diag"
)

// goSources knows of the Go files that an editor has touched what they say, so that packages are loaded for other text only: opening,
// saving and closing a file, and taking an edit back, load nothing. Files that nobody has touched are as they were.
type goSources struct {
	first, now map[string]string    // hashes by name; first: before it was touched, "" when that is not known
	loaded     string               // state of the packages that are used
	caches     map[string]goPackage // by state
	turn       int
}

// A goPackage is what was loaded for one state of the Go files.
type goPackage struct {
	packages *bind.Cache
	turn     int // when it was used last
}

// maxStates is how many states of Go files have their packages kept: of the present one, and of the one before.
const maxStates = 2

// maxGo is how large a Go file can be that is told apart by its text.
const maxGo = 8 << 20

// note takes what a Go file says now: in the editor where it is open, or else on the disk.
func (g *goSources) note(name string, d *document) {
	if g.now == nil {
		g.first, g.now = map[string]string{}, map[string]string{}
	}
	onDisk := "no file"
	full := absolute(name)
	if text, err := (files.Roots{{Dir: filepath.Dir(full), Hidden: true}}).ReadFile(full, maxGo); err == nil {
		onDisk = fmt.Sprintf("%x", sha256.Sum256(text))
	}
	if _, known := g.first[name]; !known {
		if d != nil {
			g.first[name] = onDisk // it is not saved yet
		} else {
			g.first[name] = ""
		}
	}
	g.now[name] = onDisk
	if d != nil {
		g.now[name] = fmt.Sprintf("%x", sha256.Sum256([]byte(d.text.s)))
	}
}

// state tells the texts of all Go files from other ones.
func (g *goSources) state() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(g.now)) {
		if g.now[name] != g.first[name] {
			b.WriteString(name + "\x00" + g.now[name] + "\x00")
		}
	}
	return b.String()
}

// keep keeps what was loaded for a state, in the place of what was not used for longest.
func (g *goSources) keep(state string, packages *bind.Cache) {
	if g.caches == nil {
		g.caches = map[string]goPackage{}
	}
	g.turn++
	g.caches[state] = goPackage{packages, g.turn}
	g.loaded = state
	for len(g.caches) > maxStates {
		oldest := state
		for s, c := range g.caches {
			if c.turn < g.caches[oldest].turn {
				oldest = s
			}
		}
		delete(g.caches, oldest)
	}
}

// unstale takes the packages that were loaded for what the Go files say now, where there are some.
func (w *workspace) unstale(state string) {
	if state == w.sources.loaded {
		w.stale = false
		return
	}
	if c, ok := w.sources.caches[state]; ok {
		w.sources.keep(state, c.packages)
		w.stale, w.packages = false, c.packages
		for _, r := range w.golang() {
			w.mark(r)
		}
	}
}

// golang are the workflows that name Go packages.
func (w *workspace) golang() (out []string) {
	for _, r := range sortedRoots(w.roots) {
		if r.golang {
			out = append(out, r.name)
		}
	}
	return out
}

// loadPackages loads Go packages in the background, where roots need some or Go files have changed; then run gets what has to be
// done with them. What was loaded before is used until then.
func (w *workspace) loadPackages(run func(func())) {
	if w.loading {
		return
	}
	state := w.sources.state()
	if w.stale {
		w.unstale(state)
	}
	if len(w.pending) == 0 && !w.stale {
		return
	}
	cache, names := w.packages, slices.Sorted(maps.Keys(w.pending))
	if w.stale {
		cache = &bind.Cache{}
		for _, r := range w.golang() {
			if !w.pending[r] {
				names = append(names, r)
			}
		}
	}
	w.loading, w.stale, w.pending = true, false, map[string]bool{}
	in := w.inputs()
	in.Packages, in.Later = cache, false
	compile := w.opts.Compile
	go func() {
		for _, name := range names {
			func() {
				defer func() { _ = recover() }() // it is compiled again, and the fault reported then
				compile(name, in)
			}()
		}
		run(func() {
			w.loading, w.loaded, w.packages = false, true, cache
			w.sources.keep(state, cache)
			for _, name := range names {
				w.mark(name)
			}
		})
	}()
}

// retry loads Go packages again when a file is saved whose Go functions are missing: clients that do not watch files say nothing of a Go
// file that is new.
func (w *workspace) retry(name string) {
	for _, r := range w.rootsOf(name) {
		if slices.ContainsFunc(r.list, func(d diag.Diagnostic) bool { return d.Code == diag.GoName || d.Code == diag.GoPackage }) {
			w.sources.note(" saved", nil)
			w.sources.now[" saved"] = strconv.Itoa(w.sources.turn)
			w.stale = true
			return
		}
	}
}
