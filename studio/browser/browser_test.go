// Package browser drives the page of `flowgen studio` in a real Chromium: the stories of docs/studio.md, by keyboard where that is how they are
// told. Without a browser its tests are skipped, but not where CI is set. PICTURES names a folder for pictures of what was seen, AXE the file
// axe.min.js, with which pages are then examined.
package browser

import (
	"bufio"
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

// flowgen is the program that is tested.
func flowgen(t *testing.T) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "flowgen")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", exe, "./cmd/flowgen")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return exe
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
	ctx     context.Context

	mu     sync.Mutex
	amiss  []string // errors of the console, and requests to other hosts
	expect []string // parts of errors that are meant
}

// begin starts studio over the files of a folder, and a browser of its own.
func begin(t *testing.T, exe, browser string, files map[string]string) *story {
	t.Helper()
	s := &story{t: t, dir: t.TempDir(), exe: exe}
	for name, text := range files {
		s.write(name, text)
	}
	studio := exec.Command(exe, "studio", s.dir)
	studio.Stderr = os.Stderr
	out, err := studio.StdoutPipe()
	if err == nil {
		err = studio.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = studio.Process.Signal(os.Interrupt)
		if err := studio.Wait(); err != nil {
			t.Errorf("studio: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	s.address = strings.TrimSpace(line)
	s.browse(browser)
	return s
}

// browse opens a browser, and listens to what it says until the test ends.
func (s *story) browse(browser string) {
	t := s.t
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser), chromedp.NoSandbox, chromedp.Flag("window-size", "1400,880"))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	s.ctx, cancel = context.WithTimeout(ctx, 4*time.Minute)
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
	var err error
	for range 10 { // a page that is loading takes the place of the one that was asked
		_, err = chromedp.Run(s.ctx, chromedp.Poll[bool]("!!("+condition+")", chromedp.WithPollingTimeout(patience), chromedp.WithPollingInterval(50*time.Millisecond)))
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
		writes, err := chromedp.Run(s.ctx, chromedp.Evaluate[bool]("!!document.activeElement?.matches('input, textarea, select')"))
		if err != nil {
			s.t.Fatal(err)
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

// click presses the button or link with a text.
func (s *story) click(text string) {
	s.t.Helper()
	at := fmt.Sprintf("[...document.querySelectorAll('button, a')].find((b) => b.innerText.trim().startsWith(%q) && !b.disabled)", text)
	s.wait(at)
	s.eval("(" + at + ").click()")
}

func (s *story) eval(js string) {
	s.t.Helper()
	if _, err := chromedp.Run(s.ctx, chromedp.Evaluate[any](js)); err != nil {
		s.t.Fatalf("%s: %v", js, err)
	}
}

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
	s.eval(string(axe) + "; 0")
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
