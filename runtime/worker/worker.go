// Package worker keeps interpreters warm: a pool of long-lived processes that
// answer calls over pipes. It is what Python and JavaScript tools run in; it
// knows nothing about either language.
//
// # Protocol
//
// A worker reads frames from descriptor 3 and, when it has two lanes, from
// descriptor 5, and writes frames to descriptor 4. Its standard input is empty,
// and its standard output and standard error are kept as a bounded tail for the
// message of a worker that dies: what a tool prints cannot get into the
// protocol. A frame is a length, an id, a kind and a body; see frame.go.
//
// With two lanes a worker may execute what comes in on the first one at once,
// in the thread that reads: the pool sends there only while nothing else it sent
// there is unanswered. Everything else goes to the second lane, whose reader must
// never be kept from reading. With one lane its reader must not be kept either.
//
// # Scheduling
//
// A call takes the idle worker that was busy last. With none idle another is
// started, up to MaxWorkers, while the call takes whichever is free first. Beyond
// that calls share workers, up to PerWorker in each, and then wait for their turn.
// Workers of one holder never serve another.
//
// # Calls that do not stop
//
// When a call's context ends, the worker is told. A call that stops within Grace
// leaves its worker as it is. A worker that says nothing for Grace is stuck and is
// killed. One that says that the call still runs takes no new calls, may finish the
// others it has for at most Drain, and is then killed with its process group.
//
// A call whose worker is lost, to its own fault or another's, is made again, once
// and on a worker of its own, when its effects are none or reads, or when the worker
// cannot have seen all of it. Otherwise it fails, and what it has done is not known.
//
// # Leaks
//
// After a call the pool looks from outside at what the worker holds: after each one while it holds more
// than ever before, else after a pause of 1 µs for each descriptor between too many and the limit: 2 ms at
// most. The worker is replaced, once it has no call, when it comes near the limits of its
// process: on descriptors and memory halfway from what it had after its first call, or 64 threads more
// than calls at a time; in any case at seven eighths. Without limits, 4096 descriptors and 1 GiB of memory
// count. Its processes are counted in the background, every 10 ms for each of its threads while it has
// calls, and at once after one that failed while it had no other; 16 more than calls at a time are too many. So
// a tool that leaves processes faster than that fails once for want of them. On Linux only.
//
// No worker outlives the program: it ends when its pipes do and, on Linux, is killed
// with all that it has started, whatever way the program ends.
//
// # Errors
//
//   - VALIDATION_ERROR: an input larger than MaxFrame
//   - POLICY_DENIED: a result larger than the call's MaxOutput (details max_output)
//   - SANDBOX_ERROR: no worker could be started; the worker died, broke the protocol
//     or was stopped for the sake of another call (details output: what it printed last)
//   - TIMEOUT: the context's deadline passed
//
// Any other code is what the worker answered. Cancellation comes back as the
// context's error, not as a tool error.
package worker

