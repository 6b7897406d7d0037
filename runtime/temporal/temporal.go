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
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Options choose how calls become activities. Histories depend on all but Runtime and Observers: a worker must have the
// options of the worker that began a run.
type Options struct {
	// Longest bounds an attempt that has no timeout; 0 is 10 minutes.
	Longest time.Duration
	// Heartbeat is the time without a sign of life after which a worker counts as lost; 0 is 10 seconds. A worker of one's own
	// needs a MaxHeartbeatThrottleInterval of a third of it: with the SDK's default one of two beats may be dropped.
	Heartbeat time.Duration
	// Together bounds how many simultaneous calls with the effects none and reads are one activity. They are in wide
	// maps only: 16 or more branches at a time, or 500 items. 0 is 64, 1 makes every call an activity of its own.
	Together int
	// Local makes calls without effects local activities: faster, but a worker that dies repeats them.
	Local bool
	// Stored says that the client has the external storage of Storage, so that payloads have no bound. Without it, a call whose
	// input or output is not a payload that the server takes fails.
	Stored bool
	// Events bounds a history: a run that has more goes on in a new one. 0 is 20,000.
	Events int
	// Runtime is given to the calls: secrets, caches, blobs, slots, policies of the worker.
	Runtime []runtime.Option
	// Observers see each event of a run once, not again while a history is replayed.
	Observers []runtime.Observer

	begun func(*execution) // called at the beginning of a run
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

func (o Options) events() int {
	if o.Events > 0 {
		return o.Events
	}
	return 20_000
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
	var rt *flow.Runtime
	if _, replays := w.(replayer); !replays { // which makes no calls
		var err error
		if rt, err = flow.New(info, append([]runtime.Option{runtime.WithPast(past{})}, o.Runtime...)...); err != nil {
			return err
		}
	}
	var own W
	p := &program{info: info, opts: o, rt: rt, names: map[engine.Callable]string{}, tools: map[string]engine.Callable{}, hashed: hashesOf(info)}
	for _, t := range engine.Provided() { // another workflow of the worker has them, too
		p.named(t, info.Name+" "+t.FullName())
	}
	for _, t := range own.Calls() {
		p.named(t, "")
	}
	for name, t := range p.tools {
		w.RegisterActivityWithOptions(func(ctx context.Context, s sent) (got, error) { return p.make(ctx, t, name, s) },
			activity.RegisterOptions{Name: p.activity(name)})
	}
	w.RegisterActivityWithOptions(p.makeAll, activity.RegisterOptions{Name: p.batchName()})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context, in given, s Setup, past []byte) (Out, error) {
		return perform(ctx, p, start, in.text(), s, past)
	}, workflow.RegisterOptions{Name: info.Name})
	return nil
}

// program is a workflow as a worker knows it.
type program struct {
	info   *flow.Info
	opts   Options
	rt     *flow.Runtime // for calls; nil where histories are replayed
	names  map[engine.Callable]string
	tools  map[string]engine.Callable
	hashed *journal.Hashes // of the graph and the nodes
}

// named gives a tool the name by which its calls know it; "": its own, numbered where several models have one.
func (p *program) named(t engine.Callable, name string) {
	if name == "" {
		name = t.FullName()
	}
	for i := 2; p.tools[name] != nil; i++ {
		name = t.FullName() + "~" + strconv.Itoa(i)
	}
	p.names[t], p.tools[name] = name, t
}

// activity is the name of a tool's activity. Models and tools of sub-workflows are not named after the workflow, and other workflows of the
// worker have them, too. The replay of a history compares what follows the last dot of it.
func (p *program) activity(tool string) string {
	if strings.HasPrefix(tool, p.info.Name+".") || strings.HasPrefix(tool, p.info.Name+" ") {
		return tool
	}
	return p.info.Name + "." + tool
}

// batchName is the activity that makes several calls of the workflow.
func (p *program) batchName() string { return p.info.Name + " calls" }

// perform is the workflow. Its body has a coroutine of its own, so that it can be left for a new history.
func perform[W Workflow[In, Out], In, Out any](ctx workflow.Context, p *program, start func(...runtime.Option) (W, error), text json.RawMessage, s Setup, past []byte) (out Out, err error) {
	var in In
	err = value.Unmarshal(text, &in)
	if err == nil {
		err = s.wrong
	}
	if err != nil {
		return out, temporal.NewNonRetryableApplicationError("the input is not one of workflow "+p.info.Name+": "+err.Error(), string(value.ValidationError), err)
	}
	e := &execution{program: p, root: ctx, setup: s, open: map[string]*question{}, continuing: map[string]*continued{}, begin: s.Begin, most: p.opts.events()}
	if e.begin.IsZero() {
		e.begin = workflow.Now(ctx)
	}
	if err := e.goOn(past); err != nil {
		return out, err
	}
	if p.opts.begun != nil {
		p.opts.begun(e)
	}
	w, err := start(e.options()...)
	if err != nil {
		return out, err
	}
	ended := false
	workflow.GoNamed(ctx, "run", func(ctx workflow.Context) { // before answers are taken, which need the questions
		out, err = w.Run(wctx{Context: ctx}, in)
		ended = true
	})
	signals, err2 := e.listen(ctx)
	if err2 != nil {
		return out, err2
	}
	e.settle()
	calm, _ := workflow.NewDisconnectedContext(ctx)
	for {
		if werr := workflow.Await(calm, func() bool { return ended || signals.Len() > 0 || e.renews() }); werr != nil {
			return out, werr
		}
		switch {
		case ended:
			return out, failed(err)
		case signals.Len() > 0: // before the run goes on elsewhere
			e.hear(signals)
		default:
			if err, ok := e.renew(text); ok {
				return out, err
			}
		}
	}
}

// options are those of the workflow's code, which looks nothing up.
func (e *execution) options() []runtime.Option {
	o := []runtime.Option{runtime.WithTenant(e.setup.Tenant), runtime.WithEngine(e), runtime.WithSecrets(func(string) (string, bool) { return "", false })}
	for _, ob := range e.opts.Observers {
		o = append(o, runtime.WithObserver(once{ob, e.root}))
	}
	return o
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
