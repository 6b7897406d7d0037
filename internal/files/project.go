package files

import (
	"os"
	"path/filepath"
)

// marks are what a project's folder holds; those of the first list before those of the second, however far up they are.
var marks = [][]string{{"go.mod", "go.work", ".git"}, {"package.json", "pyproject.toml"}}

// Project are the folders whose files a workflow file may name. The first is its project: the nearest folder above it with
// a go.mod, a go.work or a .git, else with a package.json or a pyproject.toml; without any it is the file's own folder.
// Where that is below the working directory, the latter's files may be named as well, but for hidden ones.
func Project(file string) Roots {
	own, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return nil
	}
	project := own
	for _, any := range marks {
		if dir := above(own, any); dir != "" {
			project = dir
			break
		}
	}
	roots := Roots{{Dir: project, Hidden: true}}
	if here, err := os.Getwd(); err == nil && here != project && Within(here, project) {
		roots = append(roots, Root{Dir: here})
	}
	return roots
}

// above is the nearest folder at or above dir that has a mark, "" when there is none.
func above(dir string, marks []string) string {
	for {
		for _, m := range marks {
			if Exists(filepath.Join(dir, m)) {
				return dir
			}
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// Repository is the outermost folder that a folder is a part of: what came with it, perhaps from a stranger. Marks in the
// user's home, in folders above it and in the root of the disk do not count: what is below them is the user's. It is "" for a
// folder that is part of nothing.
func Repository(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	home, _ := os.UserHomeDir()
	out := ""
	for up := dir; up != filepath.Dir(up); up = filepath.Dir(up) {
		if home != "" && Within(up, filepath.Clean(home)) {
			break
		}
		for _, any := range marks {
			for _, m := range any {
				if Exists(filepath.Join(up, m)) {
					out = up
				}
			}
		}
	}
	return out
}
