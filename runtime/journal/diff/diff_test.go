package diff_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/diff"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// review is a run of a workflow that fetches a text, asks a model about it, and posts what it said.
type review struct {
	text    string // of the fetched page
	prompt  string // of plan, %s is the text
	answer  string // of the model
	nodes   map[string]string
	input   string
	failed  bool // post
	skipped bool // post
	shift   time.Duration
}

func usual() review {
	return review{text: "one\ntwo", prompt: "Review this:\n%s\nBe short.", answer: "all is well", input: `{"pr":1}`,
		nodes: map[string]string{"fetch": "f1", "plan": "p1", "post": "o1"}}
}

func text(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return b
}

func (v review) journal(graph string) *journal.Journal {
	j := journal.New(journal.Header{Workflow: "review", Seed: uint64(v.shift), Graph: graph, Nodes: v.nodes, Input: json.RawMessage(v.input)})
	at := func(n int) time.Duration { return time.Duration(n)*time.Second + v.shift }
	prompt := fmt.Sprintf(v.prompt, v.text)
	j.Put(journal.Record{Key: "fetch", Attempt: 1, Tool: "fetch@1", Effects: "reads", Done: true, Start: at(0), End: at(1), Input: json.RawMessage(v.input), Output: text(v.text)})
	j.Put(journal.Record{Key: "plan", Attempt: 1, Tool: "openai:m@1", Effects: "external", Done: true, Metered: true, Start: at(1), End: at(2), Tokens: 10,
		Input:  json.RawMessage(`{"messages":[{"role":"user","text":` + string(text(prompt)) + `}],"model":"openai:m"}`),
		Output: json.RawMessage(`{"message":{"text":` + string(text(v.answer)) + `}}`)})
	f := journal.Finish{Outcome: journal.Succeeded, Output: json.RawMessage(`{"said":` + string(text(v.answer)) + `}`)}
	if !v.skipped {
		r := journal.Record{Key: "post", Attempt: 1, Tool: "post@1", Effects: "writes", Done: true, Start: at(2), End: at(3),
			Input: json.RawMessage(`{"body":` + string(text("It says: "+v.answer)) + `}`), Output: json.RawMessage(`7`)}
		if v.failed {
			r.Output, r.Error = nil, value.Invalid("no")
			f = journal.Finish{Outcome: journal.Failed, Failure: "post: no"}
		}
		j.Put(r)
	}
	j.SetFinish(f)
	return j
}

// What an edited prompt has changed: the node, the answer of its model, and what was made of it.
func TestEditedPrompt(t *testing.T) {
	a, b := usual(), usual()
	b.prompt, b.answer, b.shift = "Review this:\n%s\nBe kind.", "it is lovely", time.Minute
	b.nodes = map[string]string{"fetch": "f1", "plan": "p2", "post": "o1"}
	r := diff.Runs("a", a.journal("g1"), "b", b.journal("g2"))
	want := `A  a: review succeeded, 3 calls, 10 tokens
B  b: review succeeded, 3 calls, 10 tokens

run
  graph: "g1" -> "g2"
  output.said: "all is well" -> "it is lovely"

nodes
  plan: its prompt has changed

calls
  plan: its node has changed
    input.messages[0].text
        (2 lines)
        two
      - Be short.
      + Be kind.
    output.message.text: "all is well" -> "it is lovely"
  post: its input has changed, because of plan
    input.body: "It says: all is well" -> "It says: it is lovely"
`
	if d := cmp.Diff(want, r.Text()); d != "" {
		t.Error(d)
	}
}

// A prompt into which another text came is not an edited one.
func TestCauses(t *testing.T) {
	for _, tt := range []struct {
		name  string
		edit  func(*review)
		nodes string
		calls string // key why from
	}{
		{"nothing", func(*review) {}, "", ""},
		{"time", func(v *review) { v.shift = time.Hour }, "", ""},
		{"the world", func(v *review) { v.text = "three" }, "", "fetch varied []; plan input [fetch]"},
		{"the input", func(v *review) { v.input = `{"pr":23}` }, "", "fetch input [input.pr]"},
		{"the model", func(v *review) { v.answer = "hm, well" }, "", "plan varied []; post input [plan]"},
		{"retry only", func(v *review) { v.nodes["plan"] = "p2" }, "plan changed []", ""},
		{"prompt and world", func(v *review) { v.text, v.prompt, v.nodes["plan"] = "three", "Look at %s", "p2" }, "plan changed [prompt]", "fetch varied []; plan node_changed [fetch]"},
		{"world, and retry", func(v *review) { v.text, v.nodes["plan"] = "three", "p2" }, "plan changed []", "fetch varied []; plan node_changed [fetch]"},
		{"another way", func(v *review) { v.skipped = true }, "", "post only_a []"},
		{"failure", func(v *review) { v.failed = true }, "", "post varied []"},
		{"added", func(v *review) { v.nodes["more"] = "m1"; delete(v.nodes, "post") }, "more added []; post removed []", ""},
		{"a container", func(v *review) {
			v.nodes["box"], v.nodes["box/"], v.nodes["box/in"] = "1", "2", "3"
		}, "box added []; box/in added []", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := usual(), usual()
			tt.edit(&b)
			r := diff.Runs("a", a.journal("g"), "b", b.journal("g"))
			var nodes, calls []string
			for _, n := range r.Nodes {
				nodes = append(nodes, n.Path+" "+n.Kind+" "+fmt.Sprint(n.What))
			}
			for _, c := range r.Calls {
				calls = append(calls, c.Key+" "+c.Why+" "+fmt.Sprint(c.From))
			}
			if d := cmp.Diff([]string{tt.nodes, tt.calls}, []string{strings.Join(nodes, "; "), strings.Join(calls, "; ")}); d != "" {
				t.Error(d)
			}
			if tt.name == "nothing" != r.Equal() && tt.name != "time" {
				t.Errorf("equal: %v", r.Equal())
			}
		})
	}
}

