package temporal_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/temporal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

type input struct {
	Items []string `json:"items"`
}

type output struct {
	All    []string `json:"all"`
	Answer string   `json:"answer"`
	Tries  int64    `json:"tries"`
	Posted string   `json:"posted"`
}

var tries atomic.Int64

var (
	shout = flow.Bind("t.shout@1", flow.Reads, func(ctx context.Context, in string) (string, error) {
		return strings.ToUpper(in), nil
	})
	flaky = flow.Bind("t.flaky@1", flow.Reads, func(context.Context, struct{}) (int64, error) {
		if n := tries.Add(1); n%3 == 0 {
			return 3, nil
		}
		return 0, value.Errorf(value.RateLimit, "slow down")
	})
	post = flow.Bind("t.post@1", flow.Writes, func(_ context.Context, in string) (string, error) {
		if strings.Contains(in, "BAD") {
			return "", value.Errorf(value.ProviderError, "refused")
		}
		return "posted " + in, nil
	})
)

var nodes = []*flow.Node{
	{ID: "all", Pos: "t.flowgen.yaml:3:3", Index: 0, Limit: 16},
	{ID: "shout", Pos: "t.flowgen.yaml:4:3", Index: 1},
	{ID: "flaky", Pos: "t.flowgen.yaml:5:3", Index: 2, Retry: &flow.Retry{Attempts: 3, Base: time.Second}},
	{ID: "ask", Pos: "t.flowgen.yaml:6:3", Index: 3, Timeout: time.Hour},
	{ID: "post", Pos: "t.flowgen.yaml:7:3", Index: 4},
	{ID: "wait", Pos: "t.flowgen.yaml:8:3", Index: 5},
}

var info = &flow.Info{Name: "t", Nodes: nodes, Policy: &runtime.Policy{MaxToolCalls: 50}}

// workflow is what a generated one looks like.
type workflow struct{ rt *flow.Runtime }

func newWorkflow(o ...runtime.Option) (*workflow, error) {
	rt, err := flow.New(info, o...)
	return &workflow{rt}, err
}

func (*workflow) Calls() []engine.Callable { return []engine.Callable{shout, flaky, post} }

func (w *workflow) Run(ctx context.Context, in input) (out output, err error) {
	run := flow.Start(ctx, w.rt, in)
	defer flow.End(run, &out, &err)
	if out.All, err = flow.Map(run, nodes[0], in.Items, func(run *flow.Run, item string) (string, error) {
		return flow.Call(run, nodes[1], shout, item)
	}); err != nil {
		return out, err
	}
	if out.Tries, err = flow.Call(run, nodes[2], flaky, struct{}{}); err != nil {
		return out, err
	}
	if err = flow.Wait(run, nodes[5], time.Minute); err != nil {
		return out, err
	}
	if out.Answer, err = flow.AskOr(run, nodes[3], runtime.Question{Text: "Post it?", Choices: []string{"yes", "no"}}, "no"); err != nil {
		return out, err
	}
	out.Posted, err = flow.Call(run, nodes[4], post, strings.Join(out.All, " "))
	return out, err
}

// performed runs the workflow in the SDK's environment for tests.
func performed(t *testing.T, in input, o temporal.Options, more func(*testsuite.TestWorkflowEnvironment)) (out output, env *testsuite.TestWorkflowEnvironment, err error) {
	t.Helper()
	var s testsuite.WorkflowTestSuite
	s.SetLogger(silent{})
	env = s.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Hour) // the machine may be busy
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Hour})
	if err := temporal.Register(env, info, newWorkflow, o); err != nil {
		t.Fatal(err)
	}
	if more != nil {
		more(env)
	}
	env.ExecuteWorkflow("t", in)
	if err := env.GetWorkflowError(); err != nil {
		return out, env, err
	}
	return out, env, env.GetWorkflowResult(&out)
}

type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}

func items(n int) (in input) {
	for i := range n {
		in.Items = append(in.Items, fmt.Sprint("w", i))
	}
	return in
}

