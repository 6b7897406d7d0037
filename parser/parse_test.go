package parser

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/ir/diag"
)

// memory is a file system of a few files.
type memory map[string]string

func (m memory) ReadFile(name string) ([]byte, error) {
	s, ok := m[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return []byte(s), nil
}

func TestAliasesRepeatText(t *testing.T) {
	text := "flowgen: 1\nname: a\ndescription: &long " + strings.Repeat("x", 1<<20) + "\nnodes:\n  a: {let: {x: [" + strings.Repeat("*long, ", 40) + "]}}\n"
	var sink diag.Sink
	if w := Parse(memory{"f": text}, "f", &sink); w != nil || sink.Errors() != 1 || sink.List()[0].Code != diag.YAMLLimit {
		t.Errorf("%d errors, workflow %v", sink.Errors(), w != nil)
	}
}

func TestUnreadableFile(t *testing.T) {
	var sink diag.Sink
	if w := Parse(memory{}, "no/such.flowgen.yaml", &sink); w != nil || sink.Errors() != 1 || sink.List()[0].Code != diag.CannotRead {
		t.Errorf("%d errors, workflow %v", sink.Errors(), w != nil)
	}
}

// TestFlowsAreSharedAndReadOnce: two nodes and a sub-workflow that name the same file get the same workflow.
func TestFlowsAreSharedAndReadOnce(t *testing.T) {
	files := &counting{memory: memory{
		"w/main.yaml":  "flowgen: 1\nname: main\ninclude: [../lib/t.yaml]\nnodes:\n  a: {flow: ../sub/one.yaml}\n  b: {flow: ../sub/./two.yaml}\n  c: {flow: ../sub/one.yaml}\n",
		"sub/one.yaml": "flowgen: 1\nname: one\nnodes:\n  a: {flow: two.yaml}\n",
		"sub/two.yaml": "flowgen: 1\nname: two\ninclude: ../lib/t.yaml\nnodes:\n  a: {let: {x: 1}}\n",
		"lib/t.yaml":   "flowgen: 1\ntypes: {T: {x: int}}\n",
	}, reads: map[string]int{}}
	var sink diag.Sink
	w := Parse(files, "w/main.yaml", &sink)
	if sink.HasErrors() {
		t.Fatal(sink.List()[0].Message)
	}
	if len(w.Flows) != 2 || len(w.Flows[0].Flows) != 1 || w.Flows[0].Flows[0] != w.Flows[1] {
		t.Errorf("flows: %d", len(w.Flows))
	}
	if w.Includes[0].Name != "lib/t.yaml" || w.Includes[0] != w.Flows[1].Includes[0] {
		t.Errorf("included %s", w.Includes[0].Name)
	}
	for name, n := range files.reads {
		if n != 1 {
			t.Errorf("%s is read %d times", name, n)
		}
	}
}

// counting counts how often each file is read.
type counting struct {
	memory
	reads map[string]int
}

func (c *counting) ReadFile(name string) ([]byte, error) {
	c.reads[name]++
	return c.memory.ReadFile(name)
}

// TestCodes runs the examples of the codes that belong to parsing: the wrong one reports its code and nothing else, the
// right one nothing.
func TestCodes(t *testing.T) {
	for _, e := range Codes() {
		if !strings.HasPrefix(string(e.Code), "FG00") && !strings.HasPrefix(string(e.Code), "FG01") && !strings.HasPrefix(string(e.Code), "FG090") {
			continue
		}
		t.Run(string(e.Code), func(t *testing.T) {
			if e.Title == "" || e.Cause == "" {
				t.Error("title or cause is missing")
			}
			if e.Wrong == "" || e.Code == diag.NotConverted { // what convert says is tested with the documents
				return
			}
			var sink diag.Sink
			Parse(memory{"a.flowgen.yaml": e.Wrong}, "a.flowgen.yaml", &sink)
			if n := len(sink.List()); n != 1 {
				t.Errorf("%d diagnostics for the wrong example, want 1", n)
			}
			for _, d := range sink.List() {
				if d.Code != e.Code {
					t.Errorf("got %s: %s", d.Code, d.Message)
				}
				t.Logf("%s %v %q: %s (%s)", d.Code, d.Span.Start(), d.Span.Text(), d.Message, d.Help)
			}
			sink = diag.Sink{}
			Parse(memory{"a.flowgen.yaml": e.Right}, "a.flowgen.yaml", &sink)
			for _, d := range sink.List() {
				t.Errorf("the right example: %s: %s", d.Code, d.Message)
			}
		})
	}
}
