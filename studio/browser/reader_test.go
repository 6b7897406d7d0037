package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// reader: who has docs/studio.md alone finds what it names, and gets there with the mouse.
func reader(t *testing.T, exe, browser string) {
	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "studio.md"))
	if err != nil {
		t.Fatal(err)
	}
	s := begin(t, exe, browser, map[string]string{"scout.flowgen.yaml": scout, "answers.yaml": scoutAnswers, "sink.flowgen.yaml": sink, "count.flowgen.yaml": count})
	press := func(label string) {
		t.Helper()
		if !strings.Contains(string(docs), "*"+label+"*") {
			t.Errorf("docs/studio.md does not name %s", label)
		}
		s.mouse(label)
	}
	at := func(element string) {
		t.Helper()
		s.wait(element)
		place, err := chromedp.Run(s.ctx, chromedp.Evaluate[[]float64](`((b) => { const r = b.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })(`+element+`)`))
		if err == nil {
			err = chromedp.Do(s.ctx, chromedp.MouseClickXY(place[0], place[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"count", "scout", "sink", "sink"} {
		s.command("run", file+".flowgen.yaml", "--quiet")
	}
	s.open("/")
	press("Runs")
	s.mouse("sink")
	press("next failure")
	s.wait(`document.querySelector(".call .fail-block")`)
	press("Runs")
	at(`document.querySelectorAll(".run-row:not(.head)")[0]?.children[3]`)
	press("Compare")
	s.sees("select the run to compare")
	at(`document.querySelectorAll(".run-row:not(.head)")[1]?.children[3]`)
	press("Compare with")
	s.wait(`location.pathname.startsWith("/d/sink-")`)
	press("Inbox")
	at(`document.querySelector(".ask input")`)
	s.press("3")
	press("Answer")
	s.sees("No run waits for a user")
	press("Runs")
	s.mouse("scout")
	at(`[...document.querySelectorAll(".rows .row")].find((r) => r.querySelector(".label")?.innerText === "model")`)
	press("Show the conversation")
	s.sees("offered and not called")
	press("Save as a file")
	press("Usage")
	press("model")
	s.wait(`location.search === "?group=model"`)
	press("CSV")
	press("Workflows")
	s.mouse("scout")
	press("Agents")
	press("Switch off")
	press("Show the edit")
	press("Write")
	s.sees("null from now on")
	press("Undo")
	s.wait(`!document.querySelector(".toast")`)
	if s.read("scout.flowgen.yaml") != scout {
		t.Errorf("the undone file is\n%s", s.read("scout.flowgen.yaml"))
	}
}
