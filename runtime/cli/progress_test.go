package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// clock is a fake clock with a fake ticker.
type clock struct {
	mu  sync.Mutex
	now time.Time
	c   chan time.Time
}

func newClock() *clock {
	return &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), c: make(chan time.Time)}
}

func (c *clock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// screen is a terminal: it understands what the display writes and nothing else.
type screen struct {
	mu         sync.Mutex
	wide, high int
	rows       []string
	row        int
	frames     int
	tooWide    []string
	unknown    []string
	sawColour  bool
	wrote      chan struct{}
}

func newScreen(wide, high int) *screen {
	return &screen{wide: wide, high: high, rows: []string{""}, wrote: make(chan struct{}, 1000)}
}

var escapes = regexp.MustCompile("\x1b\\[([0-9]*)([A-Za-z])")

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frames++
	text := string(p)
	for text != "" {
		switch at := escapes.FindStringSubmatchIndex(text); {
		case at != nil && at[0] == 0:
			s.escape(text[at[2]:at[3]], text[at[4]:at[5]])
			text = text[at[1]:]
		case text[0] == '\n':
			s.row++
			if s.row == len(s.rows) {
				s.rows = append(s.rows, "")
			}
			text = text[1:]
		case text[0] == '\r':
			text = text[1:]
		default:
			end := strings.IndexAny(text, "\n\r\x1b")
			if end == 0 {
				s.unknown = append(s.unknown, text[:1])
				end = 1
			}
			if end < 0 {
				end = len(text)
			}
			s.rows[s.row] += text[:end]
			text = text[end:]
			if width(s.rows[s.row]) >= s.wide {
				s.tooWide = append(s.tooWide, s.rows[s.row])
			}
		}
	}
	s.wrote <- struct{}{}
	return len(p), nil
}

func (s *screen) escape(n, what string) {
	switch what {
	case "A":
		var up int
		_, _ = fmt.Sscan(n, &up)
		s.row -= up
		if s.row < 0 {
			s.unknown = append(s.unknown, "moved above the first line")
			s.row = 0
		}
	case "J":
		s.rows = append(s.rows[:s.row], "")
	case "m":
		s.sawColour = true
	default:
		s.unknown = append(s.unknown, n+what)
	}
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.rows, "\n")
}

// stage for live tests: a display on a fake screen with a fake clock.
type liveTest struct {
	*testing.T
	clock  *clock
	screen *screen
	live   *live
}

func newLiveTest(t *testing.T, wide, high int, env map[string]string) *liveTest {
	l := &liveTest{T: t, clock: newClock(), screen: newScreen(wide, high)}
	s := &system{
		stderr: l.screen,
		env:    func(k string) string { return env[k] },
		size: func() (int, int, bool) {
			l.screen.mu.Lock()
			defer l.screen.mu.Unlock()
			return l.screen.wide, high, true
		},
		now:   l.clock.time,
		ticks: func() (<-chan time.Time, func()) { return l.clock.c, func() {} },
	}
	l.live = newLive(s, logView{})
	return l
}

// frame lets the display draw once and returns what the screen shows.
func (l *liveTest) frame() string {
	l.Helper()
	l.clock.c <- l.clock.time()
	select {
	case <-l.screen.wrote:
	case <-time.After(time.Minute):
		l.Fatal("nothing was drawn")
	}
	return l.screen.text()
}

func (l *liveTest) want(got, want string) {
	l.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		l.Errorf("screen (-want +got):\n%s", diff)
	}
}

func (l *liveTest) end() {
	l.Helper()
	l.live.close(nil)
	if l.screen.tooWide != nil || l.screen.unknown != nil {
		l.Errorf("lines too wide: %q, not understood: %q", l.screen.tooWide, l.screen.unknown)
	}
}

func start(key string, n *flow.Node) runtime.Event {
	return runtime.Event{Kind: runtime.NodeStart, Key: key, Node: n, Tool: "t@1"}
}

func ended(key string, n *flow.Node, d time.Duration, err error) runtime.Event {
	return runtime.Event{Kind: runtime.NodeEnd, Key: key, Node: n, Tool: "t@1", Duration: d, Attempt: 1, Err: err}
}

var (
	fetchNode = &flow.Node{ID: "fetch", Pos: "f:1:1"}
	planNode  = &flow.Node{ID: "plan", Pos: "f:2:1"}
	probeNode = &flow.Node{ID: "probe", Pos: "f:3:1"}
	scanNode  = &flow.Node{ID: "scan", Pos: "f:4:1"}
	noColour  = map[string]string{"NO_COLOR": "1", "TERM": "xterm", "LANG": "en_GB.UTF-8"}
)

