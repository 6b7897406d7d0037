package core_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A Go function that ignores its context is abandoned: the run goes on, an event and the journal name it. One that keeps to it is not.
func TestFunctionsThatIgnoreTheirContext(t *testing.T) {
	for _, tt := range []struct {
		name    string
		effects flow.Effects
		options []flow.ToolOption
		node    flow.Node
		after   time.Duration
		want    string
	}{
		{"timeout of the tool", flow.Reads, []flow.ToolOption{tool.Timeout(time.Second)}, flow.Node{}, 1500 * time.Millisecond, "no result after 1s, the timeout of w.stuck@1"},
		{"of one that computes", flow.None, []flow.ToolOption{tool.Timeout(time.Second)}, flow.Node{}, 1500 * time.Millisecond, "no result after 1s, the timeout of w.stuck@1"},
		{"of the node", flow.Writes, nil, flow.Node{Timeout: 2 * time.Second}, 2500 * time.Millisecond, "no result after 2s"},
		{"of one attempt", flow.Writes, nil, flow.Node{Retry: &flow.Retry{Timeout: 3 * time.Second}}, 3500 * time.Millisecond, "no result after 3s in one attempt"},
		{"the shorter one", flow.Writes, []flow.ToolOption{tool.Timeout(time.Minute)}, flow.Node{Timeout: time.Second}, 1500 * time.Millisecond, "no result after 1s"},
		{"none is written", flow.Reads, nil, flow.Node{}, 5*time.Minute + 500*time.Millisecond, "no result after 5m0s, the default timeout"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var warnings []string
				rec := journal.NewRecorder()
				r := start(t, t.Context(), runtime.WithEngine(rec), runtime.WithObserver(runtime.ObserverFunc(func(e runtime.Event) {
					if e.Kind == runtime.Warning {
						warnings = append(warnings, e.Tool+": "+e.Message)
					}
				})))
				end, ended := make(chan struct{}), make(chan error, 1)
				stuck := flow.Bind("w.stuck@1", tt.effects, func(ctx context.Context, in pair) (string, error) {
					<-end
					ended <- tool.Attach(ctx, tool.Attachment{Kind: "blob", URL: "late"}) // nobody sees it
					return "late", nil
				}, tt.options...)
				n := tt.node
				n.ID, n.Pos = "n", "w.flowgen.yaml:3:5"
				began := time.Now()
				_, err := flow.Call(r, &n, stuck, pair{})
				if te := value.ToolErrorOf(err); te == nil || te.Code != value.Timeout || te.Message != tt.want || time.Since(began) != tt.after {
					t.Errorf("after %v: %v", time.Since(began), err)
				}
				if len(warnings) != 1 || !strings.HasPrefix(warnings[0], "w.stuck@1: the function of w.stuck@1 ignores its context") {
					t.Errorf("warnings %q", warnings)
				}
				close(end)
				if err := <-ended; err != nil {
					t.Error(err)
				}
				if out, err := flow.Call(r, node("m"), stepTool, pair{1, "x"}); err != nil || out.Count != 2 {
					t.Errorf("the run goes on with %v, %v", out, err)
				}
				b, err := rec.Journal().MarshalText()
				if err != nil {
					t.Fatal(err)
				}
				if text := string(b); strings.Count(text, `"abandoned":true`) != 1 || strings.Contains(text, "late") {
					t.Error(text)
				}
			})
		})
	}
}

// What keeps to its context, what ends in the last moment and what panics is as it is on the goroutine of its caller.
func TestFunctionsOnTheirOwnGoroutine(t *testing.T) {
	type key struct{}
	for _, tt := range []struct {
		name string
		f    func(ctx context.Context) (string, error)
		want string
	}{
		{"obeys", func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }, "TIMEOUT: no result after 1s"},
		{"obeys a context of its own", func(ctx context.Context) (string, error) {
			own, cancel := context.WithCancel(ctx)
			defer cancel()
			<-own.Done()
			return "", own.Err()
		}, "TIMEOUT: no result after 1s"},
		{"polls", func(ctx context.Context) (string, error) {
			for ctx.Err() == nil {
				<-time.After(10 * time.Millisecond)
			}
			return "", ctx.Err()
		}, "TIMEOUT: no result after 1s"},
		{"is done", func(ctx context.Context) (string, error) {
			<-time.After(1200 * time.Millisecond)
			return "done", nil
		}, ""},
		{"has a deadline and values", func(ctx context.Context) (string, error) {
			if d, ok := ctx.Deadline(); !ok || time.Until(d) != time.Second || ctx.Value(key{}) != "v" || tool.Context(ctx).Timeout() != time.Second {
				return "", errors.New("not so")
			}
			return "done", nil
		}, ""},
		{"panics", func(ctx context.Context) (string, error) { panic("oh") }, "UNKNOWN: panic: oh"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, context.WithValue(t.Context(), key{}, "v"), runtime.WithEngine(journal.NewRecorder()))
				var kept context.Context
				f := flow.Bind("w.f@1", flow.Reads, func(ctx context.Context, _ pair) (string, error) { kept = ctx; return tt.f(ctx) })
				n := node("n")
				n.Timeout = time.Second
				out, err := flow.Call(r, n, f, pair{})
				got := ""
				if err != nil {
					_, got, _ = strings.Cut(err.Error(), "node n: ")
				} else if out != "done" {
					t.Error(out)
				}
				if got != tt.want {
					t.Errorf("%v", err)
				}
				if tt.name == "panics" {
					var p *runtime.PanicError
					if !errors.As(err, &p) || !bytes.Contains(p.Stack, []byte("apart_test.go")) {
						t.Errorf("the stack is lost: %v", p)
					}
				}
				if kept.Err() == nil {
					t.Error("the context outlives its call")
				}
			})
		})
	}
}

