package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// scout is an agent that needs no network.
const scout = `flowgen: 1
name: scout
models: {m: "scripted:answers.yaml"}
tools:
  search: {command: [echo, hit], in: {q: string}, out: string, effects: reads, sandbox: none, description: finds lines}
  blame: {command: [echo, ada], in: {q: string}, out: string, effects: reads, sandbox: none, description: says who}
nodes:
  help:
    agent: m
    prompt: who wrote it?
    tools: [search, blame]
    policy: {max_iterations: 3, max_tool_calls: 4} # enough
    pins: {found: {tool: search}}
  tell: {let: {text: "{{ default(help.found, \"nothing\") }}"}}
edges: [help -> tell -> end]
output: {text: $tell.text}
`

const scoutAnswers = `answers:
  - {calls: [{name: search, args: {q: line}}]}
  - {text: Ada did.}
`

// mousePinned: with the mouse alone a result is pinned, and the diff is two lines: the pin, and what was there before.
func mousePinned(t *testing.T, exe, browser string) {
	s := begin(t, exe, browser, map[string]string{"scout.flowgen.yaml": scout, "answers.yaml": scoutAnswers})
	s.open("/")
	s.mouse("scout")
	s.mouse("Agents")
	s.sees("says who")
	s.eval(`[...document.querySelectorAll(".tools li")].find((l) => l.innerText.includes("blame")).id = "blame"; 0`)
	place, err := chromedp.Run(s.ctx, chromedp.Evaluate[[]float64](`((b) => { const r = b.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })([...document.querySelectorAll("#blame button")].find((b) => b.innerText === "Pin"))`))
	if err == nil {
		err = chromedp.Do(s.ctx, chromedp.MouseClickXY(place[0], place[1]))
	}
	if err != nil {
		t.Fatal(err)
	}
	s.mouse("Show the edit")
	s.wait(`document.querySelectorAll(".diff .add").length === 1 && document.querySelectorAll(".diff .del").length === 1`)
	s.picture("pin-mouse")
	s.mouse("Write")
	s.wait(`document.querySelector(".agent table")?.innerText.includes("blame")`)
	if want := strings.Replace(scout, "{found: {tool: search}}", "{found: {tool: search}, blame: {tool: blame}}", 1); s.read("scout.flowgen.yaml") != want {
		t.Errorf("the file is\n%s", s.read("scout.flowgen.yaml"))
	}
	s.changed()
}

// changed: a pin gets another name together with its reader, another limit is written, and a pin that is read is not removed. Each is the
// smallest edit, and was shown before it was written.
func (s *story) changed() {
	s.t.Helper()
	s.expect = []string{"422"} // a pin that is read is not removed
	want := s.read("scout.flowgen.yaml")
	s.click("Change")
	s.fill("[name=pin-name]", "hit")
	s.click("Show the edit")
	s.wait(`document.querySelectorAll(".diff .add").length === 2 && document.querySelectorAll(".diff .del").length === 2`)
	s.picture("pin-renamed")
	s.click("Write")
	s.wait(`document.querySelector(".agent table")?.innerText.includes("hit")`)
	want = strings.NewReplacer("{found: {tool", "{hit: {tool", "help.found", "help.hit").Replace(want)
	if got := s.read("scout.flowgen.yaml"); got != want {
		s.t.Errorf("with another name of the pin the file is\n%s", got)
	}
	s.fill("[name=max_tool_calls]", "8")
	s.click("Show the edit")
	s.wait(`document.querySelectorAll(".diff .add").length === 1 && document.querySelectorAll(".diff .del").length === 1`)
	s.click("Write")
	s.wait(`document.querySelector(".agent h2").innerText.includes("at most 8 tool calls")`)
	if want = strings.Replace(want, "max_tool_calls: 4", "max_tool_calls: 8", 1); s.read("scout.flowgen.yaml") != want {
		s.t.Errorf("with another limit the file is\n%s", s.read("scout.flowgen.yaml"))
	}
	s.click("Change")
	s.eval(`document.querySelector("[name=pin-remove]").click(); 0`)
	s.click("Show the edit")
	s.sees("is read at scout.flowgen.yaml:")
	if s.read("scout.flowgen.yaml") != want {
		s.t.Errorf("the file is\n%s", s.read("scout.flowgen.yaml"))
	}
}

