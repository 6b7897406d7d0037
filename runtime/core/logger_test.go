package core_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// There is one record for each call, with what it was, took and cost, and none has a secret.
func TestLogger(t *testing.T) {
	var b bytes.Buffer
	n := flow.Node{ID: "pay", Pos: "w.yaml:3:5", Retry: &flow.Retry{Attempts: 2}}
	rt, err := flow.New(&flow.Info{Name: "orders", Nodes: []*flow.Node{&n}}, runtime.WithLogger(slog.New(slog.NewJSONHandler(&b, nil))),
		runtime.WithSecrets(func(string) (string, bool) { return "hunter2hunter2", true }))
	if err != nil {
		t.Fatal(err)
	}
	tries := 0
	pay := flow.Bind("bank.pay@2", flow.Writes, func(context.Context, string) (string, error) {
		if tries++; tries == 1 {
			return "", value.Errorf(value.NetworkError, "no route with hunter2hunter2")
		}
		if tries > 2 {
			explode("hunter2hunter2")
		}
		return "paid", nil
	}, flow.CostUSD("0.25"), flow.Secrets("KEY"))
	r := flow.Start(runtime.WithRunID(t.Context(), "order-1"), rt, "")
	if _, err = flow.Call(r, &n, pay, "5"); err != nil {
		t.Fatal(err)
	}
	_, err = flow.Call(r, &n, pay, "5")
	out := ""
	flow.End(r, &out, &err)
	var failed *runtime.NodeError
	var broken *runtime.PanicError
	if !errors.As(err, &failed) || failed.RunID != "order-1" || !errors.As(err, &broken) || !strings.HasPrefix(string(broken.Stack), "github.com/flowgen-dev/flowgen/runtime/core_test.explode(") {
		t.Errorf("%v\n%s", err, broken.Stack)
	}
	var got []string
	for line := range strings.Lines(b.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if m["run"] != "order-1" || m["workflow"] != "orders" {
			t.Errorf("whose record is this? %s", line)
		}
		s := m["level"].(string) + " " + m["msg"].(string)
		for _, k := range []string{"key", "node", "pos", "tool", "code", "cost_usd"} {
			if v, ok := m[k]; ok {
				s += " " + k + "=" + v.(string)
			}
		}
		if m["attempt"] != nil {
			s += " attempt=" + value.JSON(m["attempt"])
		}
		if m["duration"] != nil {
			s += " duration"
		}
		if m["stack"] != nil {
			s += " stack"
		}
		got = append(got, s)
	}
	want := `INFO run started
WARN retry key=pay node=pay pos=w.yaml:3:5 tool=bank.pay@2 code=NETWORK_ERROR attempt=1 duration
INFO call key=pay node=pay pos=w.yaml:3:5 tool=bank.pay@2 cost_usd=0.25 attempt=2 duration
WARN call key=pay#2 node=pay pos=w.yaml:3:5 tool=bank.pay@2 code=UNKNOWN cost_usd=0.25 attempt=1 duration stack
ERROR run failed code=UNKNOWN duration stack`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("%s", text)
	}
	if strings.Contains(b.String(), "hunter2hunter2") || strings.Contains(string(broken.Stack), "hunter2hunter2") {
		t.Errorf("a secret is in the log:\n%s", b.String())
	}
}

// explode panics in a function whose name stands first in the stack.
//
//go:noinline
func explode(why string) { panic("it broke: " + why) }

// A logger that is not set costs nothing.
func TestNoLogger(t *testing.T) {
	pay := flow.Bind("bank.pay@2", flow.Writes, func(context.Context, string) (string, error) { return "paid", nil })
	n := node("pay")
	allocs := func(o ...runtime.Option) float64 {
		r := start(t, t.Context(), o...)
		return testing.AllocsPerRun(100, func() {
			if _, err := flow.Call(r, n, pay, "5"); err != nil {
				t.Fatal(err)
			}
		})
	}
	if bare, none := allocs(), allocs(runtime.WithLogger(nil)); bare != 0 || none != 0 {
		t.Errorf("%v and %v allocations", bare, none)
	}
}

// BenchmarkLogger measures a recorded call without a logger, and with one that drops everything.
func BenchmarkLogger(b *testing.B) {
	for name, l := range map[string]*slog.Logger{"none": nil, "discard": slog.New(slog.DiscardHandler)} {
		b.Run(name, func(b *testing.B) {
			pay := flow.Bind("bank.pay@2", flow.Writes, func(context.Context, string) (string, error) { return "paid", nil })
			n := flow.Node{ID: "pay", Pos: "w.yaml:3:5"}
			rt, err := flow.New(&flow.Info{Name: "orders", Nodes: []*flow.Node{&n}}, runtime.WithLogger(l))
			if err != nil {
				b.Fatal(err)
			}
			r := flow.Start(b.Context(), rt, "")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := flow.Call(r, &n, pay, "5"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
