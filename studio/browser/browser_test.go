// Package browser drives the page of `flowgen studio` in a real Chromium: the stories of docs/studio.md, by keyboard where that is how they are
// told. Without a browser its tests are skipped, but not where CI is set. PICTURES names a folder for pictures of what was seen, AXE the file
// axe.min.js, with which pages are then examined.
package browser

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience is how long a page may take on a busy machine.
const patience = 40 * time.Second

var built struct {
	once sync.Once
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// flowgen is the program that is tested, which all tests share.
func flowgen(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "flowgen-browser"); built.err != nil {
			return
		}
		build := exec.Command("go", "build", "-ldflags=-w", "-o", built.dir, "./cmd/flowgen")
		build.Dir = filepath.Join("..", "..")
		if out, err := build.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, "flowgen")
}

// chromium is the browser on this machine.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if exe, err := exec.LookPath(name); err == nil {
			return exe
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("there is no Chromium")
	}
	t.Skip("there is no Chromium")
	return ""
}

// A story is a page over a project, and what was seen on it.
type story struct {
	t       *testing.T
	dir     string // of the project
	exe     string // flowgen
	address string // with the token
	pid     int    // of studio
	ctx     context.Context
	window  context.Context // of a browser that stories share; nil: the story has its own

	mu     sync.Mutex
	amiss  []string // errors of the console, and requests to other hosts
	expect []string // parts of errors that are meant
}

// shared is the browser of TestStories, in which each story has a tab: starting browsers takes longer than the stories.
var shared context.Context

// place is the folder of each story of TestStories, one after the other: workflows that several have are then built once.
var place string

// begin starts studio over the files of a folder, and a page.
func begin(t *testing.T, exe, browser string, files map[string]string) *story {
	t.Helper()
	s := project(t, exe, files)
	s.serve("", s.dir)
	s.browse(browser)
	return s
}

// project is a folder with files, without a page yet.
func project(t *testing.T, exe string, files map[string]string) *story {
	t.Helper()
	s := &story{t: t, dir: place, exe: exe, window: shared}
	if s.dir == "" {
		s.dir = t.TempDir()
	} else {
		err := os.RemoveAll(s.dir)
		if err == nil {
			err = os.Mkdir(s.dir, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		s.write(name, text)
	}
	return s
}

// window opens a browser, whose tabs are contexts made of the returned one.
func window(t *testing.T, browser string) context.Context {
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser), chromedp.NoSandbox, chromedp.Flag("window-size", "1400,880"))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}

// browse opens a browser, and listens to what it says until the test ends.
func (s *story) browse(browser string) {
	t := s.t
	t.Helper()
	ctx := s.window
	var cancel context.CancelFunc
	if ctx == nil {
		ctx = window(t, browser)
	} else {
		ctx, cancel = chromedp.NewContext(ctx)
		t.Cleanup(cancel)
	}
	s.ctx, cancel = context.WithTimeout(ctx, s.most())
	t.Cleanup(cancel)
	if err := chromedp.Listen(s.ctx, s.heard); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(s.ctx, chromedp.EmulateViewport(1400, 880)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, what := range s.amiss {
			t.Errorf("the browser says: %s", what)
		}
	})
}

// most bounds what a story may take: only what SOAK or LONG asks for takes long.
func (s *story) most() time.Duration {
	if long, err := time.ParseDuration(os.Getenv("SOAK")); err == nil {
		return long + 10*time.Minute
	}
	if os.Getenv("LONG") != "" {
		return 10 * time.Minute
	}
	return 4 * time.Minute
}