func TestLive(t *testing.T) {
	l := newLiveTest(t, 60, 24, noColour)
	l.live.Observe(runtime.Event{Kind: runtime.RunStart})
	l.live.Observe(start("fetch", fetchNode))
	l.live.Observe(start("plan", planNode))
	l.clock.advance(1500 * time.Millisecond)
	l.want(l.frame(), "⠋ fetch 1.5s\n⠋ plan 1.5s\n")

	l.live.Observe(ended("fetch", fetchNode, 1600*time.Millisecond, nil))
	l.live.Observe(runtime.Event{Kind: runtime.Retrying, Key: "plan", Node: planNode, Attempt: 1, Wait: 2 * time.Second,
		Err: value.Errorf(value.RateLimit, "slow\x1b[2J down")})
	l.clock.advance(500 * time.Millisecond)
	l.want(l.frame(), "✓ fetch 1.6s\n↻ plan attempt 1, RATE_LIMIT: slow down, next in 2.0s\n⠙ plan 2.0s, next attempt in 1.5s: RATE_LIMIT: slow down\n")

	l.clock.advance(1600 * time.Millisecond)
	l.want(l.frame(), "✓ fetch 1.6s\n↻ plan attempt 1, RATE_LIMIT: slow down, next in 2.0s\n⠸ plan 3.6s\n")

	failed := ended("plan", planNode, 4*time.Second, &runtime.NodeError{Node: planNode, Err: value.Errorf(value.Timeout, "no result")})
	failed.Attempt = 2
	l.live.Observe(failed)
	l.live.Observe(runtime.Event{Kind: runtime.NodeStart, Key: "probe", Node: probeNode})
	l.live.Observe(start("probe[0]/scan", scanNode))
	l.live.Observe(runtime.Event{Kind: runtime.Progress, Key: "probe", Node: probeNode, Done: 7, Total: 10})
	l.live.Observe(runtime.Event{Kind: runtime.Progress, Key: "probe", Node: probeNode, Done: 6, Total: 10}) // came late
	before := "✓ fetch 1.6s\n↻ plan attempt 1, RATE_LIMIT: slow down, next in 2.0s\n✗ plan 4.0s, 2 attempts, TIMEOUT: no result\n"
	l.want(l.frame(), before+"⠴ probe 7/10, 0ms\n⠴ probe[0]/scan 0ms\n")

	l.live.Observe(ended("probe[0]/scan", scanNode, time.Second, nil))
	l.live.Observe(runtime.Event{Kind: runtime.Progress, Key: "probe", Node: probeNode, Done: 10, Total: 10})
	l.live.Observe(runtime.Event{Kind: runtime.NodeEnd, Key: "probe", Node: probeNode, Duration: 65 * time.Second})
	l.live.Observe(start("fetch#2", fetchNode))
	l.end()
	l.want(l.screen.text(), before+"✓ probe 10/10 items, 1m05s\n")
}

// What a call says is shown by its end, one line of it, and what it took when it has ended.
func TestLiveOutput(t *testing.T) {
	l := newLiveTest(t, 100, 24, noColour)
	l.live.Observe(start("plan", planNode))
	say := func(text string) {
		l.live.Observe(runtime.Event{Kind: runtime.Output, Key: "plan", Node: planNode, Text: text})
	}
	say("Let us ")
	say("see.\x1b[2J")
	l.want(l.frame(), "⠋ plan 0ms  Let us see.\n")
	say("\n")
	l.want(l.frame(), "⠙ plan 0ms  Let us see.\n")
	say("Then")
	l.want(l.frame(), "⠸ plan 0ms  Then\n")
	say(strings.Repeat(" ü", 500) + "!")
	l.want(l.frame(), "⠴ plan 0ms  "+strings.TrimSpace(strings.Repeat(" ü", 30))+"!\n")
	done := ended("plan", planNode, time.Second, nil)
	done.Usage = &usage.Usage{InputTokens: 1200, OutputTokens: 34, CostUSD: flow.Ptr(usage.USD(2_100_000))}
	l.live.Observe(done)
	l.end()
	l.want(l.screen.text(), "✓ plan 1.0s, 1200+34 tokens, $0.0021\n")
}

