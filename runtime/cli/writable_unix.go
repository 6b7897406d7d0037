//go:build unix

package cli

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// writable says why nothing can be made in a folder.
func writable(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &fs.PathError{Op: "write to", Path: dir, Err: err}
	}
	return nil
}
