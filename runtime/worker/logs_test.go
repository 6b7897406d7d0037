package worker

import (
	"context"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
)

// What a call prints is its own, and what comes when it has ended is nobody's. The worker stays.
func TestLogs(t *testing.T) {
	p := patient(newPool(t, "ok"))
	tool := flow.Bind("t.call@1", flow.Reads, func(ctx context.Context, in string) (string, error) {
		out, err := p.Call(ctx, request(in, flow.Reads))
		return string(out), err
	})
	rec := journal.NewRecorder()
	rt, err := flow.New(&flow.Info{Name: "w"}, runtime.WithEngine(rec))
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Start(t.Context())
	pids := map[string]bool{}
	for _, id := range []string{"a", "b", "c"} {
		if out, err := flow.Call(r, &flow.Node{ID: id}, tool, "logs"); err != nil || out != "1" {
			t.Errorf("%s: %q, %v", id, out, err)
		}
		pid, err := flow.Call(r, &flow.Node{ID: "pid" + id}, tool, "pid")
		if err != nil {
			t.Error(err)
		}
		pids[pid] = true
	}
	for _, rec := range rec.Journal().Records() {
		want := ""
		if len(rec.Key) == 1 {
			want = "one\ntwo\n"
		}
		if rec.Logs != want {
			t.Errorf("logs of %s: %q, want %q", rec.Key, rec.Logs, want)
		}
	}
	if len(pids) != 1 {
		t.Errorf("%d workers", len(pids))
	}
}
