package browser

import (
	"strings"
	"testing"
)

// rerun: a failed run is run again from its failure with an edited node; the file stays as it is until the edit is written, on the page
// that compares the two runs. Keys alone open the form.
func rerun(t *testing.T, exe, browser string) {
	s := begin(t, exe, browser, map[string]string{"sink.flowgen.yaml": sink})
	s.failed("sink.flowgen.yaml")
	s.wait(`document.querySelector(".rerun select")`)
	s.reach(`e.matches(".rerun select")`)
	s.press("u")
	s.wait(`document.querySelector(".rerun select").value === "upper"`)
	s.picture("rerun")
	s.click("Rerun")
	s.wait(`location.pathname.startsWith("/d/sink-")`)
	s.wait(`document.querySelectorAll(".side .done").length > 0 && document.querySelectorAll(".side .fail").length > 0`)
	if s.read("sink.flowgen.yaml") != sink {
		t.Errorf("the file has the edit before it was written:\n%s", s.read("sink.flowgen.yaml"))
	}
	s.picture("rerun-compared")
	s.click("Show the edit")
	s.wait(`document.querySelectorAll(".diff .add, .diff .del").length === 2`)
	s.click("Write")
	s.wait(`document.querySelector(".proposal .done")`)
	if want := strings.Replace(sink, "risky: {tool: fails", "risky: {tool: upper", 1); s.read("sink.flowgen.yaml") != want {
		t.Errorf("the file is\n%s", s.read("sink.flowgen.yaml"))
	}
}

// failed runs a workflow that fails, and opens the form of a rerun from its failure by keys.
func (s *story) failed(file string) {
	s.command("run", file, "--quiet")
	s.open("/r")
	s.wait(`document.querySelector(".run-row .fail")`)
	s.press("\r")
	s.wait(`document.querySelector(".rows .row")`)
	s.press("]")
	s.wait(`document.querySelector(".call .fail-block")`)
	s.press("x")
}

const card = `flowgen: 1
name: card
models: {m: "scripted:answers.yaml"}
nodes:
  write: {llm: m, prompt: "Wite a card"} # a mistake
output: {text: $write}
`

// reprompt: a model call that failed is made again with another prompt, which is written afterwards; comments stay.
func reprompt(t *testing.T, exe, browser string) {
	s := begin(t, exe, browser, map[string]string{"card.flowgen.yaml": card, "answers.yaml": "answers:\n  - {prompt: Write a card, text: A day in the museum}\n"})
	s.failed("card.flowgen.yaml")
	s.wait(`document.querySelector(".rerun [name=prompt]")?.value === "Wite a card"`)
	s.fill(".rerun [name=prompt]", "Write a card")
	s.click("Rerun")
	s.wait(`document.querySelectorAll(".side .done").length > 0 && document.querySelectorAll(".side .fail").length > 0`)
	s.sees("A day in the museum")
	s.picture("reprompt")
	s.click("Show the edit")
	s.wait(`document.querySelectorAll(".diff .add, .diff .del").length === 2`)
	s.click("Write")
	s.wait(`document.querySelector(".proposal .done")`)
	if want := strings.Replace(card, "Wite", "Write", 1); s.read("card.flowgen.yaml") != want {
		t.Errorf("the file is\n%s", s.read("card.flowgen.yaml"))
	}
}
