package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// within are the files that a compilation of main may read: main itself, wherever the user says it is, and what it names
// inside its project. The project is the nearest folder above main that holds a go.mod, a go.work or a .git, else one with a
// package.json or a pyproject.toml; without any it is main's own folder. Where main is below the folder that the command runs in, that folder's files are read as
// well, but for hidden ones. A workflow file is data from anywhere: what it names must not put files of this machine into
// a program.
type within struct {
	*disk
	main  string   // as the parser asks for it
	roots []string // absolute: the project, and perhaps the working directory
}

// within confines d to the project of a workflow.
func (d *disk) within(main string) *within {
	return &within{disk: d, main: path.Clean(main), roots: readable(main)}
}

// readable are the folders whose files a workflow may name.
func readable(main string) []string {
	roots := []string{projectRoot(main)}
	if here, err := os.Getwd(); err == nil && roots[0] != "" {
		if rel, err := filepath.Rel(here, roots[0]); err == nil && rel != "." && filepath.IsLocal(rel) {
			roots = append(roots, here)
		}
	}
	return roots
}

// hidden reports whether a name has a part that begins with a dot.
func hidden(rel string) bool {
	return strings.HasPrefix(rel, ".") || strings.Contains(rel, string(filepath.Separator)+".")
}

func projectRoot(main string) string {
	own, err := filepath.Abs(filepath.Dir(filepath.FromSlash(main)))
	if err != nil {
		return ""
	}
	for _, marks := range [][]string{{"go.mod", "go.work", ".git"}, {"package.json", "pyproject.toml"}} {
		for dir := own; ; dir = filepath.Dir(dir) {
			for _, mark := range marks {
				if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
					return dir
				}
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return own
}

var errOutside = errors.New("it lies outside of the project, which is the folder with the go.mod or .git above the workflow, or else the workflow's own, and outside of the folder you are in")

// ReadFile implements parser.Files.
func (w *within) ReadFile(name string) ([]byte, error) {
	if name == w.main {
		return w.disk.ReadFile(name)
	}
	refuse := func(err error) error { return &fs.PathError{Op: "read", Path: name, Err: err} }
	abs, err := filepath.Abs(filepath.FromSlash(name))
	if err != nil {
		return nil, refuse(err)
	}
	base, rel := "", ""
	for i, root := range w.roots {
		if at, err := filepath.Rel(root, abs); err == nil && filepath.IsLocal(at) && (i == 0 || !hidden(at)) {
			base, rel = root, at
			break
		}
	}
	if base == "" {
		return nil, refuse(errOutside)
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, refuse(err)
	}
	defer root.Close()
	// A Root follows no link out of its folder. What is read was opened through it: there is no second look at the name.
	f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return nil, err
	case err != nil && escapes(base, abs):
		return nil, refuse(errOutside)
	case err != nil:
		return nil, err
	}
	defer f.Close()
	return w.remember(name, func() ([]byte, error) { return readOpen(f, name) })
}

// escapes reports whether symbolic links lead a name out of the root.
func escapes(root, name string) bool {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return false
	}
	home, err := filepath.EvalSymlinks(root)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(home, real)
	return err != nil || !filepath.IsLocal(rel)
}

// readOpen reads an open regular file of bounded size.
func readOpen(f *os.File, name string) ([]byte, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("not a regular file")}
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errTooLarge}
	}
	return text, err
}

// ReadDir implements parser.Lister: what is in a folder, in the order of names.
func (w *within) ReadDir(name string) ([]fs.DirEntry, error) {
	abs, err := filepath.Abs(filepath.FromSlash(name))
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	for i, base := range w.roots {
		at, err := filepath.Rel(base, abs)
		if err != nil || !filepath.IsLocal(at) || i > 0 && hidden(at) {
			continue
		}
		root, err := os.OpenRoot(base)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		defer root.Close()
		return fs.ReadDir(root.FS(), filepath.ToSlash(at))
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: errOutside}
}
