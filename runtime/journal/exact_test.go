package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
	"github.com/flowgen-dev/flowgen/runtime/redact"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// TestFits: an input is what was recorded if the secrets that were taken out can stand where it is marked.
func TestFits(t *testing.T) {
	const r = redact.Redacted
	for _, tt := range []struct {
		in, recorded string
		want         bool
	}{
		{"abc", "abc", true},
		{"abc", "abd", false},
		{"", "", true},
		{"xay", "x" + r + "y", true},
		{"xy", "x" + r + "y", true},
		{"xay", "z" + r + "y", false},
		{"xay", "x" + r + "z", false},
		{"x" + r + "y", "x" + r + "y", true},
		{"x1y2z", "x" + r + "y" + r + "z", true},
		{"xyz", "x" + r + "y" + r + "z", true},
		{"x1w2z", "x" + r + "y" + r + "z", false},
		{"x-b-z", "x" + r + "b" + r + "b" + r + "z", false}, // there is one b only
		{"x-b-b-z", "x" + r + "b" + r + "b" + r + "z", true},
		{"a", r, true},
	} {
		if got := fits(tt.in, tt.recorded); got != tt.want {
			t.Errorf("%s, recorded %s: %v", tt.in, tt.recorded, got)
		}
	}
}

// TestLost: what of a given output is not in what it was read as.
func TestLost(t *testing.T) {
	for _, tt := range []struct{ given, is, want string }{
		{`{"a":1}`, `{"a":1}`, ""},
		{`{"a":1}`, `{"a":1,"b":2}`, ""},
		{`{"a":1,"b":2}`, `{"a":1}`, "unknown field b"},
		{`{"a":{"b":2}}`, `{"a":{}}`, "unknown field a.b"},
		{`{"a":0,"b":"","c":null,"d":[],"e":{},"f":false}`, `{}`, ""},
		{`{"a":0,"b":1}`, `{}`, "unknown field b"},
		{`[1,2]`, `[1,2]`, ""},
		{`[1,2]`, `[1]`, "it cannot be [1,2]"},
		{`[]`, `[1]`, "it cannot be []"},
		{`[1,{"x":1}]`, `[1,{}]`, "unknown field [1].x"},
		{`{"a":[1]}`, `{"a":{}}`, "a cannot be [1]"},
		{`{"a":{}}`, `{"a":[]}`, "a cannot be {}"},
		{`1`, `1.5`, ""},
		{`1.5`, `1`, ""},
		{`1.5`, `true`, "it cannot be 1.5"},
		{`1`, `"1"`, "it cannot be 1"},
		{`"1"`, `1`, `it cannot be "1"`},
		{`{"a":"x"}`, `{"a":1}`, `a cannot be "x"`},
		{`true`, `true`, ""},
		{`null`, `null`, ""},
		{`null`, `0`, "it cannot be null"},
	} {
		given, err := value.Parse([]byte(tt.given))
		if err != nil {
			t.Fatal(err)
		}
		is, err := value.Parse([]byte(tt.is))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := lost("", given, is); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s read as %s: %q, want %q", tt.given, tt.is, got, tt.want)
		}
	}
}

// operation is a call with JSON for input and output.
type operation struct {
	head    engine.Head
	in, out string
	inErr   error
	outErr  error
	decErr  error
	check   error
	cost    usage.Spend
}

func (o *operation) Head() *engine.Head                 { return &o.head }
func (o *operation) EncodeIn(b []byte) ([]byte, error)  { return append(b, o.in...), o.inErr }
func (o *operation) EncodeOut(b []byte) ([]byte, error) { return append(b, o.out...), o.outErr }
func (o *operation) DecodeOut(b []byte) error           { o.out = string(b); return o.decErr }
func (o *operation) Cost() usage.Spend                  { return o.cost }
func (o *operation) CheckOut() error                    { return o.check }
func (o *operation) Exec(context.Context) error         { return nil }

func op(effects flow.Effects, in string) *operation {
	return &operation{head: engine.Head{Node: &flow.Node{ID: "n"}, Tool: "t@1", Attempt: 1, Effects: effects}, in: in, out: `{"a":1}`}
}

