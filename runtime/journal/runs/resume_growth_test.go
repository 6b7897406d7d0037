package runs_test

import (
	"context"
	"fmt"
	"path/filepath"
	goruntime "runtime"
	"sync/atomic"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

// TestResumeGrowth: to go on with a run takes as much for a call of a long run as for one of a short run, and hardly more than its replay.
func TestResumeGrowth(t *testing.T) {
	if raceDetector {
		t.Skip("counts allocations")
	}
	node := flow.Node{ID: "each", Index: 0, Limit: 1, Max: 100_000}
	inner := flow.Node{ID: "read", Index: 1}
	info := &flow.Info{Name: "long", Nodes: []*flow.Node{&node, &inner}}
	var calls atomic.Int64
	tool := flow.Bind("long.read@1", flow.Reads, func(_ context.Context, in map[string]int) (int, error) {
		calls.Add(1)
		return in["i"], nil
	})
	type cost struct{ allocations, bytes float64 }
	measured := func(n int, f func() engine.Engine) cost {
		list := make([]int, n)
		for i := range list {
			list[i] = i
		}
		var before, after goruntime.MemStats
		goruntime.ReadMemStats(&before)
		rt, err := flow.New(info, runtime.WithEngine(f()))
		if err != nil {
			t.Fatal(err)
		}
		run := flow.Start(t.Context(), rt, "")
		_, err = flow.Map(run, &node, list, func(r *flow.Run, i int) (int, error) { return flow.Call(r, &inner, tool, map[string]int{"i": i}) })
		out := ""
		flow.End(run, &out, &err)
		goruntime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		return cost{float64(after.Mallocs-before.Mallocs) / float64(n), float64(after.TotalAlloc-before.TotalAlloc) / float64(n)}
	}
	both := func(n int) (resume, replay cost) {
		folder := runs.Open(t.TempDir(), runs.Options{Sync: runs.Off})
		e := folder.New(info)
		measured(n, func() engine.Engine { return e })
		made := calls.Load()
		replay = measured(n, func() engine.Engine {
			j, err := folder.ReadLazy(e.ID())
			if err != nil {
				t.Fatal(err)
			}
			return journal.Replay(j)
		})
		resume = measured(n, func() engine.Engine {
			again, _, err := folder.Resume(info, e.ID(), runs.Continue{})
			if err != nil {
				t.Fatal(err)
			}
			return again
		})
		if calls.Load() != made {
			t.Fatalf("%d calls were made again", calls.Load()-made)
		}
		return resume, replay
	}
	both(10)
	few, _ := both(500)
	many, replay := both(4000)
	t.Logf("for a call: resume %.0f of 500, %.0f of 4,000; replay %.0f", few, many, replay)
	if many.bytes > 1.2*few.bytes || many.allocations > 1.1*few.allocations {
		t.Errorf("a call of 500 takes %.0f, of 4000 %.0f", few, many)
	}
	if many.allocations > 1.25*replay.allocations || many.bytes > 1.25*replay.bytes {
		t.Errorf("a call takes %.0f to resume and %.0f to replay", many, replay)
	}
}

// TestLazyMemory: what stays in memory of a call does not depend on what it was given and has returned.
func TestLazyMemory(t *testing.T) {
	if raceDetector {
		t.Skip("measures memory")
	}
	const calls, bound = 5000, 300
	dir, id := t.TempDir(), "w-20260102T150405000-0001"
	lines := []string{run1}
	for i := range calls {
		lines = append(lines,
			fmt.Sprintf(`{"kind":"intent","key":"each[%d]/read","attempt":1,"tool":"t@1","effects":"reads","call_id":"%064d","input":{"x":"%0500d"},"start_ns":%d}`, i, i, i, i),
			fmt.Sprintf(`{"kind":"end","key":"each[%d]/read","attempt":1,"output":"%0500d","end_ns":%d}`, i, i, i+1))
	}
	writeLog(t, filepath.Join(dir, id, "journal.jsonl"), lines)
	lines = nil
	heap := func() uint64 {
		goruntime.GC()
		goruntime.GC()
		var m goruntime.MemStats
		goruntime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	j, err := runs.Open(dir, runs.Options{}).ReadLazy(id)
	if err != nil {
		t.Fatal(err)
	}
	each := (int64(heap()) - int64(before)) / calls
	t.Logf("%d bytes of a call of more than a thousand", each)
	if each > bound {
		t.Errorf("%d bytes stay of a call, want at most %d", each, bound)
	}
	if r, ok := j.Lookup("each[7]/read", 1); !ok || len(r.Input) < 500 || len(r.Output) < 500 {
		t.Errorf("%+v", r)
	}
}
