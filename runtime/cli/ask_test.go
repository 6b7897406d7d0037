package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
)

var askNode = &flow.Node{ID: "ask", Pos: "asking.flowgen.yaml:5:3"}

var askInfo = &flow.Info{Name: "asking", Nodes: []*flow.Node{askNode}}

type asking struct {
	rt   *flow.Runtime
	body func(*flow.Run) (string, error)
}

func (w *asking) Run(ctx context.Context, _ struct{}) (out string, err error) {
	run := flow.Start(ctx, w.rt, struct{}{})
	defer flow.End(run, &out, &err)
	return w.body(run)
}

func (c *console) runAsking(body func(*flow.Run) (string, error)) int {
	return run(&c.system, &workflow{info: askInfo, run: bind(func(o ...runtime.Option) (*asking, error) {
		rt, err := flow.New(askInfo, o...)
		return &asking{rt, body}, err
	})})
}

func publish(r *flow.Run) (string, error) {
	return flow.Ask[string](r, askNode, runtime.Question{Text: "Publish?", Choices: []string{"yes", "no"}})
}

// typist makes a terminal of a console, at which somebody types lines.
func (c *console) typist() *io.PipeWriter {
	r, w := io.Pipe()
	c.stdin, c.typed = r, func() bool { return true }
	return w
}

func TestAskAtTheTerminal(t *testing.T) {
	c := newConsole()
	keys := c.typist()
	go func() {
		_, _ = io.WriteString(keys, "perhaps\nyes\n")
		_ = keys.Close()
	}()
	if code := c.runAsking(publish); code != ExitOK || c.out.String() != "\"yes\"\n" {
		t.Fatalf("exit %d, stdout %q, stderr %q", code, &c.out, &c.err)
	}
	if want := "? Publish? [yes/no] \"perhaps\" is none of yes, no\n[yes/no] "; !strings.HasPrefix(c.err.String(), want) {
		t.Errorf("stderr %q, want it to begin with %q", &c.err, want)
	}
}

func TestAskNobody(t *testing.T) {
	c := newConsole()
	block, w := io.Pipe() // a standard input that never says anything
	defer w.Close()
	c.stdin = block
	begin := time.Now()
	if code := c.runAsking(publish); code != ExitFailed || time.Since(begin) > time.Minute {
		t.Errorf("exit %d after %v", code, time.Since(begin))
	}
	want := "asking.flowgen.yaml:5:3: node ask: TIMEOUT: no user is available to answer: the question needs a terminal; pass answers with --answers\n"
	if got := c.err.String(); !strings.HasSuffix(got, want) {
		t.Errorf("stderr %q, want at its end %q", got, want)
	}
}

func TestAskFromFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answers")
	if err := os.WriteFile(file, []byte("maybe\nyes\nnever read\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{file, "-"} {
		c := newConsole("--quiet", "--answers", source)
		c.stdin = strings.NewReader("maybe\nyes\nnever read\n")
		if code := c.runAsking(publish); code != ExitOK || c.out.String() != "\"yes\"\n" {
			t.Errorf("exit %d, stdout %q", code, &c.out)
		}
		if got, want := c.err.String(), "? Publish? [yes/no] maybe\n\"maybe\" is none of yes, no\n[yes/no] yes\n"; got != want {
			t.Errorf("stderr %q, want %q", got, want)
		}
	}
	c := newConsole("--quiet", "--answers", "-")
	c.stdin = strings.NewReader("maybe")
	if code := c.runAsking(publish); code != ExitFailed || !strings.Contains(c.err.String(), "TIMEOUT: no user is available to answer: --answers has no answer left") {
		t.Errorf("exit %d, stderr %q", code, &c.err)
	}
	for args, want := range map[string]string{
		"--answers nowhere/at/all":      "error: cannot read nowhere/at/all",
		"--answers - --input-json -":    "error: --input-json and --answers cannot both read standard input",
		"--answer " + file + " --quiet": "help: did you mean --answers?",
	} {
		c := newConsole(strings.Fields(args)...)
		if code := c.runAsking(publish); code != ExitUsage || !strings.Contains(c.err.String(), want) {
			t.Errorf("%s: exit %d, stderr %q", args, code, &c.err)
		}
	}
}

