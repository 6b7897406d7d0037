// Package torture looks for mistakes in a compiled workflow by running it in a simulation, again and again: under other
// schedules, with faults, slow calls and calls that time out, cancelled, under caps, and crashed and resumed. What the
// workflow reaches is fake: outputs are random values of the right types. Everything follows from a seed, so that a
// finding can be had again.
//
// The checks have names, which findings carry:
//
//	deadlock       branches wait for each other
//	keys           two calls have the same key
//	input          a tool changed its input: a replay would not see it
//	deterministic  a tool of effects none gave two results for the same input
//	outcome        two runs whose calls had the same outcomes gave different results
//	replay         a replay gave something else than the run
//	offline        a replay executed a tool
//	journal        a journal did not survive being written and read
//	durable        a crash of the machine lost what must be on the disk
//	repeated       a call whose result was in the journal was executed again
//	doubt          a write or external call in doubt was executed again without a decision, or passed over
//	resume         a resumed run gave something else than the run that was not interrupted
//	cancelled      a call began after the run was cancelled, or a cancelled run went on
//	caps           a policy let through too much, or refused too early
//	panic          the workflow panicked
//	goroutines     a run left goroutines behind
//	hang           a trial did not end
package torture

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Workflow is a compiled workflow without its types.
type Workflow struct {
	Info *flow.Info

	run   func(ctx context.Context, input []byte, o ...runtime.Option) (output []byte, err error)
	input func(r *random) []byte

	decodes func(input []byte) error
}

// Of makes a Workflow of what generated code has: its Info and its New.
func Of[W interface {
	Run(context.Context, In) (Out, error)
}, In, Out any](info *flow.Info, start func(...runtime.Option) (W, error)) *Workflow {
	return &Workflow{
		Info:  info,
		input: func(r *random) []byte { return r.input(new(In), info) },

		decodes: func(input []byte) error { return value.Decode(input, new(In)) },
		run: func(ctx context.Context, input []byte, o ...runtime.Option) ([]byte, error) {
			var in In
			if err := value.Decode(input, &in); err != nil {
				return nil, fmt.Errorf("input: %w", err)
			}
			w, err := start(o...)
			if err != nil {
				return nil, fmt.Errorf("start: %w", err)
			}
			out, err := w.Run(ctx, in)
			if err != nil {
				return nil, err
			}
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(out); err != nil {
				return nil, fmt.Errorf("output: %w", err)
			}
			return bytes.TrimSpace(b.Bytes()), nil
		},
	}
}

// Options say how much is tried.
type Options struct {
	Seed    uint64        // of the first trial; those after it follow
	Trials  int           // 0: until Time is over
	Time    time.Duration // 0: until all Trials are done
	Workers int           // trials at a time; 0: as many as there are processors
	// Real are the tools, by name@version, that run. They should be pure functions. All others are fake.
	Real []string
	// Gives are JSON Schemas of what nodes are given by tools whose type is any value, or text that is JSON, by Node.Pos.
	Gives map[string]json.RawMessage
	// Inputs are objects in JSON; fields that are left out have their defaults. With Random, every other trial has a random
	// one that fits. nil: all have.
	Inputs [][]byte
	Random bool
	// EveryCrash crashes every run at every moment and at every operation of the disk, instead of at one that the seed chooses.
	EveryCrash bool
	// Patience is how long a trial may take in real time; 0: 30 s.
	Patience time.Duration
	// Together says that other goroutines come and go in this process: whether some are left is then not looked at.
	Together bool
	// Stop ends the campaign after that many findings; 0: 10.
	Stop int
}

// Finding is something that must not happen.
type Finding struct {
	Seed   uint64 // of the trial
	Check  string
	At     string // place in the workflow's source; may be empty
	Detail string
}

// String is one line.
func (f Finding) String() string {
	at := ""
	if f.At != "" {
		at = f.At + ": "
	}
	return fmt.Sprintf("%s[%s] %s (seed %d)", at, f.Check, f.Detail, f.Seed)
}

// Counts are what a campaign has done.
type Counts struct {
	Trials, Runs, Calls, Faults, Crashes, DiskCrashes, Resumes, Replays, Cancelled, Capped int64
	// Failed are runs that ended with an error.
	Failed int64
	// Unfit are fake outputs that did not fit their schema, so that the call failed.
	Unfit int64
	// Cut are trials that were given up because a run made too many calls.
	Cut int64
}

// Add adds other counts.
func (c *Counts) Add(d Counts) {
	c.Trials += d.Trials
	c.Runs += d.Runs
	c.Calls += d.Calls
	c.Faults += d.Faults
	c.Crashes += d.Crashes
	c.DiskCrashes += d.DiskCrashes
	c.Resumes += d.Resumes
	c.Replays += d.Replays
	c.Cancelled += d.Cancelled
	c.Capped += d.Capped
	c.Failed += d.Failed
	c.Unfit += d.Unfit
	c.Cut += d.Cut
}

