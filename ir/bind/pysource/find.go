package pysource

import (
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/internal/programs"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
)

// A place is one folder of Python's search path.
type place struct {
	folder foreign.Folder
	local  bool // the folder of the workflow file: its modules belong to the workflow
}

// found is where a module is.
type found struct {
	place    place
	rel      string // its file, slash-separated
	pkg      bool   // an __init__.py
	portions []dir  // of a namespace package, which has no file
	compiled bool   // not Python source
}

// dir is a folder in which the parts of a package are looked for.
type dir struct {
	place place
	rel   string
}

func (d dir) join(name string) string { return path.Join(d.rel, name) }

// missing says which part of a dotted name is not there, and where it was looked for.
type missing struct {
	part int // index
	in   []dir
}

// find looks for a module by the rules of Python's import: the folders in order, in each a package before a module, and
// a namespace package when there is nothing else.
func (w *world) find(name string) (*found, *missing) {
	in := make([]dir, 0, len(w.places))
	for _, p := range w.places {
		in = append(in, dir{place: p})
	}
	parts := strings.Split(name, ".")
	for i, part := range parts {
		f := w.findIn(in, part)
		switch {
		case f == nil:
			return nil, &missing{part: i, in: in}
		case i == len(parts)-1:
			return f, nil
		case f.portions != nil:
			in = f.portions
		case f.pkg:
			in = []dir{{f.place, path.Dir(f.rel)}}
		default:
			return nil, &missing{part: i + 1}
		}
	}
	return nil, &missing{}
}

func (w *world) findIn(in []dir, name string) *found {
	var portions []dir
	for _, d := range in {
		at := d.join(name)
		switch {
		case w.files.IsFile(d.place.folder, at+"/__init__.py"):
			return &found{place: d.place, rel: at + "/__init__.py", pkg: true}
		case !d.place.local && w.hasCompiled(d, name):
			return &found{place: d.place, rel: at, compiled: true}
		case w.files.IsFile(d.place.folder, at+".py"):
			return &found{place: d.place, rel: at + ".py"}
		case d.place.local && w.hasCompiled(d, name):
			return &found{place: d.place, rel: at, compiled: true}
		case w.files.IsDir(d.place.folder, at):
			portions = append(portions, dir{d.place, at})
		}
	}
	if portions == nil {
		return nil
	}
	return &found{portions: portions}
}

// hasCompiled looks for a module written in C.
func (w *world) hasCompiled(d dir, name string) bool {
	folder := d.place.folder.Join(d.rel)
	names, known := w.names[folder.Disk]
	if !known {
		names = w.files.Names(folder)
		w.names[folder.Disk] = names
	}
	i, _ := slices.BinarySearch(names, name+".")
	for ; i < len(names) && strings.HasPrefix(names[i], name+"."); i++ {
		if end := path.Ext(names[i]); end == ".so" || end == ".pyd" || end == ".pyc" {
			return true
		}
	}
	return false
}

// modulesIn are the names of the modules in folders of the workflow, for suggestions.
func (w *world) modulesIn(in []dir) []string {
	var names []string
	for _, d := range in {
		if !d.place.local {
			continue // a suggestion out of the library would be a guess
		}
		folder := d.place.folder.Join(d.rel)
		for _, e := range w.files.Entries(folder) {
			if base, ok := strings.CutSuffix(e.Name, ".py"); ok && identifier(base) && base != "__init__" {
				names = append(names, base)
			} else if identifier(e.Name) && e.Name != "__pycache__" && (e.Folder || e.Link && w.files.IsDir(folder, e.Name)) {
				names = append(names, e.Name)
			}
		}
	}
	return names
}

func identifier(s string) bool {
	for i, r := range s {
		if r != '_' && r < 0x80 && !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') && !(i > 0 && r >= '0' && r <= '9') {
			return false
		}
	}
	return s != ""
}

// sitePackages are the folders of the packages that are installed in a virtual environment, with those that its .pth
// files add as plain paths.
func (w *world) sitePackages(venv foreign.Folder) []place {
	var out []place
	add := func(rel string) { out = append(out, w.withPaths(venv.Join(rel))...) }
	if runtime.GOOS == "windows" {
		add("Lib/site-packages")
	}
	for _, n := range w.files.Names(venv.Join("lib")) {
		if strings.HasPrefix(n, "python") {
			add("lib/" + n + "/site-packages")
		}
	}
	return out
}

// maxPaths is how many folders the .pth files of one folder may add.
const maxPaths = 100

// withPaths is a folder of installed packages and the folders that its .pth files name. Lines that are code are left
// out: nothing is run. Those of the repository name no folder outside of it.
func (w *world) withPaths(site foreign.Folder) []place {
	out := []place{{folder: site}}
	for _, n := range w.files.Names(site) {
		if path.Ext(n) != ".pth" {
			continue
		}
		f, err := w.files.Read(site, n)
		if err != nil {
			continue
		}
		for line := range strings.Lines(f.Source.Text) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' || strings.HasPrefix(line, "import ") || len(out) >= maxPaths {
				continue
			}
			if !filepath.IsAbs(line) {
				line = filepath.Join(site.Disk, line)
			}
			in := programs.Holding(w.strange, site.Disk)
			if in == "" || files.Within(in, line) {
				out = append(out, place{folder: foreign.Folder{Disk: line, Typed: filepath.Base(line), Root: in}})
			}
		}
	}
	return out
}
