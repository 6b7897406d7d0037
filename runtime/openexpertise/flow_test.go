package openexpertise

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

var node = &flow.Node{ID: "n", Pos: "experience.yaml:1:1"}

func newRun(t testing.TB) *flow.Run {
	t.Helper()
	rt, err := flow.New(&flow.Info{Name: "test", Nodes: []*flow.Node{node}})
	if err != nil {
		t.Fatal(err)
	}
	return rt.Start(t.Context())
}

type state struct {
	N   dynamic.Field `json:"n,omitzero"`
	Log dynamic.Field `json:"log,omitzero"`
}

func (s *state) flow() *Flow {
	return New(dynamic.Slot{Name: "n", Type: dynamic.Num, Field: &s.N}, dynamic.Slot{Name: "log", Type: dynamic.Array, Merge: dynamic.Append, Field: &s.Log})
}

// gives is a tool that returns one value after another.
func gives(values ...string) *flow.Tool[value.Value, value.Value] {
	i := 0
	return flow.Bind("gives@1", flow.External, func(context.Context, value.Value) (value.Value, error) {
		v := values[min(i, len(values)-1)]
		i++
		if v == "" {
			return value.Value{}, errors.New("no")
		}
		return value.Parse([]byte(v))
	})
}

// TestTool: what tools return, what becomes of the state, and the words of what is wrong.
func TestTool(t *testing.T) {
	for _, tt := range []struct{ gives, state, err string }{
		{`{"state_delta": {"n": 1, "log": ["a"]}}`, `{"n":1,"log":["a"]}`, ""},
		{`{"state_delta": {"n": null}}`, `{"n":null}`, ""},
		{`{"state_delta": null}`, `{}`, ""},
		{`{}`, `{}`, `Tool "n" default export must return an object with at least { state_delta }`},
		{`null`, `{}`, `Tool "n" default export must return an object with at least { state_delta }`},
		{`"text"`, `{}`, `Tool "n" default export must return an object`},
		{`{"state_delta": "x"}`, `{}`, `at least { state_delta }`},
		{`{"state_delta": {"log": ["a"], "m": 1}}`, `{}`, `Node "n" wrote to undeclared state field "m"`},
		{`{"state_delta": {"log": ["a"], "n": "1"}}`, `{}`, `declared as type number in state.schema`},
		{`{"state_delta": {"log": "a"}}`, `{}`, `whose merge is array_append`},
	} {
		var s state
		e, err := s.flow().Tool(newRun(t), node, gives(tt.gives), Fail, dynamic.Object())
		got := ""
		if err != nil {
			got = err.Error()
		}
		if tt.err == "" && (got != "" || !e.OK()) || !strings.Contains(got, tt.err) {
			t.Errorf("%s: %v, want %q", tt.gives, err, tt.err)
		}
		if diff := cmp.Diff(tt.state, value.JSON(s)); diff != "" && tt.state != `{"n":1,"log":["a"]}` {
			t.Errorf("%s: state (-want +got):\n%s", tt.gives, diff)
		}
	}
}

type counted struct {
	N *float64 `json:"n"`
}

type counting struct {
	By    float64 `json:"by"`
	State counted `json:"_state"`
}

