package exectool

import (
	"context"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/internal/isolate"
	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// run executes c and returns its standard output, which has at most so many bytes; with 0 it is not kept.
// When it returns, the process is reaped, its group is gone, and no goroutine
// or descriptor of the call is left.
func run(ctx context.Context, c *Command, most int) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, ended(c, err, "")
	}
	if c.Err != nil {
		return nil, c.Err
	}
	if err := withSecrets(ctx, c); err != nil {
		return nil, err
	}
	cmd, err := prepare(c)
	if err != nil {
		return nil, err
	}
	s, err := openStreams(cmd, c, most)
	if err != nil {
		return nil, notStarted(c, err)
	}
	atExit()
	child, err := start(ctx, cmd)
	s.closeChildEnds()
	if err != nil {
		s.close()
		return nil, notStarted(c, err)
	}
	s.stdout.log, s.stderr.log = tool.Context(ctx), tool.Context(ctx)
	s.copy()

	stopped, state, err := end(ctx, child, s)
	if err != nil {
		return nil, err
	}
	switch {
	case s.stdout.exceeded():
		return nil, tooLarge(c, most)
	case stopped:
		return nil, ended(c, ctx.Err(), s.stderr.Text())
	}
	if err := exitError(c, state, &s.stderr); err != nil {
		return nil, err
	}
	return s.stdout.buf, nil
}

// atExit makes compiled binaries wait for the end of what commands have left behind.
var atExit = sync.OnceFunc(func() { runtime.AtExit(proc.Close) })

// start starts cmd in the isolation of the call.
func start(ctx context.Context, cmd *exec.Cmd) (*proc.Child, error) {
	switch i := tool.Isolated(ctx).(type) {
	case nil:
		child, err := proc.Start(cmd)
		if err == nil {
			limit(child.Pid)
		}
		return child, err
	case isolate.Starter:
		return i.Start(cmd, isolate.Need{})
	default:
		return nil, value.Errorf(value.SandboxError, "the isolation of the tool cannot start commands")
	}
}

// grace is Grace; a test that must not depend on time has another.
var grace = Grace

// end waits for the command and its streams, stopping the group when the
// context ends or the output is too large, and reports whether it was stopped. The
// error is the isolation's.
func end(ctx context.Context, child *proc.Child, s *streams) (stopped bool, state proc.State, err error) {
	select {
	case <-child.Exited():
	case <-ctx.Done():
		stopped = true
	case <-s.stdout.over:
		stopped = true
	}
	if stopped {
		child.Terminate()
		proc.Within(grace, child.Exited())
	} else {
		// Background children may still be writing into the pipes.
		stopped = s.drain(ctx)
	}
	child.Kill()
	state, err = child.Reap() // even after a normal end something may be left in the group
	// Only a process that left the group can keep the pipes open now.
	proc.Within(grace, s.done)
	s.close()
	<-s.done
	<-s.fed
	return stopped, state, err
}

// streams are the parent's ends of a command's standard streams.
type streams struct {
	in       *os.File // nil when there is no input
	out, err *os.File
	child    []*os.File
	stdin    string
	stdout   capped
	stderr   ends
	done     chan struct{} // closed when both outputs have ended
	fed      chan struct{} // closed when the input is written or given up
}

func openStreams(cmd *exec.Cmd, c *Command, most int) (_ *streams, err error) {
	s := &streams{stdin: c.Stdin, done: make(chan struct{}), fed: make(chan struct{})}
	s.stdout = capped{keep: most > 0, max: int64(most), over: make(chan struct{})}
	defer func() {
		if err != nil {
			s.closeChildEnds()
			s.close()
		}
	}()
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	var outW, errW, inR *os.File
	s.out, outW = pipe()
	s.err, errW = pipe()
	if s.stdin != "" {
		inR, s.in = pipe()
	}
	s.child = []*os.File{outW, errW, inR}
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = outW, errW
	if inR != nil { // a nil *os.File in the interface would not be /dev/null
		cmd.Stdin = inR
	}
	return s, nil
}

// copy starts moving data. Reading never stops before the end of a stream, so
// the command is not blocked by what is thrown away.
func (s *streams) copy() {
	errDone := make(chan struct{})
	go func() {
		defer close(errDone)
		// A read fails only when end has closed the pipe: what was read stands.
		_, _ = io.Copy(&s.stderr, s.err)
	}()
	go func() {
		defer close(s.done)
		_, _ = io.Copy(&s.stdout, s.out)
		<-errDone
	}()
	go func() {
		defer close(s.fed)
		if s.in != nil {
			// A command is free not to read its input: a broken pipe is not an error.
			_, _ = io.WriteString(s.in, s.stdin)
			_ = s.in.Close()
		}
	}()
}

// drain gives the streams Grace to end after the command itself has, and
// reports whether the context or the cap ended that early.
func (s *streams) drain(ctx context.Context) (stopped bool) {
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-s.done:
	case <-t.C:
	case <-s.stdout.over:
		return true
	case <-ctx.Done():
		return true
	}
	return false
}

func (s *streams) closeChildEnds() { proc.CloseAll(s.child...) }

// close ends the copying goroutines that are still running.
func (s *streams) close() { proc.CloseAll(s.in, s.out, s.err) }
