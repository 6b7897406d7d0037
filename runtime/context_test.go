package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestToolContext(t *testing.T) {
	var got runtime.Invocation
	var said string
	tool := runtime.Bind("t.ask@1", runtime.Reads, func(ctx context.Context, in pair) (pair, error) {
		child, cancel := context.WithCancel(ctx) // what a tool makes of its context knows the same
		defer cancel()
		got = runtime.ToolContext(child)
		said = fmt.Sprint(got.CallID(), got.Attempt(), got.TenantID(), len(got.Auth("KEY")), got.Auth("OTHER"), got.IdempotencyKey(), got.Sandbox())
		return in, nil
	}, runtime.Secrets("KEY"))
	rec := journal.NewRecorder()
	lookup := runtime.WithSecrets(func(string) (string, bool) { return "secret", true })
	rt, err := runtime.New(&runtime.Info{Name: "w"}, runtime.WithEngine(rec), lookup, runtime.WithTenant("acme"))
	if err != nil {
		t.Fatal(err)
	}
	call := func(ctx context.Context) {
		t.Helper()
		if _, err := runtime.Call(rt.Start(ctx), node("a"), tool, pair{Count: 1}); err != nil {
			t.Fatal(err)
		}
	}
	call(t.Context())
	if want := fmt.Sprint(rec.Envelopes()[0].CallID, 1, "acme", len("secret"), "", "", runtime.Native); said != want {
		t.Errorf("%s\nwant %s", said, want)
	}
	if rt, err = runtime.New(&runtime.Info{Name: "w"}, lookup, runtime.WithTenant("acme")); err != nil {
		t.Fatal(err)
	}
	call(runtime.TenantContext(t.Context(), "other"))
	if got.TenantID() != "other" {
		t.Errorf("tenant %q", got.TenantID())
	}
	if i := runtime.ToolContext(t.Context()); i.CallID() != "" || i.TenantID() != "" || i.Auth("KEY") != "" || i.Attempt() != 1 || i.IdempotencyKey() != "" {
		t.Error("outside of a call there is something to tell")
	}
}

func TestAttachIsBounded(t *testing.T) {
	tool := runtime.Bind("t.attach@1", runtime.Reads, func(ctx context.Context, in pair) (pair, error) {
		var wg sync.WaitGroup
		for range 150 {
			wg.Go(func() { _ = runtime.Attach(ctx, runtime.Attachment{Kind: "image", URL: "https://x/y"}) })
		}
		wg.Wait()
		for _, a := range []runtime.Attachment{{Kind: "exe", URL: "x"}, {Kind: "blob"}, {Kind: "blob", URL: string(make([]byte, 5000))},
			{Kind: "blob", URL: "x", ContentType: string(make([]byte, 201))}, {Kind: "table", URL: "x", Bytes: -1}} {
			if err := runtime.Attach(ctx, a); codeOf(err) != value.ValidationError {
				t.Errorf("%.40v: %v", a, err)
			}
		}
		return in, runtime.Attach(ctx, runtime.Attachment{Kind: "image", URL: "https://x/y"})
	})
	rec := journal.NewRecorder()
	_, err := runtime.Call(start(t, t.Context(), runtime.WithEngine(rec)), node("a"), tool, pair{})
	wantCode(t, err, value.PolicyDenied)
	if n := len(rec.Envelopes()[0].Attachments); n != 100 {
		t.Errorf("%d attachments", n)
	}
}

