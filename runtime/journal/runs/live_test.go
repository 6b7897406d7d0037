package runs_test

import (
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/internal/eventually"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// liveRun runs a workflow as the run order, with its progress in folder, and calls begun when it has begun.
func liveRun(t *testing.T, folder *runs.Folder, begun func(live runtime.Observer, e runtime.Event)) {
	t.Helper()
	live, has := folder.Live(), false
	w, err := New(runtime.WithEngines(folder.Record), runtime.WithObserver(runtime.ObserverFunc(func(e runtime.Event) {
		if e.Kind != runtime.RunStart {
			live.Observe(e)
			return
		}
		has = true
		begun(live, e)
	})))
	if err != nil {
		t.Fatal(err)
	}
	if _, _ = w.Run(runtime.WithRunID(t.Context(), "order"), "lunch"); !has {
		t.Error("the run has not begun")
	}
}

// Another process sees what a run says while it goes on, the file stays small whatever is said, and nothing is left of it.
func TestLive(t *testing.T) {
	folder := runs.Open(t.TempDir(), runs.Options{})
	liveRun(t, folder, func(live runtime.Observer, e runtime.Event) {
		at := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
		live.Observe(runtime.Event{Kind: runtime.Output, Run: e.Run, Key: "a", Text: "before the failure"})
		live.Observe(runtime.Event{Kind: runtime.Retrying, Run: e.Run, Key: "a", Time: at, Wait: time.Second, Err: value.Errorf(value.RateLimit, "slow down")})
		live.Observe(runtime.Event{Kind: runtime.Progress, Run: e.Run, Key: "m", Done: 2, Total: 40})
		reader, err := folder.FollowLive("order")
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]runs.Live{}
		seen := func(what string, is func() bool) {
			eventually.True(t, what, func() bool {
				for _, l := range reader.Next() {
					got[l.Key] = l
				}
				return is()
			})
		}
		seen("the progress is written", func() bool { return got["m"].Total > 0 && got["a"].Reason != "" })
		want := map[string]runs.Live{"a": {Key: "a", Until: at.Add(time.Second), Reason: "RATE_LIMIT"}, "m": {Key: "m", Done: 2, Total: 40}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		live.Observe(runtime.Event{Kind: runtime.Output, Run: e.Run, Key: "a", Text: "once "})
		seen("the text is written", func() bool { return got["a"].Text == "once " })
		live.Observe(runtime.Event{Kind: runtime.Output, Run: e.Run, Key: "a", Text: "more"})
		seen("the rest is written", func() bool { return got["a"].Text == "once more" })
		for range 3 { // more than a file holds, in one line each
			for key := range 500 {
				live.Observe(runtime.Event{Kind: runtime.Output, Run: e.Run, Key: strings.Repeat("k", key+1), Text: strings.Repeat("é", 4000)})
			}
			clear(got)
			seen("a lot is written", func() bool { return len(got) >= 500 })
		}
		eventually.True(t, "the file is small, and for its owner", func() bool {
			info, err := os.Stat(filepath.Join(folder.Dir(), "order", "live.jsonl"))
			return err == nil && info.Size() <= 4<<20 && (info.Mode().Perm() == 0o600 || goruntime.GOOS == "windows")
		})
	})
	if names, _ := filepath.Glob(filepath.Join(folder.Dir(), "order", "live*")); len(names) > 0 {
		t.Errorf("left: %v", names)
	}
	for _, unknown := range []string{"../order", ""} {
		if _, err := folder.FollowLive(unknown); err == nil {
			t.Errorf("%q is followed", unknown)
		}
	}
}

// What somebody has put in the place of the file is neither followed nor written to.
func TestLiveElsewhere(t *testing.T) {
	folder, other := runs.Open(t.TempDir(), runs.Options{}), filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte(`{"key":"a","text":"of another file"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(folder.Dir(), "order", "live.jsonl")
	if err := os.Mkdir(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, name); err != nil {
		t.Skip(err)
	}
	reader, err := folder.FollowLive("order")
	if err != nil {
		t.Fatal(err)
	}
	if list := reader.Next(); len(list) > 0 {
		t.Errorf("a link is followed: %v", list)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("nonsense\n{\"key\":\"b\",\"done\":1,\"total\":2}\n{\"key\":"), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]runs.Live{{Key: "b", Done: 1, Total: 2}}, reader.Next()); diff != "" {
		t.Error(diff)
	}
}

// TestLiveAgain: a file that cannot be begun for a while, as where Windows does not remove the old one because somebody reads it, loses
// no progress.
func TestLiveAgain(t *testing.T) {
	folder := runs.Open(t.TempDir(), runs.Options{})
	liveRun(t, folder, func(live runtime.Observer, e runtime.Event) {
		inTheWay := filepath.Join(folder.Dir(), "order", "live.jsonl", "x")
		if err := os.MkdirAll(inTheWay, 0o700); err != nil {
			t.Fatal(err)
		}
		live.Observe(runtime.Event{Kind: runtime.Progress, Run: e.Run, Key: "m", Done: 2, Total: 40})
		time.Sleep(150 * time.Millisecond) // a try or two; should there be none, the test shows less and passes
		if err := os.RemoveAll(filepath.Dir(inTheWay)); err != nil {
			t.Fatal(err)
		}
		reader, err := folder.FollowLive("order")
		if err != nil {
			t.Fatal(err)
		}
		eventually.True(t, "the progress is written", func() bool {
			list := reader.Next()
			return len(list) == 1 && list[0] == runs.Live{Key: "m", Done: 2, Total: 40}
		})
	})
}
