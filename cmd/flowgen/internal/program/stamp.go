package program

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/atomicfile"
	"github.com/flowgen-dev/flowgen/internal/programs"
)

// A Stamp remembers that generating wrote what is there from what is there, so that the next time, when nothing has
// changed, nothing need be compiled. It is next to the executables in the cache, and is as exact: everything that the
// compiler has read is compared by content.
type Stamp struct {
	cache *Cache
	file  string
	start time.Time
}

// Generated is what was read and written.
type Generated struct {
	Files   []string // workflow files and what they include
	Outputs []string // Go files
	Folders []string // where a new file would be read, too
	Go      bool     // Go packages were read, which the outputs import
}

// Stamp returns the stamp for one way of calling generate. args is all that decides what is compiled and where it goes.
func (c *Cache) Stamp(args ...string) (*Stamp, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	id, err := identity()
	if err != nil {
		return nil, err
	}
	name := digest(append([]string{here, id}, args...)...)
	return &Stamp{cache: c, file: filepath.Join(c.dir, "stamps", name+".json"), start: time.Now().Add(-clockStep)}, nil
}

// Current reports whether everything is as it was when Keep was called.
func (s *Stamp) Current() bool {
	for _, m := range readIndex(s.file) {
		if m.current(map[input]string{}) {
			return true
		}
	}
	return false
}

// Keep remembers the present state of what was read and written, unless some of it has changed meanwhile.
func (s *Stamp) Keep(ctx context.Context, g Generated) error {
	set := &inputSet{set: map[input]bool{}}
	for _, name := range slices.Concat(g.Files, g.Outputs) {
		full, err := filepath.Abs(name)
		if err != nil {
			return err
		}
		set.add(content, full)
		if g.Go {
			set.modules(filepath.Dir(full))
		}
	}
	for _, dir := range g.Folders {
		full, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		set.add(names, full)
	}
	for _, out := range g.Outputs {
		dir, err := filepath.Abs(filepath.Dir(out))
		if err != nil {
			return err
		}
		if err := set.folder(ctx, dir, g.Go); err != nil {
			return err
		}
	}
	inputs, err := set.list()
	if err != nil || changedSince(inputs, s.start) {
		return err
	}
	text, err := json.Marshal([]manifest{{Inputs: inputs}})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.file), 0o700); err != nil {
		return err
	}
	if err := atomicfile.Write(s.file, text); err != nil {
		return err
	}
	stamps := oldest(filepath.Dir(s.file))
	for _, e := range stamps[:max(0, len(stamps)-maxIndexes)] {
		_ = os.Remove(filepath.Join(filepath.Dir(s.file), e.name)) // left to the next time
	}
	return nil
}

// folder adds what decides the package of an output there: the Go files next to it and the module; and, when Go was read,
// the packages that it imports.
func (s *inputSet) folder(ctx context.Context, dir string, imports bool) error {
	s.add(sources, dir)
	s.modules(dir)
	beside, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range beside {
		if filepath.Ext(f.Name()) == ".go" && f.Type().IsRegular() {
			s.add(content, filepath.Join(dir, f.Name()))
		}
	}
	if !imports {
		return nil
	}
	w := &workspace{dir: dir, pattern: ".", flags: programs.GoFlags, env: programs.GoEnvironment(os.Environ(), dir)}
	packages, err := w.list(ctx)
	if err != nil {
		return err
	}
	for _, p := range packages {
		if !p.fixed() {
			s.goPackage(p)
		}
	}
	return nil
}
