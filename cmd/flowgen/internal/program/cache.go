package program

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/atomicfile"
)

const (
	maxPrograms  = 50                     // executables that are kept, the ones used last
	maxManifests = 8                      // states of one workflow that are remembered
	maxIndexes   = 500                    // workflows that are remembered
	abandoned    = 24 * time.Hour         // after which a scratch folder belongs to a build that died
	clockStep    = 100 * time.Millisecond // by which the times of files may lag behind the clock
)

// A Cache keeps executables by what they were made from. It may be used by several processes at a time.
//
//	index/<workflow and settings>.json   what the last executables of a workflow were made from
//	programs/<inputs>/<name>             an executable
//	scratch/                             builds under way
type Cache struct {
	dir      string
	settings string // how workflow files are read: programs of other settings are other programs
}

// With is the cache for workflow files that are read in a certain way; "" is the usual one.
func (c *Cache) With(settings string) *Cache { return &Cache{c.dir, settings} }

// Beside is the cache for programs with further workflows.
func (c *Cache) Beside(files ...string) (*Cache, error) {
	settings := c.settings + "\x00beside"
	for _, file := range files {
		full, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		settings += "\x00" + full
	}
	return c.With(settings), nil
}

// OpenCache opens the cache in a folder, which is made when first needed.
func OpenCache(dir string) *Cache { return &Cache{dir: dir} }

// UserCache is the cache in the user's cache folder.
func UserCache() (*Cache, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	return OpenCache(filepath.Join(dir, "flowgen")), nil
}

// A manifest says what one executable was made from.
type manifest struct {
	Program string  `json:"program"` // folder under programs/
	Inputs  []input `json:"inputs"`
}

// index is where it is remembered what the programs of a workflow file were made from; main and stores are
// those of their Source.
func (c *Cache) index(file, main string, stores ...string) (string, error) {
	full, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	id, err := identity()
	if err != nil {
		return "", err
	}
	parts := []string{full, id}
	if main != "" {
		parts = append(parts, main)
	}
	if len(stores) > 0 {
		parts = append(append(parts, "stores"), stores...)
	}
	if c.settings != "" {
		parts = append(parts, "settings", c.settings)
	}
	return filepath.Join(c.dir, "index", digest(parts...)+".json"), nil
}

func readIndex(name string) []manifest {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	var list []manifest
	if json.Unmarshal(text, &list) != nil {
		return nil // a broken index costs a build
	}
	return list
}

// Find returns the executable of a workflow file when one was built from exactly what is there now.
func (c *Cache) Find(file string) (exe string, ok bool) { return c.FindMain(file, "") }

// FindMain is Find for a program with another Source.Main, and with stores.
func (c *Cache) FindMain(file, main string, stores ...string) (exe string, ok bool) {
	index, err := c.index(file, main, stores...)
	if err != nil {
		return "", false
	}
	known := map[input]string{}
	for _, m := range readIndex(index) {
		exe := filepath.Join(c.dir, "programs", m.Program, programName(file))
		if !filepath.IsLocal(m.Program) || !m.current(known) {
			continue
		}
		if st, err := os.Stat(exe); err != nil || !st.Mode().IsRegular() {
			continue
		}
		now := time.Now()
		_ = os.Chtimes(filepath.Dir(exe), now, now) // which ones were used last; of no consequence when it fails
		return exe, true
	}
	return "", false
}

// current tells whether all inputs are as they were. known holds states that were read already.
func (m *manifest) current(known map[input]string) bool {
	for _, in := range m.Inputs {
		key := input{Path: in.Path, Kind: in.Kind}
		sum, ok := known[key]
		if !ok {
			var err error
			if sum, err = key.state(); err != nil {
				return false
			}
			known[key] = sum
		}
		if sum != in.Sum {
			return false
		}
	}
	return len(m.Inputs) > 0
}

