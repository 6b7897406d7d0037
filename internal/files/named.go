package files

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// What follows is for names that the user has typed, or that follow from nothing but where the user is: they may be
// anywhere. A name that a file says has to go through Roots.

// Read reads a regular file of at most max bytes, wherever it is.
func Read(name string, max int) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f, name, max)
}

// IsFile reports whether a name leads to a regular file.
func IsFile(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.Mode().IsRegular()
}

// IsDir reports whether a name leads to a folder.
func IsDir(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.IsDir()
}

// Exists reports whether there is anything by that name, be it a link that leads nowhere.
func Exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// Lstat describes a name without following a link.
func Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }

// List lists a folder in the order of names.
func List(dir string) ([]fs.DirEntry, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return list(f)
}

func list(f *os.File) ([]fs.DirEntry, error) {
	entries, err := f.ReadDir(maxNames)
	if len(entries) > 0 {
		err = nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, err
}

// Walk visits a folder and what is below it, see filepath.WalkDir. Links to folders are not followed.
func Walk(dir string, visit fs.WalkDirFunc) error { return filepath.WalkDir(dir, visit) }
