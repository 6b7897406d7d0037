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
	t.Setenv("OPENAI_API_KEY", "") // the example brings a model then
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
	start := func(fields map[string]string) {
		t.Helper()
		s.open("/w?file=triage.flowgen.yaml")
		s.wait(`document.querySelector(".lead .btn.main")?.disabled === false`)
		s.press("r")
		s.wait(`document.querySelector("form.start [name=pr]")`)
		for name, text := range fields {
			s.fill("form.start [name="+name+"]", text)
		}
		s.click("Start")
		s.wait(`location.pathname.startsWith("/r/triage-")`)
	}
	start(nil)
	s.wait(`document.querySelectorAll(".rows .row").length >= 6`)
	s.wait(`document.querySelector(".lead .done")`)
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
	// The failed run again, with another prompt, and both compared.
	start(map[string]string{"pr": "8"})
	s.wait(`document.querySelector(".lead .fail")`)
	s.wait(`document.querySelectorAll(".rows .row").length >= 6`)
	s.row("model")
	s.press("\r")
	s.wait(`document.querySelector(".call .head code")`)
	s.press("x")
	s.wait(`document.querySelector(".rerun [name=prompt]")?.value.includes("Review this diff")`)
	s.fill(".rerun [name=prompt]", "Review this diff, and search once:\n\n{{ diff }}\n\nA scan has found: {{ findings | json }}\n")
	s.click("Rerun")
	s.wait(`location.pathname.startsWith("/d/triage-")`)
	s.wait(`document.querySelectorAll(".side .done").length > 0 && document.querySelectorAll(".side .fail").length > 0`)
	s.sees("nothing uses it")
	s.picture("example-compared")
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