func TestLiveDrawsNothingWhenNothingHappens(t *testing.T) {
	l := newLiveTest(t, 60, 24, noColour)
	l.clock.c <- l.clock.time()
	l.clock.c <- l.clock.time()
	l.end()
	if l.screen.frames != 0 {
		t.Errorf("%d frames", l.screen.frames)
	}
}

func TestLiveColourAndLocale(t *testing.T) {
	l := newLiveTest(t, 60, 24, map[string]string{"TERM": "xterm", "LC_ALL": "C", "LANG": "en_GB.UTF-8"})
	l.live.Observe(start("fetch", fetchNode))
	l.want(l.frame(), "| fetch 0ms\n")
	l.live.Observe(ended("fetch", fetchNode, time.Second, nil))
	l.end()
	l.want(l.screen.text(), "+ fetch 1.0s\n")
	if !l.screen.sawColour {
		t.Error("no colour")
	}
	l = newLiveTest(t, 60, 24, noColour)
	l.live.Observe(ended("fetch", fetchNode, time.Second, nil))
	l.end()
	if l.screen.sawColour {
		t.Error("colour in spite of NO_COLOR")
	}
}

func TestLiveFitsTheTerminal(t *testing.T) {
	for _, wide := range []int{1, 2, 5, 12, 20, 80} {
		for _, high := range []int{1, 2, 3, 10} {
			t.Run(fmt.Sprintf("%dx%d", wide, high), func(t *testing.T) {
				l := newLiveTest(t, wide, high, map[string]string{"TERM": "xterm"})
				for i := range 30 {
					l.live.Observe(start(fmt.Sprintf("日本語%d", i), &flow.Node{ID: "x"}))
				}
				l.live.Observe(ended("日本語3", planNode, time.Second, errors.New(strings.Repeat("長い\x1b[31m説明\u202e\n", 40))))
				before := l.screen.text()
				after := l.frame()
				if moving := strings.Count(after, "\n") - strings.Count(before, "\n") - 1; moving > max(high-1, 0) || moving > maxRows {
					t.Errorf("%d moving lines on a screen of %d:\n%s", moving, high, after)
				}
				if high > 1 { // else there is no room for a moving line
					l.frame()
				}
				l.end()
			})
		}
	}
}

func TestLiveAfterTheTerminalBecameNarrower(t *testing.T) {
	l := newLiveTest(t, 40, 24, noColour)
	l.live.Observe(start(strings.Repeat("k", 30), fetchNode))
	l.frame()
	l.screen.mu.Lock()
	// The terminal broke the line of 36 columns into two.
	l.screen.wide = 20
	l.screen.rows = []string{l.screen.rows[0][:20], l.screen.rows[0][20:], ""}
	l.screen.row = 2
	l.screen.mu.Unlock()
	l.want(l.frame(), "⠙ kkkkkkkkkkkkkkkk…\n")
	l.end()
}

func TestLiveManyRunning(t *testing.T) {
	l := newLiveTest(t, 60, 24, noColour)
	for i := range 20 {
		l.live.Observe(start(fmt.Sprintf("n%d", i), &flow.Node{ID: "n"}))
	}
	got := l.frame()
	if n := strings.Count(got, "\n"); n != maxRows || !strings.HasSuffix(got, "⠋ n10 0ms\n  and 9 more\n") {
		t.Errorf("%d lines:\n%s", n, got)
	}
	l.end()
}

// blocked is a terminal that takes nothing until it is released.
type blocked struct{ release chan struct{} }

func (b blocked) Write(p []byte) (int, error) { <-b.release; return len(p), nil }

func TestLiveDoesNotWaitForTheTerminal(t *testing.T) {
	l := newClock()
	b := blocked{make(chan struct{})}
	s := &system{stderr: b, env: func(string) string { return "" }, size: func() (int, int, bool) { return 80, 24, true }, now: l.time,
		ticks: func() (<-chan time.Time, func()) { return l.c, func() {} }}
	live := newLive(s, logView{})
	live.Observe(start("fetch", fetchNode))
	l.c <- l.time() // the goroutine is now stuck in Write
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 30_000 {
			key := fmt.Sprintf("probe[%d]/scan", i)
			live.Observe(start(key, scanNode))
			live.Observe(ended(key, scanNode, time.Millisecond, nil))
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("events wait for the terminal")
	}
	close(b.release)
	live.close(nil)
	live.mu.Lock()
	defer live.mu.Unlock()
	if live.rows.Len() != 1 || len(live.running) != 1 {
		t.Errorf("%d rows left, want 1", live.rows.Len())
	}
}

