package bind

import (
	"path"
	"path/filepath"

	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/bind/pysource"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// Python is a reader of the Python that workflows name. The names of workflow files are relative to the working directory.
// Of opts it takes Overlay and Seen. It has to be closed.
func Python(opts Options) *pysource.Reader {
	folder := func(f *source.File) foreign.Folder {
		typed := path.Dir(f.Name)
		disk, err := filepath.Abs(filepath.FromSlash(typed))
		if err != nil {
			disk = typed
		}
		return foreign.Folder{Disk: disk, Typed: typed}
	}
	return pysource.NewReader(pysource.Options{Files: &foreign.Files{Overlay: opts.Overlay, Seen: opts.Seen}, Folder: folder})
}