// Executable builds a workflow's program for this machine and keeps it. The caller runs the returned file at once: a
// later build may drop it.
func (c *Cache) Executable(ctx context.Context, src *Source) (string, error) {
	start := time.Now().Add(-clockStep)
	scratch, done, err := c.scratch()
	if err != nil {
		return "", err
	}
	defer done()
	w, err := prepare(ctx, src, scratch)
	if err != nil {
		return "", err
	}
	w.env = append(w.env, "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	made := filepath.Join(scratch, "program")
	if err := os.Mkdir(made, 0o700); err != nil {
		return "", err
	}
	// Without debugging tables the program links faster; stack traces need none.
	if err := w.goBuild(ctx, filepath.Join(made, programName(src.File)), "-ldflags=-w", "-buildvcs=false"); err != nil {
		return "", err
	}
	inputs, err := w.inputs(ctx, src)
	if err != nil {
		return "", err
	}
	return c.keep(src, made, inputs, changedSince(inputs, start))
}

// keep moves a program into the cache. An unsure one, whose inputs changed while it was built, is kept under a name that
// is found by nobody else.
func (c *Cache) keep(src *Source, made string, inputs []input, unsure bool) (string, error) {
	index, err := c.index(src.File, src.Main, src.Stores...)
	if err != nil {
		return "", err
	}
	parts := []string{index}
	for _, in := range inputs {
		parts = append(parts, in.Path, string(in.Kind), in.Sum)
	}
	if unsure {
		parts = append(parts, filepath.Base(filepath.Dir(made)))
	}
	m := manifest{Program: digest(parts...), Inputs: inputs}
	home := filepath.Join(c.dir, "programs", m.Program)
	if err := os.MkdirAll(filepath.Dir(home), 0o700); err != nil {
		return "", err
	}
	exe := filepath.Join(home, programName(src.File))
	if err := os.Rename(made, home); err != nil {
		if _, statErr := os.Stat(exe); statErr != nil { // else another process was as quick
			return "", err
		}
	}
	if !unsure {
		list := slices.DeleteFunc(readIndex(index), func(o manifest) bool { return o.Program == m.Program })
		list = slices.Insert(list, 0, m)
		text, err := json.Marshal(list[:min(len(list), maxManifests)])
		if err != nil {
			return "", err
		}
		if err := os.MkdirAll(filepath.Dir(index), 0o700); err != nil {
			return "", err
		}
		if err := atomicfile.Write(index, text); err != nil {
			return "", err
		}
	}
	c.trim(m.Program)
	return exe, nil
}

// Build builds a workflow's program into the file out, for the system that GOOS and GOARCH name.
func (c *Cache) Build(ctx context.Context, src *Source, out string) error {
	scratch, done, err := c.scratch()
	if err != nil {
		return err
	}
	defer done()
	w, err := prepare(ctx, src, scratch)
	if err != nil {
		return err
	}
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	return w.goBuild(ctx, out)
}

func (c *Cache) scratch() (dir string, done func(), err error) {
	parent := filepath.Join(c.dir, "scratch")
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", nil, err
	}
	if dir, err = os.MkdirTemp(parent, ""); err != nil {
		return "", nil, err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}

// trim drops the programs that were used longest ago, and what dead builds left. Failures are left to the next time.
func (c *Cache) trim(keep string) {
	old := oldest(filepath.Join(c.dir, "programs"))
	for _, e := range old[:max(0, len(old)-maxPrograms)] {
		if e.name != keep {
			_ = os.RemoveAll(filepath.Join(c.dir, "programs", e.name))
		}
	}
	old = oldest(filepath.Join(c.dir, "index"))
	for _, e := range old[:max(0, len(old)-maxIndexes)] {
		_ = os.Remove(filepath.Join(c.dir, "index", e.name))
	}
	for _, e := range oldest(filepath.Join(c.dir, "scratch")) {
		if time.Since(e.used) > abandoned {
			_ = os.RemoveAll(filepath.Join(c.dir, "scratch", e.name))
		}
	}
}

type entry struct {
	name string
	used time.Time
}

func oldest(dir string) []entry {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []entry
	for _, e := range list {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			out = append(out, entry{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(out, func(a, b entry) int {
		if c := a.used.Compare(b.used); c != 0 {
			return c
		}
		return strings.Compare(a.name, b.name)
	})
	return out
}

// programName is the name of an executable: what process lists show.
func programName(file string) string {
	name := filepath.Base(file)
	for _, end := range []string{".flowgen.yaml", ".flowgen.yml", ".yaml", ".yml"} {
		name = strings.TrimSuffix(name, end)
	}
	if name == "" {
		name = "workflow"
	}
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return name
}
