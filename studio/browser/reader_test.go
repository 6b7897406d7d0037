package browser

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// letter has a mistake in the file of its prompt.
const (
	letter = `flowgen: 1
name: letter
models: {m: "scripted:answers.yaml"}
nodes:
  write: {llm: m, prompt: {file: letter.md}, with: {to: Ada}}
output: {text: $write}
`
	letterPrompt = "---\nin: {to: string}\n---\nDear {{ too }},\n"
)

// A readerOf does what docs/studio.md says, and looks at nothing else.
type readerOf struct {
	*story
	docs string
}

// reader: who has docs/studio.md alone finds what it names, and gets there with the mouse: the twelve stories.
func reader(t *testing.T, exe, browser string) {
	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "studio.md"))
	if err != nil {
		t.Fatal(err)
	}
	s := &readerOf{begin(t, exe, browser, map[string]string{"scout.flowgen.yaml": scout, "answers.yaml": scoutAnswers, "sink.flowgen.yaml": sink, "count.flowgen.yaml": count,
		"slow.flowgen.yaml": slow, "letter.flowgen.yaml": letter, "letter.md": letterPrompt, "helper.flowgen.yaml": helper}), string(docs)}
	lines := []string{strings.Replace(header, `"workflow":"w"`, `"workflow":"wide"`, 1)}
	s.journal("wide-20260102T150405000-abcd", append(lines, probes(2000)...))
	for _, file := range []string{"count", "scout", "sink", "sink"} {
		s.command("run", file+".flowgen.yaml", "--quiet")
	}
	s.open("/")
	s.mistake()
	s.watch()
	s.find()
	s.compare()
	s.answer()
	s.agent()
	s.edits()
	s.strangers()
	s.secrets()
}

// press presses a button or link that the page of the documentation names.
func (s *readerOf) press(label string) {
	s.t.Helper()
	if !strings.Contains(s.docs, "*"+label+"*") {
		s.t.Errorf("docs/studio.md does not name %s", label)
	}
	s.mouse(label)
}

