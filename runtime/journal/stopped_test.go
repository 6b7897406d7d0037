package journal_test

import (
	"context"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// stopper cancels a run while it waits for another attempt.
type stopper context.CancelFunc

func (s stopper) Observe(e runtime.Event) {
	if e.Kind == runtime.Retrying {
		s()
	}
}

// A run that was stopped has no call that it would have made next; that its tool is fail-loud makes no difference.
func TestAStoppedRunIsNoDivergence(t *testing.T) {
	n := &flow.Node{ID: "pay", Pos: "w.yaml:1:1", Retry: &flow.Retry{Attempts: 2, Base: time.Hour}}
	pay := flow.Bind("w.pay@1", flow.External, func(context.Context, int) (int, error) {
		return 0, value.Errorf(value.NetworkError, "down")
	}, flow.Replay(flow.FailLoud))
	run := func(ctx context.Context, o ...runtime.Option) (err error) {
		rt, nerr := flow.New(&flow.Info{Name: "w", Nodes: []*flow.Node{n}}, o...)
		if nerr != nil {
			t.Fatal(nerr)
		}
		r := rt.Start(ctx)
		defer r.End(&err)
		_, err = flow.Call(r, n, pay, 1)
		return err
	}
	ctx, cancel := context.WithCancel(t.Context())
	rec := journal.NewRecorder()
	if err := run(ctx, runtime.WithEngine(rec), runtime.WithObserver(stopper(cancel))); !runtime.IsCancelled(err) {
		t.Fatal(err)
	}
	if err := run(t.Context(), runtime.WithEngine(journal.Replay(rec.Journal()))); !runtime.IsCancelled(err) {
		t.Errorf("a replay of the stopped run gave %v", err)
	}
	open := journal.New(rec.Journal().Header())
	for _, r := range rec.Journal().Records() {
		open.Put(r)
	}
	if err := run(t.Context(), runtime.WithEngine(journal.Replay(open))); err == nil || runtime.IsCancelled(err) {
		t.Errorf("a replay of a run that is cut short gave %v", err)
	}
}
