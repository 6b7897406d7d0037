package pysource

import (
	"os"
	"path/filepath"

	"github.com/flowgen-dev/flowgen/internal/programs"
)

// interpreter finds the user's own Python: what FLOWGEN_PYTHON names, else python3 or python in PATH, but never one that
// lies in one of the folders, or that a link there leads to. At run time a program takes the one that it was given.
func interpreter(strange []string) (string, error) {
	none := errNoPython
	for _, name := range []string{os.Getenv("FLOWGEN_PYTHON"), "python3", "python"} {
		switch {
		case name == "":
			continue
		case filepath.Base(name) != name:
			if exe, err := filepath.Abs(name); err == nil && programs.Runnable(exe) {
				if programs.Own(exe, strange) {
					return exe, nil
				}
				none = errNoOwnPython
			}
		default:
			exe, refused := programs.Find(name, strange)
			if exe != "" {
				return exe, nil
			}
			if refused != "" {
				none = errNoOwnPython
			}
		}
		if name == os.Getenv("FLOWGEN_PYTHON") && none == errNoPython {
			break // the user wants that one
		}
	}
	return "", none
}

// settings are the variables that an interpreter may need to start: where the user's files are, and which of several
// interpreters a version manager takes.
var settings = []string{
	"HOME", "PYENV_ROOT", "PYENV_VERSION", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR",
	"USERPROFILE", "APPDATA", "LOCALAPPDATA", "SYSTEMROOT", "SYSTEMDRIVE", "PATHEXT",
}

// environment is all that the interpreter sees.
func environment(strange []string) []string {
	env := []string{"PATH=" + programs.OwnPath(os.Getenv("PATH"), strange)}
	for _, name := range settings {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}
