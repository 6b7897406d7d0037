package pysource

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
)

// activeVenv is the virtual environment of the shell, if there is one.
func activeVenv() *foreign.Folder {
	name := os.Getenv("VIRTUAL_ENV")
	if name == "" {
		return nil
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil
	}
	if st, err := os.Stat(filepath.Join(abs, "pyvenv.cfg")); err != nil || !st.Mode().IsRegular() {
		return nil
	}
	return &foreign.Folder{Disk: abs, Typed: filepath.Base(abs)}
}

// venvPython is the interpreter of a virtual environment.
func venvPython(venv foreign.Folder) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(venv.Disk, "Scripts", "python.exe")
	}
	return filepath.Join(venv.Disk, "bin", "python3")
}
