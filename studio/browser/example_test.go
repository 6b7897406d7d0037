package browser

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestExample: studio over the example of the repository shows its run live, and what it would write there; its pictures are those of
// docs/studio.md, which `make pictures` takes anew.
func TestExample(t *testing.T) {
	browser, exe := chromium(t), flowgen(t)
	s := &story{t: t, exe: exe, dir: t.TempDir()}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(s.dir, "triage")
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-w", "-o", program, "./examples/triage")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	before, err := os.ReadFile(filepath.Join(root, "examples", "triage", "triage.flowgen.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	runs := filepath.Join(s.dir, "runs")
	s.serve(root, "examples/triage", "--runs", runs)
	s.browse(browser)
	if err := chromedp.Do(s.ctx, chromedp.EmulateViewport(1280, 760)); err != nil {
		t.Fatal(err)
	}
	run := func() {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, "--runs", runs, "--quiet")
		cmd.Dir = filepath.Join(root, "examples", "triage")
		for _, v := range os.Environ() {
			if !strings.HasPrefix(v, "OPENAI_") {
				cmd.Env = append(cmd.Env, v)
			}
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	s.open("/r")
	s.sees("0 runs")
	run()
	s.wait(`document.querySelectorAll(".run-row .done").length === 1`)
	run()
	s.wait(`document.querySelectorAll(".run-row .done").length === 2`)
	s.press("\r")
	s.wait(`document.querySelectorAll(".rows .row").length >= 6`)
	s.press("g")
	s.wait(`document.querySelector("g.node.s-done .calls")`)
	s.picture("example-graph")
	s.press("g")
	s.row("search")
	s.press("\r")
	s.wait(`document.querySelector(".call .head code")?.innerText.includes("search")`)
	s.eval(`document.querySelector(".root").textContent = "examples/triage"; 0`) // pictures say nothing of the machine
	s.picture("studio-run")
	s.click("Show the edit")
	s.wait(`document.querySelector(".placed g.node.on")`)
	s.eval(`document.querySelector(".proposal").scrollIntoView(); 0`)
	s.picture("studio-materialize")
	s.open("/w?file=triage.flowgen.yaml&tab=agents")
	s.mouse("Pin")
	s.wait(`document.querySelector(".pin-form input")`)
	s.fill(".pin-form input", "places")
	s.mouse("Show the edit")
	s.wait(`document.querySelectorAll(".diff .add").length === 1 && document.querySelectorAll(".diff .del").length === 1`)
	s.eval(`document.querySelector(".root").textContent = "examples/triage"; 0`)
	s.picture("studio-agent")
	s.open("/usage?group=node")
	s.sees("triage: review")
	if after, err := os.ReadFile(filepath.Join(root, "examples", "triage", "triage.flowgen.yaml")); err != nil || string(after) != string(before) {
		t.Errorf("the file was written: %v", err)
	}
}

// row moves to the row of the timeline with a label.
func (s *story) row(label string) {
	s.t.Helper()
	for range 100 {
		at, err := chromedp.Run(s.ctx, chromedp.Evaluate[string](`document.querySelector(".row.at .label")?.innerText ?? ""`))
		if err != nil {
			s.t.Fatal(err)
		}
		if at == label {
			return
		}
		s.press("j")
	}
	s.t.Fatalf("no row is %s", label)
}

// serve starts studio in a folder.
func (s *story) serve(dir string, args ...string) {
	s.t.Helper()
	studio := exec.Command(s.exe, append([]string{"studio"}, args...)...)
	studio.Dir, studio.Stderr = dir, os.Stderr
	out, err := studio.StdoutPipe()
	if err == nil {
		err = studio.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = studio.Process.Signal(os.Interrupt)
		if err := studio.Wait(); err != nil {
			s.t.Errorf("studio: %v", err)
		}
	})
	s.pid = studio.Process.Pid
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.t.Fatal(err)
	}
	s.address = strings.TrimSpace(line)
}