// Below the tier that is required nothing runs.
func TestSandboxTiers(t *testing.T) {
	obtain := func(got runtime.Tier, err error) runtime.ToolOption {
		return runtime.Obtain(func(_ context.Context, required runtime.Tier) (runtime.Tier, error) { return got, err })
	}
	for _, tt := range []struct {
		name   string
		opts   []runtime.ToolOption
		policy runtime.Tier
		want   string // the tier recorded; "" refused
	}{
		{"nothing asked", nil, runtime.Native, "native"},
		{"no way to isolate", []runtime.ToolOption{runtime.Require(runtime.Process)}, runtime.Native, ""},
		{"enough", []runtime.ToolOption{runtime.Require(runtime.Process), obtain(runtime.Process, nil)}, runtime.Native, "process"},
		{"better", []runtime.ToolOption{runtime.Require(runtime.Wasm), obtain(runtime.GVisor, nil)}, runtime.Native, "gvisor"},
		{"worse", []runtime.ToolOption{runtime.Require(runtime.Container), obtain(runtime.Process, nil)}, runtime.Native, ""},
		{"policy asks for more", []runtime.ToolOption{runtime.Require(runtime.Wasm), obtain(runtime.Process, nil)}, runtime.Container, ""},
		{"policy asks for less", []runtime.ToolOption{runtime.Require(runtime.Process), obtain(runtime.Process, nil)}, runtime.Wasm, "process"},
		{"policy alone", []runtime.ToolOption{obtain(runtime.Native, nil)}, runtime.Process, ""},
		{"a part of the program", nil, runtime.Process, "native"},
		{"cannot be found out", []runtime.ToolOption{obtain(runtime.GVisor, errors.New("no kernel"))}, runtime.Native, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ran := false
			tool := runtime.Bind("t.code@1", runtime.Reads, func(context.Context, pair) (pair, error) { ran = true; return pair{}, nil }, tt.opts...)
			rec := journal.NewRecorder()
			_, err := runtime.Call(start(t, t.Context(), runtime.WithEngine(rec), runtime.WithPolicy(&runtime.Policy{MinSandbox: tt.policy})), node("a"), tool, pair{})
			if tt.want == "" {
				if wantCode(t, err, value.SandboxError); ran {
					t.Error("it ran")
				}
				return
			}
			got := rec.Journal().Records()[0].Sandbox
			if got == "" {
				got = "native"
			}
			if err != nil || !ran || got != tt.want {
				t.Errorf("%v, ran %v in %s, want %s", err, ran, got, tt.want)
			}
		})
	}
}

// A replay may run what its journal lacks, where the tool's replay policy and the replay say so.
func TestReplayPolicies(t *testing.T) {
	empty := journal.New(journal.Header{Workflow: "w"})
	empty.SetFinish(journal.Finish{Outcome: journal.Succeeded})
	for _, tt := range []struct {
		name    string
		effects runtime.Effects
		opts    []runtime.ToolOption
		missing bool
		runs    bool
	}{
		{"strict", runtime.None, nil, false, false},
		{"reads by default", runtime.Reads, nil, true, true},
		{"writes by default", runtime.Writes, nil, true, false},
		{"external by default", runtime.External, nil, true, false},
		{"writes that may", runtime.Writes, []runtime.ToolOption{runtime.Replay(runtime.RecordedResult)}, true, true},
		{"reads that must not", runtime.Reads, []runtime.ToolOption{runtime.Replay(runtime.MustStub)}, true, false},
		{"fail loud", runtime.None, []runtime.ToolOption{runtime.Replay(runtime.FailLoud)}, true, false},
	} {
		ran := false
		tool := runtime.Bind("t.a@1", tt.effects, func(context.Context, pair) (pair, error) { ran = true; return pair{}, nil }, tt.opts...)
		var o []journal.ReplayOption
		if tt.missing {
			o = append(o, journal.RunMissing())
		}
		_, err := runtime.Call(start(t, t.Context(), runtime.WithEngine(journal.Replay(empty, o...))), node("a"), tool, pair{})
		var re *runtime.RunError
		if ran != tt.runs || (err == nil) != tt.runs || !tt.runs && (!errors.As(err, &re) || re.Kind != runtime.Diverged) {
			t.Errorf("%s: ran %v, %v", tt.name, ran, err)
		}
	}
}
