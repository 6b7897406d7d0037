package core_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestToolContext(t *testing.T) {
	var got tool.Invocation
	var said string
	bound := flow.Bind("t.ask@1", flow.Reads, func(ctx context.Context, in pair) (pair, error) {
		child, cancel := context.WithCancel(ctx) // what a tool makes of its context knows the same
		defer cancel()
		got = tool.Context(child)
		said = fmt.Sprint(got.CallID(), got.Attempt(), got.TenantID(), len(got.Auth("KEY")), got.Auth("OTHER"), got.IdempotencyKey(), got.Sandbox())
		return in, nil
	}, flow.Secrets("KEY"))
	rec := journal.NewRecorder()
	lookup := runtime.WithSecrets(func(string) (string, bool) { return "secret", true })
	rt, err := flow.New(&flow.Info{Name: "w"}, runtime.WithEngine(rec), lookup, runtime.WithTenant("acme"))
	if err != nil {
		t.Fatal(err)
	}
	call := func(ctx context.Context) {
		t.Helper()
		if _, err := flow.Call(rt.Start(ctx), node("a"), bound, pair{Count: 1}); err != nil {
			t.Fatal(err)
		}
	}
	call(t.Context())
	if want := fmt.Sprint(rec.Envelopes()[0].CallID, 1, "acme", len("secret"), "", "", runtime.Native); said != want {
		t.Errorf("%s\nwant %s", said, want)
	}
	if rt, err = flow.New(&flow.Info{Name: "w"}, lookup, runtime.WithTenant("acme")); err != nil {
		t.Fatal(err)
	}
	call(runtime.TenantContext(t.Context(), "other"))
	if got.TenantID() != "other" {
		t.Errorf("tenant %q", got.TenantID())
	}
	if i := tool.Context(t.Context()); i.CallID() != "" || i.TenantID() != "" || i.Auth("KEY") != "" || i.Attempt() != 1 || i.IdempotencyKey() != "" {
		t.Error("outside of a call there is something to tell")
	}
}

func TestAttachIsBounded(t *testing.T) {
	bound := flow.Bind("t.attach@1", flow.Reads, func(ctx context.Context, in pair) (pair, error) {
		var wg sync.WaitGroup
		for range 150 {
			wg.Go(func() { _ = tool.Attach(ctx, tool.Attachment{Kind: "image", URL: "https://x/y"}) })
		}
		wg.Wait()
		for _, a := range []tool.Attachment{{Kind: "exe", URL: "x"}, {Kind: "blob"}, {Kind: "blob", URL: string(make([]byte, 5000))},
			{Kind: "blob", URL: "x", ContentType: string(make([]byte, 201))}, {Kind: "table", URL: "x", Bytes: -1}} {
			if err := tool.Attach(ctx, a); codeOf(err) != value.ValidationError {
				t.Errorf("%.40v: %v", a, err)
			}
		}
		return in, tool.Attach(ctx, tool.Attachment{Kind: "image", URL: "https://x/y"})
	})
	rec := journal.NewRecorder()
	_, err := flow.Call(start(t, t.Context(), runtime.WithEngine(rec)), node("a"), bound, pair{})
	wantCode(t, err, value.PolicyDenied)
	if n := len(rec.Envelopes()[0].Attachments); n != 100 {
		t.Errorf("%d attachments", n)
	}
}

// Below the tier that is required nothing runs.
func TestSandboxTiers(t *testing.T) {
	obtain := func(got runtime.Tier, err error) flow.ToolOption {
		return tool.Obtain(func(_ context.Context, required runtime.Tier) (runtime.Tier, error) { return got, err })
	}
	for _, tt := range []struct {
		name   string
		opts   []flow.ToolOption
		policy runtime.Tier
		want   string // the tier recorded; "" refused
	}{
		{"nothing asked", nil, runtime.Native, "native"},
		{"no way to isolate", []flow.ToolOption{tool.Require(runtime.Process)}, runtime.Native, ""},
		{"enough", []flow.ToolOption{tool.Require(runtime.Process), obtain(runtime.Process, nil)}, runtime.Native, "process"},
		{"better", []flow.ToolOption{tool.Require(runtime.Wasm), obtain(runtime.GVisor, nil)}, runtime.Native, "gvisor"},
		{"worse", []flow.ToolOption{tool.Require(runtime.Container), obtain(runtime.Process, nil)}, runtime.Native, ""},
		{"policy asks for more", []flow.ToolOption{tool.Require(runtime.Wasm), obtain(runtime.Process, nil)}, runtime.Container, ""},
		{"policy asks for less", []flow.ToolOption{tool.Require(runtime.Process), obtain(runtime.Process, nil)}, runtime.Wasm, "process"},
		{"policy alone", []flow.ToolOption{obtain(runtime.Native, nil)}, runtime.Process, ""},
		{"a part of the program", nil, runtime.Process, "native"},
		{"cannot be found out", []flow.ToolOption{obtain(runtime.GVisor, errors.New("no kernel"))}, runtime.Native, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ran := false
			bound := flow.Bind("t.code@1", flow.Reads, func(context.Context, pair) (pair, error) { ran = true; return pair{}, nil }, tt.opts...)
			rec := journal.NewRecorder()
			_, err := flow.Call(start(t, t.Context(), runtime.WithEngine(rec), runtime.WithPolicy(&runtime.Policy{MinSandbox: tt.policy})), node("a"), bound, pair{})
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
		effects flow.Effects
		opts    []flow.ToolOption
		missing bool
		runs    bool
	}{
		{"strict", flow.None, nil, false, false},
		{"reads by default", flow.Reads, nil, true, true},
		{"writes by default", flow.Writes, nil, true, false},
		{"external by default", flow.External, nil, true, false},
		{"writes that may", flow.Writes, []flow.ToolOption{flow.Replay(flow.RecordedResult)}, true, true},
		{"reads that must not", flow.Reads, []flow.ToolOption{flow.Replay(flow.MustStub)}, true, false},
		{"fail loud", flow.None, []flow.ToolOption{flow.Replay(flow.FailLoud)}, true, false},
	} {
		ran := false
		bound := flow.Bind("t.a@1", tt.effects, func(context.Context, pair) (pair, error) { ran = true; return pair{}, nil }, tt.opts...)
		var o []journal.ReplayOption
		if tt.missing {
			o = append(o, journal.RunMissing())
		}
		_, err := flow.Call(start(t, t.Context(), runtime.WithEngine(journal.Replay(empty, o...))), node("a"), bound, pair{})
		var re *runtime.RunError
		if ran != tt.runs || (err == nil) != tt.runs || !tt.runs && (!errors.As(err, &re) || re.Kind != runtime.Diverged) {
			t.Errorf("%s: ran %v, %v", tt.name, ran, err)
		}
	}
}