// TestTake: an output that somebody gives has to be read as what it says.
func TestTake(t *testing.T) {
	bad := errors.New("no")
	for _, tt := range []struct {
		name, output, read string // read is what the call makes of it
		change             func(*operation)
		want               string
	}{
		{"the same", `{"a":1}`, `{"a":1}`, nil, ""},
		{"a field more", `{"a":1,"b":2}`, `{"a":1}`, nil, "unknown field b"},
		{"null for nothing", `null`, `{}`, nil, ""},
		{"null for a value", `null`, `0`, nil, "it cannot be null"},
		{"nothing for null", `{}`, `null`, nil, "it cannot be {}"},
		{"not read", `{}`, `{}`, func(o *operation) { o.decErr = bad }, "no"},
		{"not written", `{}`, `{}`, func(o *operation) { o.outErr = bad }, "no"},
		{"no JSON", `{`, `{}`, nil, "VALIDATION_ERROR: invalid JSON at byte 1: the text ends where a key is expected"},
		{"read as no JSON", `{}`, `[`, nil, "VALIDATION_ERROR: invalid JSON at byte 1: the text ends where a value is expected"},
		{"against the rules", `{"a":1}`, `{"a":1}`, func(o *operation) { o.check = &value.ToolError{Code: value.Unknown, Message: "too small"} }, "too small"},
	} {
		o := &given{op(flow.Writes, "1"), tt.read}
		if tt.change != nil {
			tt.change(o.operation)
		}
		got := ""
		if err := take(o, []byte(tt.output)); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// given is an operation that reads every output as the same.
type given struct {
	*operation
	read string
}

func (g *given) EncodeOut(b []byte) ([]byte, error) { return append(b, g.read...), g.outErr }

// TestPast: what is done with a call of which something is known, when the program has changed and when it has not.
func TestPast(t *testing.T) {
	finished := Record{Key: "n", Attempt: 1, Tool: "t@1", Input: []byte("1"), Output: []byte(`{"b":2}`), Done: true}
	begun := Record{Key: "n", Attempt: 1, Tool: "t@1", Input: []byte("1"), CallID: "c", Start: 7}
	other := func(r Record) Record { r.Input = []byte("2"); return r }
	metered := func(r Record) Record { r.Metered = true; return r }
	denied := func(r Record) Record { r.Denied = true; return r }
	same, edited := map[string]string{"n": "h1"}, map[string]string{"n": "h2"}
	yes := func(Record) bool { return true }
	no := func(Record) bool { return false }
	for _, tt := range []struct {
		name    string
		effects flow.Effects
		record  Record
		nodes   map[string]string
		redo    func(Record) bool
		doubt   *flow.Doubt
		decide  func(Record, *flow.Doubt) (Decision, bool)
		want    bool
		err     string // contained
		out     string // when answered without an error
	}{
		{name: "a result", effects: flow.Writes, record: finished, want: true, out: `{"b":2}`},
		{name: "a result of another input", effects: flow.Writes, record: other(finished), want: true, err: "input is 1, was 2"},
		{name: "a result, edited elsewhere", effects: flow.Writes, record: finished, nodes: same, want: true, out: `{"b":2}`},
		{name: "a result that was read, of another input, edited elsewhere", effects: flow.Reads, record: other(finished), nodes: same, want: false},
		{name: "a write of another input, edited elsewhere", effects: flow.Writes, record: other(finished), nodes: same, want: true, err: "has already run with effects writes: diverged"},
		{name: "a read, edited", effects: flow.Reads, record: finished, nodes: edited, want: false},
		{name: "a write, edited", effects: flow.Writes, record: finished, nodes: edited, want: true, err: "node n has changed. It is not repeated automatically"},
		{name: "a write, edited, that may run again", effects: flow.Writes, record: finished, nodes: edited, redo: yes, want: false},
		{name: "a write, edited, that may not", effects: flow.Writes, record: finished, nodes: edited, redo: no, want: true, err: "node n has changed"},
		{name: "an answer of a model, edited", effects: flow.External, record: metered(finished), nodes: edited, want: false},
		{name: "an answer of a model to another prompt, edited elsewhere", effects: flow.External, record: metered(other(finished)), nodes: same, want: false},
		{name: "an answer of a model", effects: flow.External, record: metered(finished), nodes: same, want: true, out: `{"b":2}`},
		{name: "a denied write, edited", effects: flow.Writes, record: denied(finished), nodes: edited, want: false},
		{name: "a read that had begun", effects: flow.Reads, record: begun, want: false},
		{name: "a read that had begun with another input", effects: flow.Reads, record: other(begun), want: false, err: "input is 1, was 2"},
		{name: "the same, edited", effects: flow.Reads, record: other(begun), nodes: edited, want: false},
		{name: "the same, edited elsewhere", effects: flow.Reads, record: other(begun), nodes: same, want: false},
		{name: "a write that had begun", effects: flow.Writes, record: begun, want: true, err: "call n had started and has no result; it may have happened (call_id c)"},
		{name: "a write that had begun with another input", effects: flow.Writes, record: other(begun), want: true, err: "input is 1, was 2"},
		{name: "the same, edited, and made again with its key", effects: flow.Writes, record: other(begun), nodes: edited, doubt: &flow.Doubt{Policy: flow.RetryWithKey}, want: false},
		{name: "taken as done", effects: flow.Writes, record: begun, doubt: &flow.Doubt{Policy: flow.AssumeDone, Output: `{"c":3}`}, want: true, out: `{"c":3}`},
		{name: "a person is asked", effects: flow.Writes, record: begun, doubt: &flow.Doubt{Policy: flow.AskInDoubt}, want: true, err: "may have happened"},
		{name: "decided: again", effects: flow.Writes, record: begun, doubt: &flow.Doubt{Policy: flow.AssumeDone, Output: `1`},
			decide: func(Record, *flow.Doubt) (Decision, bool) { return Decision{Again: true}, true }, want: false},
		{name: "decided: done", effects: flow.Writes, record: begun,
			decide: func(Record, *flow.Doubt) (Decision, bool) { return Decision{Output: []byte(`{"d":4}`)}, true }, want: true, out: `{"d":4}`},
		{name: "decided: done, with what cannot be", effects: flow.Writes, record: begun,
			decide: func(Record, *flow.Doubt) (Decision, bool) { return Decision{Output: []byte(`{`)}, true }, want: true, err: "the output given for it does not fit"},
		{name: "nobody decides", effects: flow.Writes, record: begun,
			decide: func(Record, *flow.Doubt) (Decision, bool) { return Decision{}, false }, want: true, err: "may have happened"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := New(Header{Nodes: same})
			j.Put(tt.record)
			p := NewPast(j, tt.nodes, tt.redo, tt.decide)
			o := op(tt.effects, "1")
			o.head.InDoubt = tt.doubt
			if got, want := p.Answers(&o.head), tt.record.Done && (tt.nodes == nil || tt.nodes["n"] == same["n"]); got != want {
				t.Errorf("it answers: %v", got)
			}
			got, err := p.Answer(o)
			if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("answered: %v, %v", got, err)
			}
			if got && err == nil && o.out != tt.out {
				t.Errorf("the output is %s, want %s", o.out, tt.out)
			}
			if got && err == nil && (o.head.Start != tt.record.Start || o.head.Replayed != tt.record.Done) {
				t.Errorf("it began at %d, and is replayed: %v", o.head.Start, o.head.Replayed)
			}
		})
	}
	if answered, err := NewPast(New(Header{}), nil, nil, nil).Answer(op(flow.Writes, "1")); answered || err != nil {
		t.Errorf("a call that nothing is known of: %v, %v", answered, err)
	}
}

