package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// file opens a report. Only the file itself may be asked for.
func (s *story) file(fragment string) {
	s.t.Helper()
	s.address = "file://" + filepath.ToSlash(filepath.Join(s.dir, "run.html"))
	if err := chromedp.Do(s.ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(s.address+fragment)); err != nil {
		s.t.Fatal(err)
	}
}

// reported: a failed run is written as a file, which opens without a server or a request, by keys alone; its address keeps the selected
// call, and it has inputs and outputs only as far as was asked for.
func reported(t *testing.T, exe, browser string) {
	long := strings.Repeat("long ", 8000) + "THE END"
	s := project(t, exe, map[string]string{"sink.flowgen.yaml": strings.Replace(sink, `{text: "a"}`, `{text: "`+long+`"}`, 1)})
	s.command("run", "sink.flowgen.yaml", "--quiet")
	s.browse(browser)
	for _, c := range []struct {
		flag      string
		ends, cut bool
	}{{"", false, true}, {"--full", true, false}, {"--no-content", false, false}} {
		args := []string{"inspect", "latest", "--html", "run.html"}
		if c.flag != "" {
			args = append(args, c.flag)
		}
		if said := s.command(args...); said != "flowgen: wrote run.html\n" {
			t.Fatal(said)
		}
		s.file("")
		s.wait(`document.querySelectorAll(".rows .row").length === 2`)
		s.wait(fmt.Sprintf(`(document.querySelector(".failure") !== null) === %t`, c.flag != "--no-content"))
		s.press("j", "k", "\r")
		s.wait(`document.querySelector(".call .head code")?.innerText === "loud"`)
		s.wait(fmt.Sprintf(`document.querySelector(".call").innerText.includes("THE END") === %t && document.querySelector(".call").innerText.includes("--full") === %t`, c.ends, c.cut))
	}
	s.sees(`"text": "string"`)
	s.command("inspect", "latest", "--html", "run.html")
	s.file("")
	s.wait(`document.querySelector(".rows .row")`)
	s.press("]")
	s.sees("sh exited with status 3")
	s.wait(`location.hash.endsWith("?c=1")`)
	s.picture("report")
	if err := chromedp.Do(s.ctx, chromedp.Reload()); err != nil {
		t.Fatal(err)
	}
	s.sees("sh exited with status 3")
	s.press("\x1b", "g")
	s.wait(`document.querySelectorAll("g.node.s-done").length === 1 && document.querySelectorAll("g.node.s-fail").length === 1`)
	s.press("t")
	s.wait(`document.querySelectorAll(".rows .row.calls").length === 2`)
	s.wait(`![...document.querySelectorAll("button, nav")].some((b) => /Compare|Resume|Retry|Inbox/.test(b.innerText))`)
}

// reportedHostile: a file of a run whose every text is a payload runs none of it, and shows it all.
func reportedHostile(t *testing.T, exe, browser string) {
	s := project(t, exe, map[string]string{"ship.flowgen.yaml": ship})
	s.payloads()
	s.browse(browser)
	for _, run := range []string{"w-20260102T150405000-abcd", "w-20260102T150406000-abcd", "w-20260102T150407000-abcd"} {
		if said := s.command("inspect", run, "--html", "run.html", "--full"); said != "flowgen: wrote run.html\n" {
			t.Fatal(said)
		}
		text := s.read("run.html")
		if n := strings.Count(text, "</script"); n != 2 {
			t.Errorf("%d scripts end in the file", n)
		}
		s.file("#/?c=0")
		s.wait(`document.querySelector("main .lead")`)
		if run == "w-20260102T150407000-abcd" {
			s.sees("line 2 of the journal")
		} else {
			s.sees("<img src=x onerror=")
		}
		s.wait(`window.pwned === undefined && !document.querySelector("main img, main script, main iframe")`)
		s.wait(`!/[\u202e\u0007]/.test(document.body.innerText)`)
		s.wait(`document.documentElement.scrollWidth <= innerWidth`)
	}
	s.picture("report-hostile")
	if err := os.Remove(filepath.Join(s.dir, "run.html")); err != nil {
		t.Error(err)
	}
}
