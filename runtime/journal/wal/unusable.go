package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// The errors of a store that cannot be used as it is. Where the cause is known, errors of a Disk, of a Log and of what builds upon them
// are one of these.
var (
	ErrFull     = errors.New("the store is full")
	ErrReadOnly = errors.New("the store cannot be written")
	ErrGone     = errors.New("the store is gone")
)

// Unusable says of an error of the operating system which of the three it is. Others stay as they are.
func Unusable(err error) error {
	kind := error(nil)
	switch {
	case err == nil, errors.Is(err, ErrFull), errors.Is(err, ErrReadOnly), errors.Is(err, ErrGone):
		return err
	case is(err, syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG):
		kind = ErrFull
	case is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		kind = ErrReadOnly
	case is(err, syscall.EIO, syscall.ESTALE, syscall.ENODEV, syscall.ENXIO, syscall.ENOTCONN, syscall.ETIMEDOUT):
		kind = ErrGone
	default:
		return err
	}
	return fmt.Errorf("%w: %w", kind, err)
}

func is(err error, codes ...syscall.Errno) bool {
	var code syscall.Errno
	if !errors.As(err, &code) {
		return false
	}
	for _, c := range codes {
		if code == c {
			return true
		}
	}
	return false
}

// Remedy says what makes a store usable again; it is empty for other errors.
func Remedy(err error) string {
	switch {
	case errors.Is(err, ErrFull):
		return "make room where the runs are"
	case errors.Is(err, ErrReadOnly):
		return "let this user write where the runs are"
	case errors.Is(err, ErrGone):
		return "bring the store back as it was"
	}
	return ""
}
