package pytool

import "io/fs"

// Below is the folder dir, slash-separated, of files: where the modules of a Source are when they are embedded from a
// folder below the Go file. A folder that is not there has no files.
func Below(files fs.FS, dir string) fs.FS {
	sub, err := fs.Sub(files, dir)
	if err != nil {
		return none{}
	}
	return sub
}

type none struct{}

func (none) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}
