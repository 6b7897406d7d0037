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
	_ = f.Truncate(0)
	_, _ = f.WriteAt(ownerText(), 0) // for readers, which cannot ask for the lock without taking it
	return func() error {
		_ = f.Truncate(0)
		return f.Close()
	}, nil
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
