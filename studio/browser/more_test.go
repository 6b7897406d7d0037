package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// attacked: a page of another local server gets no byte of data by any means that browsers have, starts nothing, and the page that is
// open goes on.
func attacked(t *testing.T, exe, browser string) {
	s := begin(t, exe, browser, map[string]string{"ship.flowgen.yaml": ship})
	s.open("/")
	s.wait(`document.querySelector(".flow-row")`)
	base, _, _ := strings.Cut(s.address, "/#")
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><body><script>
const base = %q, got = [], paths = ["/api/v1/project", "/api/v1/runs", "/api/v1/workflow?file=ship.flowgen.yaml", "/api/v1/events?topics=runs", "/api/v1/inbox", "/"];
const tries = [];
for (const p of paths) {
  for (const mode of ["cors", "no-cors"]) for (const credentials of ["include", "omit"]) tries.push(fetch(base + p, {mode, credentials}).then((r) => r.text()).then((t) => t && got.push("fetch " + p + ": " + t)));
  for (const type of ["text/plain", "application/json", "application/x-www-form-urlencoded"]) tries.push(fetch(base + p, {method: "POST", mode: type === "application/json" ? "cors" : "no-cors", headers: {"Content-Type": type}, body: JSON.stringify({file: "ship.flowgen.yaml"})}).then((r) => r.text()).then((t) => t && got.push("post " + p + ": " + t)));
  tries.push(new Promise((ok) => { const i = new Image(); i.onload = () => { got.push("image " + p); ok(); }; i.onerror = ok; i.src = base + p; }));
  tries.push(new Promise((ok) => { const w = new WebSocket(base.replace("http", "ws") + p); w.onopen = () => { got.push("socket " + p); ok(); }; w.onerror = ok; }));
  tries.push(new Promise((ok) => { const e = new EventSource(base + p); e.onmessage = e.onopen = () => { got.push("events " + p); ok(); }; e.onerror = () => { e.close(); ok(); }; }));
  tries.push(new Promise((ok) => { const f = document.createElement("iframe"); f.onload = () => { try { if (f.contentDocument.body.innerText) got.push("frame " + p); } catch {} if (f.contentWindow.length) got.push("frames in " + p); ok(); }; f.src = base + p; document.body.append(f); }));
}
const form = document.createElement("form"); form.method = "post"; form.enctype = "text/plain"; form.action = base + "/api/v1/runs"; form.target = "sink";
const field = document.createElement("input"); field.name = '{"file":"ship.flowgen.yaml","x":"'; field.value = '"}'; form.append(field);
const sink = document.createElement("iframe"); sink.name = "sink"; document.body.append(sink, form); form.submit();
Promise.allSettled(tries).then(() => { window.got = got; window.over = true; });
</script></body>`, base)
	}))
	defer evil.Close()
	other := &story{t: t, dir: s.dir, exe: exe, address: evil.URL, window: shared, expect: []string{""}}
	other.browse(browser)
	if err := chromedp.Do(other.ctx, chromedp.Navigate(evil.URL)); err != nil {
		t.Fatal(err)
	}
	other.wait("window.over")
	if got, err := chromedp.Run(other.ctx, chromedp.Evaluate[[]string]("window.got")); err != nil || len(got) > 0 {
		t.Errorf("%v: %.2000q", err, got)
	}
	if names, err := os.ReadDir(filepath.Join(s.dir, ".flowgen", "runs")); err == nil && len(names) > 0 {
		t.Errorf("%d runs were started", len(names))
	}
	s.write("sink.flowgen.yaml", sink)
	s.wait(`document.querySelectorAll(".flow-row").length === 2`)
}

const count = `flowgen: 1
name: count
nodes:
  ask: {human: "How many?", out: int, timeout: 24h, on_timeout: {default: 0}}
output: {n: $ask}
`

// answered: of two pages that show a question one answers; a wrong answer is refused in the words of the runtime, and the other page
// loses the question without an error. A page that answers too late is told so.
func answered(t *testing.T, exe, browser string) {
	s := begin(t, exe, browser, map[string]string{"count.flowgen.yaml": count})
	s.command("run", "count.flowgen.yaml", "--quiet")
	second := &story{t: t, dir: s.dir, exe: exe, address: s.address}
	second.browse(browser)
	for _, one := range []*story{s, second} {
		one.open("/inbox")
		one.wait(`document.querySelector(".ask input")`)
	}
	s.expect = []string{"422"}
	s.fill(".ask input", "three")
	s.press("\r")
	s.wait(`document.querySelector(".ask .trouble")?.innerText.includes("VALIDATION_ERROR")`)
	s.picture("wrong-answer")
	third := &story{t: t, dir: s.dir, exe: exe, address: s.address}
	third.browse(browser)
	third.expect = []string{"410"}
	third.open("/inbox")
	third.wait(`document.querySelector(".ask input")`)
	third.eval(`Object.defineProperty(document, "hidden", {get: () => true}); document.dispatchEvent(new Event("visibilitychange")); 0`) // nobody looks: it is told nothing
	s.fill(".ask input", "3")
	s.press("\r")
	second.sees("No run waits for a user")
	second.wait(`!document.querySelector(".trouble")`)
	third.fill(".ask input", "4")
	third.press("\r")
	third.sees(`it was answered with "3"`)
	third.picture("answered-too-late")
	third.wait(`!document.querySelector(".trouble")`)
	second.open("/r")
	second.wait(`document.querySelector(".run-row .done")`)
	names, err := filepath.Glob(filepath.Join(s.dir, ".flowgen", "runs", "count-*", "journal.jsonl"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%v, %v", names, err)
	}
	text, err := os.ReadFile(names[0])
	if err != nil || strings.Count(string(text), `{"kind":"answer"`) != 1 {
		t.Errorf("%v\n%s", err, text)
	}
}

// spent: sums are those of the journals to the last digit, calls without a price are named, and CSV and JSON have the same.
func spent(t *testing.T, exe, browser string) {
	s := begin(t, exe, browser, map[string]string{"ship.flowgen.yaml": ship})
	ask := func(n int, end string) []string {
		return []string{fmt.Sprintf(`{"kind":"intent","key":"a[%d]/model","attempt":1,"tool":"openai:gpt-4o-mini@1","effects":"external","call_id":"c%d","input":{},"start_ns":1}`, n, n),
			fmt.Sprintf(`{"kind":"end","key":"a[%d]/model","attempt":1,"output":1,%s,"metered":true,"end_ns":2}`, n, end)}
	}
	lines := []string{header}
	for i := range 10 {
		lines = append(lines, ask(i, `"cost_usd":"0.100000001","tokens":10`)...)
	}
	s.journal("w-20260102T150405000-abcd", append(lines, `{"kind":"finish","outcome":"succeeded","output":1,"at_ns":3}`))
	s.journal("w-20260102T150406000-abcd", append(append([]string{header}, ask(0, `"tokens":7`)...), `{"kind":"finish","outcome":"succeeded","output":1,"at_ns":3}`))
	s.open("/usage?group=model")
	s.sees("at least $1.00000001")
	s.picture("usage-model")
	s.eval(`window.csv = ""; (async () => { const r = await fetch("/api/v1/usage?format=csv&group=model", {headers: {Authorization: "Bearer " + sessionStorage.getItem("flowgen.studio.token")}}); window.csv = await r.text(); })(); 0`)
	s.wait(`window.csv.includes("openai:gpt-4o-mini@1,2,11,0,0,107,1.00000001,1,")`)
}

// alike: of two outputs of ten megabytes only the lines that differ are shown, and the reasons are those of flowgen diff.
func alike(t *testing.T, exe, browser string) {
	s := begin(t, exe, browser, map[string]string{"ship.flowgen.yaml": ship})
	for i, word := range []string{"before", "after"} {
		text := strings.Repeat(`the same line again\n`, 250_000) + word + `\n` + strings.Repeat(`and so it goes on\n`, 250_000)
		s.journal(fmt.Sprintf("w-2026010%dT150405000-abcd", i+1), []string{header, `{"kind":"intent","key":"a","attempt":1,"tool":"w.t@1","effects":"reads","call_id":"c","input":{},"start_ns":1}`,
			`{"kind":"end","key":"a","attempt":1,"output":"` + text + `","end_ns":2}`, `{"kind":"finish","outcome":"succeeded","output":1,"at_ns":3}`})
	}
	s.open("/d/w-20260101T150405000-abcd/w-20260102T150405000-abcd")
	s.sees("Where they part")
	s.wait(`document.querySelector("main").innerText.includes("before") && document.querySelector("main").innerText.includes("after")`)
	s.wait(`document.querySelector("main").innerText.length < 20000`)
	if said := s.command("diff", "w-20260101T150405000-abcd", "w-20260102T150405000-abcd"); !strings.Contains(said, "before") {
		t.Errorf("flowgen diff says %.500s", said)
	}
}

// opened: the browser that --open starts gets a code, which is exchanged for the token once; the token itself is not an argument of a program.
func opened(t *testing.T, exe, browser string) {
	if runtime.GOOS != "linux" {
		t.Skip("browsers are opened by another program here")
	}
	bin := t.TempDir()
	said := filepath.Join(bin, "address")
	if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte("#!/bin/sh\necho \"$1\" >'"+said+".part'\nmv '"+said+".part' '"+said+"'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	s := project(t, exe, map[string]string{"ship.flowgen.yaml": ship})
	s.serve("", "--open", s.dir)
	s.browse(browser)
	var address string
	for range 2000 {
		text, err := os.ReadFile(said)
		if err == nil {
			address = strings.TrimSpace(string(text))
			break
		}
		s.wait("true") // asks the browser, which takes a moment
	}
	_, token, _ := strings.Cut(s.address, "#token=")
	if !strings.Contains(address, "/#code=") || strings.Contains(address, token) {
		t.Fatalf("the browser is given %q", address)
	}
	if err := chromedp.Do(s.ctx, chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	s.wait(`document.querySelector(".flow-row") && location.hash === ""`)
	late := &story{t: t, dir: s.dir, exe: exe, address: s.address, window: shared, expect: []string{"401"}}
	late.browse(browser)
	if err := chromedp.Do(late.ctx, chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	late.sees("the token is missing or wrong")
}
