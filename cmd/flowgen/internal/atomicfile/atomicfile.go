// Package atomicfile replaces files whole: whoever reads sees the old content or the new one.
package atomicfile

import (
	"fmt"
	"os"
	"path/filepath"
)

// Write puts data into the file name: into a new file next to it first, which then takes its place. The mode of an
// existing file is kept. A link to a file of the same folder stays one, and the file is replaced; any other link is an
// error, so that no repository decides which files of its user are written. The folder must exist.
func Write(name string, data []byte) (err error) {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		dir, err := filepath.EvalSymlinks(filepath.Dir(name))
		if err != nil {
			return err
		}
		if filepath.Dir(target) != dir {
			return fmt.Errorf("%s is a link to a file in another folder and is not written: remove the link", name)
		}
		name = target
	}
	mode := os.FileMode(0o666)
	st, statErr := os.Stat(name)
	if statErr == nil {
		mode = st.Mode().Perm()
	}
	// Not os.CreateTemp, whose files are private: a new file gets what the user's umask gives.
	f, err := create(name, mode)
	if err != nil {
		return err
	}
	temp := f.Name()
	defer func() {
		if err != nil {
			_ = os.Remove(temp)
		}
	}()
	if _, err = f.Write(data); err != nil {
		_ = f.Close()
		return err
	}
	if statErr == nil {
		if err = f.Chmod(mode); err != nil {
			_ = f.Close()
			return err
		}
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(temp, name)
}

// create makes a new file next to name, under a name that the go command does not look at.
func create(name string, mode os.FileMode) (*os.File, error) {
	dir, base := filepath.Split(name)
	for i := 0; ; i++ {
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf(".%s.%d-%d.tmp", base, os.Getpid(), i)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !os.IsExist(err) || i >= 1000 {
			return f, err
		}
	}
}