import (
	"context"
	"errors"
	"os/exec"
	goruntime "runtime"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

const (
	// Grace is the time a worker gets to stop a call, and to end when it is closed.
	Grace = 200 * time.Millisecond

	// Drain is the time other calls get in a worker that is to be killed for a call
	// that does not stop.
	Drain = 2 * time.Second

	// StartTimeout bounds the start of a worker.
	StartTimeout = 30 * time.Second

	// DefaultMaxOutput is the cap of a call that names none: 2 MiB.
	DefaultMaxOutput = 2 << 20

	// MaxFrame bounds every frame's body in both directions: 64 MiB.
	MaxFrame = 64 << 20

	// DefaultPerWorker is how many calls one worker has at a time at most.
	DefaultPerWorker = 256
)

// Config says how to start workers. It must not change after New.
type Config struct {
	// Name is what messages call a worker: "Python worker".
	Name string

	// Command returns the program and its arguments. It is asked for every start.
	Command func() (argv []string, err error)

	// Dir is the working directory; empty means that of this process.
	Dir string

	// Env holds KEY=VALUE entries. They are all a worker sees besides PATH, HOME,
	// LANG, TZ and TMPDIR of this process, which they override.
	Env []string

	// Setup returns the body of the first frame, which the worker answers when it is ready.
	Setup func() ([]byte, error)

	// Lanes is 1 or 2.
	Lanes int

	// MaxWorkers bounds the processes; 0 means 2 for each of GOMAXPROCS.
	MaxWorkers int

	// PerWorker bounds the calls in one process; 0 means DefaultPerWorker.
	PerWorker int

	// Limits are set on every worker before it reads its first frame.
	Limits Limits

	// Start, when set, starts a command in an isolation instead of cmd.Start, and then
	// has set limits of its own: Limits do not count. Descriptors 3 to 5 must reach the
	// worker unchanged. The error of the child's Reap says why the isolation ended it.
	Start func(cmd *exec.Cmd) (*proc.Child, error)
}

// Limits are resource limits of one worker process and, each for itself, of the
// processes it starts; 0 leaves a limit as it is. Core dumps are always off. They
// take effect on Linux only; elsewhere a limit that is asked for is an error.
type Limits struct {
	Data      uint64 // bytes of private memory (RLIMIT_DATA)
	FileSize  uint64 // bytes of a file that is written
	OpenFiles uint64 // file descriptors
	CPU       uint64 // seconds
}

// Call is one request to a pool.
type Call struct {
	// What is what messages call the callee.
	What string

	// Body is the request, as the worker expects it, in parts that are put together where it is sent.
	Body [][]byte

	// Effects decide whether a call may be made again when its worker is lost.
	Effects flow.Effects

	// MaxOutput bounds the result in bytes; 0 means DefaultMaxOutput, and MaxFrame is
	// the largest that counts.
	MaxOutput int

	// Holder separates workers: those that served one holder never serve another. See the function Holder.
	Holder string

	// Asset, when set, reaches the worker before the first call that names it.
	Asset *Asset

	ctx context.Context // the call's, whose secrets are taken out of what the worker says
}

// Asset is something a worker needs once, such as the code of a module.
type Asset struct {
	Key  string // its identity: two assets with one key are the same
	Body []byte // what the worker is sent
}

// Pool is a set of like workers. It is safe for concurrent use. Workers are
// started on demand and end with this process at the latest, however it ends.
type Pool struct {
	config Config

	mu       sync.Mutex
	procs    []*process // live and retired
	starting int
	newborn  map[*process]struct{} // started, not ready
	waiting  []*waiter
	clock    uint64 // of use
	closed   bool
	life     sync.WaitGroup // of processes and those being started

	grace, drain time.Duration // Grace and Drain; tests that must not depend on time have others
}

// New returns a pool without workers. Shutdown closes it.
func New(c Config) *Pool {
	if c.MaxWorkers <= 0 {
		c.MaxWorkers = 2 * goruntime.GOMAXPROCS(0)
	}
	if c.PerWorker <= 0 {
		c.PerWorker = DefaultPerWorker
	}
	if c.Lanes < 1 || c.Lanes > 2 {
		panic("worker: a worker has one lane or two")
	}
	p := &Pool{config: c, newborn: map[*process]struct{}{}, grace: Grace, drain: Drain}
	register(p)
	atExit()
	return p
}

// Call sends c to a worker and returns the result's body. The error is a
// *value.ToolError or the context's.
func (p *Pool) Call(ctx context.Context, c *Call) ([]byte, error) {
	if n := size(c.Body); n > MaxFrame {
		return nil, value.Invalid("the input of %s has %d bytes, at most %d are possible", c.What, n, MaxFrame)
	}
	c.ctx = ctx
	for again := false; ; again = true {
		if err := ctx.Err(); err != nil {
			return nil, ended(c, err)
		}
		f, err := p.acquire(ctx, c, again)
		if err != nil {
			return nil, err
		}
		body, err := f.do(ctx)
		var l *lost
		if !errors.As(err, &l) {
			return body, err
		}
		if again || l.closed || !l.again && !f.unsent {
			return nil, l.tool()
		}
	}
}

var pools struct {
	sync.Mutex
	all map[*Pool]struct{}
}

func register(p *Pool) {
	pools.Lock()
	defer pools.Unlock()
	if pools.all == nil {
		pools.all = map[*Pool]struct{}{}
	}
	pools.all[p] = struct{}{}
}

// atExit makes compiled binaries end their workers, and remove what belongs to those that are isolated.
var atExit = sync.OnceFunc(func() { runtime.AtExit(Shutdown) })

// Shutdown ends the workers of all pools and returns when every process is gone.
// The pools stay usable: the next call starts a worker again. Compiled binaries call it
// at their end, see runtime.Exit.
func Shutdown() {
	pools.Lock()
	all := make([]*Pool, 0, len(pools.all))
	for p := range pools.all {
		all = append(all, p)
	}
	pools.Unlock()
	var wg sync.WaitGroup
	for _, p := range all {
		wg.Go(p.Shutdown)
	}
	wg.Wait()
	proc.Close()
}

// Shutdown ends the pool's workers and returns when every process is gone. Calls in
// flight fail. The pool stays usable.
func (p *Pool) Shutdown() {
	p.mu.Lock()
	p.closed = true
	for _, w := range p.procs {
		go w.close()
	}
	for w := range p.newborn {
		w.killLocked(closed)
	}
	p.mu.Unlock()
	p.life.Wait()
	p.mu.Lock()
	p.closed = false
	p.kick()
	p.mu.Unlock()
}
