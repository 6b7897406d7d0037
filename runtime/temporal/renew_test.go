package temporal_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"
	sdkworkflow "go.temporal.io/sdk/workflow"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/temporal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// counted are the calls of the workflow "long", by input.
var counted = struct {
	sync.Mutex
	calls  map[string]int
	queues map[string]string
}{calls: map[string]int{}, queues: map[string]string{}}

func count(ctx context.Context, in string) int {
	counted.Lock()
	defer counted.Unlock()
	counted.calls[in]++
	counted.queues[in] = activity.GetInfo(ctx).TaskQueue
	return counted.calls[in]
}

var (
	note = flow.Bind("t.note@1", flow.Writes, func(ctx context.Context, in string) (string, error) {
		count(ctx, in)
		return "noted " + in, nil
	}, flow.Queue("notes"))
	unsure = flow.Bind("t.unsure@1", flow.Reads, func(ctx context.Context, in string) (string, error) {
		if count(ctx, in) == 1 {
			return "", value.Errorf(value.RateLimit, "not yet")
		}
		return "sure of " + in, nil
	})
	longNodes = []*flow.Node{
		{ID: "each", Pos: "l.flowgen.yaml:3:3", Index: 0, Limit: 4},
		{ID: "unsure", Pos: "l.flowgen.yaml:4:3", Index: 1, Retry: &flow.Retry{Attempts: 2, Base: time.Minute}},
		{ID: "note", Pos: "l.flowgen.yaml:5:3", Index: 2},
		{ID: "ask", Pos: "l.flowgen.yaml:6:3", Index: 3, Timeout: time.Hour},
		{ID: "wait", Pos: "l.flowgen.yaml:7:3", Index: 4},
	}
	longInfo = &flow.Info{Name: "long", Nodes: longNodes, Policy: &runtime.Policy{MaxToolCalls: 70}}
)

// long writes for each item, after a read that fails once, and asks in the end.
type long struct{ rt *flow.Runtime }

func newLong(o ...runtime.Option) (*long, error) {
	rt, err := flow.New(longInfo, o...)
	return &long{rt}, err
}

func (*long) Calls() []engine.Callable { return []engine.Callable{note, unsure} }

func (w *long) Run(ctx context.Context, in input) (out output, err error) {
	run := flow.Start(ctx, w.rt, in)
	defer flow.End(run, &out, &err)
	if out.All, err = flow.Map(run, longNodes[0], in.Items, func(run *flow.Run, item string) (string, error) {
		sure, err := flow.Call(run, longNodes[1], unsure, item)
		if err != nil {
			return "", err
		}
		return flow.Call(run, longNodes[2], note, sure)
	}); err != nil {
		return out, err
	}
	if err = flow.Wait(run, longNodes[4], time.Minute); err != nil {
		return out, err
	}
	out.Answer, err = flow.AskOr(run, longNodes[3], runtime.Question{Text: "Go on?"}, "nobody")
	return out, err
}

// history runs one history of the workflow "long", which has become too long after some activities.
func history(t *testing.T, o temporal.Options, after int, args ...any) (out output, err error) {
	t.Helper()
	var s testsuite.WorkflowTestSuite
	s.SetLogger(silent{})
	env := s.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Hour)
	env.SetWorkerOptions(sdkworker.Options{DeadlockDetectionTimeout: time.Hour})
	if err := temporal.Register(env, longInfo, newLong, o); err != nil {
		t.Fatal(err)
	}
	env.SetOnActivityCompletedListener(func(*activity.Info, converter.EncodedValue, error) {
		if after--; after == 0 {
			env.SetCurrentHistoryLength(o.Events)
		}
	})
	env.ExecuteWorkflow("long", args...)
	if err := env.GetWorkflowError(); err != nil {
		return out, err
	}
	return out, env.GetWorkflowResult(&out)
}