// pinMade: the page shows what an agent was offered and called; the call of its pin becomes a node, after it was shown where its edges
// lead; when the tool is switched off, the pin stays and says that it is null from now on.
func pinMade(t *testing.T, exe, browser string) {
	s := begin(t, exe, browser, map[string]string{"scout.flowgen.yaml": scout, "answers.yaml": scoutAnswers})
	if said := s.command("run", "scout.flowgen.yaml", "--quiet"); !strings.Contains(said, "hit") {
		t.Fatal(said)
	}
	s.open("/r")
	s.wait(`document.querySelector(".run-row .done")`)
	s.press("\r")
	s.wait(`document.querySelector(".rows .row")`)
	s.row("model")
	s.press("\r")
	s.wait(`document.querySelector(".call .head code")`)
	s.press("v")
	s.wait(`document.querySelector("[aria-label='Tools of the agent']")?.innerText.replace(/\s+/g, " ").includes("turns 2 / 3 tool calls 1 / 4")`)
	s.wait(`document.querySelectorAll(".called li").length === 1 && document.querySelector(".called").innerText.includes("scout.search@1")`)
	s.wait(`/offered and not called:\s+scout.blame@1/.test(document.querySelector("[aria-label='Tools of the agent']").innerText)`)
	s.picture("agent")
	s.open("/w?file=scout.flowgen.yaml&tab=agents")
	s.wait(`document.querySelector(".left")?.innerText.replace(/\s+/g, " ").includes("turns 2 / 3 tool calls 1 / 4")`)
	s.click("Make a node")
	s.click("Show the edit")
	s.wait(`document.querySelector(".placed g.node.on")`)
	s.sees("after help")
	s.picture("materialize-pin")
	if preview, dry := `[...document.querySelectorAll(".diff span")].map((l) => l.innerText.replace(/\n$/, "")).join("\n").trim()`, s.command("materialize", "latest", "--pin", "help.found", "--file", "scout.flowgen.yaml", "--dry-run"); true {
		shown, err := chromedp.Run(s.ctx, chromedp.Evaluate[string](preview))
		if err != nil || shown != strings.TrimSpace(dry) {
			t.Errorf("the page shows\n%s\nand materialize --dry-run %v\n%s", shown, err, dry)
		}
	}
	s.click("Write")
	s.wait(`document.querySelector(".proposal .done")`)
	if said := s.command("check"); strings.Contains(said, "error") {
		t.Errorf("%s\n%s", said, s.read("scout.flowgen.yaml"))
	}
	s.write("scout.flowgen.yaml", scout)
	s.open("/w?file=scout.flowgen.yaml&tab=agents")
	s.click("Switch off")
	s.click("Show the edit")
	s.wait(`document.querySelectorAll(".diff .add").length === 1 && document.querySelectorAll(".diff .del").length === 1`)
	s.click("Write")
	s.sees("null from now on")
	s.command("run", "scout.flowgen.yaml", "--quiet")
	if said := s.command("check"); strings.Contains(said, "error") {
		t.Error(said)
	}
}

// secrets: the page names secrets and who has them, and no value gets anywhere.
func secrets(t *testing.T, exe, browser string) {
	const canary = "canary-5e3c7a91"
	keyed := strings.Replace(strings.Replace(scout, "models:", "secrets: [SCOUT_KEY, OTHER_KEY]\nmodels:", 1), "nodes:\n", `  fetch: {http: GET http://127.0.0.1:9/x, auth: {bearer: SCOUT_KEY}, in: {}, out: string, effects: reads}
  other: {http: GET http://127.0.0.1:9/y, auth: {bearer: OTHER_KEY}, in: {}, out: string, effects: reads}
nodes:
`, 1)
	s := begin(t, exe, browser, map[string]string{"scout.flowgen.yaml": keyed, "answers.yaml": scoutAnswers, ".env": "SCOUT_KEY=" + canary + "\n"})
	t.Setenv("OTHER_KEY", canary) // the run has it, studio does not
	if said := s.command("run", "scout.flowgen.yaml", "--quiet"); !strings.Contains(said, "hit") {
		t.Fatal(said)
	}
	for _, path := range []string{"/", "/w?file=scout.flowgen.yaml", "/w?file=scout.flowgen.yaml&tab=manifest", "/r", "/usage", "/inbox", "/tests", "/w?file=scout.flowgen.yaml&tab=agents"} {
		s.open(path)
		s.wait(`document.querySelector("main")?.innerText.trim()`)
		s.wait(`!document.documentElement.outerHTML.includes("` + canary + `") && !JSON.stringify([{...sessionStorage}, {...localStorage}, document.cookie]).includes("` + canary + `")`)
	}
	s.sees("SCOUT_KEY: workspace")
	s.sees("OTHER_KEY: missing")
	s.picture("secrets")
	s.eval(`window.leaks = undefined; (async () => { let n = 0; const t = sessionStorage.getItem("flowgen.studio.token"); for (const p of ["project", "workflow?file=scout.flowgen.yaml", "graph?file=scout.flowgen.yaml", "runs", "usage", "inbox", "tests"]) { const r = await fetch("/api/v1/" + p, {headers: {Authorization: "Bearer " + t}}); const text = await r.text(); if (!r.ok || text.includes("` + canary + `")) n++; } window.leaks = n; })(); 0`)
	s.wait("window.leaks === 0")
	s.command("inspect", "latest", "--html", "run.html", "--full")
	found := 0
	err := filepath.WalkDir(s.dir, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == ".env" {
			return err
		}
		text, err := os.ReadFile(name)
		if strings.Contains(string(text), canary) {
			t.Errorf("the value of a secret is in %s", name)
		}
		found++
		return err
	})
	if err != nil || found < 4 {
		t.Errorf("%d files, %v", found, err)
	}
}
