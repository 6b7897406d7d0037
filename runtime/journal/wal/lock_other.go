//go:build !unix && !windows

package wal

import (
	"errors"
	"os"
)

// noFollow are the flags that open no link: openFile has looked already.
const noFollow = 0

// openStays: nobody knows whether a file that is open can be removed, so that a lock is given up before.
const openStays = true

// Lock has nothing to lock files with here, such as in a browser.
func (osDisk) Lock(string) (func() error, error) {
	return nil, errors.New("this system has no file locks, so runs cannot be recorded in files")
}

// isNoDirSync reports what a system without folders that sync says.
func isNoDirSync(err error) bool { return errors.Is(err, errors.ErrUnsupported) }

// owned is not known here.
func (osDisk) owned(string) bool { return false }

// removed is not known here.
func removed(*os.File) bool { return false }
