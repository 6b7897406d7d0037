package flowtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestMain(m *testing.M) { leaks.Main(m) }

type input struct {
	Name  string `json:"name"`
	Fail  bool   `json:"fail"`
	Clock bool   `json:"clock"`
	Both  bool   `json:"both"`
	Ask   bool   `json:"ask"`
	Panic bool   `json:"panic"`
	Wait  string `json:"wait"`
}

type output struct {
	Text string `json:"text"`
	Sure string `json:"sure"`
}

type state struct {
	Seen []string `json:"seen"`
}

type text struct {
	Text string `json:"text"`
}

// greeter is what a generated workflow looks like: it calls a tool with a secret, and more when its input says so.
type greeter struct {
	rt    *flow.Runtime
	ran   *atomic.Int64
	upper *flow.Tool[text, string]
	fails *flow.Tool[text, string]
}

var (
	nodes = []*flow.Node{
		{ID: "sure", Pos: "greet.flowgen.yaml:3:1", Index: 0},
		{ID: "first", Pos: "greet.flowgen.yaml:4:1", Index: 1},
		{ID: "left", Pos: "greet.flowgen.yaml:5:1", Index: 2},
		{ID: "right", Pos: "greet.flowgen.yaml:6:1", Index: 3},
		{ID: "fails", Pos: "greet.flowgen.yaml:7:1", Index: 4, Retry: &flow.Retry{Attempts: 3, Base: time.Millisecond}},
		{ID: "clock", Pos: "greet.flowgen.yaml:8:1", Index: 5},
	}
	info = &flow.Info{Name: "greet", Nodes: nodes, Secrets: []string{"FLOWTEST_TOKEN"}, Input: []flow.Field{
		{Name: "name", Type: "string"}, {Name: "fail", Type: "bool", Default: "false"}, {Name: "clock", Type: "bool", Default: "false"},
		{Name: "both", Type: "bool", Default: "false"}, {Name: "ask", Type: "bool", Default: "false"}, {Name: "panic", Type: "bool", Default: "false"},
		{Name: "wait", Type: "string", Default: `"0s"`}}}
)

const secretValue = "correct-horse-battery"

// starter is New of a greeter that counts how often its tools run.
func starter(ran *atomic.Int64) func(...runtime.Option) (*greeter, error) {
	g := greeter{ran: ran}
	g.upper = flow.Bind("greet.upper@1", flow.Reads, func(ctx context.Context, in text) (string, error) {
		ran.Add(1)
		fmt.Fprintln(os.Stdout, "tools may print")
		return strings.ToUpper(in.Text) + " " + tool.Auth(ctx)["FLOWTEST_TOKEN"], nil
	}, flow.Secrets("FLOWTEST_TOKEN"))
	g.fails = flow.Bind("greet.fails@1", flow.Reads, func(context.Context, text) (string, error) {
		ran.Add(1)
		return "", value.Errorf(value.RateLimit, "not so fast, %s", secretValue)
	})
	return func(o ...runtime.Option) (*greeter, error) {
		rt, err := flow.New(info, o...)
		h := g
		h.rt = rt
		return &h, err
	}
}

func (g *greeter) Run(ctx context.Context, in input) (out output, err error) {
	run := flow.Start(ctx, g.rt, in)
	defer flow.End(run, &out, &err)
	return g.body(run, in)
}

func (g *greeter) body(run *flow.Run, in input) (out output, err error) {
	state := state{Seen: []string{}}
	defer flow.EndState(run, &state)
	if in.Panic {
		panic("of the workflow")
	}
	if in.Ask {
		if out.Sure, err = flow.AskOr(run, nodes[0], runtime.Question{Text: "Sure, " + in.Name + "?", Choices: []string{"yes", "no"}}, "nobody"); err != nil {
			return out, err
		}
	}
	if d, err := time.ParseDuration(in.Wait); err == nil && d > 0 {
		if err := flow.Wait(run, nodes[3], d); err != nil {
			return out, err
		}
		var pace flow.Pace
		for i := range 3 {
			if _, err := pace.Iterate(run, &flow.Node{ID: "loop", Index: -1, Every: d}, i); err != nil {
				return out, err
			}
		}
	}
	first, err := flow.Call(run, nodes[1], g.upper, text{in.Name})
	if err != nil {
		return out, err
	}
	state.Seen = append(state.Seen, first)
	out.Text = first
	if in.Both {
		err = flow.Parallel(run,
			func(r *flow.Run) error { _, err := flow.Call(r, nodes[2], g.upper, text{"l"}); return err },
			func(r *flow.Run) error { _, err := flow.Call(r, nodes[3], g.upper, text{"r"}); return err })
		if err != nil {
			return out, err
		}
	}
	if in.Clock {
		var at time.Time // as agents know of their calls
		seen := run.Visit(nodes[5], run.Reserve(nodes[5]), 0, func(x engine.Receipt) { at = x.Start })
		if _, err = flow.Call(seen, nodes[5], g.upper, text{"x"}); err != nil {
			return out, err
		}
		if _, err = flow.Call(run, nodes[2], g.upper, text{at.String()}); err != nil {
			return out, err
		}
	}
	if in.Fail {
		_, err = flow.Call(run, nodes[4], g.fails, text{"x"})
	}
	return out, err
}

