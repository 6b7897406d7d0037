// Package temporal runs compiled workflows on Temporal. The generated body runs unchanged inside a Temporal workflow; its calls
// are activities, its questions updates, its waits timers. The history of the workflow is its only journal.
//
//	w := worker.New(client, "triage", worker.Options{})
//	err := temporal.Register(w, triage.Info, triage.New, temporal.Options{})
//
// The workflow's code must list its calls: generate it with `flowgen generate --engine temporal`. A program of
// `flowgen build --engine temporal` has the worker and the client's verbs: see Main and docs/guides/temporal.md.
package temporal

import (
	"context"
	"strconv"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// Options choose how calls become activities. Histories depend on all but Runtime and Observers: a worker must have the
// options of the worker that began a run.
type Options struct {
	// Longest bounds an attempt that has no timeout; 0 is 10 minutes.
	Longest time.Duration
	// Heartbeat is the time without a sign of life after which a worker counts as lost; 0 is 10 seconds.
	Heartbeat time.Duration
	// Together bounds how many simultaneous calls with the effects none and reads are one activity. They are in wide
	// maps only: 16 or more branches at a time, or 500 items. 0 is 64, 1 makes every call an activity of its own.
	Together int
	// Local makes calls without effects local activities: faster, but a worker that dies repeats them.
	Local bool
	// Runtime is given to the calls: secrets, caches, blobs, slots, policies of the worker.
	Runtime []runtime.Option
	// Observers see each event of a run once, not again while a history is replayed.
	Observers []runtime.Observer
}

const (
	wideBranches = 16
	wideItems    = 500
)

func (o Options) longest() time.Duration   { return positive(o.Longest, 10*time.Minute) }
func (o Options) heartbeat() time.Duration { return positive(o.Heartbeat, 10*time.Second) }

func (o Options) together() int {
	if o.Together > 0 {
		return o.Together
	}
	return 64
}

func positive(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}

// Workflow is the type of a generated workflow that lists its calls.
type Workflow[In, Out any] interface {
	Run(context.Context, In) (Out, error)
	Calls() []engine.Callable
}

// Register makes a worker, or a replayer of histories, carry out the workflow that info describes, and its calls. start is the
// workflow's New. The error says what the calls need and the process does not have, such as a secret.
func Register[W Workflow[In, Out], In, Out any](w worker.Registry, info *flow.Info, start func(...runtime.Option) (W, error), o Options) error {
	rt, err := flow.New(info, o.Runtime...)
	if err != nil {
		return err
	}
	var own W
	p := &program{info: info, opts: o, rt: rt, names: map[engine.Callable]string{}, tools: map[string]engine.Callable{}, hashes: hashesOf(info)}
	for _, t := range own.Calls() {
		name := p.name(t)
		w.RegisterActivityWithOptions(func(ctx context.Context, c engine.Carried) (engine.Landed, error) { return p.make(ctx, t, c) },
			activity.RegisterOptions{Name: name})
	}
	w.RegisterActivityWithOptions(p.makeAll, activity.RegisterOptions{Name: p.batchName()})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context, in In) (Out, error) {
		return perform(ctx, p, start, in)
	}, workflow.RegisterOptions{Name: info.Name})
	return nil
}

// program is a workflow as a worker knows it.
type program struct {
	info   *flow.Info
	opts   Options
	rt     *flow.Runtime // for calls
	names  map[engine.Callable]string
	tools  map[string]engine.Callable
	hashes map[string]string // of the nodes, by key without items and visits
}

// name gives a tool the name of its activity: its own, numbered where several models have one.
func (p *program) name(t engine.Callable) string {
	name := t.FullName()
	for i := 2; p.tools[name] != nil; i++ {
		name = t.FullName() + "~" + strconv.Itoa(i)
	}
	p.names[t], p.tools[name] = name, t
	return name
}

// batchName is the activity that makes several calls of the workflow.
func (p *program) batchName() string { return p.info.Name + " calls" }

// perform is the workflow.
func perform[W Workflow[In, Out], In, Out any](ctx workflow.Context, p *program, start func(...runtime.Option) (W, error), in In) (out Out, err error) {
	e := &execution{program: p, root: ctx, open: map[string]*question{}}
	if err := e.listen(ctx); err != nil {
		return out, err
	}
	if p.opts.together() > 1 {
		workflow.GoNamed(ctx, "batches", e.batches)
	}
	o := []runtime.Option{runtime.WithEngine(e), runtime.WithSecrets(func(string) (string, bool) { return "", false })} // workflow code looks nothing up
	for _, ob := range p.opts.Observers {
		o = append(o, runtime.WithObserver(once{ob, ctx}))
	}
	w, err := start(o...)
	if err != nil {
		return out, err
	}
	out, err = w.Run(wctx{Context: ctx}, in)
	return out, failed(err)
}

// once hides from an observer what it has seen before.
type once struct {
	runtime.Observer
	ctx workflow.Context
}

func (o once) Observe(e runtime.Event) {
	if !workflow.IsReplaying(o.ctx) {
		o.Observer.Observe(e)
	}
}
