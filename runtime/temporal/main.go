package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/cli"
	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// deadlockTime is how long the code of a workflow may compute before it waits: functions of `go:` nodes are in it.
const deadlockTime = 30 * time.Second

// Main is cli.Main for a program that is also a worker and a client of Temporal. Where the server is, the namespace, TLS and API
// keys are read as Temporal's own tools read them: from TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and the other variables, and from
// Temporal's configuration file.
func Main[W Workflow[In, Out], In, Out any](info *flow.Info, start func(...runtime.Option) (W, error)) {
	m := &commands{info: info, register: func(w worker.Registry, o Options) error { return Register(w, info, start, o) }}
	cli.MainWith(info, start,
		cli.Verb{Name: "worker", Arguments: "[flags]", Short: "run workflows on Temporal until a signal stops the worker", Run: m.worker},
		cli.Verb{Name: "start", Arguments: "[flags] [inputs]", Short: "start a run on Temporal and print its id; with --wait its result", Run: m.start},
		cli.Verb{Name: "result", Arguments: "ID", Short: "wait for a run on Temporal and print its result", Run: m.result},
		cli.Verb{Name: "questions", Arguments: "ID", Short: "print the questions that a run on Temporal waits for", Run: m.questions},
		cli.Verb{Name: "respond", Arguments: "ID [KEY] ANSWER", Short: "answer a question of a run on Temporal", Run: m.respond},
		cli.Verb{Name: "cancel", Arguments: "ID", Short: "cancel a run on Temporal", Run: m.cancel},
		cli.Verb{Name: "list", Short: "print the runs of the workflow on Temporal as JSON, the newest first", Run: m.list},
		cli.Verb{Name: "describe", Arguments: "ID", Short: "print the state of a run on Temporal", Run: m.describe},
		cli.Verb{Name: "inspect", Arguments: "--temporal ID [CALL]", Short: "show a run on Temporal; without --temporal a recorded run", Run: m.inspect},
		cli.Verb{Name: "rerun", Arguments: "--temporal ID|FILE.jsonl", Short: "start a run on Temporal with the results of another run or a journal", Run: m.rerun},
		cli.Verb{Name: "attachment", Arguments: "URL", Short: "print an attachment of a call of a run on Temporal", Run: m.attachment},
		cli.Verb{Name: "history", Arguments: "ID", Short: "print the history of a run on Temporal as JSON, for replay FILE", Run: m.printHistory},
		cli.Verb{Name: "replay", Arguments: "ID|FILE", Short: "replay a run on Temporal, or its history in a file, with this program", Run: m.replay},
	)
}

// commands are the verbs.
type commands struct {
	info     *flow.Info
	register func(worker.Registry, Options) error
}

func (m *commands) queueFlag(set *flag.FlagSet, queue *string) {
	set.StringVar(queue, "queue", m.info.Name, "")
}

// build is the id of the program's version: the hash of its graph, and the format of histories.
func (m *commands) build() string {
	var h struct{ Graph string }
	if json.Unmarshal([]byte(m.info.Facts.Hashes()), &h) != nil || h.Graph == "" {
		return "unknown"
	}
	return h.Graph[:min(9, len(h.Graph))] + "-" + format // it is in each event
}

func (m *commands) worker(c *cli.Call) int {
	var opts Options
	var queue, build string
	var unpinned, drain bool
	ro, release, code, ok := c.Options(func(set *flag.FlagSet) {
		m.queueFlag(set, &queue)
		set.StringVar(&build, "build-id", m.build(), "")
		set.BoolVar(&unpinned, "unpinned", false, "")
		set.BoolVar(&drain, "drain", false, "")
		set.DurationVar(&opts.Heartbeat, "heartbeat", 0, "")
		set.DurationVar(&opts.Longest, "longest", 0, "")
		set.IntVar(&opts.Together, "together", 0, "")
		set.BoolVar(&opts.Local, "local", false, "")
		set.IntVar(&opts.Events, "events", 0, "")
	})
	if !ok {
		return code
	}
	defer release()
	ctx, end := c.Context()
	defer end()
	l, code, ok := configured(c)
	if !ok {
		return code
	}
	defer l.release()
	cl, code, ok := l.dial(ctx, c)
	if !ok {
		return code
	}
	defer cl.Close()
	opts.Runtime, opts.Stored = ro, l.stored()
	if l.store != nil {
		opts.Runtime = append(opts.Runtime, runtime.WithBlobs(l.store))
	}
	wo := worker.Options{DeadlockDetectionTimeout: deadlockTime, MaxHeartbeatThrottleInterval: opts.heartbeat() / 3} // else one of two beats is dropped, and one that is late counts as lost
	if !unpinned {
		wo.DeploymentOptions = worker.DeploymentOptions{UseVersioning: true, DefaultVersioningBehavior: workflow.VersioningBehaviorPinned,
			Version: worker.WorkerDeploymentVersion{DeploymentName: m.info.Name, BuildID: build}}
	}
	w := worker.New(cl, queue, wo)
	if err := m.register(w, opts); err != nil {
		return c.Fail(cli.ExitFault, err.Error(), "")
	}
	if err := w.Start(); err != nil {
		return c.Fail(cli.ExitFault, "the worker cannot start: "+err.Error(), "")
	}
	defer w.Stop()
	if !unpinned && !drain {
		if err := m.current(ctx, cl, build); err != nil && ctx.Err() == nil {
			return c.Fail(cli.ExitFault, "new runs cannot be routed to this version: "+err.Error(), "use --drain to finish runs of this version alone, --unpinned for no versions")
		}
	}
	c.Say(fmt.Sprintf("worker of %s, version %s, queue %s", m.info.Name, build, queue))
	<-ctx.Done()
	return cli.ExitOK
}