// one is a case from its JSON.
func one(t *testing.T, text string) *Case {
	t.Helper()
	s, err := ParseSuite(fmt.Appendf(nil, `{"file": "greet.test.yaml", "workflow": "greet", "cases": [{"name": "c", "pos": "3:3", "cassette": "testdata/c.jsonl", %s}]}`, text))
	if err != nil {
		t.Fatal(err)
	}
	return &s.Cases[0]
}

func messages(r Result) []string {
	out := []string{}
	for _, f := range r.Failures {
		out = append(out, f.Pos+": "+f.Message)
	}
	return out
}

// The whole way: record, and answer from the cassette alone, without the secret and without running a tool.
func TestCases(t *testing.T) {
	for _, tt := range []struct {
		name  string
		text  string   // of the case
		other string   // of the case that is answered from the cassette, when it is another
		want  []string // what is wrong
	}{
		{"everything holds", `"input": {"name": "ada"}, "output": [{"field": "text", "pos": "5:5", "want": {"$contains": "ADA"}}],
			"state": [{"field": "seen", "pos": "6:6", "want": {"$size": 1}}], "calls": [{"key": "first", "pos": "7:7", "input": {"text": "ada"}, "cached": false, "attempts": 1}],
			"cost": {"pos": "8:8", "usd": "0", "calls": 1, "tokens": 0}, "order": [{"field": "first", "pos": "9:9"}]`, "", nil},
		{"nothing holds", `"input": {"name": "ada"}, "output": [{"field": "text", "pos": "5:5", "want": "Ada"}],
			"state": [{"field": "seen", "pos": "6:6", "want": []}],
			"calls": [{"key": "first", "pos": "7:7", "input": {"text": "eve"}, "output": null, "cached": true, "attempts": 2}, {"key": "left", "pos": "7:8"}, {"key": "first", "pos": "7:9", "times": 0}, {"key": "first", "pos": "7:10", "error": {"pos": "7:11", "code": "TIMEOUT"}}],
			"cost": {"pos": "8:8", "usd": "0.5", "calls": 2, "max_calls": 0}, "order": [{"field": "left", "pos": "9:9"}], "answers": {"sure": "yes"}`, "",
			[]string{
				`5:5: output: text is "ADA [redacted]", want "Ada"`, `6:6: state: seen has 1 items, want 0`,
				`7:7: first: input text is "ada", want "eve"`, `7:7: first: output is "ADA [redacted]", want null`, `7:7: first: cached is false, want true`, `7:7: first was tried once, want twice`,
				`7:8: left was not called; the calls were first`, `7:9: first was called once, want 0 times`, `7:10: first succeeded, want an error`,
				`8:8: cost: the calls took $0, want $0.5`, `8:8: cost: 1 calls were made, want 2`, `8:8: cost: 1 calls were made, want 0 at most`,
				`3:3: nobody was asked sure`, `9:9: order: left was not called; the calls were first`,
			}},
		{"an expected error", `"input": {"name": "ada", "fail": true}, "error": {"pos": "5:5", "code": "RATE_LIMIT", "node": "fails", "message": {"$contains": "not so fast"}},
			"calls": [{"key": "fails", "pos": "7:7", "attempts": 3, "error": {"pos": "7:8", "code": "RATE_LIMIT"}}], "state": [{"field": "seen", "pos": "6:6", "want": {"$size": 1}}]`, "", nil},
		{"another error", `"input": {"name": "ada", "fail": true}, "error": {"pos": "5:5", "code": "TIMEOUT"}`, "", []string{`5:5: error: code is RATE_LIMIT, want TIMEOUT (not so fast, [redacted])`}},
		{"an error nobody expected", `"input": {"name": "ada", "fail": true}`, "", []string{`3:3: the run failed: greet.flowgen.yaml:7:1: node fails: RATE_LIMIT: not so fast, [redacted]`}},
		{"no error where one is expected", `"input": {"name": "ada"}, "error": {"pos": "5:5", "code": "TIMEOUT"}`, "", []string{"5:5: the run succeeded, want an error"}},
		{"an answer", `"input": {"name": "ada", "ask": true}, "answers": {"sure": "yes"}, "output": [{"field": "sure", "pos": "5:5", "want": "yes"}], "calls": [{"key": "sure", "pos": "7:7", "output": "yes"}], "order": [{"field": "sure", "pos": "1:1"}, {"field": "first", "pos": "1:2"}]`, "", nil},
		{"another answer than when it was recorded", `"input": {"name": "ada", "ask": true}, "answers": {"sure": "yes"}`,
			`"input": {"name": "ada", "ask": true}, "answers": {"sure": "no"}, "output": [{"field": "sure", "pos": "5:5", "want": "no"}]`, nil},
		{"nobody answers", `"input": {"name": "ada", "ask": true}, "answers": {"sure": null}, "output": [{"field": "sure", "pos": "5:5", "want": "nobody"}]`, "", nil},
		{"an answer that is none", `"input": {"name": "ada", "ask": true}, "answers": {"sure": null}`, `"input": {"name": "ada", "ask": true}, "answers": {"sure": "maybe"}`,
			[]string{`3:3: the run failed: greet.flowgen.yaml:3:1: node sure: VALIDATION_ERROR: answer: "maybe" is none of yes, no`}},
		{"parallel calls have no order", `"input": {"name": "ada", "both": true}`, `"input": {"name": "ada", "both": true}, "order": [{"field": "left", "pos": "1:1"}, {"field": "right", "pos": "1:2"}]`,
			[]string{"1:2: order: nothing keeps right from beginning before left has ended"}},
		{"nor the other way round", `"input": {"name": "ada", "both": true}`, `"input": {"name": "ada", "both": true}, "order": [{"field": "right", "pos": "1:1"}, {"field": "left", "pos": "1:2"}]`,
			[]string{"1:2: order: nothing keeps left from beginning before right has ended"}},
		{"but after what they need they come", `"input": {"name": "ada", "both": true, "ask": true}, "answers": {"sure": "yes"}, "order": [{"field": "sure", "pos": "1:1"}, {"field": "first", "pos": "1:1"}, {"field": "right", "pos": "1:2"}]`, "", nil},
		{"another input", `"input": {"name": "ada"}`, `"input": {"name": "eve"}`,
			[]string{`3:3: node first (greet.flowgen.yaml:4:1), call first of greet.upper@1: input field text is "eve", was "ada" when recorded`}},
		{"one call more", `"input": {"name": "ada"}`, `"input": {"name": "ada", "fail": true}`,
			[]string{`3:3: node fails (greet.flowgen.yaml:7:1), call fails of greet.fails@1: the cassette has no such call; its input is {"text":"x"}`}},
		{"one call less", `"input": {"name": "ada", "both": true}`, `"input": {"name": "ada"}`,
			[]string{"3:3: the cassette holds calls that the workflow does not make: left, right; record the case again, or let `flowgen test --update` take them out"}},
		{"an input that does not fit", `"input": {"name": "ada"}`, `"input": {"name": 7}`, []string{`3:3: input: VALIDATION_ERROR: name: a string expected, a number given`}},
		{"the clock", `"input": {"name": "ada", "clock": true}`, "", nil},
		{"waits, which are no calls", `"input": {"name": "ada", "wait": "1ms"}, "cost": {"pos": "8:8", "calls": 1}`,
			`"input": {"name": "ada", "wait": "20000h"}, "cost": {"pos": "8:8", "calls": 1}, "order": [{"field": "first", "pos": "1:1"}]`, nil},
		{"a panic", `"input": {"name": "ada"}`, `"input": {"name": "ada", "panic": true}`, []string{"3:3: panic: of the workflow"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var ran atomic.Int64
			w := bind(info, starter(&ran))
			dir := t.TempDir()
			t.Setenv("FLOWTEST_TOKEN", secretValue)
			c := one(t, tt.text)
			first := w.execute(t.Context(), dir, c, mode{record: true})
			if first.Wrote == "" || ran.Load() == 0 {
				t.Fatalf("nothing was recorded: %v", messages(first))
			}
			cassette, err := os.ReadFile(filepath.Join(dir, "testdata", "c.jsonl"))
			if err != nil || bytes.Contains(cassette, []byte(secretValue)) {
				t.Fatalf("%v, or the secret is in the cassette:\n%s", err, cassette)
			}
			if clock := strings.Contains(tt.text, `"clock"`); clock == bytes.Contains(cassette, []byte(`"2000-01-01T00:00:00Z"`)) {
				t.Errorf("times of the recording: %s", cassette)
			}
			if err := os.Unsetenv("FLOWTEST_TOKEN"); err != nil { // t.Setenv puts it back
				t.Fatal(err)
			}
			before := ran.Load()
			if tt.other != "" {
				c = one(t, tt.other)
			}
			for range 3 {
				got := messages(w.execute(t.Context(), dir, c, mode{}))
				for i := range got {
					got[i], _, _ = strings.Cut(got[i], "\n") // the stack of a panic
				}
				if want := append([]string{}, tt.want...); !cmp.Equal(want, got) {
					t.Fatal(cmp.Diff(want, got))
				}
			}
			if ran.Load() != before {
				t.Errorf("%d tools ran", ran.Load()-before)
			}
		})
	}
}

