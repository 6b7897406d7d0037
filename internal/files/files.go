// Package files is how the compiler reads a disk: regular files of bounded size, below the folders that belong to what is
// compiled. Nothing else in the compiler opens a file; a test of the module sees to that.
//
// A workflow is data from anywhere. What it names must put no file of this machine into a program or a message, and must
// not make the compiler wait or swell, so that a name is opened through an os.Root, which no link leads out of.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Max is the size of the largest file that is read, in bytes.
const Max = 16 << 20

// maxNames bounds the names of a folder.
const maxNames = 100_000

var (
	// ErrOutside is the error of a name that leads out of its folders, by itself or through a link.
	ErrOutside = errors.New("it is outside the project")
	// ErrIrregular is the error of a folder, a pipe, a device or a socket.
	ErrIrregular = errors.New("not a regular file")
)

// A Root is a folder whose files may be read.
type Root struct {
	Dir    string // absolute
	Hidden bool   // with the files whose names, or those of their folders below Dir, begin with a dot
}

// holds reports the place of an absolute name below the root, without looking at the disk.
func (r Root) holds(abs string) (rel string, ok bool) {
	rel, err := filepath.Rel(r.Dir, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return rel, r.Hidden || rel == "." || !strings.HasPrefix(rel, ".") && !strings.Contains(rel, string(filepath.Separator)+".")
}

// Roots are the folders that belong to what is compiled. The first that holds a name is the one it is opened through.
type Roots []Root

// Hold reports whether a name is below one of the folders, without looking at the disk.
func (r Roots) Hold(name string) bool {
	abs, err := filepath.Abs(name)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(r, func(in Root) bool { _, ok := in.holds(abs); return ok })
}

// in opens the folder that holds a name, relative to the working directory or absolute, and tells the name there.
func (r Roots) in(name string, use func(root *os.Root, rel string) error) error {
	abs, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	for _, in := range r {
		rel, ok := in.holds(abs)
		if !ok {
			continue
		}
		root, err := os.OpenRoot(in.Dir)
		if err != nil {
			return err
		}
		defer root.Close()
		err = use(root, rel)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && (escapes(in.Dir, abs) || strings.HasSuffix(err.Error(), "path escapes from parent")) {
			break
		}
		return err
	}
	return &fs.PathError{Op: "read", Path: name, Err: ErrOutside}
}

// open opens a name. There is no second look at it: what is read is what was opened. Opening a pipe does not wait.
func (r Roots) open(name string) (f *os.File, err error) {
	err = r.in(name, func(root *os.Root, rel string) error {
		f, err = root.OpenFile(rel, os.O_RDONLY|noWait, 0)
		return err
	})
	return f, err
}

// escapes reports whether links lead a name out of the root.
func escapes(root, name string) bool {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return false
	}
	home, err := filepath.EvalSymlinks(root)
	return err == nil && !Within(home, real)
}

// Within reports whether a name is a folder or below it, by its text alone.
func Within(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}

// ReadFile reads a regular file of at most max bytes. The error is ErrOutside where the name, or a link, leads out of all
// roots.
func (r Roots) ReadFile(name string, max int) ([]byte, error) {
	f, err := r.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f, name, max)
}

// read reads an open file, which is the caller's to close.
func read(f *os.File, name string, max int) ([]byte, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: ErrIrregular}
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(max)+1))
	if err == nil && len(text) > max {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("larger than %d MiB", max>>20)}
	}
	return text, err
}

// ReadDir lists a folder in the order of names.
func (r Roots) ReadDir(name string) ([]fs.DirEntry, error) {
	f, err := r.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return list(f)
}

// Stat describes what a name leads to, through links that stay inside.
func (r Roots) Stat(name string) (st fs.FileInfo, err error) {
	err = r.in(name, func(root *os.Root, rel string) error {
		st, err = root.Stat(rel)
		return err
	})
	return st, err
}

// Real is the absolute name that a name has without links. The error is ErrOutside where they lead out of all roots.
func (r Roots) Real(name string) (string, error) {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", err
	}
	for _, in := range r {
		home, err := filepath.EvalSymlinks(in.Dir)
		if err != nil {
			continue
		}
		if rel, ok := (Root{home, in.Hidden}).holds(real); ok {
			return filepath.Join(in.Dir, rel), nil
		}
	}
	return "", &fs.PathError{Op: "read", Path: name, Err: ErrOutside}
}
