package jssource

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
)

// Limits of what is bundled into one module.
const (
	maxSource  = 16 << 20 // bytes of a file
	maxSources = 64 << 20 // bytes of all
	maxFiles   = 10_000
)

// entry is what esbuild is asked to bundle. No file has a name with a NUL: esbuild looks for none.
const entry = "/\x00/entry"

// space marks names as none of files for esbuild, which would look around a file by itself. It is before each name in a
// bundle until it is taken out; no source may have it.
const space = "flowgen-3c1d0f5e9a7b4e62"

// sources are the files of a bundle. esbuild itself opens none: what is imported is found here, and read through one door,
// below the project and the node_modules that belong to it. esbuild is told of no folder to look in, and what it could not
// avoid looking into, the folder of an import of a computed path, is taken from it beforehand.
type sources struct {
	files  *foreign.Files
	home   string // folder of the workflow file, absolute
	real   string // the same without links
	roots  files.Roots
	tscfg  tsconfig
	places *places

	mu       sync.Mutex // esbuild asks from several goroutines
	given    map[string]string
	texts    map[string][]byte
	packages map[string]*packageJSON // by folder; nil for one without
	total    int
	seen     []string
}

func newSources(f *foreign.Files, home foreign.Folder, above []string, places *places) *sources {
	s := &sources{files: f, home: home.Disk, real: realName(home.Disk), places: places, given: map[string]string{}, texts: map[string][]byte{}, packages: map[string]*packageJSON{}}
	if len(above) == 0 {
		above = []string{home.Disk}
	}
	for i, dir := range above {
		s.roots = append(s.roots, files.Root{Dir: realName(dir), Hidden: i == 0})
	}
	// Node looks for packages in folders above, too: those of the repository are its own.
	repository := files.Repository(home.Disk)
	for dir := above[0]; repository != "" && dir != repository && files.Within(repository, dir); {
		dir = filepath.Dir(dir)
		s.roots = append(s.roots, files.Root{Dir: realName(filepath.Join(dir, "node_modules")), Hidden: true})
	}
	return s
}

// realName is a name without links. What is not there, as unsaved files are not, keeps its name below what is.
func realName(name string) string {
	there := existing(name)
	real, err := filepath.EvalSymlinks(there)
	rel, relErr := filepath.Rel(there, name)
	if err != nil || relErr != nil {
		return name
	}
	return filepath.Join(real, rel)
}

// unsaved is the text of a file of the overlay, whose names are as the user has them.
func (s *sources) unsaved(name string) ([]byte, bool) {
	if len(s.files.Overlay) == 0 {
		return nil, false
	}
	if text, ok := s.files.Overlay[name]; ok {
		return text, true
	}
	rel, err := filepath.Rel(s.real, name)
	if err != nil {
		return nil, false
	}
	text, ok := s.files.Overlay[filepath.Join(s.home, rel)]
	return text, ok
}

// read reads a file by its name without links.
func (s *sources) read(name string) ([]byte, error) {
	if text, ok := s.texts[name]; ok {
		return text, nil
	}
	text, ok := s.unsaved(name)
	if !ok {
		if len(s.texts) >= maxFiles || s.total >= maxSources {
			return nil, fmt.Errorf("a module imports at most %d files of together %d MiB", maxFiles, maxSources>>20)
		}
		var err error
		if text, err = s.roots.ReadFile(name, maxSource); err != nil {
			return nil, err
		}
	}
	s.texts[name] = text
	s.total += len(text)
	s.seen = append(s.seen, name)
	return text, nil
}

func (s *sources) isFile(name string) bool {
	if _, ok := s.unsaved(name); ok {
		return true
	}
	st, err := s.roots.Stat(name)
	return err == nil && !st.IsDir() // reading says what is wrong with a pipe
}

func (s *sources) isDir(name string) bool {
	st, err := s.roots.Stat(name)
	return err == nil && st.IsDir()
}

