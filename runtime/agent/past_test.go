package agent_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/agent"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// pinned runs an agent and its pin as a workflow does.
func pinned(t *testing.T, s script, sel agent.Selector, opts ...runtime.Option) (pin *found, err error) {
	t.Helper()
	rt, err := flow.New(&flow.Info{Name: "w", Nodes: []*flow.Node{node}}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Start(t.Context())
	defer r.End(&err)
	out, err := agent.Run(r, node, &agent.Spec{Model: model(s), Tools: tools()}, llm.Prompt{Text: "Go"})
	if err != nil {
		return nil, err
	}
	return agent.Pin[found](r, node, out, sel)
}

// Agent Tools 4.2.1, stale_last_success: what an earlier run had, recorded, and the same in a replay.
func TestStalePins(t *testing.T) {
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f := runs.Open(t.TempDir(), runs.Options{Now: func() time.Time { clock = clock.Add(time.Second); return clock }})
	stale := agent.Latest("search").Stale("hits", "t.search@3")
	in := func(o ...runtime.Option) []runtime.Option {
		return append(o, runtime.WithEngine(f.New(&flow.Info{Name: "w"})), runtime.WithPast(f))
	}
	a := &found{[]string{"a", "a!"}}
	searches := func(q string) script { return plays(ask(`search {"q":"` + q + `"}`)) }
	steps := []struct {
		name string
		s    script
		sel  agent.Selector
		opts []runtime.Option
		want *found
	}{
		{"no earlier run", plays(), stale, in(), nil},
		{"a call of its own", searches("a"), stale, in(), a},
		{"none, after one", plays(), stale, in(), a},
		{"none, after none after one", plays(), stale, in(), a},
		{"a failure", searches("bad"), stale, in(), a},
		{"several", plays(ask(`search {"q":"a"}`, `search {"q":"b"}`)), agent.FirstSuccess("search").Stale("hits", "t.search@3"), in(), a},
		{"for another tenant", plays(), stale, in(runtime.WithTenant("other")), nil},
		{"of another version", plays(), agent.Latest("search").Stale("hits", "t.search@4"), in(), nil},
		{"without a past", plays(), stale, []runtime.Option{runtime.WithEngine(journal.NewRecorder())}, nil},
		{"without an engine", plays(), stale, []runtime.Option{runtime.WithPast(f)}, nil},
		{"that is no error", plays(), agent.Latest("search"), in(), nil},
	}
	for _, x := range steps {
		got, err := pinned(t, x.s, x.sel, x.opts...)
		if err != nil {
			t.Fatalf("%s: %v", x.name, err)
		}
		if x.name == "without an engine" && got != nil { // the calls of "several" have ended in either order
			continue
		}
		if diff := cmp.Diff(x.want, got); diff != "" {
			t.Errorf("%s: %s", x.name, diff)
		}
	}

	rec := journal.NewRecorder()
	if got, err := pinned(t, plays(), stale, runtime.WithEngine(rec), runtime.WithPast(f)); err != nil || got == nil {
		t.Fatal(got, err)
	}
	r, ok := rec.Journal().Lookup("review/hits", 1)
	want := `{"node":"review","pin":"hits","tool":"t.search@3","workflow":"w"}`
	if !ok || r.Tool != engine.LastTool || r.Effects != "reads" || string(r.Input) != want {
		t.Errorf("recorded as %+v", r)
	}
	got, err := pinned(t, plays(), stale, runtime.WithEngine(journal.Replay(rec.Journal())))
	if err != nil || got == nil {
		t.Errorf("replayed: %v %v", got, err)
	}
}

type memory func(q runtime.LastCall) ([]byte, error)

func (m memory) Last(_ context.Context, q runtime.LastCall) ([]byte, error) { return m(q) }

// What a past says is outside data.
func TestHostilePast(t *testing.T) {
	stale := agent.Latest("search").Stale("hits", "t.search@3")
	for text, want := range map[string]*found{
		`{"hits":["x"]}`: {[]string{"x"}}, `null`: nil, `{"hits":3}`: nil, `{"other":[]}`: nil, `{"hits":["x"]`: nil, ``: nil, string(bytes.Repeat([]byte("["), 100_000)): nil,
	} {
		got, err := pinned(t, plays(), stale, runtime.WithPast(memory(func(runtime.LastCall) ([]byte, error) { return []byte(text), nil })))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.20q: %s", text, diff)
		}
	}
	_, err := pinned(t, plays(), stale, runtime.WithPast(memory(func(runtime.LastCall) ([]byte, error) { return nil, errors.New("no disk") })))
	var ne *runtime.NodeError
	if !errors.As(err, &ne) || codeOf(err) != value.Unknown {
		t.Errorf("%v", err)
	}
	_, err = pinned(t, plays(), stale, runtime.WithPolicy(&runtime.Policy{Effects: []flow.Effects{flow.External}}))
	if codeOf(err) != value.PolicyDenied {
		t.Errorf("under a policy without reads: %v", err)
	}
}
