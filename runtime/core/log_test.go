package core_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// printing is a tool that prints its input, in pieces of n bytes.
func printing(n int) *flow.Tool[string, string] {
	return flow.Bind("t.say@1", flow.Reads, func(ctx context.Context, in string) (string, error) {
		i := tool.Context(ctx)
		for len(in) > 0 {
			k := min(n, len(in))
			i.Log([]byte(in[:k]))
			in = in[k:]
		}
		return "done", nil
	})
}

// logged are the logs of the records of a run in which f makes calls.
func logged(t *testing.T, f func(r *flow.Run), o ...runtime.Option) []string {
	t.Helper()
	rec := journal.NewRecorder()
	f(start(t, t.Context(), append(o, runtime.WithEngine(rec))...))
	var out []string
	for _, r := range rec.Journal().Records() {
		out = append(out, r.Logs)
	}
	return out
}

func say(t *testing.T, r *flow.Run, id, text string, piece int) {
	t.Helper()
	if _, err := flow.Call(r, node(id), printing(piece), text); err != nil {
		t.Error(err)
	}
}

func TestLogsAreBounded(t *testing.T) {
	const head, tail = 16 << 10, 48 << 10
	for _, n := range []int{1, head, head + tail, head + tail + 1, 2*tail + head, 10 * tail} {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "%07d\n", i)
		}
		text := b.String()[:n]
		want := text
		if n > head+tail {
			want = fmt.Sprintf("%s\n[%d bytes dropped]\n%s", text[:head], n-head-tail, text[n-tail:])
		}
		for _, piece := range []int{n, 1000, tail + 1} {
			if got := logged(t, func(r *flow.Run) { say(t, r, "a", text, piece) })[0]; got != want {
				t.Errorf("%d bytes in pieces of %d: %d bytes are kept, want %d", n, piece, len(got), len(want))
			}
		}
	}
	full := strings.Repeat("x", 64<<10)
	got := logged(t, func(r *flow.Run) {
		for i := range 258 {
			say(t, r, fmt.Sprintf("n%03d", i), full, len(full))
		}
	})
	if got[255] != full || got[256] != "\n[65536 bytes dropped]\n" || got[257] != got[256] {
		t.Errorf("beyond 16 MiB of a run: %d, %q, %q", len(got[255]), got[256], got[257])
	}
}

// Secrets are taken out, also those that come in pieces, and what is not UTF-8 is replaced.
func TestLogsAreClean(t *testing.T) {
	const canary = "s3cret-canary-0001"
	say := flow.Bind("t.say@1", flow.Reads, func(ctx context.Context, in string) (string, error) {
		for _, c := range []byte(in) {
			tool.Context(ctx).Log([]byte{c})
		}
		return "", value.Errorf(value.NetworkError, "no")
	}, flow.Secrets("KEY"))
	var events strings.Builder
	got := logged(t, func(r *flow.Run) { _, _ = flow.Call(r, node("a"), say, "key "+canary+" \xff\xc3\xa9\nend "+canary[:5]) },
		runtime.WithSecrets(func(string) (string, bool) { return canary, true }),
		runtime.WithObserver(runtime.ObserverFunc(func(e runtime.Event) {
			if e.Kind == runtime.Logged {
				events.WriteString(e.Text)
			}
		})))
	if want := "key [redacted] \uFFFDé\nend s3cre"; got[0] != want || events.String() != want {
		t.Errorf("%q, shown %q, want %q", got[0], events.String(), want)
	}
}

// Observers get whole lines, and a long one in pieces. A replay shows what was recorded, and records the same.
func TestLogEvents(t *testing.T) {
	var got []string
	watch := runtime.WithObserver(runtime.ObserverFunc(func(e runtime.Event) {
		if e.Kind == runtime.Logged {
			got = append(got, fmt.Sprintf("%s %d %v %.12q", e.Key, e.Attempt, e.Replayed, e.Text))
		}
	}))
	rec := journal.NewRecorder()
	text := "one\ntwo\nthree"
	r := start(t, t.Context(), runtime.WithEngine(rec), watch)
	say(t, r, "a", text, 6)
	say(t, r, "b", strings.Repeat("y", 9<<10), 9<<10)
	want := []string{`a 1 false "one\n"`, `a 1 false "two\n"`, `a 1 false "three"`, `b 1 false "yyyyyyyyyyyy"`}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("events %q, want %q", got, want)
	}
	first, err := rec.Journal().MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	got = nil
	say(t, start(t, t.Context(), runtime.WithEngine(journal.Replay(rec.Journal())), watch), "a", text, 6)
	if len(got) != 1 || got[0] != `a 1 true "one\ntwo\nthre"` {
		t.Errorf("events of the replay %q", got)
	}
	j, err := journal.Parse(first)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := j.MarshalText(); err != nil || !bytes.Equal(first, again) || !bytes.Contains(first, []byte(`"logs":"one\ntwo\nthree"`)) {
		t.Errorf("%v\n%s\n%s", err, first, again)
	}
}

// A run that nobody records or watches keeps nothing, and a call that prints nothing costs nothing.
func TestLogsCostNothing(t *testing.T) {
	r := start(t, t.Context())
	asked := flow.Bind("t.ask@1", flow.Reads, func(ctx context.Context, in string) (bool, error) {
		i := tool.Context(ctx)
		i.Log([]byte(in))
		return i.Logs(), nil
	})
	if kept, err := flow.Call(r, node("a"), asked, "text"); kept || err != nil {
		t.Errorf("%v, %v", kept, err)
	}
	allocs := func(text string) float64 {
		n, say := node("a"), flow.Bind("t.say@1", flow.None, func(ctx context.Context, in string) (int, error) {
			tool.Context(ctx).Log(nil)
			return len(in), nil
		})
		quiet := flow.Bind("t.say@1", flow.None, func(_ context.Context, in string) (int, error) { return len(in), nil })
		r := start(t, t.Context(), runtime.WithEngine(journal.NewRecorder()))
		used := quiet
		if text != "" {
			used = say
		}
		return testing.AllocsPerRun(2000, func() { _, _ = flow.Call(r, n, used, "x") })
	}
	if quiet, asks := allocs(""), allocs("x"); asks > quiet {
		t.Errorf("a call that prints nothing costs %v allocations, %v where nothing can be printed", asks, quiet)
	}
}

func TestLoggerHasLogs(t *testing.T) {
	for level, want := range map[slog.Level]string{slog.LevelInfo: "", slog.LevelDebug: "a one|a two|"} {
		var b bytes.Buffer
		r := start(t, t.Context(), runtime.WithLogger(slog.New(slog.NewJSONHandler(&b, &slog.HandlerOptions{Level: level}))))
		say(t, r, "a", "one\n\ntwo\r\n", 100)
		got := ""
		for line := range strings.Lines(b.String()) {
			var m struct{ Msg, Level, Node, Text, Tool string }
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatal(err)
			}
			if m.Msg == "log" && m.Level == "DEBUG" && m.Tool == "t.say@1" {
				got += m.Node + " " + m.Text + "|"
			}
		}
		if got != want {
			t.Errorf("%v: %q, want %q", level, got, want)
		}
	}
}
