package wal

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// noFollow are the flags that open no link: openFile has looked already.
const noFollow = 0

// Lock locks a file next to the log, which stays: a lock on a file that is removed would keep nobody away.
func (osDisk) Lock(name string) (func() error, error) {
	f, err := openFile(name+".lock", os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, err
	}
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	if err != nil {
		if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
			err = ErrLocked
		}
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}

// isNoDirSync reports what Windows says of a folder: it cannot be synced, and need not be.
func isNoDirSync(err error) bool { return err != nil }

// owned is not known here.
func (osDisk) owned(string) bool { return false }

// removed is no question here: a file that is open stays.
func removed(*os.File) bool { return false }