// TestBound: a tool of types is given args and the state, and what it gives is held to the rules of one without; also beside
// others, in several attempts, and where it panics.
func TestBound(t *testing.T) {
	type gives struct {
		Delta *struct {
			N   *float64 `json:"n"`
			Log []string `json:"log"`
		} `json:"state_delta"`
		Edge value.Value `json:"edge_output"`
	}
	add := flow.Bind("add@1", flow.None, func(_ context.Context, in counting) (struct {
		Delta counted `json:"state_delta"`
	}, error) {
		switch {
		case in.By == 7:
			panic("seven")
		case in.State.N != nil:
			in.By += *in.State.N
		}
		return struct {
			Delta counted `json:"state_delta"`
		}{counted{&in.By}}, nil
	})
	var s state
	f := s.flow()
	for range 3 {
		e, err := Bound(f, newRun(t), node, add, Fail, dynamic.Put("by", dynamic.Whole(1)), dynamic.Put("by", dynamic.Whole(2)), dynamic.Put("more", dynamic.Text("x")))
		if err != nil || !e.OK() || e.Edge.Present() {
			t.Fatal(e, err)
		}
	}
	if got := value.JSON(s); got != `{"n":6}` {
		t.Error(got)
	}
	if _, err := Bound(f, newRun(t), node, add, Fail, dynamic.Put("by", dynamic.Whole(2)), dynamic.Put("_state", dynamic.Object())); err != nil || value.JSON(s) != `{"n":2}` {
		t.Error(value.JSON(s), err) // what a node reads is all that it sees
	}
	aside := f.Aside()
	e, err := Bound(aside, newRun(t), node, add, Fail, dynamic.Put("by", dynamic.Whole(5)))
	if err != nil || value.JSON(s) != `{"n":2}` {
		t.Error(value.JSON(s), err)
	}
	if err := f.Join(newRun(t), &e); err != nil || value.JSON(s) != `{"n":7}` {
		t.Error(value.JSON(s), err)
	}
	for by, want := range map[string]string{`7`: "UNKNOWN: panic: seven", `"x"`: "VALIDATION_ERROR: by: ", `null`: "VALIDATION_ERROR: by: "} {
		v, _ := value.Parse([]byte(by))
		if _, err := Bound(f, newRun(t), node, add, Fail, dynamic.Put("by", dynamic.Of(v))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", by, err, want)
		}
		if e, err := Bound(f, newRun(t), node, add, Retry(2, 0, false), dynamic.Put("by", dynamic.Of(v))); err != nil || e.OK() {
			t.Errorf("%s: %v, %v", by, e, err)
		}
	}
	plain := flow.Bind("plain@1", flow.None, func(context.Context, struct{}) (gives, error) { return gives{Edge: value.String("on")}, nil })
	if e, err := Bound(f, newRun(t), node, plain, Fail); err != nil || e.Edge.Value().String() != "on" || value.JSON(s) != `{"n":7}` {
		t.Error(e, err, value.JSON(s)) // a delta of null writes nothing
	}
	other := flow.Bind("other@1", flow.None, func(context.Context, value.Value) (value.Value, error) {
		return value.Parse([]byte(`{"state_delta": {"m": 1}}`))
	})
	if _, err := Bound(f, newRun(t), node, other, Fail); err == nil || !strings.Contains(err.Error(), `Node "n" wrote to undeclared state field "m"`) {
		t.Error(err)
	}
	seen := value.Null()
	sees := flow.Bind("sees@1", flow.None, func(_ context.Context, in value.Value) (value.Value, error) { seen = in; return value.Map(), nil })
	if _, err := Bound(f, newRun(t), node, sees, Fail, dynamic.Put("a", dynamic.Null())); err != nil || seen.String() != `{"a":null,"_state":{"n":7.0}}` {
		t.Error(seen, err)
	}
	lists := flow.Bind("lists@1", flow.None, func(context.Context, struct{}) (out gives, err error) {
		err = value.DecodeValue(dynamic.Object(dynamic.Put("state_delta", dynamic.Object(dynamic.Put("log", dynamic.List(dynamic.Text("a"))))), dynamic.Put("edge_output", dynamic.Null())).Value(), &out)
		return out, err
	})
	if e, err := Bound(f, newRun(t), node, lists, Fail); err != nil || !e.OK() || value.JSON(s) != `{"log":["a"],"n":null}` {
		t.Error(e, err, value.JSON(s))
	}
	if _, err := Bound(f, newRun(t), node, flow.Bind("number@1", flow.None, func(context.Context, float64) (gives, error) { return gives{}, nil }), Fail); err == nil || !strings.Contains(err.Error(), "VALIDATION_ERROR") {
		t.Error(err) // its input is not an object
	}
}

