package worker

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// set sets the limits of a process that has not read its first frame yet, and so has run nothing of a tool.
func (l Limits) set(pid int) error {
	if err := unix.Prlimit(pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil); err != nil {
		return fmt.Errorf("core dumps could not be switched off: %w", err)
	}
	for _, x := range []struct {
		what  int
		limit uint64
		name  string
	}{
		{unix.RLIMIT_DATA, l.Data, "memory"},
		{unix.RLIMIT_FSIZE, l.FileSize, "file size"},
		{unix.RLIMIT_NOFILE, l.OpenFiles, "open files"},
		{unix.RLIMIT_CPU, l.CPU, "CPU time"},
	} {
		if x.limit == 0 {
			continue
		}
		if err := unix.Prlimit(pid, x.what, &unix.Rlimit{Cur: x.limit, Max: x.limit}, nil); err != nil {
			return fmt.Errorf("the limit of %s could not be set: %w", x.name, err)
		}
	}
	return nil
}

// widen gives a pipe more room, so that a large frame does not need the other side to take turns. Without it all works.
func widen(f *os.File) {
	c, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeRoom) })
}

const pipeRoom = 256 << 10
