// Package proc starts the processes of tools, so that they end with this program however it ends.
//
// On Linux they are children of a keeper: this program, started once more, which does nothing else. It adopts what tools leave
// behind, also what has left the group with setsid, and kills all of it when this program is gone, killed or not. Elsewhere, and
// where a keeper cannot be started, they are children of this program, and a process that it leaves behind when it is killed goes on.
package proc

import (
	"os/exec"
	"sync"
)

// A Child is a started process, the leader of a session and group of its own. It is safe for concurrent use.
type Child struct {
	// Pid is its number, and that of its group.
	Pid int

	exited chan struct{}
	state  State // once exited is closed

	mu      sync.Mutex
	reaped  bool // the number may be another's
	collect func()
	after   func() error
}

// State says how a process ended. The zero value is success.
type State struct {
	Lost   bool   // its end was not seen
	Code   int    // exit code
	Signal string // name of the signal that ended it, or ""
}

// Success says whether the process ended with code 0.
func (s State) Success() bool { return s == State{} }

// Start starts cmd as exec.Cmd.Start does, in a session of its own without a terminal. Standard streams are *os.File or nil.
// cmd is only read: neither its Process nor its ProcessState is set. The caller must call Reap.
func Start(cmd *exec.Cmd) (*Child, error) {
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	return start(cmd)
}

// Exited is closed when the process has ended. Others of its group may go on.
func (c *Child) Exited() <-chan struct{} { return c.exited }

// Terminate asks the group to end.
func (c *Child) Terminate() { c.each(terminate) }

// Kill ends the group. It does nothing after Reap.
func (c *Child) Kill() { c.each(kill) }

func (c *Child) each(send func(pid int)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reaped {
		send(c.Pid)
	}
}

// After has Reap call f, once, when the process is gone.
func (c *Child) After(f func() error) { c.after = f }

// Reap waits for the end of the process, kills what is left of its group and gives back what belonged to it. The error is that of
// After's function. Only the first call does anything.
func (c *Child) Reap() (State, error) {
	<-c.exited
	c.mu.Lock()
	first := !c.reaped
	if first {
		kill(c.Pid) // not collected yet, so the group's number cannot be another's
		c.reaped = true
		c.collect()
	}
	c.mu.Unlock()
	if !first || c.after == nil {
		return c.state, nil
	}
	return c.state, c.after()
}
