package core_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/redact"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

type costly struct {
	Text string `json:"text"`
}

func (c *costly) Spent() *usage.Usage {
	return &usage.Usage{InputTokens: int64(len(c.Text)), OutputTokens: 1, CostUSD: flow.Ptr(usage.USD(1e6))}
}

// saying returns a tool that says pieces.
func saying(pieces ...string) *flow.Tool[pair, costly] {
	return flow.Bind("t.say@1", flow.External, func(ctx context.Context, _ pair) (costly, error) {
		w := tool.Context(ctx).Says()
		if w == nil {
			return costly{"unwatched"}, nil
		}
		for _, p := range pieces {
			if _, err := io.WriteString(w, p); err != nil {
				return costly{}, err
			}
		}
		if err := w.Close(); err != nil {
			return costly{}, err
		}
		_, err := io.WriteString(w, "too late")
		return costly{"watched"}, err
	}, flow.Secrets("KEY"))
}

func watched(t *testing.T, e engine.Engine, bound *flow.Tool[pair, costly]) (said string, ended []runtime.Event) {
	t.Helper()
	r := start(t, t.Context(), runtime.WithEngine(e), runtime.WithSecrets(func(string) (string, bool) { return "hunter2-hunter2", true }),
		runtime.WithObserver(runtime.ObserverFunc(func(e runtime.Event) {
			switch e.Kind {
			case runtime.Output:
				if e.Key != "n" || e.Tool != "t.say@1" || e.Text == "" || !utf8.ValidString(e.Text) {
					t.Errorf("%+v", e)
				}
				said += e.Text
			case runtime.NodeEnd:
				ended = append(ended, e)
			}
		})))
	if _, err := flow.Call(r, node("n"), bound, pair{}); err != nil {
		t.Fatal(err)
	}
	return said, ended
}

// What a tool says reaches those who watch in whole characters and without secrets, also those that come in pieces.
func TestSays(t *testing.T) {
	said, _ := watched(t, engine.Goroutines{}, saying("Gr", "\xc3", "\xb6ße: hunt", "er2-hun", "ter2", "!", ""))
	if want := "Größe: " + redact.Redacted + "!"; said != want {
		t.Errorf("%q, want %q", said, want)
	}
	said, _ = watched(t, engine.Goroutines{}, saying(strings.Repeat("a", 1<<19), strings.Repeat("b", 1<<19), "c"))
	if len(said) != 1<<20 || strings.Contains(said, "c") {
		t.Errorf("%d bytes", len(said))
	}
}

// Nobody watches: there is nowhere to say anything, and nothing is paid for it.
func TestSaysUnwatched(t *testing.T) {
	r := start(t, t.Context(), runtime.WithEngine(engine.Goroutines{}), runtime.WithSecrets(func(string) (string, bool) { return "hunter2-hunter2", true }))
	out, err := flow.Call(r, node("n"), saying("x"), pair{})
	if err != nil || out.Text != "unwatched" {
		t.Errorf("%v %v", out, err)
	}
	if w := tool.Context(t.Context()).Says(); w != nil {
		t.Error("a call that is none has somebody who watches")
	}
}

// The event that a call has ended says what the call took, also when a journal answers it.
func TestUsage(t *testing.T) {
	rec := journal.NewRecorder()
	said, first := watched(t, rec, saying("x"))
	again, second := watched(t, journal.Replay(rec.Journal()), saying("y"))
	if said != "x" || again != "" {
		t.Errorf("said %q, and %q in a replay", said, again)
	}
	want := &usage.Usage{InputTokens: 7, OutputTokens: 1, CostUSD: flow.Ptr(usage.USD(1e6))}
	for _, events := range [][]runtime.Event{first, second} {
		if len(events) != 1 {
			t.Fatal(events)
		}
		if diff := cmp.Diff(want, events[0].Usage); diff != "" {
			t.Error(diff)
		}
	}
	b, err := first[0].MarshalJSON()
	if err != nil || !strings.Contains(string(b), `"usage":{"input_tokens":7,"cached_input_tokens":0,"output_tokens":1,"cost_usd":"0.001"}`) {
		t.Errorf("%s %v", b, err)
	}
}

// A recorded call of a model says so, and what it took: all that was reserved when its failure does not tell.
func TestMeteredIsRecorded(t *testing.T) {
	model := tool.Metered(func(*pair) usage.Spend { return usage.Spend{Cost: 7, Tokens: 15} },
		func(_, out *pair) usage.Spend { return usage.Spend{Cost: 2, Tokens: out.Count} })
	for name, tt := range map[string]struct {
		fails   error
		o       []flow.ToolOption
		metered bool
		want    usage.Spend
	}{
		"answered":   {nil, []flow.ToolOption{model}, true, usage.Spend{Cost: 2, Tokens: 4}},
		"lost":       {value.Errorf(value.NetworkError, "cut"), []flow.ToolOption{model}, true, usage.Spend{Cost: 7, Tokens: 15}},
		"refused":    {value.Errorf(value.RateLimit, "later"), []flow.ToolOption{model}, true, usage.Spend{}},
		"a tool":     {nil, nil, false, usage.Spend{}},
		"tool fails": {value.Errorf(value.NetworkError, "cut"), nil, false, usage.Spend{}},
	} {
		rec := journal.NewRecorder()
		r := start(t, t.Context(), runtime.WithEngine(rec))
		bound := flow.Bind("t.model@1", flow.Reads, func(_ context.Context, in pair) (pair, error) { return pair{Count: 4}, tt.fails }, tt.o...)
		if _, err := flow.Call(r, node("n"), bound, pair{}); (err == nil) != (tt.fails == nil) {
			t.Errorf("%s: %v", name, err)
		}
		got, ok := rec.Journal().Lookup("n", 1)
		if took := (usage.Spend{Cost: got.CostUSD, Tokens: got.Tokens}); !ok || got.Metered != tt.metered || took != tt.want {
			t.Errorf("%s: metered %v, %+v, want %v, %+v", name, got.Metered, took, tt.metered, tt.want)
		}
	}
}
