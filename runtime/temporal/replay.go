package temporal

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"

	"github.com/nexus-rpc/sdk-go/nexus"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/flowgen-dev/flowgen/runtime/cli"
	"github.com/flowgen-dev/flowgen/runtime/journal"
)

// Replayer makes the registry that Register needs of a replayer of histories, which makes no calls.
func Replayer(r worker.WorkflowReplayer) worker.Registry { return replayer{r} }

type replayer struct{ worker.WorkflowReplayer }

func (replayer) RegisterActivity(any)                                         {}
func (replayer) RegisterActivityWithOptions(any, activity.RegisterOptions)    {}
func (replayer) RegisterDynamicActivity(any, activity.DynamicRegisterOptions) {}
func (replayer) RegisterDynamicWorkflow(any, workflow.DynamicRegisterOptions) {}
func (replayer) RegisterNexusService(*nexus.Service)                          {}

func (m *commands) replay(c *cli.Call) int {
	var opts Options
	args, code, ok := c.Flags(func(set *flag.FlagSet) {
		set.Bool("temporal", true, "") // as inspect has it; there are no other runs to replay here
		set.IntVar(&opts.Together, "together", 0, "")
		set.BoolVar(&opts.Local, "local", false, "")
		set.IntVar(&opts.Events, "events", 0, "")
	})
	switch {
	case !ok:
		return code
	case len(args) != 1:
		return c.Fail(cli.ExitUsage, "expected the id of a run, or a file with its history as JSON", "")
	}
	h, code, ok := m.history(c, args[0])
	if !ok {
		return code
	}
	if code := m.replayed(c, h, opts, describes); code != cli.ExitOK {
		return code
	}
	return c.Print(fmt.Sprintf("%d events replayed\n", len(h.Events)))
}

const describes = "replay it with the program that started it; describe prints its version"

// inspect shows a run as its journal would be shown.
func (m *commands) inspect(c *cli.Call) int {
	return c.Inspect(cli.Elsewhere{Flag: "temporal", Read: func(c *cli.Call, id string) (*journal.Journal, int, bool) { return m.journal(c, id, describes) }})
}

// journal is what the engine has recorded when the history of a run has been replayed. help is for a history of another program.
func (m *commands) journal(c *cli.Call, id, help string) (*journal.Journal, int, bool) {
	h, code, ok := m.history(c, id)
	if !ok {
		return nil, code, false
	}
	var e *execution
	if code := m.replayed(c, h, Options{begun: func(began *execution) { e = began }}, help); code != cli.ExitOK {
		return nil, code, false
	}
	if e == nil {
		return nil, c.Fail(cli.ExitFailed, "no worker has started run "+id, ""), false
	}
	return e.recorded(), cli.ExitOK, true
}

func (m *commands) printHistory(c *cli.Call) int {
	args, code, ok := c.Flags(func(*flag.FlagSet) {})
	switch {
	case !ok:
		return code
	case len(args) != 1:
		return c.Fail(cli.ExitUsage, "expected the id of a run", "")
	}
	h, code, ok := m.history(c, args[0])
	if !ok {
		return code
	}
	b, err := temporalproto.CustomJSONMarshalOptions{Indent: "  "}.Marshal(h)
	if err != nil {
		return c.Fail(cli.ExitFault, err.Error(), "")
	}
	return c.Print(string(b) + "\n")
}

// replayed replays a history with this program. help says what to do about one of another program.
func (m *commands) replayed(c *cli.Call, h *history.History, opts Options, help string) int {
	l, code, ok := configured(c)
	if !ok {
		return code
	}
	defer l.release()
	w, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DataConverter: l.options.DataConverter,
		FailureConverter: l.options.FailureConverter, ExternalStorage: l.options.ExternalStorage, DisableDeadlockDetection: true}) // the journal of a long run is long
	if err != nil {
		return c.Fail(cli.ExitFault, err.Error(), "")
	}
	opts.Stored = l.stored()
	if err := m.register(Replayer(w), opts); err != nil {
		return c.Fail(cli.ExitFault, err.Error(), "")
	}
	if err := w.ReplayWorkflowHistory(quiet{}, h); err != nil {
		if says, ok := isUndecoded(err.Error()); ok {
			return c.Fail(cli.ExitFault, "the history cannot be replayed: "+says, sameCodec)
		}
		if earlier(h) {
			return c.Fail(cli.ExitFailed, "the history is of an earlier version of flowgen, which recorded calls in another way", "read it with the program that started the run")
		}
		says, _ := differs(err.Error())
		return c.Fail(cli.ExitFailed, "the history is not of this program: "+says, help)
	}
	return cli.ExitOK
}

// quiet drops what the replayer logs: its error says the same.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

// earlier reports whether calls of a history are of a format before this one.
func earlier(h *history.History) bool {
	for _, e := range h.Events {
		//lint:ignore SA1019 older servers write nothing else
		if before.MatchString(e.GetWorkflowTaskCompletedEventAttributes().GetWorkerVersion().GetBuildId()) ||
			before.MatchString(e.GetWorkflowTaskCompletedEventAttributes().GetDeploymentVersion().GetBuildId()) {
			return true
		}
		if a := e.GetActivityTaskScheduledEventAttributes(); a != nil && bytes.HasPrefix(first(a.GetInput().GetPayloads()).GetData(), formerly) {
			return true
		}
	}
	return false
}

// before matches build ids of formats that this one does not read: see commands.build.
var before = regexp.MustCompile(`^[0-9a-f]{12}(-2)?$`)

func first[T any](all []*T) *T {
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

// history reads that of a run, from a file when there is one of the name.
func (m *commands) history(c *cli.Call, name string) (h *history.History, code int, ok bool) {
	f, err := os.Open(name)
	if err == nil {
		defer func() { _ = f.Close() }() // only read
		if h, err = client.HistoryFromJSON(f, client.HistoryJSONOptions{}); err != nil {
			return nil, c.Fail(cli.ExitUsage, name+" is not a workflow history: "+err.Error(), "`temporal workflow show --output json` writes one"), false
		}
		if len(h.Events) == 0 || h.Events[0].GetWorkflowExecutionStartedEventAttributes() == nil {
			return nil, c.Fail(cli.ExitUsage, name+" is not a workflow history: it lacks the start event", "`temporal workflow show --output json` writes one"), false
		}
		code, ok = m.own(c, name, h)
		return h, code, ok
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil, c.Fail(cli.ExitUsage, "cannot read "+name+": "+err.Error(), ""), false
	}
	code = m.connected(c, func(ctx context.Context, cl client.Client) int {
		it := cl.GetWorkflowHistory(ctx, name, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		h = &history.History{}
		for it.HasNext() {
			e, err := it.Next()
			if err != nil {
				return m.failed(c, name, err)
			}
			h.Events = append(h.Events, e)
		}
		code, _ := m.own(c, name, h)
		return code
	})
	return h, code, code == cli.ExitOK
}

// own refuses the history of another workflow.
func (m *commands) own(c *cli.Call, name string, h *history.History) (code int, ok bool) {
	if got := first(h.Events).GetWorkflowExecutionStartedEventAttributes().GetWorkflowType().GetName(); got != m.info.Name {
		return c.Fail(cli.ExitUsage, name+" is a history of workflow "+got+", and this program is "+m.info.Name, ""), false
	}
	return cli.ExitOK, true
}

func newID() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // does not fail
	return hex.EncodeToString(b)
}

func indented(b []byte) string {
	var v json.RawMessage = b
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return string(b) + "\n"
	}
	return string(out) + "\n"
}