// current routes new runs to a version, as soon as the server knows it.
func (m *commands) current(ctx context.Context, cl client.Client, build string) error {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	h := cl.WorkerDeploymentClient().GetHandle(m.info.Name)
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		_, err := h.SetCurrentVersion(ctx, client.WorkerDeploymentSetCurrentVersionOptions{BuildID: build, IgnoreMissingTaskQueues: true})
		if err == nil {
			return nil
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

// begins are the flags of a verb that begins a run.
type begins struct {
	queue, id string
	wait      bool
	help      string // when the run cannot be started
}

func (m *commands) beginFlags(set *flag.FlagSet, b *begins) {
	m.queueFlag(set, &b.queue)
	set.StringVar(&b.id, "id", "", "")
	set.BoolVar(&b.wait, "wait", false, "")
}

func (m *commands) start(c *cli.Call) int {
	var b begins
	input, code, ok := c.Input(func(set *flag.FlagSet) { m.beginFlags(set, &b) })
	if !ok {
		return code
	}
	return m.begin(c, &b, json.RawMessage(input), Setup{Tenant: c.Tenant()})
}

// begin begins a run with the arguments of the workflow.
func (m *commands) begin(c *cli.Call, b *begins, args ...any) int {
	return m.connected(c, func(ctx context.Context, cl client.Client) int {
		o := client.StartWorkflowOptions{ID: b.id, TaskQueue: b.queue, WorkflowExecutionErrorWhenAlreadyStarted: true,
			WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE}
		if b.id == "" {
			o.ID = m.info.Name + "-" + newID()
		}
		r, err := cl.ExecuteWorkflow(ctx, o, m.info.Name, args...)
		var started *serviceerror.WorkflowExecutionAlreadyStarted
		switch {
		case errors.As(err, &started):
			return c.Fail(cli.ExitUsage, "a run already has the id "+o.ID, "choose another --id, or ask for its result")
		case err != nil:
			return c.Fail(cli.ExitFault, "the run cannot be started: "+err.Error(), b.help)
		case !b.wait:
			return c.Print(r.GetID() + "\n")
		}
		return m.await(ctx, c, r)
	})
}

// run is connected for a verb that takes the id of a run and more arguments.
func (m *commands) run(c *cli.Call, usage string, least, most int, f func(ctx context.Context, cl client.Client, id string, more []string) int) int {
	args, code, ok := c.Flags(func(*flag.FlagSet) {})
	switch {
	case !ok:
		return code
	case len(args) < 1+least || len(args) > 1+most:
		return c.Fail(cli.ExitUsage, "expected "+usage, "")
	}
	return m.connected(c, func(ctx context.Context, cl client.Client) int { return f(ctx, cl, args[0], args[1:]) })
}

// failed reports the error of a request about a run.
func (m *commands) failed(c *cli.Call, id string, err error) int {
	var missing *serviceerror.NotFound
	var space *serviceerror.NamespaceNotFound
	var applied *temporal.ApplicationError
	switch {
	case errors.As(err, &missing) && strings.Contains(missing.Message, "already completed"):
		return c.Fail(cli.ExitUsage, "run "+id+" has ended", "")
	case errors.As(err, &space):
		return c.Fail(cli.ExitFault, "the server has no namespace "+space.Namespace, "TEMPORAL_NAMESPACE names that of the runs")
	case errors.As(err, &missing):
		return c.Fail(cli.ExitUsage, "unknown run "+id, "start prints the ids of runs; TEMPORAL_NAMESPACE names their namespace")
	case errors.As(err, &applied) && applied.Type() == "refused":
		return c.Fail(cli.ExitUsage, applied.Message(), "")
	}
	return c.Fail(cli.ExitFault, err.Error(), "")
}

func (m *commands) result(c *cli.Call) int {
	return m.run(c, "the id of a run", 0, 0, func(ctx context.Context, cl client.Client, id string, _ []string) int {
		return m.await(ctx, c, cl.GetWorkflow(ctx, id, ""))
	})
}

// await prints the result of a run, or why it failed.
func (m *commands) await(ctx context.Context, c *cli.Call, r client.WorkflowRun) int {
	var out json.RawMessage
	err := r.Get(ctx, &out)
	var missing *serviceerror.NotFound
	var applied *temporal.ApplicationError
	var cancelled *temporal.CanceledError
	var payload *undecoded
	switch {
	case err == nil:
		return c.Print(indented(out))
	case errors.As(err, &missing):
		return m.failed(c, r.GetID(), err)
	case errors.As(err, &payload):
		return c.Fail(cli.ExitFault, "the result of run "+r.GetID()+" cannot be decoded: "+payload.err.Error(), sameCodec)
	case errors.As(err, &cancelled):
		c.Say("run " + r.GetID() + " was cancelled")
	case errors.As(err, &applied):
		c.Say(applied.Message())
		switch runtime.RunErrorKind(applied.Type()) {
		case runtime.InDoubt, runtime.Diverged, runtime.JournalUnavailable:
			return cli.ExitFault
		}
	default:
		c.Say(err.Error())
	}
	return cli.ExitFailed
}

func (m *commands) open(ctx context.Context, cl client.Client, id string) ([]runtime.Question, error) {
	v, err := cl.QueryWorkflow(ctx, id, "", QuestionsQuery)
	if err != nil {
		return nil, err
	}
	var open []runtime.Question
	return open, v.Get(&open)
}

func (m *commands) questions(c *cli.Call) int {
	return m.run(c, "the id of a run", 0, 0, func(ctx context.Context, cl client.Client, id string, _ []string) int {
		open, err := m.open(ctx, cl, id)
		if err != nil {
			return m.failed(c, id, err)
		}
		b, err := json.Marshal(open)
		if err != nil {
			return c.Fail(cli.ExitFault, err.Error(), "")
		}
		return c.Print(indented(b))
	})
}

func (m *commands) respond(c *cli.Call) int {
	return m.run(c, "the id of a run and an answer, or the id, the key of a question and an answer", 1, 2, func(ctx context.Context, cl client.Client, id string, more []string) int {
		a := Answer{Answer: more[len(more)-1]}
		if len(more) == 2 {
			a.Key = more[0]
		} else {
			open, err := m.open(ctx, cl, id)
			switch {
			case err != nil:
				return m.failed(c, id, err)
			case len(open) == 0:
				return c.Fail(cli.ExitUsage, "run "+id+" waits for no answer", "")
			case len(open) > 1:
				keys := make([]string, len(open))
				for i, q := range open {
					keys[i] = q.Key
				}
				return c.Fail(cli.ExitUsage, "run "+id+" waits for several answers", "name the question: "+strings.Join(keys, ", "))
			}
			a.Key = open[0].Key
		}
		u, err := cl.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{WorkflowID: id, UpdateName: RespondUpdate, WaitForStage: client.WorkflowUpdateStageCompleted, Args: []any{a}})
		if err == nil {
			err = u.Get(ctx, nil)
		}
		if err != nil {
			return m.failed(c, id, err)
		}
		return cli.ExitOK
	})
}

func (m *commands) cancel(c *cli.Call) int {
	return m.run(c, "the id of a run", 0, 0, func(ctx context.Context, cl client.Client, id string, _ []string) int {
		if err := cl.CancelWorkflow(ctx, id, ""); err != nil {
			return m.failed(c, id, err)
		}
		return cli.ExitOK
	})
}

// state is what describe prints.
type state struct {
	ID      string    `json:"id"`
	Run     string    `json:"run"`
	Status  string    `json:"status"` // running, completed, failed, canceled, terminated, timed_out
	Started time.Time `json:"started"`
	Events  int64     `json:"events"` // of the history
	Bytes   int64     `json:"bytes"`  // of the history
	Version string    `json:"version,omitempty"`
	Pending []pending `json:"pending"` // calls that are made now
}

type pending struct {
	Call    string `json:"call"` // the activity's id: the call's key, with the attempt and a hash of what is called
	Tool    string `json:"tool"`
	Worker  string `json:"worker,omitempty"`
	Failure string `json:"failure,omitempty"` // of the try before
}

func (m *commands) describe(c *cli.Call) int {
	return m.run(c, "the id of a run", 0, 0, func(ctx context.Context, cl client.Client, id string, _ []string) int {
		d, err := cl.DescribeWorkflowExecution(ctx, id, "")
		if err != nil {
			return m.failed(c, id, err)
		}
		x := d.GetWorkflowExecutionInfo()
		s := state{ID: x.GetExecution().GetWorkflowId(), Run: x.GetExecution().GetRunId(), Status: statusWord(x.GetStatus()), Started: x.GetStartTime().AsTime(),
			Events: x.GetHistoryLength(), Bytes: x.GetHistorySizeBytes(), Version: x.GetVersioningInfo().GetDeploymentVersion().GetBuildId(), Pending: []pending{}}
		for _, a := range d.GetPendingActivities() {
			s.Pending = append(s.Pending, pending{a.GetActivityId(), a.GetActivityType().GetName(), a.GetLastWorkerIdentity(), a.GetLastFailure().GetMessage()})
		}
		b, err := json.Marshal(s)
		if err != nil {
			return c.Fail(cli.ExitFault, err.Error(), "")
		}
		return c.Print(indented(b))
	})
}

func snake(status string) string {
	if status == "timedout" {
		return "timed_out"
	}
	return status
}