// heard notes what must not happen on any page.
func (s *story) heard(ev any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	note := func(text string) {
		for _, part := range s.expect {
			if strings.Contains(text, part) {
				return
			}
		}
		s.amiss = append(s.amiss, text)
	}
	switch ev := ev.(type) {
	case *runtime.EventExceptionThrown:
		text := ev.ExceptionDetails.Text
		if e := ev.ExceptionDetails.Exception; e != nil {
			text += " " + e.Description
		}
		note(text)
	case *runtime.EventConsoleAPICalled:
		if ev.Type == runtime.ConsoleAPICalledTypeError {
			note(fmt.Sprint("console.error ", ev.Args))
		}
	case *log.EventEntryAdded:
		if ev.Entry.Level == log.EntryLevelError {
			note(ev.Entry.Text + " " + ev.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		at, err := url.Parse(ev.Request.URL)
		if own, _ := url.Parse(s.address); err != nil || at.Host != own.Host && at.Scheme != "data" && at.Scheme != "blob" {
			note("a request to " + ev.Request.URL)
		}
	}
}

func (s *story) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *story) read(name string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// command runs flowgen in the project.
func (s *story) command(args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), s.exe, args...)
	cmd.Dir, cmd.Stdin = s.dir, strings.NewReader("")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%s\n%v", out, err)
	}
	return string(out)
}

// open goes to a path of the page.
func (s *story) open(path string) {
	s.t.Helper()
	base, token, _ := strings.Cut(s.address, "/#")
	if err := chromedp.Do(s.ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(base+path+"#"+token)); err != nil {
		s.t.Fatal(err)
	}
}

// wait waits until a condition in JavaScript holds.
func (s *story) wait(condition string) {
	s.t.Helper()
	// What is not there yet has no text: that is not a failure.
	poll := "(() => { try { return !!(" + condition + ") } catch (e) { if (e instanceof TypeError) return false; throw e } })()"
	var err error
	for range 10 { // a page that is loading takes the place of the one that was asked
		_, err = chromedp.Run(s.ctx, chromedp.Poll[bool](poll, chromedp.WithPollingTimeout(patience), chromedp.WithPollingInterval(50*time.Millisecond)))
		if err == nil || !strings.Contains(err.Error(), "context") || s.ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		body, _ := chromedp.Run(s.ctx, chromedp.Evaluate[string]("location.href + '\\n' + document.body.innerText"))
		s.picture("failed")
		s.t.Fatalf("waiting for %s: %v\n%s", condition, err, body)
	}
}

