package worker

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

type state uint8

const (
	live    state = iota
	retired       // finishes what it has and is then killed, or closed
	dying         // killed, or found dead
)

// process is one worker. The pool's lock guards everything but lanes, which lock themselves, and what never changes.
type process struct {
	pool   *Pool
	holder string
	cmd    *exec.Cmd
	child  *proc.Child
	end    proc.State // once exited is closed
	lanes  []*lane
	out    *os.File // frames from the worker
	prints *os.File // its standard output and standard error
	tail   proc.Tail
	exited chan struct{} // closed when the process has ended, and nobody but bury says why
	gone   chan struct{} // closed when nothing is left of it

	// Whoever has put something into turn reads frames.
	turn   chan struct{}
	in     *bufio.Reader // of out
	part   *partial      // a frame that has not come whole
	ready  bool          // the first frame has come
	broken error         // nothing more can be read

	state   state
	cause   *cause // why it was killed
	closing bool   // retired for good
	used    uint64
	last    uint32 // id given last
	flights map[uint32]*flight
	first   *flight // the one in lane 0
	alone   bool
	late    int          // flights whose context has ended
	peak    atomic.Int64 // flights at a time, at most

	gauge *gauge // used by the call that has the turn
	leak  *cause // what it has too much of
}

func (w *process) takes(holder string) bool {
	return w.state == live && !w.alone && w.holder == holder
}

// launch starts a worker and waits until it is ready. It is then one of the pool's.
func (p *Pool) launch(holder string) (*process, error) {
	setup, err := p.config.Setup()
	if err != nil {
		p.life.Done()
		return nil, p.failed(err)
	}
	w := &process{pool: p, holder: holder, flights: map[uint32]*flight{},
		turn: make(chan struct{}, 1), exited: make(chan struct{}), gone: make(chan struct{})}
	child, err := w.prepare()
	if err == nil {
		begun := make(chan error, 1)
		go w.supervise(begun)
		err = <-begun
	}
	proc.CloseAll(child...)
	if err != nil {
		w.closeFiles()
		p.life.Done()
		return nil, p.failed(err)
	}
	p.mu.Lock()
	p.newborn[w] = struct{}{}
	shut := p.closed
	p.mu.Unlock()
	if shut {
		w.kill(closed)
	}
	err = w.greet(setup)
	p.mu.Lock()
	delete(p.newborn, w)
	p.mu.Unlock()
	if err != nil {
		<-w.gone
		p.mu.Lock()
		shut := w.cause == closed
		p.mu.Unlock()
		if shut {
			return nil, errShut
		}
		return nil, w.stillborn()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.state == live {
		w.gauge = newGauge(w.child.Pid)
		p.procs = append(p.procs, w)
	}
	return w, nil
}

// greet sends the first frame and waits for its answer.
func (w *process) greet(setup []byte) error {
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	limit := time.Now().Add(StartTimeout)
	first := w.lanes[0].file
	_ = first.SetWriteDeadline(limit)
	_ = w.out.SetReadDeadline(limit)
	_, err := first.Write(frame(nil, 0, kindSetup, setup))
	for err == nil && !w.ready {
		_, _, err = w.next(nil)
	}
	if err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			w.kill(slow)
		} else {
			w.hungUp(mute)
		}
		return err
	}
	_ = first.SetWriteDeadline(time.Time{})
	_ = w.out.SetReadDeadline(time.Time{})
	return nil
}

// prepare makes the command and its pipes; child are the ends that belong to the worker.
func (w *process) prepare() (child []*os.File, err error) {
	c := &w.pool.config
	argv, err := c.Command()
	if err != nil {
		return nil, err
	}
	w.cmd = exec.Command(argv[0], argv[1:]...)
	w.cmd.Dir = c.Dir
	w.cmd.Env = proc.Environment(c.Env...)
	pipe := func() (r, wr *os.File) {
		if err == nil {
			r, wr, err = os.Pipe()
			child = append(child, r, wr) // one of them is taken out again
		}
		if err == nil {
			widen(wr)
		}
		return r, wr
	}
	keep := func(f *os.File) *os.File {
		child = slices.DeleteFunc(child, func(x *os.File) bool { return x == f })
		return f
	}
	var in [2]*os.File
	for i := range c.Lanes {
		r, wr := pipe()
		in[i] = r
		w.lanes = append(w.lanes, &lane{file: keep(wr), busy: make(chan struct{}, 1), has: map[string]bool{}})
	}
	r, outW := pipe()
	w.out = keep(r)
	w.in = bufio.NewReaderSize(r, 64<<10)
	r, printW := pipe()
	w.prints = keep(r)
	if err != nil {
		return child, err
	}
	w.cmd.ExtraFiles = []*os.File{in[0], outW}
	if c.Lanes == 2 {
		w.cmd.ExtraFiles = append(w.cmd.ExtraFiles, in[1])
	}
	w.cmd.Stdout, w.cmd.Stderr = printW, printW
	return child, nil
}