func TestChanged(t *testing.T) {
	recorded := map[string]string{"a": "1", "b": "2", "m": "9", "m/c": "3"}
	for _, tt := range []struct {
		key, node string // the record's
		now       map[string]string
		want      string
	}{
		{"a", "", map[string]string{"a": "1"}, ""},
		{"a", "", map[string]string{"a": "2"}, "node a has changed"},
		{"a", "", map[string]string{}, "the node of a is new"},
		{"new", "", map[string]string{"new": "1"}, "the node of new is new"},
		{"new", "5", map[string]string{"new": "5"}, ""},
		{"new", "5", map[string]string{"new": "6"}, "node new has changed"},
		{"a", "5", map[string]string{"a": "5"}, ""},
		{"a", "5", map[string]string{"a": "1"}, "node a has changed"},
		{"a", "5", map[string]string{}, "the node of a is new"},
		{"m[0]/c", "", map[string]string{"m": "9", "m/c": "3"}, ""},
		{"m[0]/c", "", map[string]string{"m": "3"}, "node m has changed"}, // c is gone; that its hash is m's now says nothing
	} {
		j := New(Header{Nodes: recorded})
		if got := j.Changed(Record{Key: tt.key, Node: tt.node}, tt.now); got != tt.want {
			t.Errorf("%s (%s) in %v: %q, want %q", tt.key, tt.node, tt.now, got, tt.want)
		}
		if j.Mixed() {
			t.Error("an empty journal is mixed")
		}
		j.Put(Record{Key: tt.key, Node: tt.node})
		if j.Mixed() != (tt.node != "") {
			t.Errorf("with a record of node %q it is mixed: %v", tt.node, j.Mixed())
		}
	}
}

