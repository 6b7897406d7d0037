package pytool

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
	"github.com/flowgen-dev/flowgen/runtime/worker"
)

//go:embed worker.py
var script string

// bootstrap reads the worker's own code from the first frame, which keeps it out of the process list, and says what is
// wrong with an interpreter that is too old to read it. Modules of the working directory with the names of the library's are not
// the worker's.
const bootstrap = `import sys
if sys.version_info < (3, 9): sys.exit("Python 3.9 or newer is needed, this is " + sys.version.split()[0])
sys.path[:] = [p for p in sys.path if p]
import json
r = open(3, "rb", 65536)
q = json.loads(r.read(int.from_bytes(r.read(9)[:4], "big") - 5))
exec(compile(q["worker"], "<flowgen>", "exec"), {"__name__": "flowgen_worker", "reader": r, "setup": q})`

const maxSources = 32 << 20 // of all Files

var (
	poolsMu sync.Mutex
	pools   = map[poolKey]*worker.Pool{}
)

// poolKey is what functions must have in common to share interpreters. Code in an interpreter can change everything in
// it, and see what other calls in it are given.
type poolKey struct {
	source    *Source
	unit      string // the module
	secrets   string // their names
	isolation tool.Isolation
}

// pool returns the interpreters of f under ctx, starting none.
func (f *Func) pool(isolation tool.Isolation, secrets string) *worker.Pool {
	key := poolKey{f.Source, cmp.Or(f.Unit, f.Module), secrets, isolation}
	source := f.Source
	if source == nil {
		source = &Source{}
	}
	if source.Inherit && isolation == nil {
		key.unit = "" // as in the engine that they were written for
	}
	poolsMu.Lock()
	defer poolsMu.Unlock()
	p := pools[key]
	if p == nil {
		c := source.config()
		c.Start = worker.In(isolation, source.path)
		p = worker.New(c)
		pools[key] = p
	}
	return p
}

func (s *Source) config() worker.Config {
	c := worker.Config{Name: "Python worker", Lanes: 2, Setup: s.setup}
	c.Command = func() ([]string, error) {
		path, err := s.interpreter()
		if err != nil {
			return nil, err
		}
		// -E leaves PYTHON* variables out; sys.path is made by the worker.
		return []string{path, "-E", "-B", "-X", "utf8", "-X", "faulthandler", "-c", bootstrap}, nil
	}
	if s.Inherit {
		c.Env = os.Environ()
	} else if env := os.Getenv("VIRTUAL_ENV"); env != "" && s.Interpreter == "" {
		c.Env = []string{"VIRTUAL_ENV=" + env}
	}
	return c
}

func (s *Source) interpreter() (string, error) {
	i := worker.Interpreter{Name: "Python", Variable: "FLOWGEN_PYTHON", Ask: []string{"-I", "-S", "-c", "import sys; print(sys.executable)"}}
	if env := os.Getenv("VIRTUAL_ENV"); env != "" {
		i.Candidates = append(i.Candidates, filepath.Join(env, "bin", "python"))
	}
	i.Candidates = append(i.Candidates, "python3", "python")
	return i.Find(s.Interpreter)
}

type setup struct {
	Worker string            `json:"worker"`
	Path   []string          `json:"path"`
	Home   string            `json:"home,omitempty"`
	Files  map[string][]byte `json:"files,omitempty"`
	Spare  map[string][]byte `json:"spare,omitempty"`
	Plain  bool              `json:"plain,omitempty"`
}

// setup is the body of the first frame.
func (s *Source) setup() ([]byte, error) {
	path, err := s.path()
	if err != nil {
		return nil, err
	}
	out := setup{Worker: script, Path: path, Home: s.home(), Plain: s.plain()}
	if s.Files != nil {
		var err error
		if out.Files, err = read(s.Files); err != nil {
			return nil, err
		}
	}
	if s.Spare != nil {
		if out.Spare, err = read(s.Spare); err != nil {
			return nil, err
		}
	}
	return json.Marshal(out)
}

// plain reports whether functions are called as Inherit says, without classes of states.
func (s *Source) plain() bool { return s != nil && s.Inherit && s.Spare == nil }

// home is where the sources are on disk; empty: nobody asks.
func (s *Source) home() string {
	if s.Home == "" {
		return ""
	}
	home := "."
	if file := os.Getenv("FLOWGEN_FILE"); file != "" {
		home = filepath.Join(filepath.Dir(file), filepath.FromSlash(s.Home))
	} else if info, err := os.Stat(filepath.FromSlash(s.Home)); err == nil && info.IsDir() && filepath.IsLocal(s.Home) {
		home = filepath.FromSlash(s.Home)
	}
	if abs, err := filepath.Abs(home); err == nil {
		return abs
	}
	return home
}

// path is the beginning of sys.path: folders as absolute paths, never nil.
func (s *Source) path() ([]string, error) {
	path := s.Path
	if path == nil && s.Files == nil {
		path = []string{"."}
	}
	if home := s.home(); home != "" {
		path = append([]string{home, "."}, path...)
	}
	out := []string{}
	for _, dir := range append(path[:len(path):len(path)], filepath.SplitList(os.Getenv("PYTHONPATH"))...) {
		if dir == "" {
			continue
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		out = append(out, abs)
	}
	return out, nil
}

// read reads all files.
func read(files fs.FS) (map[string][]byte, error) {
	out := map[string][]byte{}
	room := int64(maxSources)
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := files.Open(name)
		if err != nil {
			return err
		}
		b, err := io.ReadAll(io.LimitReader(f, room+1))
		_ = f.Close()
		if err != nil {
			return err
		}
		if room -= int64(len(b)); room < 0 {
			return value.Errorf(value.SandboxError, "the embedded Python sources have more than %d bytes", maxSources)
		}
		out[name] = b
		return nil
	})
	return out, err
}