// supervise starts the process, waits for its end and clears up.
func (w *process) supervise(begun chan<- error) {
	if err := w.start(); err != nil {
		begun <- err
		return
	}
	begun <- nil
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		_, _ = io.Copy(&w.tail, w.prints) // ends with the pipe
	}()
	<-w.child.Exited()
	w.bury(printed)
}

// start starts the process with its limits, or in its isolation.
func (w *process) start() (err error) {
	if isolated := w.pool.config.Start; isolated != nil {
		w.child, err = isolated(w.cmd)
		return err
	}
	if w.child, err = proc.Start(w.cmd); err != nil {
		return err
	}
	if err := w.pool.config.Limits.set(w.child.Pid); err != nil {
		w.child.Kill()
		_, _ = w.child.Reap()
		return err
	}
	return nil
}

// bury clears up after a process that has ended.
func (w *process) bury(printed <-chan struct{}) {
	p := w.pool
	p.mu.Lock()
	w.state = dying // from here on nobody else says why
	p.mu.Unlock()
	var err error
	w.end, err = w.child.Reap()
	close(w.exited)
	if err != nil {
		p.mu.Lock()
		w.cause = &cause{text: "was stopped: " + reason(err)}
		p.mu.Unlock()
	}
	w.drain()                     // what it wrote last still counts
	proc.Within(p.grace, printed) // only what left the group can keep it open
	w.closeFiles()
	<-printed
	p.mu.Lock()
	i := slices.Index(p.procs, w)
	lost := w.lose()
	if i >= 0 { // else start tells those who wait
		p.procs = slices.Delete(p.procs, i, i+1)
		p.kick()
	}
	p.mu.Unlock()
	for f, err := range lost {
		f.done <- reply{err: err}
	}
	close(w.gone)
	p.life.Done()
}

// lose lands what is still in flight. The pool is locked.
func (w *process) lose() map[*flight]error {
	errs := map[*flight]error{}
	for _, f := range w.flights {
		errs[f] = w.lostBy(f)
	}
	for f := range errs {
		f.land()
	}
	return errs
}

// settle decides about a worker that is to end. The pool is locked.
func (w *process) settle() {
	switch {
	case w.state != retired:
	case w.leak != nil && len(w.flights) == 0:
		w.killLocked(w.leak)
	case w.late == 0 && !w.closing:
		w.state = live // the call that did not stop did, after all
	case w.late > 0 && len(w.flights) == w.late:
		w.killLocked(stuck)
	}
}

func (w *process) markLate(f *flight) {
	if w.flights[f.id] == f && !f.late {
		f.late = true
		w.late++
	}
}

// retire keeps new calls out of a worker in which f does not stop, and has it killed when the others are done.
func (w *process) retire(f *flight) {
	p := w.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	w.markLate(f)
	if w.state == dying || w.late == 0 {
		return
	}
	if w.state == live {
		w.state = retired
		time.AfterFunc(p.drain, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if w.state == retired {
				w.killLocked(stuck)
			}
		})
	}
	w.settle()
	p.kick()
}

// kill ends the process and everything in its group; bury does the rest.
func (w *process) kill(c *cause) {
	w.pool.mu.Lock()
	defer w.pool.mu.Unlock()
	w.killLocked(c)
}

func (w *process) killLocked(c *cause) {
	if w.state == dying {
		return
	}
	w.state = dying
	w.cause = c
	w.child.Kill()
}

// hungUp ends a process that has closed one of its pipes. One that ends by itself closes them, too: then bury says how.
func (w *process) hungUp(c *cause) {
	proc.Within(w.pool.grace, w.exited)
	w.kill(c)
}

// close lets the worker end by itself and kills it when it does not.
func (w *process) close() {
	p := w.pool
	p.mu.Lock()
	if w.state != dying {
		w.state, w.closing = retired, true
	}
	p.mu.Unlock()
	for _, l := range w.lanes {
		_ = l.file.Close()
	}
	proc.Within(p.grace, w.gone)
	w.kill(closed)
	<-w.gone
}

func (w *process) closeFiles() {
	for _, l := range w.lanes {
		proc.CloseAll(l.file)
	}
	proc.CloseAll(w.out, w.prints)
	w.gauge.close()
	w.gauge = nil
}

// stillborn is the error of a worker that ended before it was ready.
func (w *process) stillborn() error {
	e := value.Errorf(value.SandboxError, "the %s could not be started: %s", w.pool.config.Name, w.ending(nil))
	e.Details = w.printed()
	return e
}
