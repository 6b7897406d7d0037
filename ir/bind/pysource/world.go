package pysource

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/programs"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A world is what one search path and one interpreter can see.
type world struct {
	files   *foreign.Files
	probe   *probe
	home    foreign.Folder // of the workflow file
	strange []string       // folders whose .pth files name no folder outside of them
	places  []place
	names   map[string][]string // of folders, by name on disk
	modules map[string]*module
	local   map[string]bool // whether a module of the first level is in the workflow's folder
	types   map[classKey]*classType
	texts   map[*schema.Type][]string // str() of the values of an Enum
}

// newWorld is the search path of a tool: the folder of the file that declares it, the virtual environment, PYTHONPATH,
// and what Python has itself.
func newWorld(files *foreign.Files, p *probe, home foreign.Folder, venv *foreign.Folder) *world {
	w := &world{files: files, probe: p, home: home, strange: programs.Strangers(home.Disk), names: map[string][]string{}, local: map[string]bool{}, modules: map[string]*module{}, types: map[classKey]*classType{}, texts: map[*schema.Type][]string{}}
	w.places = []place{{folder: home, local: true}}
	for _, name := range filepath.SplitList(os.Getenv("PYTHONPATH")) {
		if abs, err := filepath.Abs(name); name != "" && err == nil {
			w.places = append(w.places, place{folder: foreign.Folder{Disk: abs, Typed: filepath.Base(abs)}})
		}
	}
	var site []place
	if venv != nil {
		site = w.sitePackages(*venv)
	}
	for _, name := range p.hello.Path {
		folder := foreign.Folder{Disk: name, Typed: filepath.Base(name)}
		switch installed := strings.HasSuffix(filepath.ToSlash(name), "-packages"); {
		case !installed:
			w.places = append(w.places, place{folder: folder})
		case venv == nil:
			site = append(site, w.withPaths(folder)...)
		}
	}
	w.places = append(w.places, site...)
	return w
}

// A module is a module whose source was read.
type module struct {
	name  string
	found *found
	file  *foreign.File
	facts facts
}

// What can be wrong with a module besides its syntax.
type problem struct {
	missing  *missing
	compiled bool
	empty    bool // a namespace package: nothing is in it
	reading  string
	library  bool // of Python itself, without a file
}

// module reads a module; exactly one of the results is nil.
func (w *world) module(name string) (*module, *problem) {
	if m := w.modules[name]; m != nil {
		return m, nil
	}
	first, _, _ := strings.Cut(name, ".")
	if slices.Contains(w.probe.hello.Builtin, first) {
		return nil, &problem{library: true, compiled: true}
	}
	at, miss := w.find(name)
	switch {
	case miss != nil:
		return nil, &problem{missing: miss}
	case at.compiled:
		return nil, &problem{compiled: true}
	case at.rel == "":
		return nil, &problem{empty: true}
	}
	f, err := w.files.Read(at.place.folder, at.rel)
	if err != nil {
		return nil, &problem{reading: foreign.Reason(err)}
	}
	m := &module{name: name, found: at, file: f}
	if err := w.probe.ask(strings.TrimPrefix(f.Source.Text, "\ufeff"), &m.facts); err != nil {
		return nil, &problem{reading: err.Error()}
	}
	w.modules[name] = m
	return m, nil
}

// relative is the full name of a module as an import in m names it: level dots, then name. "" leads out of the top.
func (m *module) relative(level int, name string) string {
	if level == 0 {
		return name
	}
	parts := strings.Split(m.name, ".")
	up := level
	if m.found.pkg {
		up--
	}
	if up >= len(parts) {
		return ""
	}
	base := strings.Join(parts[:len(parts)-up], ".")
	if name == "" {
		return base
	}
	return base + "." + name
}

// syntaxError is the place of the module's syntax error, ok when it has one.
func (m *module) syntaxError() (source.Span, bool) {
	if m.facts.Error == "" {
		return source.Span{}, false
	}
	f := m.file.Source
	lo := f.Offset(m.facts.Line, max(m.facts.Col, 1))
	return source.Span{File: f, Lo: lo, Hi: min(lo+1, len(f.Text))}, true
}

// A symbol is what a name in a module leads to: a statement, or the full name of something that is not read.
type symbol struct {
	in   *module
	stmt *statement // def, class or value; nil: name says what it is
	name string     // "typing.Optional", "str"
}

// maxSteps bounds how far a name is followed from module to module.
const maxSteps = 20

// resolve follows a name in a module to its definition.
func (w *world) resolve(m *module, name string, steps int) (symbol, bool) {
	if steps > maxSteps {
		return symbol{}, false
	}
	s := m.facts.lookup(name)
	if s == nil {
		for _, star := range m.facts.Body {
			if star.Kind == "from" && star.Member == "*" {
				if sym, ok := w.member(m.relative(star.Level, star.Module), name, steps+1); ok {
					return sym, true
				}
			}
		}
		return symbol{}, false
	}
	switch s.Kind {
	case "import":
		return symbol{name: s.Module}, true
	case "from":
		from := m.relative(s.Level, s.Module)
		if from == "" {
			return symbol{}, false
		}
		if known(from) {
			return symbol{name: from + "." + s.Member}, true
		}
		if sym, ok := w.member(from, s.Member, steps+1); ok {
			return sym, true
		}
		return symbol{name: from + "." + s.Member}, true
	}
	return symbol{in: m, stmt: s}, true
}

// member finds a name in a module, by the module's full name.
func (w *world) member(from, name string, steps int) (symbol, bool) {
	if from == "" || known(from) {
		return symbol{}, false
	}
	m, wrong := w.module(from)
	if wrong != nil || m.facts.Error != "" {
		return symbol{}, false
	}
	return w.resolve(m, name, steps)
}

// known are the modules whose names mean what Python's manual says; their source is not read.
func known(module string) bool {
	switch module {
	case "typing", "typing_extensions", "collections.abc", "datetime", "enum", "dataclasses", "builtins", "decimal", "uuid", "pathlib", "collections", "abc", "pydantic":
		return true
	}
	return false
}

// qualify is what an expression that names something leads to.
func (w *world) qualify(m *module, n *node, steps int) symbol {
	if n == nil || steps > maxSteps {
		return symbol{}
	}
	switch n.T {
	case "name":
		if sym, ok := w.resolve(m, n.S, 0); ok {
			return sym
		}
		return symbol{name: "builtins." + n.S}
	case "attr":
		base := w.qualify(m, n.X, steps+1)
		if base.stmt != nil || base.name == "" {
			return symbol{}
		}
		if sym, ok := w.member(base.name, n.S, 0); ok {
			return sym
		}
		return symbol{name: base.name + "." + n.S}
	}
	return symbol{}
}
