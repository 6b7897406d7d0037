//go:build unix

package wal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// noFollow are the flags that open no link and do not wait for the other end of a pipe.
const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK

// Lock locks a file next to the log, which stays: a lock on a file that is removed would keep nobody away.
func (osDisk) Lock(name string) (func() error, error) {
	f, err := openFile(name+".lock", os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrLocked
		}
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}

func isNoDirSync(err error) bool { return errors.Is(err, unix.EINVAL) }