func observeAll(d display) {
	d.Observe(runtime.Event{Kind: runtime.RunStart})
	d.Observe(start("fetch", fetchNode))
	d.Observe(runtime.Event{Kind: runtime.Retrying, Key: "fetch", Node: fetchNode, Attempt: 1, Wait: 500 * time.Millisecond, Err: value.Errorf(value.NetworkError, "refused\u202e")})
	d.Observe(ended("fetch", fetchNode, 123*time.Millisecond, nil))
	d.Observe(runtime.Event{Kind: runtime.NodeStart, Key: "probe", Node: probeNode})
	for i := range 100 {
		key := fmt.Sprintf("probe[%d]/scan", i)
		d.Observe(start(key, scanNode))
		d.Observe(ended(key, scanNode, time.Millisecond, errors.New("x")))
		d.Observe(runtime.Event{Kind: runtime.Progress, Key: "probe", Node: probeNode, Done: i + 1, Total: 100})
	}
	d.Observe(runtime.Event{Kind: runtime.NodeEnd, Key: "probe", Node: probeNode, Duration: 2 * time.Hour})
	replayed := ended("pub/notify", planNode, 0, nil)
	replayed.Replayed = true
	d.Observe(replayed)
	cached := ended("pub/notify#2", planNode, 0, nil)
	cached.Cached = true
	d.Observe(cached)
	d.Observe(ended("late", planNode, time.Minute, &runtime.NodeError{Node: planNode, Err: &runtime.RunError{Kind: runtime.Cancelled}}))
	d.Observe(runtime.Event{Kind: runtime.RunEnd})
	d.close(nil)
}

