package main

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/expr"
)

// suffix of workflow files.
const suffix = ".flowgen.yaml"

// disk remembers the files of a compilation, which are read through a project. Names are slash-separated and relative to the
// folder the command runs in, or absolute.
type disk struct {
	texts map[string][]byte // by name as asked for
	names []string          // in order of first reading

	asked    map[string]bool   // files that were read or looked for; nil: nobody wants to know
	unsaved  map[string][]byte // of an editor, by absolute name, for bind; those of texts besides
	packages *bind.Cache       // nil: the go command is asked each time
	later    bool              // it is not asked now: see bind.Options
	look     func(n *expr.Node, env expr.Env)
}

func newDisk() *disk { return &disk{texts: map[string][]byte{}} }

// remember reads what was not read before. A file is read once, so that all that include it see the same text.
func (d *disk) remember(name string, read func() ([]byte, error)) ([]byte, error) {
	if d.asked != nil {
		d.asked[name] = true
	}
	if text, ok := d.texts[name]; ok {
		return text, nil
	}
	text, err := read()
	if err != nil {
		return nil, err
	}
	d.texts[name] = text
	d.names = append(d.names, name)
	return text, nil
}

// foldersHelp says how files are named.
const foldersHelp = "A folder stands for the *" + suffix + " files in it, FOLDER/... for those in it and below. Below, folders named\n" +
	"vendor, testdata or node_modules, or beginning with . or _, are left out."

// workflows turns arguments into names of workflow files: files as they are, folders into the workflows in them, dir/...
// into those in it and below, and no argument into those of the current folder. found tells that no file was named, so that files which only serve others
// may be left out.
func workflows(args []string) (names []string, found bool, err error) {
	if len(args) == 0 {
		names, err = inFolder(".")
		if err == nil && len(names) == 0 {
			err = unusablef("there is no *%s file in this folder; name a file or a folder", suffix)
		}
		return names, true, err
	}
	found = true
	for _, arg := range args {
		name := path.Clean(filepath.ToSlash(arg))
		list := inFolder
		if dir, deep := strings.CutSuffix(name, "..."); deep && path.Base(name) == "..." {
			name, list = path.Clean("./"+dir), below
			if path.IsAbs(dir) {
				name = path.Clean(dir)
			}
		}
		if !files.IsDir(filepath.FromSlash(name)) {
			names = append(names, name) // what is wrong with a file is the parser's to say
			found = false
			continue
		}
		inside, err := list(name)
		if err != nil {
			return nil, false, err
		}
		if len(inside) == 0 {
			return nil, false, noneIn(suffix, arg)
		}
		names = append(names, inside...)
	}
	seen := map[string]bool{}
	names = slices.DeleteFunc(names, func(n string) bool {
		dup := seen[n]
		seen[n] = true
		return dup
	})
	return names, found, nil
}

func inFolder(dir string) ([]string, error) {
	entries, err := files.List(filepath.FromSlash(dir))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && strings.HasSuffix(e.Name(), suffix) {
			names = append(names, path.Join(dir, e.Name()))
		}
	}
	return names, nil
}

// below lists the workflows in a folder and the folders below it. Symbolic links to folders are not followed.
func below(dir string) ([]string, error) {
	var names []string
	err := files.Walk(filepath.FromSlash(dir), func(name string, e fs.DirEntry, err error) error {
		slash := path.Clean(filepath.ToSlash(name))
		switch {
		case err != nil:
			return err
		case e.IsDir() && slash != path.Clean(dir) && leftOut(e.Name()):
			return filepath.SkipDir
		case !e.IsDir() && strings.HasSuffix(e.Name(), suffix):
			names = append(names, slash)
		}
		return nil
	})
	return names, err
}

func leftOut(folder string) bool {
	return slices.Contains([]string{"vendor", "testdata", "node_modules"}, folder) || strings.HasPrefix(folder, ".") || strings.HasPrefix(folder, "_")
}

// serving is what each workflow includes or calls, by its name.
func serving(list []*compiled) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, c := range list {
		out := map[string]bool{}
		all[path.Clean(c.name)] = out
		if c.workflow == nil {
			continue
		}
		var walk func(wf *ir.Workflow)
		seen := map[*ir.Workflow]bool{}
		walk = func(wf *ir.Workflow) {
			if seen[wf] {
				return
			}
			seen[wf] = true
			for _, f := range wf.Includes {
				if f.Module == "" {
					out[path.Clean(f.Name)] = true
				}
			}
			for _, child := range wf.Flows {
				if child.File != nil && child.File.Module == "" {
					out[path.Clean(child.File.Name)] = true
				}
				walk(child)
			}
		}
		walk(c.workflow)
	}
	return all
}
