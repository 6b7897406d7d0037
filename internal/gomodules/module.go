package gomodules

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/flowgen-dev/flowgen/internal/files"
)

// A Module is one whose files can be read.
type Module struct {
	ID   string // path@version; of a module of the workspace: its path
	Path string // what import paths of its packages begin with

	dir      string // absolute
	in       files.Roots
	vendored bool
	sums     map[string][sha256.Size]byte // of all files by name, as go.sum has them; nil: a folder without a hash
}

// The limits of a module whose files are compared with its hash.
const (
	maxHashed      = 20_000
	maxHashedBytes = 256 << 20
)

// verify compares all files of a module with its hash in go.sum. The go command does so when it fetches a module, and not again;
// what is compiled here is in no package that its build cache knows.
func (m *Module) verify(name, sum string) error {
	list, err := m.list(".", nil)
	if err != nil {
		return err
	}
	m.sums = make(map[string][sha256.Size]byte, len(list))
	named, size := make([]string, 0, len(list)), 0
	for _, rel := range list {
		named = append(named, name+"/"+rel)
	}
	have, err := dirhash.Hash1(named, func(named string) (io.ReadCloser, error) {
		rel := strings.TrimPrefix(named, name+"/")
		text, err := m.in.ReadFile(m.disk(rel), maxHashedBytes)
		if size += len(text); size > maxHashedBytes {
			return nil, tooMuch(m.ID)
		}
		if err != nil {
			return nil, m.unreadable(err)
		}
		m.sums[rel] = sha256.Sum256(text)
		return io.NopCloser(bytes.NewReader(text)), nil
	})
	if err != nil {
		return err
	}
	if have != sum {
		return m.changed()
	}
	return nil
}

func (m *Module) changed() error {
	return &Error{"the files of module " + m.ID + " in the module cache are not those whose hash go.sum has",
		"run `go clean -modcache`, then `go mod download`; if that does not help, find out who changed the module or go.sum"}
}

func (m *Module) unreadable(err error) error {
	return &Error{"module " + m.ID + " cannot be read: " + files.Reason(err), "run `go mod download`"}
}

// list adds the names of all files below a folder of the module.
func (m *Module) list(dir string, to []string) ([]string, error) {
	entries, err := m.in.ReadDir(m.disk(dir))
	if err != nil {
		return nil, m.unreadable(err)
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case len(to) >= maxHashed || strings.Count(name, "/") > 100:
			return nil, tooMuch(m.ID)
		case e.IsDir():
			if to, err = m.list(name, to); err != nil {
				return nil, err
			}
		case !e.Type().IsRegular():
			return nil, m.changed()
		default:
			to = append(to, name)
		}
	}
	return to, nil
}

func (m *Module) disk(rel string) string { return filepath.Join(m.dir, filepath.FromSlash(rel)) }

// Disk is the absolute name of a file, for caches of this machine.
func (m *Module) Disk(rel string) string { return m.disk(rel) }

// ReadFile reads a regular file of at most max bytes. No name and no link leads out of the module. The error is an *Error, or
// one of io/fs.
func (m *Module) ReadFile(rel string, max int) ([]byte, error) {
	if !filepath.IsLocal(filepath.FromSlash(rel)) {
		return nil, files.ErrOutside
	}
	want, known := m.sums[rel]
	if m.sums != nil && !known {
		return nil, &fs.PathError{Op: "open", Path: rel, Err: fs.ErrNotExist}
	}
	if m.sums == nil && m.inner(rel) {
		return nil, &Error{"`" + m.Path + "/" + rel + "` is a file of another module", "name that module, as in `go:` and its path"}
	}
	text, err := m.in.ReadFile(m.disk(rel), max)
	switch {
	case err != nil && m.vendored && errors.Is(err, fs.ErrNotExist):
		return nil, &Error{"the vendor folder does not have " + m.ID + "/" + rel,
			"`go mod vendor` copies the folders of packages: import the package of that folder in a Go file, as in `import _ \"" + path.Join(m.Path, path.Dir(rel)) + "\"`"}
	case err == nil && known && sha256.Sum256(text) != want:
		return nil, m.changed()
	}
	return text, err
}

// inner tells a file of another module that is below the folder of this one.
func (m *Module) inner(rel string) bool {
	for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
		if _, err := m.in.Stat(m.disk(path.Join(dir, "go.mod"))); err == nil {
			return true
		}
	}
	return false
}
