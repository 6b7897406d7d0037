package runs_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/eventually"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

// memory is what the program has from the operating system and uses, in bytes.
func memory() int64 {
	goruntime.GC()
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// resident is the memory that the operating system counts, in bytes; 0 where it does not say.
func resident() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int64
	if n, _ := fmt.Sscan(string(text), &size, &pages); n != 2 {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// P11: calls that go on at the same time take little beyond what they are given.
func TestManyCallsAtOnce(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("measures memory")
	}
	const calls = 10_000
	node := flow.Node{ID: "each", Index: 0, Limit: calls}
	inner := flow.Node{ID: "wait", Index: 1}
	info := &flow.Info{Name: "many", Nodes: []*flow.Node{&node, &inner}}
	folder := runs.Open(t.TempDir(), runs.Options{})
	e := folder.New(info)
	rt, err := flow.New(info, runtime.WithEngine(e))
	if err != nil {
		t.Fatal(err)
	}
	before := memory()
	all, release := make(chan struct{}), make(chan struct{})
	var inside atomic.Int64
	tool := flow.Bind("many.wait@1", flow.Reads, func(_ context.Context, in string) (string, error) {
		if inside.Add(1) == calls {
			close(all)
		}
		<-release
		return in, nil
	})
	items := make([]int, calls)
	run := flow.Start(t.Context(), rt, "")
	done := make(chan error, 1)
	go func() {
		_, err := flow.Map(run, &node, items, func(r *flow.Run, i int) (string, error) {
			return flow.Call(r, &inner, tool, "what is asked for")
		})
		out := ""
		flow.End(run, &out, &err)
		done <- err
	}()
	<-all
	each := (memory() - before) / calls
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	t.Logf("%d calls at once: %d bytes each", calls, each)
	if each > 16<<10 && goruntime.GOOS != "windows" { // where stacks are larger
		t.Errorf("a call takes %d bytes, want at most 16 KiB", each)
	}
	if j, err := folder.Read(e.ID()); err != nil || len(j.Records()) != calls {
		t.Errorf("%v", err)
	}
}

// P11: a long map takes no more memory at its end than at its beginning.
func TestLongMap(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("measures memory")
	}
	const items, limit, bound = 100_000, 64, 32 << 20
	node := flow.Node{ID: "each", Index: 0, Limit: limit, Max: items}
	inner := flow.Node{ID: "read", Index: 1}
	info := &flow.Info{Name: "long", Nodes: []*flow.Node{&node, &inner}}
	folder := runs.Open(t.TempDir(), runs.Options{})
	e := folder.New(info)
	rt, err := flow.New(info, runtime.WithEngine(e))
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int64
	var used, counted [11]int64
	tool := flow.Bind("long.read@1", flow.Reads, func(_ context.Context, i int) (bool, error) {
		if n := calls.Add(1); n%(items/10) == 0 {
			debug.FreeOSMemory()
			used[n*10/items], counted[n*10/items] = memory(), resident()
		}
		return true, nil
	})
	list := make([]int, items)
	for i := range list {
		list[i] = i
	}
	run := flow.Start(t.Context(), rt, "")
	begin := time.Now()
	_, err = flow.Map(run, &node, list, func(r *flow.Run, i int) (bool, error) { return flow.Call(r, &inner, tool, i) })
	took := time.Since(begin)
	out := ""
	flow.End(run, &out, &err)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d items in %v; from the first to the last tenth: used %+d KiB, resident %+d KiB", items, took.Round(time.Millisecond), (used[10]-used[1])>>10, (counted[10]-counted[1])>>10)
	if used[10]-used[1] > bound || counted[10]-counted[1] > bound {
		t.Errorf("memory grows: %d, %d", used, counted)
	}
}

// P13: a service that has recorded a thousand runs has what it had before.
func TestManyRuns(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("measures memory")
	}
	total := figure(t, "CRASH_RUNS", 1000)
	dir := t.TempDir()
	folder := runs.Open(dir, runs.Options{})
	f := randomFlow(3)
	files := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return 0
		}
		return len(list)
	}
	heap := func() int64 {
		goruntime.GC()
		goruntime.GC()
		var m goruntime.MemStats
		goruntime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	var goroutines, open int
	var used int64
	for i := range total {
		if i == total/10 { // all that is made once is there
			goroutines, open, used = goruntime.NumGoroutine(), files(), heap()
		}
		e := folder.New(f.info)
		out, err := f.run(t.Context(), newOutside(), e)
		if err != nil {
			t.Fatal(err)
		}
		j, err := folder.Read(e.ID())
		if err != nil || j.Finish().Outcome != journal.Succeeded {
			t.Fatal(err)
		}
		if again, err := f.run(t.Context(), newOutside(), journal.Replay(j)); err != nil || again != out {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(dir, e.ID())); err != nil {
			t.Fatal(err)
		}
	}
	var after string
	if !eventually.Is(func() bool { // a goroutine that has ended may still be counted
		g, o, h := goruntime.NumGoroutine(), files(), heap()
		after = fmt.Sprintf("%d goroutines (%d before), %d open files (%d before), %d bytes (%d before)", g, goroutines, o, open, h, used)
		return g <= goroutines && o <= open && h <= used+used/20+64<<10
	}) {
		t.Error(after)
	}
	t.Logf("%d runs recorded and replayed: %s", total, after)
}