// TestRetry: as many attempts as there are, and then a skip; a failure that ends the run is not tried again.
func TestRetry(t *testing.T) {
	var s state
	e, err := s.flow().Tool(newRun(t), node, gives("", "", `{"state_delta": {"n": 3}}`), Retry(3, 0, false), dynamic.Object())
	if err != nil || !e.OK() || s.N.Value().Int() != 3 {
		t.Errorf("%v, %v, %v", e, err, s)
	}
	f := s.flow()
	e, err = f.Tool(newRun(t), node, gives(""), Retry(2, 0, true), dynamic.Object())
	if err != nil || e.OK() || f.Status(nil) != "failed" {
		t.Errorf("%v, %v", e, err)
	}
	if _, err = s.flow().Tool(newRun(t), node, gives(""), Fail, dynamic.Object()); err == nil {
		t.Error("fail_run does not end the run")
	}
	for n, want := range map[int]time.Duration{1: 10, 2: 20, 3: 30} {
		if got := Retry(9, 10, false).wait(n); got != want {
			t.Errorf("linear wait %d: %v", n, got)
		}
	}
	for n, want := range map[int]time.Duration{1: 10, 2: 20, 3: 40, 4: 80} {
		if got := Retry(9, 10, true).wait(n); got != want {
			t.Errorf("exponential wait %d: %v", n, got)
		}
	}
}

// TestJoin: nodes in parallel do not see each other's writes, and write in the order of the join.
func TestJoin(t *testing.T) {
	var s state
	flow := s.flow()
	r := newRun(t)
	aside := flow.Aside()
	b, err := aside.Tool(r, node, gives(`{"state_delta": {"log": ["b"]}}`), Skip, dynamic.Object())
	if err != nil || s.Log.Present() {
		t.Fatal(err, s)
	}
	a, err := aside.Tool(r, node, gives(`{"state_delta": {"log": ["a"]}}`), Skip, dynamic.Object())
	if err != nil {
		t.Fatal(err)
	}
	if err := flow.Join(r, &a, &b); err != nil {
		t.Fatal(err)
	}
	if got := s.Log.Value().String(); got != `["a","b"]` {
		t.Error(got)
	}
}

func TestStatus(t *testing.T) {
	for _, tt := range []struct {
		nodes       []status
		err         error
		rule, waves string
	}{
		{[]status{done, done}, nil, "success", "success"},
		{[]status{done, skipped}, nil, "success", "partial"},
		{[]status{done, failed, skipped}, nil, "partial", "failed"},
		{[]status{failed, skipped}, nil, "failed", "failed"},
		{[]status{skipped}, nil, "success", "partial"},
		{[]status{done, skipped}, io.EOF, "failed", "failed"},
	} {
		f := New()
		for i, s := range tt.nodes {
			f.Aside().tally.add(&flow.Node{Index: i}, s)
			f.tally.add(&flow.Node{Index: i}, skipped) // which takes nothing back
		}
		if got := f.Status(tt.err); got != tt.rule {
			t.Errorf("%v: %s, want %s", tt.nodes, got, tt.rule)
		}
		if got := f.StatusOfWaves(tt.err, len(tt.nodes)); got != tt.waves {
			t.Errorf("%v: %s, want %s in waves", tt.nodes, got, tt.waves)
		}
	}
}

func TestUnwrap(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": 1}`: `{"a":1}`, `{"result": "{\"result\": \"{\\\"b\\\": 2}\"}"}`: `{"b":2}`,
		"prose\n```json\n{\"c\": 3}\n```\nmore ```x```": `{"c":3}`, "```\n[1]\n```": "[1]", `{"result": {"d": 4}}`: `{"result":{"d":4}}`,
		"prose": "", "": "", "```": "",
	} {
		got := ""
		if v, err := Unwrap(text); err == nil {
			got = v.String()
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

// BenchmarkNode is what a node costs beside its tool: arguments with a snapshot of the state, the contract, and a write.
func BenchmarkNode(b *testing.B) {
	var s state
	w, r := s.flow(), newRun(b)
	out := dynamic.Object(dynamic.Put("state_delta", dynamic.Object(dynamic.Put("n", dynamic.Whole(2))))).Value()
	tool := flow.Bind("tool@1", flow.External, func(context.Context, value.Value) (value.Value, error) { return out, nil })
	b.ReportAllocs()
	for b.Loop() {
		_, err := w.Tool(r, node, tool, Fail, dynamic.Object(
			dynamic.Put("name", dynamic.Text("World")),
			dynamic.Put("_edge_inputs", dynamic.Object()),
			dynamic.Put("_state", dynamic.Object(dynamic.Put("n", s.N), dynamic.Put("log", s.Log))),
		))
		if err != nil {
			b.Fatal(err)
		}
	}
}
