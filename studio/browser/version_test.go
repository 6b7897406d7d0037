package browser

import (
	"strings"
	"testing"
)

const fetching = `flowgen: 1
name: fetching
models: {m: "scripted:answers.yaml"}
tools:
  fetch@1: {command: [sh, -c, "exit 3"], in: {q: string}, out: string, effects: reads, sandbox: none, category: api, status: deprecated}
  fetch@2: {command: [echo, page], in: {q: string}, out: string, effects: reads, sandbox: none, category: api, tags: [http], description: gets a page}
  banned: {command: [echo, no], in: {q: string}, out: string, effects: reads, sandbox: none, status: blocked}
  find@1: {command: [echo, old], in: {q: string}, out: string, effects: reads, sandbox: none, description: finds lines}
  find@2: {command: [echo, new], in: {q: string}, out: string, effects: reads, sandbox: none, description: finds more lines}
nodes:
  page: {tool: fetch@1, with: {q: a}} # the old one
  help: {agent: m, prompt: where?, tools: [{tool: find@1, as: find}], policy: {max_iterations: 3, max_tool_calls: 4}}
edges: [page -> help -> end]
output: {page: $page, help: $help.response}
`

// versions: a run that failed in a tool is run again with another version of it, and the file has that when somebody says so; an agent gets
// another version of a tool, in a rerun and in its file, each as one word of a diff. The selector says what is deprecated and blocked.
func versions(t *testing.T, exe, browser string) {
	s := begin(t, exe, browser, map[string]string{"fetching.flowgen.yaml": fetching,
		"answers.yaml": "answers:\n  - {calls: [{name: find, args: {q: line}}]}\n  - {text: There.}\n"})
	s.failed("fetching.flowgen.yaml")
	s.wait(`document.querySelector(".rerun select")?.value === "fetch@1"`)
	s.reach(`e.matches(".rerun select")`)
	s.press("f")
	s.wait(`document.querySelector(".rerun select").value === "fetch@2"`)
	s.picture("rerun-version")
	s.click("Rerun")
	s.wait(`location.pathname.startsWith("/d/fetching-")`)
	s.wait(`document.querySelectorAll(".side .done").length > 0 && document.querySelectorAll(".side .fail").length > 0`)
	if s.read("fetching.flowgen.yaml") != fetching {
		t.Errorf("the file has the edit before it was written:\n%s", s.read("fetching.flowgen.yaml"))
	}
	s.click("Show the edit")
	s.wait(`document.querySelectorAll(".diff .add, .diff .del").length === 2`)
	s.click("Write")
	s.wait(`document.querySelector(".proposal .done")`)
	now := strings.Replace(fetching, "page: {tool: fetch@1", "page: {tool: fetch@2", 1)
	if s.read("fetching.flowgen.yaml") != now {
		t.Errorf("the file is\n%s", s.read("fetching.flowgen.yaml"))
	}
	s.press("2")
	s.wait(`document.querySelector(".run-row .done")`)
	s.press("\r")
	s.wait(`document.querySelector(".rows .row")`)
	s.row("find")
	s.press("\r")
	s.wait(`document.querySelector(".call .head code")?.innerText.includes("find")`)
	s.press("x")
	s.wait(`document.querySelector(".rerun [name=agent_tools]")?.value === "[{tool: find@1, as: find}]"`)
	s.fill(".rerun [name=agent_tools]", "[{tool: find@2, as: find}]")
	s.picture("rerun-agent")
	s.click("Rerun")
	s.wait(`location.pathname.startsWith("/d/fetching-") && document.querySelectorAll(".side .done").length > 1`)
	s.sees("find@2")
	s.open("/w?file=fetching.flowgen.yaml&tab=agents")
	s.sees("finds more lines")
	s.wait(`!document.querySelector(".tools").innerText.includes("fetch@1")`)
	s.fill(".agent input[type=search]", "http")
	s.wait(`document.querySelectorAll(".tools li").length === 1 && document.querySelector(".tools").innerText.includes("gets a page")`)
	s.fill(".agent input[type=search]", " ")
	s.wait(`document.querySelectorAll(".tools li").length === 3`)
	s.click("api")
	s.wait(`document.querySelectorAll(".tools li").length === 1 && document.querySelector(".tools").innerText.includes("gets a page")`)
	s.click("api")
	s.wait(`document.querySelectorAll(".tools li").length === 3`)
	s.reach(`e.matches(".agent input[type=checkbox]")`)
	s.press(" ")
	s.sees("no agent can call it")
	s.sees("deprecated: use another")
	s.picture("selector")
	s.click("Use in place of find@1")
	s.click("Show the edit")
	s.wait(`document.querySelectorAll(".diff .add, .diff .del").length === 2`)
	s.click("Write")
	s.wait(`[...document.querySelectorAll(".tools li")].some((l) => l.innerText.includes("find@2") && l.querySelector(".badge.done"))`)
	if want := strings.Replace(now, "{tool: find@1, as", "{tool: find@2, as", 1); s.read("fetching.flowgen.yaml") != want {
		t.Errorf("the file is\n%s", s.read("fetching.flowgen.yaml"))
	}
}