// A second recording of the same is the same text.
func TestRecordingsAreEqual(t *testing.T) {
	var ran atomic.Int64
	t.Setenv("FLOWTEST_TOKEN", secretValue)
	w := bind(info, starter(&ran))
	var texts []string
	for range 5 {
		dir := t.TempDir()
		w.execute(t.Context(), dir, one(t, `"input": {"name": "ada", "both": true, "fail": true}`), mode{record: true})
		text, err := os.ReadFile(filepath.Join(dir, "testdata", "c.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	for _, s := range texts[1:] {
		if diff := cmp.Diff(texts[0], s); diff != "" {
			t.Fatal(diff)
		}
	}
}

// Pruning takes out what nobody asks for, and nothing else.
func TestPrune(t *testing.T) {
	var ran atomic.Int64
	t.Setenv("FLOWTEST_TOKEN", secretValue)
	w, dir := bind(info, starter(&ran)), t.TempDir()
	w.execute(t.Context(), dir, one(t, `"input": {"name": "ada", "both": true}`), mode{record: true})
	c := one(t, `"input": {"name": "ada"}`)
	if r := w.execute(t.Context(), dir, c, mode{prune: true}); r.Wrote == "" || len(r.Failures) > 0 {
		t.Fatalf("%+v", r)
	}
	if r := w.execute(t.Context(), dir, c, mode{prune: true}); r.Wrote != "" || len(r.Failures) > 0 {
		t.Fatalf("%+v", r)
	}
	if got := messages(w.execute(t.Context(), dir, one(t, `"input": {"name": "ada", "both": true}`), mode{})); len(got) == 0 || !strings.Contains(got[0], "the cassette has no such call") {
		t.Errorf("after pruning: %v", got)
	}
}

// The program of `flowgen test`: a result for each case that was asked for, and nothing of what tools print.
func TestServe(t *testing.T) {
	var ran atomic.Int64
	w := bind(info, starter(&ran))
	suite := `{"file": "f", "workflow": "greet", "dir": "", "cases": [{"name": "a", "pos": "1:1", "cassette": "a.jsonl"}, {"name": "b", "pos": "2:2", "cassette": "b.jsonl", "input": {"name": "x"}}]}`
	var out bytes.Buffer
	if err := serve(t.Context(), strings.NewReader(`{"suite": `+suite+`, "cases": ["b"]}`), &out, w); err != nil {
		t.Fatal(err)
	}
	var r Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Case != "b" || len(r.Failures) != 1 || !strings.Contains(r.Failures[0].Message, "cassette b.jsonl does not exist") {
		t.Errorf("%v\n%s", err, out.String())
	}
	for _, bad := range []string{"", "7", `{"suite": {}}x`, `{"suite": {"files": 1}}`, `{"suit": {}}`, `{}`} {
		if err := serve(t.Context(), strings.NewReader(bad), &out, w); err == nil && bad != `{"suite": {}}x` {
			t.Errorf("%q is a request", bad)
		}
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if err := serve(stopped, strings.NewReader(`{"suite": `+suite+`}`), &out, w); err == nil {
		t.Error("a stopped program goes on")
	}
}