func TestLines(t *testing.T) {
	var b bytes.Buffer
	observeAll(testLines(&b))
	want := `retry     fetch attempt 1, NETWORK_ERROR: refused\u202e, next in 500ms
ok        fetch 123ms
ok        probe 100/100 items, 2h00m
ok        pub/notify 0ms, replayed
ok        pub/notify#2 0ms, cached
cancelled late 1m00s
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLinesOfALoopAreBounded(t *testing.T) {
	var b bytes.Buffer
	l := testLines(&b)
	defer l.close(nil)
	for i := range 1000 {
		l.Observe(ended(fmt.Sprintf("polish[%d]/draft", i), planNode, time.Second, nil))
	}
	if n := strings.Count(b.String(), "\n"); n != linesPerNode+1 {
		t.Errorf("%d lines", n)
	}
	if !strings.HasSuffix(b.String(), "ok        polish[19]/draft 1.0s\n          plan runs again; further lines are left out\n") {
		t.Errorf("got:\n%s", b.String())
	}
}

func TestJSONLines(t *testing.T) {
	var b bytes.Buffer
	observeAll(&jsonLines{w: &b})
	if strings.ContainsRune(b.String(), '\u202e') {
		t.Error("a bidirectional control got through")
	}
	var kinds []string
	in := bufio.NewScanner(&b)
	for in.Scan() {
		var e struct {
			Kind, Key string
			Error     *struct{ Code, Message string }
		}
		if err := json.Unmarshal(in.Bytes(), &e); err != nil {
			t.Fatalf("%s: %v", in.Text(), err)
		}
		if e.Kind == "retry" && (e.Error == nil || e.Error.Message != "refused\u202e") {
			t.Errorf("the error of %s is %v", in.Text(), e.Error)
		}
		if !strings.HasPrefix(e.Key, "probe") {
			kinds = append(kinds, e.Kind)
		}
	}
	want := []string{"run_start", "node_start", "retry", "node_end", "node_end", "node_end", "node_end", "run_end"}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
}

func TestDisplayIsChosen(t *testing.T) {
	for _, tt := range []struct {
		name     string
		terminal bool
		term     string
		flags    runFlags
		want     string
	}{
		{"pipe", false, "xterm", runFlags{}, "*cli.lines"},
		{"terminal", true, "xterm", runFlags{}, "*cli.live"},
		{"dumb", true, "dumb", runFlags{}, "*cli.lines"},
		{"unknown", true, "", runFlags{}, "*cli.lines"},
		{"events", true, "xterm", runFlags{jsonEvents: true}, "*cli.jsonLines"},
		{"quiet", true, "xterm", runFlags{quiet: true}, "<nil>"},
	} {
		c := newConsole()
		c.size = func() (int, int, bool) { return 80, 24, tt.terminal }
		c.env = func(k string) string {
			if k == "TERM" {
				return tt.term
			}
			return ""
		}
		d := newDisplay(&c.system, &tt.flags, false)
		if got := fmt.Sprintf("%T", d); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		if d != nil {
			d.close(nil)
		}
	}
}

// A run with 10,000 items, through the real runtime and every kind of display.
func TestManyItems(t *testing.T) {
	items := make([]int64, 10_000)
	node, inner := &flow.Node{ID: "probe", Pos: "f:1:1", Limit: 64}, &flow.Node{ID: "scan", Pos: "f:2:1", Index: 1}
	info := &flow.Info{Name: "many", Nodes: []*flow.Node{node, inner}}
	tool := flow.Bind("many.scan@1", flow.None, func(_ context.Context, n int64) (int64, error) { return n, nil })
	for _, flags := range []runFlags{{}, {jsonEvents: true}} {
		for _, terminal := range []bool{true, false} {
			c := newConsole()
			c.env = func(string) string { return "xterm" }
			c.size = func() (int, int, bool) { return 80, 24, terminal }
			c.ticks = hostSystem().ticks
			counted := &countingWriter{w: &c.err}
			c.stderr = counted
			d := newDisplay(&c.system, &flags, false)
			rt, err := flow.New(info, runtime.WithObserver(d))
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			r := rt.Start(t.Context())
			_, err = flow.Map(r, node, items, func(r *flow.Run, n int64) (int64, error) { return flow.Call(r, inner, tool, n) })
			r.End(&err)
			took := time.Since(begin)
			d.close(nil)
			if err != nil {
				t.Fatal(err)
			}
			if took > time.Minute {
				t.Errorf("%T: took %v", d, took)
			}
			took = time.Since(begin)
			if allowed := int(took/redrawEvery) + 2; !flags.jsonEvents && counted.n > allowed {
				t.Errorf("%T: %d writes in %v, at most %d are allowed", d, counted.n, took, allowed)
			}
			if !flags.jsonEvents && !strings.Contains(c.err.String(), "10000/10000 items") {
				t.Errorf("%T wrote %q", d, c.err.String())
			}
		}
	}
}

type countingWriter struct {
	w io.Writer
	n int
}

func (c *countingWriter) Write(p []byte) (int, error) { c.n++; return c.w.Write(p) }

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0ms", 0: "0ms", 999 * time.Millisecond: "999ms", time.Second: "1.0s", 59_950 * time.Millisecond: "59.9s",
		time.Minute: "1m00s", 3599 * time.Second: "59m59s", time.Hour: "1h00m", 100*time.Hour + 59*time.Minute: "100h59m",
	} {
		if got := duration(d); got != want {
			t.Errorf("duration(%v) = %s, want %s", d, got, want)
		}
	}
}

// A question that stops its run is open, and one that another branch has ended is not.
func TestLinesOfQuestions(t *testing.T) {
	var b bytes.Buffer
	d := testLines(&b)
	for _, by := range []string{runtime.ByRun, runtime.ByScope} {
		e := ended("ask_"+by, planNode, time.Second, &runtime.NodeError{Node: planNode, Err: &runtime.RunError{Kind: runtime.Cancelled, By: by}})
		e.Tool = engine.HumanTool
		d.Observe(e)
	}
	for _, key := range []string{"ask", "ask_run", "a[0]/send/approve", "a[0]/send", "a[0]/sen", "a"} { // what a question is part of waits, too
		e := ended(key, planNode, time.Second, &runtime.NodeError{Node: planNode, Err: &runtime.RunError{Kind: runtime.Cancelled, By: runtime.ByRun}})
		if strings.HasSuffix(key, "approve") {
			e.Tool = engine.HumanTool
		}
		d.Observe(e)
	}
	d.close(nil)
	want := "waiting   ask_run 1.0s\ncancelled ask_scope 1.0s\ncancelled ask 1.0s\ncancelled ask_run 1.0s\n" +
		"waiting   a[0]/send/approve 1.0s\nwaiting   a[0]/send 1.0s\ncancelled a[0]/sen 1.0s\nwaiting   a 1.0s\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

// testLines writes lines without a clock for what is running.
func testLines(w io.Writer) *lines {
	c := newConsole()
	c.stderr = w
	return newLines(&c.system, logView{})
}
