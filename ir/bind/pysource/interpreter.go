package pysource

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/files"
)

// strangers are the folders that may hold what a stranger has written, for a workflow in dir: its project, and the
// repositories of the project and of the working directory.
func strangers(dir string) []string {
	var out []string
	add := func(name string) {
		if name != "" && name != filepath.Dir(name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	add(files.Repository(dir)) // the largest first
	if project := files.Project(filepath.Join(dir, "x")); len(project) > 0 {
		add(project[0].Dir)
	}
	if here, err := os.Getwd(); err == nil {
		add(files.Repository(here))
	}
	return out
}

// holding is the folder among dirs that a name is in, by its text or by where links lead; "" for none.
func holding(dirs []string, name string) string {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		real = name
	}
	for _, dir := range dirs {
		home, err := filepath.EvalSymlinks(dir)
		if err != nil {
			home = dir
		}
		if files.Within(dir, name) || files.Within(home, name) || files.Within(home, real) {
			return dir
		}
	}
	return ""
}

// interpreter finds the user's own Python: what FLOWGEN_PYTHON names, else python3 or python in PATH, but never one that
// lies in one of the folders, or that a link there leads to. At run time a program takes the one that it was given.
func interpreter(strange []string) (string, error) {
	none := errNoPython
	try := func(exe string) bool {
		if !runnable(exe) {
			return false
		}
		if own(exe, strange) {
			return true
		}
		none = errNoOwnPython
		return false
	}
	for _, name := range []string{os.Getenv("FLOWGEN_PYTHON"), "python3", "python"} {
		switch {
		case name == "":
			continue
		case filepath.Base(name) != name:
			if exe, err := filepath.Abs(name); err == nil && try(exe) {
				return exe, nil
			}
		default:
			for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
				for _, end := range executableEnds() {
					if exe := filepath.Join(dir, name+end); filepath.IsAbs(dir) && try(exe) {
						return exe, nil
					}
				}
			}
		}
		if name == os.Getenv("FLOWGEN_PYTHON") && none == errNoPython {
			break // the user wants that one
		}
	}
	return "", none
}

func executableEnds() []string {
	if runtime.GOOS == "windows" {
		return []string{".exe", ".bat", ".cmd"}
	}
	return []string{""}
}

func runnable(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.Mode().IsRegular() && (runtime.GOOS == "windows" || st.Mode()&0o111 != 0)
}

// own reports whether neither a program nor a link on the way to it lies in one of the folders.
func own(name string, strange []string) bool {
	for range 40 {
		dir, err := filepath.EvalSymlinks(filepath.Dir(name))
		if err != nil || holding(strange, filepath.Dir(name)) != "" || holding(strange, filepath.Join(dir, filepath.Base(name))) != "" {
			return false
		}
		to, err := os.Readlink(filepath.Join(dir, filepath.Base(name)))
		if err != nil {
			return true // no link
		}
		if name = to; !filepath.IsAbs(to) {
			name = filepath.Join(dir, to)
		}
	}
	return false
}

// ownPath is PATH without folders that depend on where the command runs, and without those of strangers.
func ownPath(strange []string) []string {
	return slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool {
		return !filepath.IsAbs(dir) || holding(strange, dir) != ""
	})
}

// settings are the variables that an interpreter may need to start: where the user's files are, and which of several
// interpreters a version manager takes.
var settings = []string{
	"HOME", "PYENV_ROOT", "PYENV_VERSION", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR",
	"USERPROFILE", "APPDATA", "LOCALAPPDATA", "SYSTEMROOT", "SYSTEMDRIVE", "PATHEXT",
}

// environment is all that the interpreter sees.
func environment(strange []string) []string {
	env := []string{"PATH=" + strings.Join(ownPath(strange), string(filepath.ListSeparator))}
	for _, name := range settings {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}