// Of nested nodes the innermost that has changed is told, and a container when it says something else itself.
func TestContainers(t *testing.T) {
	run := func(nodes map[string]string) *journal.Journal { return journal.New(journal.Header{Nodes: nodes}) }
	a := run(map[string]string{"m": "1", "m/": "1", "m/x": "1", "m/y": "1"})
	for want, b := range map[string]map[string]string{
		"m/x":   {"m": "2", "m/": "1", "m/x": "2", "m/y": "1"},
		"m":     {"m": "2", "m/": "2", "m/x": "1", "m/y": "1"},
		"m m/y": {"m": "2", "m/": "2", "m/x": "1", "m/y": "2"},
	} {
		var got []string
		for _, n := range diff.Runs("a", a, "b", run(b)).Nodes {
			got = append(got, n.Path)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
}

// A run is equal to itself, and what is said of two does not depend on their order but for the names of the sides.
func TestProperties(t *testing.T) {
	piece := rapid.SampledFrom([]string{"", "a", "é\x1b[2J", "\u202e", "one\ntwo\n", `{"$blob":"x"}`, strings.Repeat("long ", 60)})
	draw := func(t *rapid.T, name string) review {
		v := usual()
		v.text, v.answer = piece.Draw(t, name+" text"), piece.Draw(t, name+" answer")
		v.prompt = piece.Draw(t, name+" prompt") + "%s"
		v.failed, v.skipped = rapid.Bool().Draw(t, name+" failed"), rapid.Bool().Draw(t, name+" skipped")
		v.nodes["plan"] = rapid.SampledFrom([]string{"p1", "p2"}).Draw(t, name+" plan")
		return v
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a").journal("g"), draw(t, "b").journal("g")
		if r := diff.Runs("a", a, "a", a); !r.Equal() {
			t.Fatal(r.Text())
		}
		r, s := diff.Runs("a", a, "b", b), diff.Runs("b", b, "a", a)
		if len(r.Run) != len(s.Run) || len(r.Nodes) != len(s.Nodes) || len(r.Calls) != len(s.Calls) || r.Equal() != s.Equal() {
			t.Fatalf("%s\n%s", r.Text(), s.Text())
		}
		out := r.Text()
		if strings.ContainsAny(out, "\x1b\u202e") {
			t.Fatalf("%q", out)
		}
		if d := cmp.Diff(out, diff.Runs("a", a, "b", b).Text()); d != "" {
			t.Fatal(d)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatal(err)
		}
	})
}

// Applying the lines gives both texts.
func TestLines(t *testing.T) {
	word := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", ""}), 1, 12)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		var x, y []string
		for _, l := range diff.Lines(strings.Join(a, "\n")+"\n", strings.Join(b, "\n")+"\n") {
			if l.Mark != '+' {
				x = append(x, l.Text)
			}
			if l.Mark != '-' {
				y = append(y, l.Text)
			}
		}
		if d := cmp.Diff([][]string{a, b}, [][]string{x, y}); d != "" {
			t.Fatal(d)
		}
	})
	big := bytes.Repeat([]byte("x\n"), 5000)
	lines := diff.Lines("a\n"+string(big)+"b\n", "c\n"+string(big)+"d\n")
	if len(lines) != 10004 { // too many to compare: one block
		t.Errorf("%d lines", len(lines))
	}
}

// Two runs of 10,000 calls, all of which differ, are compared in bounded time.
func TestLarge(t *testing.T) {
	run := func(tag string) *journal.Journal {
		j := journal.New(journal.Header{})
		for i := range 10_000 {
			j.Put(journal.Record{Key: fmt.Sprintf("m[%d]/x", i), Attempt: 1, Tool: "x@1", Done: true, Start: time.Duration(i), End: time.Duration(i),
				Input: text(fmt.Sprint("in ", i-1, tag)), Output: text(fmt.Sprint("in ", i, tag))})
		}
		return j
	}
	begin := time.Now()
	r := diff.Runs("a", run("a"), "b", run("b"))
	if len(r.Calls) != 10_000 || strings.Join(r.Calls[5].From, "") != "m[4]/x" {
		t.Errorf("%d calls, %v", len(r.Calls), r.Calls[5].From)
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	if n := strings.Count(r.Text(), "\n"); n > 1000 {
		t.Errorf("%d lines", n)
	}
}

// A question that waits has stopped its run, and is not called cancelled.
func TestWaitingIsNotCancelled(t *testing.T) {
	asked := func(r journal.Record, outcome journal.Outcome) *journal.Journal {
		j := journal.New(journal.Header{Workflow: "w"})
		r.Key, r.Attempt, r.Tool, r.Effects, r.Done = "ask", 1, engine.HumanTool, "reads", true
		j.Put(r)
		j.SetFinish(journal.Finish{Outcome: outcome})
		return j
	}
	waiting := asked(journal.Record{Cancelled: runtime.ByRun}, journal.Waiting)
	got := diff.Runs("a", waiting, "b", asked(journal.Record{Output: text("yes")}, journal.Succeeded)).Text()
	if !strings.Contains(got, `state: "waiting for an answer" -> "done"`) || strings.Contains(got, "cancelled") {
		t.Error(got)
	}
}