// Report is what came of a campaign.
type Report struct {
	Counts
	Findings []Finding // by seed
	// Errors are the ends of runs by the node and the code of the error that nobody injected, and how many there were.
	Errors  map[string]int64
	Elapsed time.Duration
}

// Run carries out a campaign. It ends early when ctx is done.
func Run(ctx context.Context, w *Workflow, o Options) Report {
	o.Workers = cmp.Or(o.Workers, goruntime.GOMAXPROCS(0))
	o.Stop = cmp.Or(o.Stop, 10)
	o.Patience = cmp.Or(o.Patience, 30*time.Second)
	if o.Trials == 0 && o.Time == 0 {
		o.Trials = 1
	}
	begin := time.Now()
	before := goruntime.NumGoroutine()
	c := &campaign{workflow: w, opts: o, real: map[string]bool{}, errors: map[string]int64{}}
	for _, name := range o.Real {
		c.real[name] = true
	}
	if o.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Time)
		defer cancel()
	}
	if c.work(ctx) && !o.Together {
		c.leaks(before)
	}
	slices.SortStableFunc(c.findings, func(a, b Finding) int { return cmp.Compare(a.Seed, b.Seed) })
	return Report{Counts: c.counts, Findings: c.findings, Errors: c.errors, Elapsed: time.Since(begin)}
}

type campaign struct {
	workflow *Workflow
	opts     Options
	real     map[string]bool
	next     atomic.Int64

	mu       sync.Mutex // guards what follows
	counts   Counts
	findings []Finding
	errors   map[string]int64
}

// work runs the trials. It reports false when one hangs: its goroutine is then left behind.
func (c *campaign) work(ctx context.Context) bool {
	var wg sync.WaitGroup
	var hung atomic.Bool
	for range c.opts.Workers {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := c.next.Add(1) - 1
				if c.opts.Trials > 0 && i >= int64(c.opts.Trials) || c.enough() {
					return
				}
				if !c.patiently(uint64(i)) {
					hung.Store(true)
					return
				}
			}
		})
	}
	wg.Wait()
	return !hung.Load()
}

func (c *campaign) enough() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.findings) >= c.opts.Stop
}

// patiently runs a trial; false: it does not end.
func (c *campaign) patiently(i uint64) bool {
	seed := c.opts.Seed + i
	done := make(chan *trial, 1)
	go func() { done <- c.trial(seed) }()
	timer := time.NewTimer(c.opts.Patience)
	defer timer.Stop()
	select {
	case t := <-done:
		c.mu.Lock()
		defer c.mu.Unlock()
		c.counts.Add(t.counts)
		c.findings = append(c.findings, t.findings...)
		for what, n := range t.errors {
			c.errors[what] += n
		}
		return true
	case <-timer.C:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.findings = append(c.findings, Finding{Seed: seed, Check: "hang", Detail: fmt.Sprintf("the trial did not end within %v: a tool that runs, or the workflow between two calls, does not end", c.opts.Patience)})
	c.opts.Stop = 0
	return false
}

// leaks looks for goroutines that were left, and for the trial that did it.
func (c *campaign) leaks(before int) {
	if settled(before) {
		return
	}
	last := min(uint64(c.next.Load()), 200)
	for i := range last {
		now := goruntime.NumGoroutine()
		t := c.trial(c.opts.Seed + i)
		if !settled(now) {
			c.findings = append(c.findings, Finding{Seed: t.seed, Check: "goroutines", Detail: fmt.Sprintf("%d goroutines were left", goruntime.NumGoroutine()-now)})
			return
		}
	}
	c.findings = append(c.findings, Finding{Seed: c.opts.Seed, Check: "goroutines", Detail: fmt.Sprintf("%d goroutines were left by one of the trials", goruntime.NumGoroutine()-before)})
}

// settled waits until no more goroutines run than before.
func settled(before int) bool {
	for begin := time.Now(); goruntime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Since(begin) > time.Second {
			return false
		}
	}
	return true
}

// Text is the report in a few lines, without findings.
func (r Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d trials in %v: %d runs of %d calls, %d with an error\n", r.Trials, r.Elapsed.Round(time.Millisecond), r.Runs, r.Calls, r.Failed)
	fmt.Fprintf(&b, "%d faults injected, %d crashes, %d of them with a torn disk, %d resumed runs, %d replays, %d cancelled runs, %d runs under a cap\n", r.Faults, r.Crashes, r.DiskCrashes, r.Resumes, r.Replays, r.Cancelled, r.Capped)
	often := slices.SortedFunc(maps.Keys(r.Errors), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.Errors[b], r.Errors[a]), strings.Compare(a, b))
	})
	for _, what := range often[:min(len(often), 3)] {
		fmt.Fprintf(&b, "%8d  %s\n", r.Errors[what], what)
	}
	if r.Unfit > 0 {
		fmt.Fprintf(&b, "%d outputs could not be made to fit their schema\n", r.Unfit)
	}
	if r.Cut > 0 {
		fmt.Fprintf(&b, "%d trials were given up: a run made more than %d calls, or took longer than %v\n", r.Cut, mostCalls, longest)
	}
	return b.String()
}