func TestPaths(t *testing.T) {
	nodes := map[string]string{"a": "1", "m": "2", "m/b": "3"}
	for _, tt := range []struct{ key, path, node string }{
		{"a", "a", "a"}, {"a#2", "a", "a"}, {"m[3]/b#2", "m/b", "m/b"}, {"m[3]/b/tool#1", "m/b", "m/b/tool"}, {"x", "", "x"}, {"x/a", "", "x/a"},
		{"[0]/a", "", "/a"}, {"a/#2", "a", "a/"}, {"", "", ""},
	} {
		if got := (&Hashes{Nodes: nodes}).PathOf(tt.key); got != tt.path {
			t.Errorf("the path of %s is %q, want %q", tt.key, got, tt.path)
		}
		if got := NodePath(tt.key); got != tt.node {
			t.Errorf("the node path of %s is %q, want %q", tt.key, got, tt.node)
		}
	}
	for key, want := range map[string]bool{"a": true, "a#2": true, "a[1]": true, "a/b": true, "ab": false, "b": false, "": false} {
		if got := Below(key, "a"); got != want {
			t.Errorf("%s is below a: %v", key, got)
		}
	}
}

func TestShort(t *testing.T) {
	for n, want := range map[int]string{58: `"` + strings.Repeat("é", 58) + `"`, 59: `"` + strings.Repeat("é", 59) + "…"} {
		if got := Difference([]byte(`"`+strings.Repeat("é", n)+`"`), []byte("1")); got != "input is "+want+", was 1" {
			t.Errorf("%d letters: %s", n, got)
		}
	}
}

// lines is a journal of these lines behind a header.
func lines(t *testing.T, list ...string) (*Journal, error) {
	t.Helper()
	return Parse([]byte(`{"kind":"run","format":1,"workflow":"w","seed":"1","begin":"2026-01-02T03:04:05Z","graph":"g1","nodes":{"a":"1","b":"2"}}` + "\n" + strings.Join(list, "\n") + "\n"))
}

