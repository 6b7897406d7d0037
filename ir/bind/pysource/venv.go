package pysource

import (
	"os"
	"path/filepath"

	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/internal/programs"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
)

// activeVenv is the virtual environment of the shell, if there is one, for a workflow in dir. Where it belongs to the same
// repository, no link leads out of that.
func activeVenv(dir string) *foreign.Folder {
	name := os.Getenv("VIRTUAL_ENV")
	if name == "" {
		return nil
	}
	abs, err := filepath.Abs(name)
	if err != nil || !files.IsFile(filepath.Join(abs, "pyvenv.cfg")) {
		return nil
	}
	return &foreign.Folder{Disk: abs, Typed: filepath.Base(abs), Root: programs.Holding(programs.Strangers(dir), abs)}
}
