//go:build unix

package wal

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// noFollow are the flags that open no link and do not wait for the other end of a pipe.
const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK

// openStays: a file can be removed while somebody has it open.
const openStays = false

// Lock locks a file next to the log, which stays: a lock on a file that is removed would keep nobody away. Each run has one, so it is made
// with as few calls of the system as there can be.
func (osDisk) Lock(name string) (func() error, error) {
	name += ".lock"
	fd, fresh, err := lockFile(name)
	if err != nil {
		return nil, err
	}
	done := func() error {
		if err := unix.Close(fd); err != nil {
			return &os.PathError{Op: "close", Path: name, Err: err}
		}
		return nil
	}
	if err := retried(func() error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) }); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrLocked
		}
		return nil, errors.Join(err, done())
	}
	if !fresh {
		_ = unix.Ftruncate(fd, 0)
	}
	_, _ = unix.Pwrite(fd, ownerText(), 0) // for readers, which cannot ask for the lock without taking it
	return func() error {
		_ = unix.Ftruncate(fd, 0)
		return done()
	}, nil
}

// lockFile opens the file of a lock. A new one, which is not a link or device, needs no look at what it is.
func lockFile(name string) (fd int, fresh bool, err error) {
	open := func(flag int) error {
		return retried(func() (err error) {
			fd, err = unix.Open(name, unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC|noFollow|flag, 0o600)
			return err
		})
	}
	if err = open(unix.O_EXCL); err == nil {
		return fd, true, nil
	}
	if !errors.Is(err, unix.EEXIST) {
		return -1, false, &os.PathError{Op: "open", Path: name, Err: err}
	}
	if err := regular(name)(os.Lstat(name)); err != nil {
		return -1, false, err
	}
	var st unix.Stat_t
	if err = open(0); err == nil {
		if err = unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG { // it was replaced in between
			err = errors.ErrUnsupported
		}
		if err != nil {
			_ = unix.Close(fd)
		}
	}
	if err != nil {
		return -1, false, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return fd, false, nil
}

// retried calls again what a signal has interrupted.
func retried(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// ownerText says which process has a lock: its id, and when it began where that is known, since ids are used again.
var ownerText = sync.OnceValue(func() []byte {
	pid := os.Getpid()
	return []byte(strconv.Itoa(pid) + " " + beganAt(pid) + "\n")
})

// beganAt is when a process began, in the system's own unit; "-" where nobody says.
func beganAt(pid int) string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "-"
	}
	_, rest, _ := strings.Cut(string(data[bytes.LastIndexByte(data, ')')+1:]), " ")
	const field = 19 // the 22nd of all, behind the name in brackets
	if fields := strings.Fields(rest); len(fields) > field {
		return fields[field]
	}
	return "-"
}

func (osDisk) owned(name string) bool {
	data, _, err := OS.(Ranger).ReadRange(name+".lock", 0, 64)
	if err != nil {
		return false
	}
	id, began, _ := strings.Cut(strings.TrimSuffix(string(data), "\n"), " ")
	pid, err := strconv.Atoi(id)
	if err != nil || pid <= 0 {
		return false
	}
	if err := unix.Kill(pid, 0); err != nil && !errors.Is(err, unix.EPERM) {
		return false
	}
	return began == beganAt(pid)
}

func isNoDirSync(err error) bool { return errors.Is(err, unix.EINVAL) }

// removed reports whether a file has no name any more.
func removed(f *os.File) bool {
	var st unix.Stat_t
	c, err := f.SyscallConn()
	if err == nil {
		err = c.Control(func(fd uintptr) { err = unix.Fstat(int(fd), &st) })
	}
	return err == nil && st.Nlink == 0
}
