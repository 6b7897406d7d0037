package proc

import (
	"os"
	"os/exec"
)

// direct starts a child of this program.
func direct(cmd *exec.Cmd) (*Child, error) {
	own := *cmd
	ownGroup(&own)
	if err := own.Start(); err != nil {
		return nil, err
	}
	c := &Child{Pid: own.Process.Pid, exited: make(chan struct{})}
	wait := func() { // collects it, and says how it ended
		_ = own.Wait()
		c.state = stateOf(own.ProcessState)
	}
	c.collect = func() {}
	go func() {
		if await(c.Pid) { // it has ended and is there yet: so its group's number cannot be another's
			c.collect = wait
		} else {
			wait()
		}
		close(c.exited)
	}()
	return c, nil
}

func stateOf(s *os.ProcessState) State {
	if s == nil {
		return State{Lost: true}
	}
	if name := signalName(s); name != "" {
		return State{Code: -1, Signal: name}
	}
	return State{Code: s.ExitCode()}
}
