package mcptool

import (
	"golang.org/x/sys/unix"
)

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

// collect collects the ended process. The state in cmd says how it ended.
func (p *process) collect() { _ = p.cmd.Wait() }
