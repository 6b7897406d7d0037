package browser

import (
	"fmt"
	"os/exec"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

const slow = `flowgen: 1
name: slow
input: {items: {type: list<string>, default: [fast, slow]}}
tools:
  wait:
    command: [sh, -c, 'echo "half way" >&2; until [ "$1" = fast ] || [ -e go ] || ! [ -e slow.flowgen.yaml ]; do sleep 0.05; done; echo over', sh, "{{ text }}"]
    in: {text: string}
    out: string
    effects: reads
nodes:
  each:
    map: $input.items
    as: item
    max_items: 10
    do: {tool: wait, with: {text: $item}}
output: {all: $each}
`

// watched: the page shows what a run of another process does and its journal does not have, notices that it was killed, and goes
// on with it, without being loaded again.
func watched(t *testing.T, exe, browser string) {
	s := begin(t, exe, browser, map[string]string{"slow.flowgen.yaml": slow})
	run := exec.Command(exe, "run", "slow.flowgen.yaml")
	run.Dir = s.dir
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	s.open("/r")
	s.wait(`document.querySelector(".run-row:not(.head)")`)
	s.press("j", "\r")
	s.wait(`location.pathname.startsWith("/r/slow-")`)
	s.sees("1 of 2")
	s.picture("live")
	for range 2 { // items begin in any order
		if s.press("j"); s.number(`+(document.querySelector(".row.at .label").innerText === "[1]/wait")`) == 1 {
			break
		}
		s.wait(`document.querySelector(".row.at")`)
	}
	s.press("\r")
	s.wait(`document.querySelector(".said")?.innerText.includes("half way")`)
	s.picture("live-call")
	s.wait(`(window.first ??= document.querySelector(".row.at .took").innerText) !== document.querySelector(".row.at .took").innerText`)
	if err := run.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait()
	s.sees("stopped without a word")
	s.sees("flowgen resume slow.flowgen.yaml slow-")
	s.wait(`document.querySelector(".call dd").innerText.includes("stopped without a word") && !document.querySelector(".rows .m.run, .call .m.run")`)
	s.picture("killed")
	s.write("go", "")
	if err := chromedp.Do(s.ctx, chromedp.EmulateViewport(400, 800)); err != nil {
		t.Fatal(err)
	}
	s.press("\x1b")
	s.picture("phone-run")
	s.command("resume", "slow.flowgen.yaml", "latest", "--quiet")
	s.wait(`document.querySelector(".lead .badge.done")?.innerText === "succeeded"`)
}

// stopped: a run that the page has started is cancelled there, and its rows and its time are moved by keys.
func stopped(t *testing.T, exe, browser string) {
	s := begin(t, exe, browser, map[string]string{"slow.flowgen.yaml": slow})
	s.open("/w?file=slow.flowgen.yaml")
	s.wait(`document.querySelector(".lead .btn.main")?.disabled === false`)
	s.press("r")
	s.click("Start")
	s.wait(`location.pathname.startsWith("/r/slow-")`)
	s.sees("1 of 2")
	s.click("Cancel")
	s.sees("Cancel this run?")
	s.click("No")
	s.wait(`!document.body.innerText.includes("Cancel this run?")`)
	s.click("Cancel")
	s.click("Cancel it")
	s.wait(`document.querySelector(".lead .badge.stop")?.innerText === "cancelled"`)
	s.picture("cancelled")
	rows := func(n int) { s.wait(fmt.Sprintf(`document.querySelectorAll(".rows .row").length === %d`, n)) }
	rows(3)
	s.press("h")
	rows(1)
	s.press("l")
	rows(3)
	zoomed := func(yes bool) {
		s.wait(fmt.Sprintf(`[...document.querySelectorAll(".foot button")].find((b) => b.innerText.startsWith("out")).disabled === %t`, !yes))
	}
	zoomed(false)
	s.press("w")
	zoomed(true)
	s.press("a", "a")
	s.wait(`[...document.querySelectorAll(".foot button")].find((b) => b.innerText.startsWith("earlier")).disabled`)
	s.press("e")
	s.wait(`![...document.querySelectorAll(".foot button")].find((b) => b.innerText.startsWith("earlier")).disabled`)
	s.press("s")
	zoomed(false)
	s.write("go", "")
	s.click("Resume")
	s.wait(`document.querySelector(".lead .badge.done")?.innerText === "succeeded"`)
}

// early: a run that ends after the page has read the list, and before its stream of events begins, is shown.
func early(t *testing.T, exe, browser string) {
	s := begin(t, exe, browser, map[string]string{"ship.flowgen.yaml": ship})
	late := `(() => { const ask = window.fetch; window.fetch = (to, o) => String(to).includes("/events") ? new Promise((go) => setTimeout(go, 3000)).then(() => ask(to, o)) : ask(to, o); })()`
	if _, err := chromedp.Call(s.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: late}); err != nil {
		t.Fatal(err)
	}
	s.open("/r")
	s.sees("No runs in")
	s.journal("w-20260102T150405000-abcd", []string{header, `{"kind":"finish","outcome":"succeeded","output":1,"at_ns":20000000}`})
	s.wait(`document.querySelector(".run-row .done")`)
}