// leadsOut reports whether what an import names is there, but outside.
func (s *sources) leadsOut(name string) bool {
	for _, end := range append([]string{""}, extensions...) {
		if _, err := s.roots.Stat(name + end); errors.Is(err, files.ErrOutside) {
			_, err := files.Lstat(name + end)
			return err == nil
		}
	}
	return false
}

// plugin resolves and reads all that is imported.
func (s *sources) plugin(rel string) api.Plugin {
	return api.Plugin{Name: "flowgen", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: `.*`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if a.Kind == api.ResolveEntryPoint {
				return s.give(filepath.Join(s.real, filepath.FromSlash(rel))), nil
			}
			from, ok := s.given[a.Importer]
			if !ok || a.Namespace != space { // of a data: URL
				return api.OnResolveResult{}, nil
			}
			name, err := s.resolve(from, a.Path, a.Kind == api.ResolveJSRequireCall || a.Kind == api.ResolveJSRequireResolve)
			if err != nil {
				return api.OnResolveResult{}, fmt.Errorf("%q cannot be imported: %s", a.Path, foreign.Reason(err))
			}
			if name == "" {
				return api.OnResolveResult{}, nil // Node's own, a URL, or nothing: esbuild has no folder to look in, and says so
			}
			return s.give(name), nil
		})
		b.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: space}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.load(a.Path, a.With["type"])
		})
		b.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: "file"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			return api.OnLoadResult{}, errors.New("it cannot be imported") // nothing that was resolved here
		})
	}}
}

// give is what esbuild is told of a file: its name as seen from the workflow. By the end of a name esbuild tells whether
// Node takes the file for an ES module, which package.json says of other ends.
func (s *sources) give(name string) api.OnResolveResult {
	rel, err := filepath.Rel(s.real, name)
	if err != nil {
		rel = name
	}
	out := api.OnResolveResult{Path: filepath.ToSlash(rel), Namespace: space}
	if p := s.packageOf(filepath.Dir(name)); p != nil {
		if p.pure {
			out.SideEffects = api.SideEffectsFalse
		}
		if p.module {
			switch filepath.Ext(name) {
			case ".js", ".jsx":
				out.Path += ".mjs"
			case ".ts", ".tsx":
				out.Path += ".mts"
			}
		}
	}
	s.given[out.Path] = name
	return out
}

// loaders are those of scripts by their ends.
var loaders = map[string]api.Loader{
	".js": api.LoaderJS, ".mjs": api.LoaderJS, ".cjs": api.LoaderJS, ".jsx": api.LoaderJSX,
	".ts": api.LoaderTS, ".mts": api.LoaderTS, ".cts": api.LoaderTS, ".tsx": api.LoaderTSX,
}

func (s *sources) load(given, as string) (api.OnLoadResult, error) {
	name := s.given[given]
	data, err := s.read(name)
	if err == nil && bytes.Contains(data, []byte(space)) {
		err = errors.New("it has a text that stands for names of files while modules are bundled")
	}
	if err != nil {
		return api.OnLoadResult{}, errors.New("it cannot be imported: " + foreign.Reason(err))
	}
	text := string(data)
	script := loaders[filepath.Ext(name)]
	out := api.OnLoadResult{Contents: &text, Loader: script}
	switch {
	case as == "text":
		out.Loader = api.LoaderText
		return out, nil
	case as == "bytes":
		out.Loader = api.LoaderBinary
		return out, nil
	case script == api.LoaderNone:
		out.Loader = api.LoaderDefault
		return out, nil
	case s.places != nil && asksPlace(text):
		if placed, ok := s.places.placed(name, text); ok {
			text, out.Loader = placed, api.LoaderJS
		}
	}
	text, out.Errors, err = withoutGlobs(text, out.Loader, ofOthers(name))
	for _, e := range out.Errors {
		if e.Location != nil {
			e.Location.File, e.Location.Namespace = given, space
		}
	}
	return out, err
}