// A run whose history has become long goes on in a new one, as often as it takes: no call is made twice, none is lost, and the caps
// count all of them.
func TestNewHistories(t *testing.T) {
	clear(counted.calls) // of the test's last round
	in, want := items(20), output{Answer: "nobody"}
	for _, i := range in.Items {
		want.All = append(want.All, "noted sure of "+i)
	}
	o := temporal.Options{Events: 1000}
	args := []any{in}
	histories := 0
	for {
		histories++
		out, err := history(t, o, 7, args...)
		var next *sdkworkflow.ContinueAsNewError
		if errors.As(err, &next) {
			var text json.RawMessage
			var setup temporal.Setup
			var past []byte
			if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &text, &setup, &past); err != nil {
				t.Fatal(err)
			}
			args = []any{text, setup, past}
			continue
		}
		if diff := cmp.Diff(want, out); diff != "" || err != nil {
			t.Fatal(err, diff)
		}
		break
	}
	if histories < 4 {
		t.Errorf("%d histories", histories)
	}
	for _, i := range in.Items {
		if n, m := counted.calls[i], counted.calls["sure of "+i]; n != 2 || m != 1 {
			t.Errorf("%s: %d reads, %d writes", i, n, m)
		}
		if q := counted.queues["sure of "+i]; q != "notes" {
			t.Errorf("%s was made by the workers of %q", i, q)
		}
	}

	_, err := history(t, o, 7, args[0], args[1], []byte("no journal")) // of nobody who knows what he does
	var applied *sdk.ApplicationError
	if !errors.As(err, &applied) || applied.Type() != string(runtime.JournalUnavailable) {
		t.Errorf("%v", err)
	}
	if _, err = history(t, o, 7, map[string]int{"items": 3}); !errors.As(err, &applied) || applied.Type() != "VALIDATION_ERROR" || !strings.Contains(err.Error(), "workflow long") {
		t.Errorf("%v", err)
	}
}

// What the server would refuse fails before it gets it, and says what to do. Batches are cut to what fits.
func TestLargePayloads(t *testing.T) {
	const fits = 2<<20 - 64<<10 - 1<<10 - 2
	large := func(n int) input { return input{Items: []string{strings.Repeat("w", n)}} }
	for _, tt := range []struct {
		in         input
		kind, node string
	}{
		{large(fits + 1), "VALIDATION_ERROR", "shout"},
		{large(fits - 3), "POLICY_DENIED", "post"}, // `posted` is added
	} {
		answered := func(env *testsuite.TestWorkflowEnvironment) { answer(t, env, "ask", "yes", "") }
		_, _, err := performed(t, tt.in, temporal.Options{}, answered)
		var applied *sdk.ApplicationError
		var f temporal.Failure
		if !errors.As(err, &applied) || applied.Details(&f) != nil || applied.Type() != tt.kind || f.Node != tt.node || !strings.Contains(err.Error(), "--blobs") {
			t.Errorf("%.300v\nwant %s of %s", err, tt.kind, tt.node)
		}
		if _, _, err := performed(t, tt.in, temporal.Options{Stored: true}, answered); err != nil {
			t.Errorf("%.300v", err)
		}
	}
	var in input
	for range 20 {
		in.Items = append(in.Items, strings.Repeat("w", 80<<10))
	}
	var largest, batches int
	out, _, err := performed(t, in, temporal.Options{}, func(env *testsuite.TestWorkflowEnvironment) {
		env.SetOnActivityStartedListener(func(i *activity.Info, _ context.Context, args converter.EncodedValues) {
			var calls []engine.Carried
			if i.ActivityType.Name == "t calls" && args.Get(&calls) == nil {
				batches++
				n := 0
				for _, c := range calls {
					n += len(c.In)
				}
				largest = max(largest, n)
			}
		})
	})
	if err != nil || len(out.All) != 20 || batches == 0 || largest > 2<<20 {
		t.Errorf("%d batches of at most %d bytes: %.300v", batches, largest, err)
	}
}
