package core_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// asked is somebody who keeps what he is asked, and answers with the given texts in turn.
type asked struct {
	mu      sync.Mutex
	texts   []string
	answers []string
}

func (a *asked) answer(_ context.Context, q runtime.Question) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.texts = append(a.texts, q.Text)
	if len(a.answers) == 0 {
		return "", runtime.Nobody("all have left")
	}
	next := a.answers[0]
	a.answers = a.answers[1:]
	return next, nil
}

func TestApproved(t *testing.T) {
	var calls atomic.Int64
	deploy := flow.Bind("t.deploy@1", flow.Writes, func(_ context.Context, in pair) (pair, error) {
		calls.Add(1)
		return in, nil
	}).Approved()
	for name, opts := range map[string][]runtime.Option{"plain": nil, "engine": {runtime.WithEngine(engine.Goroutines{})}} {
		t.Run(name, func(t *testing.T) {
			calls.Store(0)
			a := &asked{answers: []string{"yes", "no", "maybe"}}
			r := start(t, t.Context(), append(opts, runtime.WithHuman(a.answer))...)
			n := node("deploy")
			n.Retry = &flow.Retry{Attempts: 3, Codes: []value.Code{value.PolicyDenied, value.Timeout}} // a refusal is not retried
			if out, err := flow.Call(r, n, deploy, pair{7, "x"}); err != nil || out.Count != 7 {
				t.Fatal(out, err)
			}
			for _, want := range []string{"a user denied this call", `no one approved this call: answer: "maybe" is neither yes nor no`,
				"no one approved this call: no user is available to answer: all have left"} {
				_, err := flow.Call(r, n, deploy, pair{8, "y"})
				wantCode(t, err, value.PolicyDenied)
				if !strings.HasSuffix(err.Error(), "POLICY_DENIED: "+want) {
					t.Errorf("%v, want %s", err, want)
				}
			}
			if calls.Load() != 1 || len(a.texts) != 4 {
				t.Errorf("%d calls, %d questions", calls.Load(), len(a.texts))
			}
			if want := "Allow call deploy of tool t.deploy@1 (writes)?\n{\"count\":7,\"text\":\"x\"}"; a.texts[0] != want {
				t.Errorf("%q, want %q", a.texts[0], want)
			}
		})
	}
}

// TestApprovalShows: what a person sees is without secrets, bounded, and nothing that a terminal obeys.
func TestApprovalShows(t *testing.T) {
	tool := flow.Bind("t.deploy@1", flow.Writes, func(_ context.Context, in pair) (pair, error) { return in, nil }, flow.Secrets("TOKEN")).Approved()
	a := &asked{answers: []string{"yes", "yes", "yes", "yes"}}
	r := start(t, t.Context(), runtime.WithHuman(a.answer), runtime.WithSecrets(func(string) (string, bool) { return "hunter2hunter2", true }))
	long := strings.Repeat("é\u202e", 10_000)
	for _, text := range []string{"first", "the hunter2hunter2 token", "\x1b[2J\u0085\u202e\U000e0041|", long} {
		if _, err := flow.Call(r, node("n"), tool, pair{1, text}); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(a.texts[1], "hunter2") {
		t.Error(a.texts[1])
	}
	if want := `{"count":1,"text":"\u001b[2J\u0085\u202e\udb40\udc41|"}`; !strings.HasSuffix(a.texts[2], want) {
		t.Errorf("%q", a.texts[2])
	}
	if got := a.texts[3]; len(got) > 16<<10 || !strings.Contains(got, "[cut: ") || strings.Contains(got, "\u202e") {
		t.Errorf("%d bytes", len(got))
	}
}

// TestApprovalByPolicy: a policy asks for effects, and not for what it denies, what does not fit, questions or undos.
func TestApprovalByPolicy(t *testing.T) {
	bind := func(name string, e flow.Effects) *flow.Tool[pair, pair] {
		return flow.Bind(name, e, func(_ context.Context, in pair) (pair, error) { return in, nil })
	}
	a := &asked{answers: []string{"no", "no", "no"}}
	r := start(t, t.Context(), runtime.WithHuman(a.answer), runtime.WithPolicy(&runtime.Policy{
		Approve: []flow.Effects{flow.Reads, flow.External}, Tools: []string{"t.r@1", "t.w@1", "t.x@1", "human@1"}}))
	_, err := flow.Call(r, node("a"), bind("t.w@1", flow.Writes), pair{})
	if err != nil {
		t.Error(err)
	}
	for _, tool := range []*flow.Tool[pair, pair]{bind("t.r@1", flow.Reads), bind("t.x@1", flow.External), bind("t.other@1", flow.External)} {
		_, err := flow.Call(r, node("b"), tool, pair{})
		wantCode(t, err, value.PolicyDenied)
	}
	if len(a.texts) != 2 {
		t.Errorf("asked %q", a.texts)
	}
	if yes, err := flow.Ask[bool](r, node("c"), runtime.Question{Text: "sure?"}); err != nil || yes {
		t.Error(yes, err)
	}
}

// TestApprovalRecorded: the question has a key of its own, and a replay asks nobody.
func TestApprovalRecorded(t *testing.T) {
	var calls atomic.Int64
	deploy := flow.Bind("t.deploy@1", flow.Writes, func(_ context.Context, in pair) (pair, error) { calls.Add(1); return in, nil }).Approved()
	n := node("deploy")
	run := func(r *flow.Run) (errs []error) {
		for i := range 3 {
			_, err := flow.Call(r, n, deploy, pair{int64(i), ""})
			errs = append(errs, err)
		}
		return errs
	}
	rec := journal.NewRecorder()
	a := &asked{answers: []string{"yes", "no", "yes"}}
	first := run(start(t, t.Context(), runtime.WithEngine(rec), runtime.WithHuman(a.answer)))
	var keys []string
	for _, r := range rec.Journal().Records() {
		keys = append(keys, r.Key+" "+r.Tool)
	}
	want := []string{"deploy t.deploy@1", "deploy#2 t.deploy@1", "deploy#2/approve human@1", "deploy#3 t.deploy@1", "deploy#3/approve human@1", "deploy/approve human@1"}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Error(diff)
	}
	again := run(start(t, t.Context(), runtime.WithEngine(journal.Replay(rec.Journal()))))
	for i := range first {
		if (first[i] == nil) != (again[i] == nil) || first[i] != nil && first[i].Error() != again[i].Error() {
			t.Errorf("call %d: %v, in the replay %v", i, first[i], again[i])
		}
	}
	if calls.Load() != 2 || errors.Join(again[0], again[2]) != nil {
		t.Errorf("%d calls, %v", calls.Load(), again)
	}
}