// sees waits until the page shows a text.
func (s *story) sees(text string) {
	s.t.Helper()
	s.wait(fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

// press presses keys one after the other. A key that the page takes for itself writes nothing; chromedp sends what it would write as an
// event of its own, which on a busy machine came to the field that the page had opened meanwhile.
func (s *story) press(keys ...string) {
	s.t.Helper()
	for _, k := range keys {
		writes := true
		if k > " " { // other keys write nothing
			var err error
			if writes, err = chromedp.Run(s.ctx, chromedp.Evaluate[bool]("!!document.activeElement?.matches('input, textarea, select')")); err != nil {
				s.t.Fatal(err)
			}
		}
		key := func(p *input.DispatchKeyEventParams) {
			if p.Type == kb.KeyChar && k > " " && !writes {
				p.Type, p.Text, p.UnmodifiedText = kb.KeyUp, "", ""
			}
		}
		if err := chromedp.Do(s.ctx, chromedp.KeyEvent(k, key)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// click moves the focus to the button or link with a text, by the Tab key, and presses Enter: all stories are told by keyboard alone.
func (s *story) click(text string) {
	s.t.Helper()
	is := fmt.Sprintf(`e.matches("button, a, summary") && e.innerText.trim().startsWith(%q)`, text)
	s.wait(fmt.Sprintf("[...document.querySelectorAll('button, a, summary')].some((e) => %s && !e.disabled)", is))
	s.reach(is)
	s.press("\r")
}

// fill replaces what is in the field of a selector.
func (s *story) fill(selector, text string) {
	s.t.Helper()
	s.wait(fmt.Sprintf("document.querySelector(%q)", selector))
	s.reach(fmt.Sprintf("e.matches(%q)", selector))
	s.eval("document.activeElement.select?.()")
	s.press(strings.Split(text, "")...)
}

// reach presses Tab until a condition holds for the element e that has the focus: as often as there are elements before it at once, so that
// it need not be asked after each.
func (s *story) reach(is string) {
	s.t.Helper()
	const ahead = `((is) => {
  const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")].filter((e) => e.tabIndex >= 0 && !e.disabled && e.checkVisibility({visibilityProperty: true}));
  const from = all.indexOf(document.activeElement) + 1, next = [...all.slice(from), null, ...all.slice(0, from)]; // after the last one comes the window
  return document.activeElement !== document.body && is(document.activeElement) ? 0 : next.findIndex((e) => e && is(e)) + 1 || 1;
})`
	for round := range 400 {
		n := int(s.number(ahead + `((e) => !!(` + is + `))`))
		if n == 0 {
			return
		}
		if round > 0 { // what is not a stop after all was counted
			n = 1
		}
		for range n {
			s.press("\t")
		}
	}
	s.picture("failed")
	s.t.Fatalf("Tab does not lead to an element with %s", is)
}

// mouse presses the button or link with a text, with the mouse.
func (s *story) mouse(text string) {
	s.t.Helper()
	at := fmt.Sprintf("[...document.querySelectorAll('button, a, summary')].find((b) => b.innerText.trim().startsWith(%q) && !b.disabled)", text)
	s.wait(at)
	s.eval("(" + at + ").scrollIntoView({block: 'center'})")
	place, err := chromedp.Run(s.ctx, chromedp.Evaluate[[]float64](`((b) => { const r = b.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })(`+at+`)`))
	if err == nil {
		err = chromedp.Do(s.ctx, chromedp.MouseClickXY(place[0], place[1]))
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *story) eval(js string) {
	s.t.Helper()
	if _, err := chromedp.Run(s.ctx, chromedp.Evaluate[any](js)); err != nil {
		s.t.Fatalf("%s: %v", js, err)
	}
}

// sound are JavaScript conditions that hold in each state of each page of studio: one heading, and Tab reaches whatever may scroll, with a name.
const sound = `(() => {
  const main = document.querySelectorAll("main"), h1 = document.querySelectorAll("h1");
  const bad = main.length === 1 && h1.length === 1 ? [] : [main.length + " main, " + h1.length + " h1"];
  for (const e of document.querySelectorAll("body *")) {
    if (e.matches("textarea, select, input") || !/auto|scroll/.test(getComputedStyle(e).overflow)) continue;
    if (e.tabIndex < 0 || !e.getAttribute("aria-label") || e.matches("div:not([role]), p:not([role]), pre:not([role]), ul")) bad.push(e.outerHTML.slice(0, 120) + " scrolls, and Tab does not reach it by a name");
  }
  return bad;
})()`

// picture keeps what is seen, and has axe look at it.
func (s *story) picture(name string) {
	s.t.Helper()
	if name != "failed" { // colours on their way to others have no contrast
		s.wait(`document.getAnimations().every((a) => a.playState !== "running" || a.effect.getComputedTiming().endTime === Infinity)`)
	}
	if dir := os.Getenv("PICTURES"); dir != "" {
		data, err := chromedp.Run(s.ctx, chromedp.CaptureScreenshot())
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name+".png"), data, 0o600)
		}
		if err != nil {
			s.t.Error(err)
		}
	}
	if s.exe != "" { // a page of studio, and not of the site
		bad, err := chromedp.Run(s.ctx, chromedp.Evaluate[[]string](sound))
		if err != nil {
			s.t.Fatal(err)
		}
		for _, v := range bad {
			s.t.Errorf("%s: %s", name, v)
		}
	}
	file := os.Getenv("AXE")
	if file == "" || file == "none" || name == "failed" {
		return
	}
	f, err := os.Open(file)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	axe, err := io.ReadAll(f)
	if err != nil {
		s.t.Fatal(err)
	}
	s.eval("if (!window.axe) { " + string(axe) + " } 0") // it stays until the page is loaded anew
	s.eval(`window.violations = undefined; axe.run(document, {resultTypes: ["violations"]}).then((r) => { window.violations = r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html + " " + n.failureSummary).slice(0, 3).join(" | ")) }); 0`)
	s.wait("window.violations !== undefined")
	found, err := chromedp.Run(s.ctx, chromedp.Evaluate[[]string]("window.violations"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, v := range found {
		s.t.Errorf("%s: %s", name, v)
	}
}
