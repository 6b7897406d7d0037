package files

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
)

// Reason says why a file cannot be read or written, without its name.
func Reason(err error) string {
	var p *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no such file"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.Is(err, syscall.ENXIO):
		return ErrIrregular.Error()
	case errors.Is(err, syscall.ELOOP):
		return "its links form a cycle"
	case errors.Is(err, syscall.ENAMETOOLONG):
		return "its name is too long"
	case errors.Is(err, syscall.ENOTDIR):
		return "a part of its path is a file"
	case errors.As(err, &p):
		return p.Err.Error()
	}
	return err.Error()
}

// Message is err as a user reads it: the file and the reason instead of the system call.
func Message(err error) string {
	var p *fs.PathError
	if !errors.As(err, &p) {
		return err.Error()
	}
	verb := "cannot write "
	switch p.Op {
	case "open", "openat":
		verb = "cannot open "
	case "read", "stat", "lstat", "readlink", "fstatat", "readdirent":
		verb = "cannot read "
	}
	return strings.Replace(err.Error(), p.Error(), verb+p.Path+": "+Reason(p), 1)
}
