package exectool

import (
	"os"

	"golang.org/x/sys/unix"
)

const openFiles = 4096

// limit sets what a command without isolation may use: no core dumps, three quarters of the machine's memory for each process,
// and open files. A limit that is lower already stays. The process runs already, so this is no wall, and a failure no error.
func limit(p *os.Process) {
	limits := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: openFiles}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		limits[unix.RLIMIT_DATA] = uint64(info.Totalram) * uint64(info.Unit) / 4 * 3
	}
	for resource, most := range limits {
		var have unix.Rlimit
		if unix.Prlimit(p.Pid, resource, nil, &have) == nil && have.Max > most {
			_ = unix.Prlimit(p.Pid, resource, &unix.Rlimit{Cur: min(have.Cur, most), Max: most}, nil)
		}
	}
}

// await blocks until the first process has ended, and leaves it a zombie: as
// long as it is one, its number and its group's cannot be given to others, and
// killGroup cannot hit a stranger.
func (p *process) await() {
	for {
		err := unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}

// reap collects the ended process. The state in cmd says how it ended.
func (p *process) reap() { _ = p.cmd.Wait() }