// A machine that reads events sees a question as one of them, and nothing that is not JSON.
func TestAskAsEvent(t *testing.T) {
	c := newConsole("--json-events", "--answers", "-")
	c.stdin = strings.NewReader("yes\n")
	if code := c.runAsking(publish); code != ExitOK {
		t.Fatalf("exit %d: %s", code, &c.err)
	}
	seen := false
	for line := range strings.Lines(c.err.String()) {
		if !strings.HasPrefix(line, "{") {
			t.Errorf("no event: %q", line)
		}
		seen = seen || strings.Contains(line, `"kind":"question","key":"ask"`) && strings.Contains(line, `"message":"Publish?"`)
	}
	if !seen {
		t.Errorf("no question among the events: %s", &c.err)
	}
}

// What is typed while no question is open answers none: the late answer to a question that timed out is not the answer
// to the next one.
func TestLateAnswers(t *testing.T) {
	c := newConsole("--quiet")
	keys := c.typist()
	defer keys.Close()
	short := *askNode
	short.Timeout = 20 * time.Millisecond
	code := c.runAsking(func(r *flow.Run) (string, error) {
		first, err := flow.AskOr(r, &short, runtime.Question{Text: "One?"}, "nobody")
		if err != nil {
			return "", err
		}
		if _, err := io.WriteString(keys, "late\n"); err != nil {
			return "", err
		}
		if _, err := io.WriteString(keys, "in"); err != nil { // comes back when the line before has gone its way
			return "", err
		}
		stop := make(chan struct{})
		var typing sync.WaitGroup
		typing.Go(func() { // until it is taken: whoever types sees the question first
			for rest := " time\n"; ; rest = "in time\n" {
				select {
				case <-stop:
					return
				default:
					_, _ = io.WriteString(keys, rest)
				}
			}
		})
		second, err := flow.Ask[string](r, askNode, runtime.Question{Text: "Two?"})
		close(stop)
		typing.Wait()
		return first + ", " + second, err
	})
	if code != ExitOK || c.out.String() != "\"nobody, in time\"\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, &c.out, &c.err)
	}
}

// While a question is open the live display draws nothing; afterwards it shows what has happened meanwhile.
func TestDisplayWaitsForAnswers(t *testing.T) {
	clk, scr := newClock(), newScreen(60, 20)
	c := newConsole()
	c.stderr, c.now = scr, clk.time
	c.size = func() (int, int, bool) { return 60, 20, true }
	ticks := make(chan time.Time)
	c.ticks = func() (<-chan time.Time, func()) { return ticks, func() {} }
	l := newLive(&c.system, logView{})
	l.Observe(runtime.Event{Kind: runtime.NodeStart, Key: "ask", Node: askNode, Tool: engine.HumanTool})
	l.draw(false)
	l.pause()
	_, _ = io.WriteString(scr, "? Publish? [yes/no] ")
	other := &flow.Node{ID: "other"}
	l.Observe(runtime.Event{Kind: runtime.NodeEnd, Key: "other", Node: other, Duration: time.Second})
	for range 3 {
		ticks <- time.Time{}
	}
	l.draw(false)
	if got := scr.text(); !strings.HasSuffix(got, "? Publish? [yes/no] ") && !strings.HasSuffix(got, "? Publish? [yes/no]") {
		t.Errorf("the display drew over a question:\n%s", got)
	}
	_, _ = io.WriteString(scr, "\n")
	l.resume()
	l.close(nil)
	if got := scr.text(); !strings.Contains(got, "? Publish? [yes/no]") || !strings.Contains(got, "other") {
		t.Errorf("lost:\n%s", got)
	}
}
