package parser

import (
	"io/fs"
	"path"
	"slices"

	"github.com/flowgen-dev/flowgen/ir/source"
)

// A Lister is Files whose folders can be looked through.
type Lister interface {
	Files
	// ReadDir is what is in a folder, in the order of names.
	ReadDir(name string) ([]fs.DirEntry, error)
}

// maxEntries bounds how many entries of a folder are looked at.
const maxEntries = 5000

// Folder implements dialect.Loader.
func (l *loader) Folder(from *source.File, dir string) (files, folders []string) {
	lister, ok := l.files.(Lister)
	if !ok {
		return nil, nil
	}
	entries, err := lister.ReadDir(path.Join(path.Dir(from.Name), dir))
	if err != nil {
		return nil, nil
	}
	for _, e := range entries {
		switch {
		case len(files)+len(folders) >= maxEntries:
		case e.IsDir():
			folders = append(folders, e.Name())
		default:
			files = append(files, e.Name())
		}
	}
	slices.Sort(files)
	slices.Sort(folders)
	return files, folders
}
