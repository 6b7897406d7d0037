package wal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// OpenFile opens a file of the operating system's disk for reading from its beginning, and says its size. Other disks have no such files:
// the error is errors.ErrUnsupported.
func OpenFile(disk Disk, name string) (file io.ReadCloser, size int64, err error) {
	if disk != OS {
		return nil, 0, errors.ErrUnsupported
	}
	f, err := openFile(name, os.O_RDONLY)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// Replace puts what write writes in the place of a file of the operating system's disk, or makes the file. Nothing is forced to the disk,
// and two that do it at the same time may leave a mixture: it is for files that say themselves whether they are whole.
func Replace(disk Disk, name string, write func(io.Writer) error) error {
	if disk != OS {
		return errors.ErrUnsupported
	}
	dir, err := os.Lstat(filepath.Dir(name))
	if err != nil {
		return err
	}
	if !dir.IsDir() {
		return fmt.Errorf("%s is not a folder", filepath.Dir(name))
	}
	fresh := name + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := openFile(fresh, os.O_CREATE|os.O_WRONLY|os.O_EXCL)
	if err != nil {
		return err
	}
	if err = errors.Join(write(f), f.Close()); err == nil {
		err = os.Rename(fresh, name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	return nil
}
