package main

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/internal/gomodules"
)

// project is the files that a compilation of a workflow may read: those of its project, see files.Project. The workflow
// itself is one of them: a link out of the project is refused by whatever name it is compiled.
type project struct {
	*disk
	dir     string // of the workflow
	roots   files.Roots
	modules *gomodules.Modules           // those that the workflow names files of; nil until it does
	found   map[string]*gomodules.Module // by ID
}

// project confines d to the project of a workflow.
func (d *disk) project(main string) *project {
	return &project{disk: d, dir: filepath.Dir(filepath.FromSlash(main)), roots: files.Project(filepath.FromSlash(main)), found: map[string]*gomodules.Module{}}
}

// readable are the folders whose files a workflow may name.
func readable(main string) []string {
	var dirs []string
	for _, r := range files.Project(filepath.FromSlash(main)) {
		dirs = append(dirs, r.Dir)
	}
	return dirs
}

// hidden reports whether a name has a part that begins with a dot.
func hidden(rel string) bool {
	return strings.HasPrefix(rel, ".") || strings.Contains(rel, string(filepath.Separator)+".")
}

var errOutside = errors.New("it is outside the project (the closest parent folder with go.mod or .git, or the workflow's folder) and outside the working directory")

// ReadFile implements parser.Files.
func (w *project) ReadFile(name string) ([]byte, error) {
	full := filepath.FromSlash(name)
	if !w.roots.Hold(full) {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errOutside}
	}
	return w.remember(name, func() ([]byte, error) {
		text, err := w.roots.ReadFile(full, files.Max)
		return text, explained(name, err)
	})
}

// FindModule implements parser.Modules.
func (w *project) FindModule(file string) (id, rel string, err error) {
	if w.modules == nil {
		if w.modules, err = gomodules.In(w.dir); err != nil {
			return "", "", err
		}
	}
	m, rel, err := w.modules.Find(file)
	if err != nil {
		return "", "", err
	}
	w.found[m.ID] = m
	return m.ID, rel, nil
}

// ReadModule implements parser.Modules. A file is remembered by its place on the disk, where caches look whether it has changed.
func (w *project) ReadModule(id, rel string) ([]byte, error) {
	m := w.found[id]
	return w.remember(m.Disk(rel), func() ([]byte, error) { return m.ReadFile(rel, files.Max) })
}

// ReadDir implements parser.Lister: what is in a folder, in the order of names.
func (w *project) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := w.roots.ReadDir(filepath.FromSlash(name))
	return list, explained(name, err)
}

// explained says what the project is where a name leads out of it.
func explained(name string, err error) error {
	if errors.Is(err, files.ErrOutside) {
		return &fs.PathError{Op: "read", Path: name, Err: errOutside}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		return &fs.PathError{Op: "read", Path: name, Err: errors.New(files.Reason(err))}
	}
	return err
}

// readOwn reads a file that flowgen would write: next to a workflow, or where the user wants it. One that a link leads out of
// its project to is neither read nor written.
func readOwn(name string) ([]byte, error) {
	text, err := files.Project(name).ReadFile(name, files.Max)
	return text, explained(filepath.ToSlash(name), err)
}
