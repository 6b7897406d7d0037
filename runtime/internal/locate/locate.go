// Package locate finds the programs of commands. It starts none: every compiled workflow asks here whether they are there.
package locate

import (
	"os"
	"path/filepath"
	"strings"
)

// RootEnv names the folder that programs named by a relative path are found from: the workflow's, when flowgen runs it.
const RootEnv = "FLOWGEN_ROOT"

// Root is that folder, "" for the working directory.
func Root() string { return os.Getenv(RootEnv) }

// Program is what to start for the program of a command: a relative path with a slash goes on from Root, a name without one is
// looked up in PATH.
func Program(name string) string {
	if root := Root(); root != "" && relative(name) {
		return filepath.Join(root, filepath.FromSlash(name))
	}
	return name
}

func relative(name string) bool { return strings.Contains(name, "/") && !filepath.IsAbs(name) }

// Missing returns the place where the program of a command is looked for, when it is a relative path and is not there.
func Missing(name string) (place string, missing bool) {
	if !relative(name) {
		return "", false
	}
	if _, err := os.Stat(Program(name)); err == nil {
		return "", false
	}
	place, err := filepath.Abs(Program(name))
	if err != nil {
		place = Program(name)
	}
	return place, true
}