func TestAdd(t *testing.T) {
	end := func(key string, attempt int, more string) string {
		return fmt.Sprintf(`{"kind":"end","key":%q,"attempt":%d,"tool":"t@1","input":1,"output":2%s}`, key, attempt, more)
	}
	intent := func(key string, attempt int) string {
		return fmt.Sprintf(`{"kind":"intent","key":%q,"attempt":%d,"tool":"t@1","effects":"writes","call_id":"c","input":1,"start_ns":5}`, key, attempt)
	}
	const resumed = `{"kind":"resume","at_ns":1,"graph":"g2","nodes":{"a":"1","b":"3"}}`
	for _, tt := range []struct {
		name  string
		lines []string
		want  string // the records, or what the error contains
	}{
		{"an intent", []string{intent("a", 1)}, "a.1 open"},
		{"an intent twice, after a crash", []string{intent("a", 1), intent("a", 1)}, "a.1 open"},
		{"an end without its tool", []string{intent("a", 1), `{"kind":"end","key":"a","attempt":1,"output":2}`}, "a.1 t@1 writes c 5"},
		{"an end with its own tool", []string{intent("a", 1), end("a", 1, "")}, "a.1 t@1   0"},
		{"an end without a tool or an intent", []string{`{"kind":"end","key":"a","attempt":1}`}, "does not say its tool"},
		{"an intent without a tool", []string{intent("a", 1), `{"kind":"intent","key":"a","attempt":1}`}, "does not say its tool"},
		{"a second end", []string{end("a", 1, ""), end("a", 1, "")}, "a second record of a, attempt 1"},
		{"an intent behind an end", []string{end("a", 1, ""), intent("a", 1)}, "a second record of a, attempt 1"},
		{"an end after one that the run stopped", []string{end("a", 1, `,"cancelled":"run"`), end("a", 1, "")}, "a.1 t@1   0"},
		{"the same program goes on", []string{end("a", 1, ""), `{"kind":"resume","at_ns":1}`, intent("a", 1)}, "a second record"},
		{"the same program, named, goes on", []string{end("a", 1, ""), `{"kind":"resume","at_ns":1,"graph":"g1"}`, intent("a", 1)}, "a second record"},
		{"another program goes on", []string{end("a", 1, ""), end("b", 1, ""), resumed}, "a.1 t@1   0; b.1 t@1   0 of 2"},
		{"a node that was not there", []string{end("x", 1, ""), resumed}, "x.1 t@1   0"},
		{"a node that is gone", []string{end("a", 1, ""), `{"kind":"resume","at_ns":1,"graph":"g2","nodes":{"b":"2"}}`}, "a.1 t@1   0 of 1"},
		{"a node that is new, and then another", []string{resumed, `{"kind":"end","key":"x","attempt":1,"tool":"t@1","node":"7"}`, `{"kind":"resume","at_ns":2,"graph":"g3","nodes":{"x":"8"}}`}, "x.1 t@1   0 of 7"},
		{"a record of no node meets one", []string{end("x", 1, ""), `{"kind":"resume","at_ns":2,"graph":"g3","nodes":{"x":"8"}}`}, "x.1 t@1   0 of none"},
		{"it runs again", []string{end("a", 1, ""), end("a", 2, ""), end("a", 3, ""), end("b", 3, ""), resumed, intent("a", 2)}, "a.1 t@1   0; a.2 open; b.3 t@1   0 of 2"},
		{"a failed call is made again", []string{end("a", 1, ""), end("b", 1, ""), `{"kind":"resume","at_ns":1,"again":["a"]}`}, "b.1 t@1   0"},
		{"and what was cancelled because of it", []string{end("a", 1, ""), end("b", 1, `,"cancelled":"scope"`), end("c", 1, `,"cancelled":"run"`), `{"kind":"resume","at_ns":1,"again":["a"]}`}, "c.1 open"},
		{"no call is made again", []string{end("b", 1, `,"cancelled":"scope"`), `{"kind":"resume","at_ns":1}`}, "b.1 t@1   0"},
		{"attempt 0", []string{end("a", 0, "")}, "needs a key and an attempt"},
		{"no key", []string{end("", 1, "")}, "needs a key and an attempt"},
		{"a field nobody knows", []string{`{"kind":"resume","at_ns":1,"x":1}`}, "unknown field"},
		{"an answer with one", []string{`{"kind":"answer","key":"a","x":1}`}, "unknown field"},
		{"a finish with one", []string{`{"kind":"finish","outcome":"failed","x":1}`}, "unknown field"},
		{"a call with one", []string{`{"kind":"end","key":"a","attempt":1,"x":1}`}, "unknown field"},
		{"an outcome nobody knows", []string{`{"kind":"finish","outcome":"lost"}`}, "unknown outcome"},
		{"a kind nobody knows", []string{`{"kind":"x"}`}, "another version"},
		{"a kind that is no text", []string{`{"kind":1}`}, "kind cannot be a number"},
		{"no JSON", []string{`{`}, "journal line 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j, err := lines(t, tt.lines...)
			var got []string
			if err != nil {
				got = []string{err.Error()}
			} else {
				for _, r := range j.Records() {
					one := fmt.Sprintf("%s.%d open", r.Key, r.Attempt)
					if r.Result() {
						one = fmt.Sprintf("%s.%d %s %s %s %d", r.Key, r.Attempt, r.Tool, r.Effects, r.CallID, r.Start)
					}
					if r.Node != "" {
						one += " of " + r.Node
					}
					got = append(got, one)
				}
			}
			if text := strings.Join(got, "; "); text != tt.want && (err == nil || !strings.Contains(text, tt.want)) {
				t.Errorf("got  %s\nwant %s", text, tt.want)
			}
		})
	}
	if _, err := Parse(nil); err == nil || err.Error() != "journal is empty" {
		t.Errorf("nothing at all: %v", err)
	}
}