// answer answers the question of a key after a while.
func answer(t *testing.T, env *testsuite.TestWorkflowEnvironment, key, text, refusal string) {
	env.RegisterDelayedCallback(func() {
		env.UpdateWorkflow(temporal.RespondUpdate, key+text, &testsuite.TestUpdateCallback{
			OnAccept: func() {},
			OnReject: func(err error) {
				if refusal == "" || !strings.Contains(err.Error(), refusal) {
					t.Errorf("answer %q: %v", text, err)
				}
			},
			OnComplete: func(_ any, err error) {
				if err != nil || refusal != "" {
					t.Errorf("answer %q was taken: %v", text, err)
				}
			},
		}, temporal.Answer{Key: key, Answer: text})
	}, 2*time.Minute)
}

// The result is that of a run in one process, whatever the options.
func TestSameResult(t *testing.T) {
	plain := output{Answer: "yes", Tries: 3}
	in := items(20)
	for _, item := range in.Items {
		plain.All = append(plain.All, strings.ToUpper(item))
	}
	plain.Posted = "posted " + strings.Join(plain.All, " ")
	for name, o := range map[string]temporal.Options{"activities": {Together: 1}, "batches": {}, "local": {Local: true}} {
		t.Run(name, func(t *testing.T) {
			var seen atomic.Int64
			o.Observers = []runtime.Observer{runtime.ObserverFunc(func(e runtime.Event) {
				if e.Kind == runtime.Asking {
					seen.Add(1)
				}
			})}
			got, env, err := performed(t, in, o, func(env *testsuite.TestWorkflowEnvironment) {
				answer(t, env, "ask", "maybe", "none of yes, no")
				answer(t, env, "nothing", "yes", `unknown question "nothing"; open questions: ask`)
				answer(t, env, "ask", "yes", "")
			})
			if diff := cmp.Diff(plain, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
			if seen.Load() != 1 {
				t.Errorf("%d questions were observed", seen.Load())
			}
			if _, err := env.QueryWorkflow(temporal.QuestionsQuery); err != nil {
				t.Error(err)
			}
		})
	}
}

// A question that nobody answers in time takes its default.
func TestNobodyAnswers(t *testing.T) {
	out, _, err := performed(t, items(1), temporal.Options{}, nil)
	if out.Answer != "no" || err != nil {
		t.Errorf("%+v, %v", out, err)
	}
}

// A failure is an error of Temporal that names code, node and place; caps are counted in the workflow.
func TestFailures(t *testing.T) {
	for _, tt := range []struct {
		in         input
		kind, node string
	}{
		{input{Items: []string{"bad"}}, "PROVIDER_ERROR", "post"},
		{items(60), "POLICY_DENIED", "shout"},
	} {
		_, _, err := performed(t, tt.in, temporal.Options{}, nil)
		var applied *sdk.ApplicationError
		var f temporal.Failure
		if !errors.As(err, &applied) || applied.Details(&f) != nil {
			t.Errorf("%v", err)
			continue
		}
		if applied.Type() != tt.kind || f.Node != tt.node || f.Pos == "" || !applied.NonRetryable() {
			t.Errorf("%s: %+v, want %s at %s", applied.Type(), f, tt.kind, tt.node)
		}
	}
}

// A cancelled run ends as one.
func TestCancelled(t *testing.T) {
	_, _, err := performed(t, items(1), temporal.Options{}, func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(env.CancelWorkflow, 90*time.Second)
	})
	var cancelled *sdk.CanceledError
	if !errors.As(err, &cancelled) {
		t.Errorf("%v", err)
	}
}

// A worker without what its calls need does not start. Histories are replayed without it.
func TestMissingSecret(t *testing.T) {
	secret := &flow.Info{Name: "t", Nodes: nodes, Secrets: []string{"NOT_THERE"}}
	var s testsuite.WorkflowTestSuite
	if err := temporal.Register(s.NewTestWorkflowEnvironment(), secret, newWorkflow, temporal.Options{}); err == nil || !strings.Contains(err.Error(), "NOT_THERE") {
		t.Errorf("%v", err)
	}
	if err := temporal.Register(temporal.Replayer(worker.NewWorkflowReplayer()), secret, newWorkflow, temporal.Options{}); err != nil {
		t.Error(err)
	}
}