// A policy's MaxTime bounds the work of a run: calls in flight end, later ones are refused. Waiting for people does not count, nor
// does the time between the parts of a run.
func TestMaxTime(t *testing.T) {
	sleep := flow.Bind("w.sleep@1", flow.Reads, func(ctx context.Context, in pair) (pair, error) {
		select {
		case <-time.After(time.Duration(in.Count) * time.Second):
			return in, nil
		case <-ctx.Done():
			return in, ctx.Err()
		}
	})
	const over = "TIMEOUT: the run has worked for 10s, its max_time"
	body := func(r *flow.Run) (err error) {
		if _, err = flow.Call(r, node("a"), sleep, pair{Count: 4}); err != nil {
			return err
		}
		if _, err = flow.Ask[string](r, node("ask"), runtime.Question{Text: "?"}); err != nil {
			return err
		}
		if _, err = flow.Call(r, node("b"), sleep, pair{Count: 5}); err != nil {
			return err
		}
		_, err = flow.Call(r, node("c"), sleep, pair{Count: 5})
		if err == nil || !strings.Contains(err.Error(), over) {
			t.Errorf("the call in flight: %v", err)
		}
		_, err = flow.Call(r, node("d"), sleep, pair{Count: 1})
		if err == nil || !strings.Contains(err.Error(), over) {
			t.Errorf("the call after it: %v", err)
		}
		return flow.Wait(r, node("w"), time.Hour)
	}
	synctest.Test(t, func(t *testing.T) {
		policy := runtime.WithPolicy(&runtime.Policy{MaxTime: 10 * time.Second})
		people := runtime.WithHuman(func(context.Context, runtime.Question) (string, error) { time.Sleep(time.Hour); return "yes", nil })
		began := time.Now()
		rec := journal.NewRecorder()
		if err := body(start(t, t.Context(), policy, people, runtime.WithEngine(rec))); err == nil || !strings.Contains(err.Error(), over) {
			t.Errorf("the wait: %v", err)
		}
		if took := time.Since(began).Round(time.Second); took != time.Hour+10*time.Second {
			t.Errorf("after %v", took)
		}
		whole := rec.Journal()
		part := journal.New(whole.Header()) // it was killed after the question, a day ago
		for _, x := range whole.Records() {
			if x.Key == "a" || x.Key == "ask" {
				part.Put(x)
			}
		}
		time.Sleep(24 * time.Hour)
		began = time.Now()
		if err := body(start(t, t.Context(), policy, people, runtime.WithEngine(journal.Resume(part)))); err == nil || !strings.Contains(err.Error(), over) {
			t.Errorf("resumed: %v", err)
		}
		if took := time.Since(began).Round(time.Second); took != 6*time.Second {
			t.Errorf("resumed: after %v", took)
		}
		if err := body(start(t, t.Context(), policy, people, runtime.WithEngine(journal.Replay(whole)))); err == nil || !strings.Contains(err.Error(), over) {
			t.Errorf("replayed: %v", err)
		}
	})
}

// A bound costs an unrecorded call of a Go function nothing, and a recorded one at most one allocation.
func TestBoundsCostNothing(t *testing.T) {
	r := start(t, t.Context())
	n := node("n")
	if got := testing.AllocsPerRun(500, func() { _, _ = flow.Call(r, n, stepTool, pair{1, "x"}) }); got != 0 {
		t.Errorf("an unrecorded call allocates %v times", got)
	}
	recorded := func(o ...flow.ToolOption) float64 {
		r := start(t, t.Context(), runtime.WithEngine(journal.NewRecorder()))
		f := flow.Bind("w.f@1", flow.Reads, step, o...)
		return testing.AllocsPerRun(2000, func() { _, _ = flow.Call(r, n, f, pair{1, "x"}) })
	}
	if got := recorded(tool.Timeout(time.Minute)); got > 2 {
		t.Errorf("a recorded call with a timeout allocates %v times", got)
	}
}
