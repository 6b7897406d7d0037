package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestLastOf(t *testing.T) {
	ok := journal.Record{Key: "agent[1]/call", Attempt: 1, Tool: "w.ask@1", Done: true, Output: []byte(`"old"`), End: 5}
	with := func(change func(*journal.Record)) journal.Record {
		r := ok
		r.Output, r.End = []byte(`"new"`), 7
		change(&r)
		return r
	}
	for name, tt := range map[string]struct {
		r    journal.Record
		want string
	}{
		"later":              {with(func(r *journal.Record) { r.Key = "agent[0]/call" }), "new"},
		"later visit":        {with(func(r *journal.Record) { r.Key = "agent#2[1]/call" }), "new"},
		"earlier":            {with(func(r *journal.Record) { r.Key, r.End = "agent[2]/call", 3 }), "old"},
		"at the same time":   {with(func(r *journal.Record) { r.Key, r.End = "agent[2]/call", 5 }), "new"},
		"agent itself":       {with(func(r *journal.Record) { r.Key = "agent" }), "old"},
		"other agent":        {with(func(r *journal.Record) { r.Key = "agents[1]/call" }), "old"},
		"below another call": {with(func(r *journal.Record) { r.Key = "agent[1]/call[1]/deep" }), "old"},
		"below a group":      {with(func(r *journal.Record) { r.Key = "agent/call" }), "old"},
		"other tool":         {with(func(r *journal.Record) { r.Key, r.Tool = "agent[2]/call", "w.other@1" }), "old"},
		"no result":          {with(func(r *journal.Record) { r.Key, r.Done = "agent[2]/call", false }), "old"},
		"failed":             {with(func(r *journal.Record) { r.Key, r.Error = "agent[2]/call", value.Invalid("no") }), "old"},
		"stopped":            {with(func(r *journal.Record) { r.Key, r.Cancelled = "agent[2]/call", runtime.ByScope }), "old"},
		"no output":          {with(func(r *journal.Record) { r.Key, r.Output = "agent[2]/call", nil }), "old"},
	} {
		j := journal.New(journal.Header{})
		j.Put(ok)
		j.Put(tt.r)
		if got := string(j.Last(runtime.LastCall{Node: "agent", Tool: "w.ask@1"})); got != `"`+tt.want+`"` {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
	if got := journal.New(journal.Header{}).Last(runtime.LastCall{Node: "agent", Tool: "w.ask@1"}); got != nil {
		t.Errorf("of nothing: %s", got)
	}
}

// recorded runs an agent of one call, ended as outcome says.
func recorded(t *testing.T, f *Folder, workflow, tenant, answer string, outcome journal.Outcome) (id string) {
	t.Helper()
	agent, call := &flow.Node{ID: "agent", Pos: "w.yaml:3:1"}, &flow.Node{ID: "call", Pos: "w.yaml:4:1", Index: 1}
	e := f.New(&flow.Info{Name: workflow, Nodes: []*flow.Node{agent, call}, Facts: flow.NewFacts(`{"hashes":{"graph":"g"}}`)})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rt, err := flow.New(&flow.Info{Name: workflow}, runtime.WithEngine(e), runtime.WithTenant(tenant))
	if err != nil {
		t.Fatal(err)
	}
	run := flow.Start(ctx, rt, "in")
	out, err := flow.Call(run.At(agent, 0), call, flow.Bind("w.ask@1", flow.Reads, func(context.Context, string) (string, error) {
		return answer, nil
	}), "?")
	switch outcome {
	case journal.Waiting:
		e.idle.gave.Store(true)
		cancel()
		err = run.Cancelled()
	case journal.Open:
		err = &runtime.RunError{Kind: runtime.JournalUnavailable}
	}
	flow.End(run, &out, &err)
	if j, err := f.Read(e.ID()); err != nil || j.Finish().Outcome != outcome {
		t.Fatalf("%v, %+v, want %q", err, j.Finish(), outcome)
	}
	return e.ID()
}

func TestLast(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f := Open(filepath.Join(t.TempDir(), "runs"), Options{Now: func() time.Time { now = now.Add(time.Second); return now }, Sync: Off})
	q := runtime.LastCall{Workflow: "w x", Tenant: "t", Node: "agent", Tool: "w.ask@1"}
	last := func(what, want string) {
		t.Helper()
		got, err := f.Last(t.Context(), q)
		text := ""
		if got != nil {
			text = fmt.Sprint(json.Unmarshal(got, &text), " ", text)
			text = text[len("<nil> "):]
		}
		if err != nil || text != want {
			t.Errorf("%s: %q, %v, want %q", what, text, err, want)
		}
	}
	last("no folder", "")
	first := recorded(t, f, "w x", "t", "first", journal.Succeeded)
	last("one run", "first")
	recorded(t, f, "w x", "t", "second", journal.Succeeded)
	last("two runs", "second")
	recorded(t, f, "w x", "other", "of another tenant", journal.Succeeded)
	recorded(t, f, "w.x", "t", "of a workflow with the same folder names", journal.Succeeded)
	recorded(t, f, "w", "t", "of another workflow", journal.Succeeded)
	recorded(t, f, "w x", "t", "not ended", journal.Open)
	recorded(t, f, "w x", "t", "waits", journal.Waiting)
	damaged := recorded(t, f, "w x", "t", "damaged", journal.Succeeded)
	name := f.log(damaged)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text[30] ^= 1
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	last("runs that do not count", "second")
	q.Tool = "w.none@1"
	last("another tool", "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if out, err := f.Last(ctx, q); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %s, %v", out, err)
	}
	if out, err := Open(f.log(first), Options{}).Last(t.Context(), q); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file: %s, %v", out, err)
	}
}
