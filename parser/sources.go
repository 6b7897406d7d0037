package parser

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/source"
)

// A Lister is Files whose folders can be looked through.
type Lister interface {
	Files
	// ReadDir is what is in a folder, in the order of names.
	ReadDir(name string) ([]fs.DirEntry, error)
}

// The bounds of looking through a project: folders above the workflow's, folders within folders, entries, files, and the
// bytes of one.
const (
	maxAbove   = 4
	maxBelow   = 8
	maxEntries = 5000
	maxSources = 400
	maxSource  = 512 << 10
)

// rootMarks are the files that the root of a project has.
var rootMarks = []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", ".git"}

// notLooked are folders that hold what is not the project's own.
var notLooked = []string{"node_modules", "venv", "env", "site-packages", "__pycache__", "build", "dist"}

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

// Sources implements dialect.Loader.
func (l *loader) Sources(from *source.File, ext string) (root string, files []*source.File) {
	lister, ok := l.files.(Lister)
	if !ok {
		return "", nil
	}
	root = projectOf(lister, path.Dir(from.Name))
	s := &search{loader: l, lister: lister, ext: ext}
	s.folder(root, 0)
	return root, s.found
}

// projectOf is the folder that holds the project of a workflow in dir: the nearest with a mark, else the one that the
// command runs in, where the workflow is below it, else dir.
func projectOf(l Lister, dir string) string {
	for at, i := dir, 0; i <= maxAbove; at, i = path.Join(at, ".."), i+1 {
		entries, err := l.ReadDir(at)
		if err != nil {
			break
		}
		for _, e := range entries {
			if slices.Contains(rootMarks, e.Name()) {
				return at
			}
		}
		if at == "/" {
			break
		}
	}
	if path.IsAbs(dir) || dir == ".." || strings.HasPrefix(dir, "../") {
		return dir
	}
	return "."
}

// A search looks for the source files of a project.
type search struct {
	*loader
	lister  Lister
	ext     string
	entries int
	found   []*source.File
}

func (s *search) folder(dir string, depth int) {
	entries, err := s.lister.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		name := e.Name()
		if s.entries++; s.entries > maxEntries || len(s.found) >= maxSources {
			return
		}
		switch {
		case strings.HasPrefix(name, ".") || slices.Contains(notLooked, name):
		case e.IsDir():
			if depth < maxBelow {
				s.folder(path.Join(dir, name), depth+1)
			}
		case e.Type().IsRegular() && path.Ext(name) == s.ext:
			if data, err := s.files.ReadFile(path.Join(dir, name)); err == nil && len(data) <= maxSource {
				s.found = append(s.found, source.NewFile(path.Join(dir, name), string(data)))
			}
		}
	}
}