// at clicks at an element.
func (s *readerOf) at(element string) {
	s.t.Helper()
	s.wait(element)
	place, err := chromedp.Run(s.ctx, chromedp.Evaluate[[]float64](`((b) => { const r = b.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })(`+element+`)`))
	if err == nil {
		err = chromedp.Do(s.ctx, chromedp.MouseClickXY(place[0], place[1]))
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// row clicks at the first row of the timeline with a label.
func (s *readerOf) row(label string) {
	s.t.Helper()
	s.at(`[...document.querySelectorAll(".rows .row")].find((r) => r.querySelector(".label")?.innerText === "` + label + `")`)
}

// mistake: one in the file of a prompt is marked at its node and where the workflow names the file, fixed there, and brought back.
func (s *readerOf) mistake() {
	s.mouse("letter")
	s.wait(`document.querySelector(".code u")?.innerText === "letter.md" && document.querySelector(".node-list .fail")`)
	s.sees("letter.md:4:9")
	s.press("Show the fix")
	s.press("Write")
	s.wait(`document.querySelector(".toast")?.innerText.includes("letter.md")`)
	if s.read("letter.md") != strings.Replace(letterPrompt, "too", "to", 1) {
		s.t.Errorf("the fixed file is\n%s", s.read("letter.md"))
	}
	s.press("Undo")
	s.wait(`!document.querySelector(".toast") && document.querySelector(".code u")`)
	if s.read("letter.md") != letterPrompt {
		s.t.Errorf("the undone file is\n%s", s.read("letter.md"))
	}
}

// watch: a run of another process is seen, is killed, and goes on.
func (s *readerOf) watch() {
	s.press("Runs")
	run := exec.Command(s.exe, "run", "slow.flowgen.yaml")
	run.Dir = s.dir
	if err := run.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.mouse("slow")
	s.sees("1 of 2")
	if err := run.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	_ = run.Wait()
	s.sees("stopped without a word")
	s.write("go", "")
	s.press("Resume")
	s.wait(`document.querySelector(".lead .badge.done")?.innerText === "succeeded"`)
}

// find: the only failure of many calls, which the address keeps.
func (s *readerOf) find() {
	s.press("Runs")
	s.mouse("wide")
	s.press("next failure")
	s.wait(`document.querySelector(".call .head code")?.innerText === "probe[1000]/search"`)
	if err := chromedp.Do(s.ctx, chromedp.Reload()); err != nil {
		s.t.Fatal(err)
	}
	s.wait(`document.querySelector(".call .head code")?.innerText === "probe[1000]/search"`)
}

func (s *readerOf) compare() {
	s.press("Runs")
	s.at(`document.querySelectorAll(".run-row:not(.head)")[1]?.children[3]`)
	s.press("Compare")
	s.sees("select the run to compare")
	s.at(`document.querySelectorAll(".run-row:not(.head)")[2]?.children[3]`)
	s.press("Compare with")
	s.wait(`location.pathname.startsWith("/d/sink-")`)
}

func (s *readerOf) answer() {
	s.press("Inbox")
	s.at(`document.querySelector(".ask input")`)
	s.story.press("3")
	s.press("Answer")
	s.sees("No run waits for a user")
}

// agent: what it was offered and called, what that cost, and the run as a file; a call of it becomes a node, and does not stay one.
func (s *readerOf) agent() {
	s.press("Runs")
	s.mouse("scout")
	s.row("model")
	s.press("Show the conversation")
	s.sees("offered and not called")
	s.press("Save as a file")
	s.row("search")
	s.wait(`document.querySelector(".call .head code")?.innerText === "help[0]/search"`)
	s.press("Show the edit")
	s.press("Write")
	s.wait(`document.querySelector(".toast")`)
	if !strings.Contains(s.read("scout.flowgen.yaml"), "  search: {tool: scout.search@1") {
		s.t.Errorf("the file is\n%s", s.read("scout.flowgen.yaml"))
	}
	s.press("Undo")
	s.wait(`!document.querySelector(".toast")`)
	s.press("Usage")
	s.press("model")
	s.wait(`location.search === "?group=model"`)
	s.press("CSV")
}

// edits: a result is pinned, and its tool switched off.
func (s *readerOf) edits() {
	s.press("Workflows")
	s.mouse("scout")
	s.press("Agents")
	s.press("Pin")
	s.at(`document.querySelector(".pin-form input")`)
	s.story.press(strings.Split("hits", "")...)
	s.press("Show the edit")
	s.press("Write")
	s.wait(`document.querySelector(".toast")`)
	pinned := strings.Replace(scout, "{found: {tool: search}}", "{found: {tool: search}, hits: {tool: search}}", 1)
	if s.read("scout.flowgen.yaml") != pinned {
		s.t.Errorf("the file is\n%s", s.read("scout.flowgen.yaml"))
	}
	s.press("Switch off")
	s.press("Show the edit")
	s.press("Write")
	s.sees("null from now on")
	s.press("Undo")
	s.wait(`!document.querySelector(".toast")`)
	if s.read("scout.flowgen.yaml") != pinned {
		s.t.Errorf("the undone file is\n%s", s.read("scout.flowgen.yaml"))
	}
}

// strangers get nothing without the token.
func (s *readerOf) strangers() {
	base, _, _ := strings.Cut(s.address, "/#")
	for path, want := range map[string]int{"/api/v1/runs": http.StatusUnauthorized, "/api/v1/project": http.StatusUnauthorized} {
		r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, base+path, nil)
		if err != nil {
			s.t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			s.t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			s.t.Errorf("%s: %s", path, resp.Status)
		}
	}
}

func (s *readerOf) secrets() {
	s.press("Workflows")
	s.mouse("helper")
	s.press("Secrets")
	s.sees("OPENAI_API_KEY: ")
	s.sees("sent by model fast")
	s.picture("workflow-secrets")
}
