package wal

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// noFollow are the flags that open no link: openFile has looked already.
const noFollow = 0

// openStays: a file that is open cannot be removed, so that a lock has to be given up before.
const openStays = true

// The byte at ownsByte of a lock's file is locked by who has the log, for good. Who has it then locks the one at tellsByte too, which
// others try in order to ask: they lock it for a moment, and keep nobody away by that.
const ownsByte, tellsByte = 0, 1

// Lock locks a file next to the log, which stays: a lock on a file that is removed would keep nobody away.
func (osDisk) Lock(name string) (func() error, error) {
	f, err := openFile(name+".lock", os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, err
	}
	err = lockByte(f, ownsByte, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY)
	if err == nil {
		err = lockByte(f, tellsByte, windows.LOCKFILE_EXCLUSIVE_LOCK)
	}
	if err != nil {
		if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
			err = ErrLocked
		}
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}

func (osDisk) owned(name string) bool {
	f, err := openFile(name+".lock", os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(lockByte(f, tellsByte, windows.LOCKFILE_FAIL_IMMEDIATELY), windows.ERROR_LOCK_VIOLATION)
}

// lockByte locks one byte of a file, which need not be there, until the file is closed.
func lockByte(f *os.File, at, flags uint32) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{Offset: at})
}

// isNoDirSync reports what Windows says of a folder: it cannot be synced, and need not be.
func isNoDirSync(err error) bool { return err != nil }

// removed is no question here: a file that is open stays.
func removed(*os.File) bool { return false }
