package crash

import "golang.org/x/sys/unix"

// forks are the old system calls that make processes.
var forks = []uint32{unix.SYS_FORK, unix.SYS_VFORK}