// TestQuestions: the last answer counts, and a question is open until it has an answer or a result.
func TestQuestions(t *testing.T) {
	j := New(Header{})
	j.Put(Record{Key: "a", Attempt: 1, Tool: engine.HumanTool})
	j.Put(Record{Key: "b", Attempt: 1, Tool: engine.HumanTool, Done: true})
	j.Put(Record{Key: "c", Attempt: 1, Tool: "t@1"})
	j.Put(Record{Key: "d", Attempt: 1, Tool: engine.HumanTool})
	j.AddAnswer(Answer{Key: "d", Answer: "no"})
	j.AddAnswer(Answer{Key: "d", Answer: "yes"})
	j.AddAnswer(Answer{Key: "z", Answer: "other"})
	var open []string
	for _, r := range j.Questions() {
		open = append(open, r.Key)
	}
	if diff := cmp.Diff([]string{"a"}, open); diff != "" {
		t.Errorf("open questions (-want +got):\n%s", diff)
	}
	if said, ok := j.Answer("d"); said != "yes" || !ok {
		t.Errorf("the answer is %q, %v", said, ok)
	}
	if said, ok := j.Answer("a"); said != "" || ok {
		t.Errorf("an answer that was not given: %q, %v", said, ok)
	}
}

// TestRecords: what a record keeps of an attempt, and gives back.
func TestRecords(t *testing.T) {
	beside := &engine.Metadata{Cost: 5, Tokens: 3, Metered: true, Truncated: true, Sandbox: runtime.Process, Attachments: []tool.Attachment{}}
	for _, tt := range []struct {
		name   string
		beside *engine.Metadata
		err    error
		done   bool
		by     string
	}{
		{"plain", nil, nil, true, ""},
		{"everything beside", beside, nil, true, ""},
		{"a cost", &engine.Metadata{Cost: 5}, nil, true, ""},
		{"a tier", &engine.Metadata{Sandbox: runtime.Process}, nil, true, ""},
		{"attachments", &engine.Metadata{Attachments: []tool.Attachment{{}}}, nil, true, ""},
		{"cut off", &engine.Metadata{Truncated: true}, nil, true, ""},
		{"denied", &engine.Metadata{Denied: true}, nil, true, ""},
		{"of a model", &engine.Metadata{Metered: true}, nil, true, ""},
		{"a tool's error", nil, &value.ToolError{Code: value.Timeout, Message: "late"}, true, ""},
		{"cancelled", nil, &runtime.RunError{Kind: runtime.Cancelled, By: runtime.ByScope, Message: "x"}, true, runtime.ByScope},
		{"stopped", nil, &runtime.RunError{Kind: runtime.Cancelled, By: runtime.ByRun, Message: "x"}, true, runtime.ByRun},
		{"another error of the run", nil, &runtime.RunError{Kind: runtime.Diverged, By: runtime.ByScope, Message: "x"}, false, ""},
	} {
		o := op(flow.Writes, "1")
		o.head.Metadata, o.head.Err = tt.beside, tt.err
		r := RecordOf(o, true)
		if r.Done != tt.done || r.Cancelled != tt.by {
			t.Errorf("%s: done: %v, cancelled by %q", tt.name, r.Done, r.Cancelled)
		}
		if want := tt.beside != nil && tt.beside.Sandbox == runtime.Process; (r.Sandbox != "") != want {
			t.Errorf("%s: the tier is %q", tt.name, r.Sandbox)
		}
		again := op(flow.Writes, "1")
		again.out = ""
		err := r.Answer(again)
		if !tt.done {
			continue
		}
		if again.head.Metadata == nil != (tt.beside == nil) || again.head.Metadata != nil && !cmp.Equal(visible(again.head.Metadata), visible(tt.beside)) {
			t.Errorf("%s: %+v came back, was %+v", tt.name, again.head.Metadata, tt.beside)
		}
		switch {
		case tt.err == nil && (err != nil || again.out != `{"a":1}`):
			t.Errorf("%s: %v, output %s", tt.name, err, again.out)
		case tt.by == runtime.ByRun && err.Error() != "cancelled: the run was stopped (recorded)", tt.by == runtime.ByScope && err.Error() != "cancelled: a sibling failed (recorded)":
			t.Errorf("%s: %v", tt.name, err)
		case tt.by == "" && !errors.Is(err, tt.err) && fmt.Sprint(err) != fmt.Sprint(tt.err):
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	r := Record{Key: "n", Attempt: 1, Tool: "t@1", Input: []byte("1"), Output: []byte(`{"a":1,"b":2}`), Done: true, Given: true}
	if err := r.Answer(&given{op(flow.Writes, "1"), `{"a":1}`}); err == nil || !strings.Contains(err.Error(), "does not fit: unknown field b") {
		t.Errorf("an output that somebody has given: %v", err)
	}
	o := op(flow.Writes, "1")
	o.decErr = errors.New("no")
	if err := (Record{Key: "n", Attempt: 1, Tool: "t@1", Input: []byte("1"), Done: true}).Answer(o); err == nil || !strings.Contains(err.Error(), "does not fit: no") {
		t.Errorf("an output that cannot be read: %v", err)
	}
}

func visible(b *engine.Metadata) [7]any {
	return [...]any{b.Denied, b.Cost, b.Tokens, b.Metered, b.Truncated, len(b.Attachments), b.Sandbox}
}

// TestUnwritable: a value that is not JSON is an error, not a line.
func TestUnwritable(t *testing.T) {
	for name, j := range map[string]*Journal{
		"header": New(Header{Input: json.RawMessage("{")}),
		"record": func() *Journal { j := New(Header{}); j.Put(Record{Key: "a", Output: json.RawMessage("{")}); return j }(),
		"finish": func() *Journal {
			j := New(Header{})
			j.SetFinish(Finish{Outcome: Succeeded, Output: json.RawMessage("{")})
			return j
		}(),
		"answer": func() *Journal {
			j := New(Header{})
			j.AddAnswer(Answer{At: time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)})
			return j
		}(),
	} {
		if text, err := j.MarshalText(); err == nil {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestLargeRecords: a long input or output is written whole.
func TestLargeRecords(t *testing.T) {
	long := json.RawMessage(`"` + strings.Repeat("x", 1000) + `"`)
	for name, r := range map[string]Record{"input": {Key: "a", Attempt: 1, Input: long}, "output": {Key: "a", Attempt: 1, Output: long}} {
		line := EncodeRecord(r, true)
		if !json.Valid(line) || !strings.Contains(string(line), `"`+name+`":`+string(long)) {
			t.Errorf("%s: %s", name, line)
		}
	}
}

// TestLog: a journal can be a log with sums, and one that is damaged is not read.
func TestLog(t *testing.T) {
	name := filepath.Join(t.TempDir(), "journal.jsonl")
	log, _, err := wal.Open(wal.OS, name, wal.Buffered)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range [][]byte{EncodeHeader(Header{Workflow: "w"}), EncodeRecord(Record{Key: "a", Attempt: 1, Tool: "t@1"}, true)} {
		if err := log.Append(line, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if j, err := Parse(text); err != nil || len(j.Records()) != 1 {
		t.Errorf("the log: %v", err)
	}
	var damage *wal.DamagedError
	if _, err := Parse(bytes.Replace(text, []byte("t@1"), []byte("t@2"), 1)); !errors.As(err, &damage) || damage.Line != 2 {
		t.Errorf("the damaged log: %v", err)
	}
}
