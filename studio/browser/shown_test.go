package browser

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

const nested = `flowgen: 1
name: nested
input: {items: {type: list<string>, default: [a, b]}}
tools:
  upper: {command: [tr, a-z, A-Z], in: {text: string}, stdin: "{{ text }}", out: string, effects: none}
nodes:
  each:
    map: $input.items
    as: item
    max_items: 10
    do:
      nodes:
        loud: {tool: upper, with: {text: $item}}
        again: {tool: upper, with: {text: $loud}}
      result: {text: $again}
  last: {tool: upper, with: {text: "{{ size(each) }}"}}
output: {text: $last}
`

// boxes: the body of a map is a box, which keys and the mouse close and open; the address keeps it.
func boxes(t *testing.T, exe, browser string) {
	s := begin(t, exe, browser, map[string]string{"nested.flowgen.yaml": nested})
	s.open("/w?file=nested.flowgen.yaml")
	s.wait(`document.querySelectorAll("g.node").length === 4`)
	s.picture("boxes")
	s.reach(`e.matches("g.node") && e.getAttribute("aria-expanded") === "true"`)
	s.press("h")
	s.wait(`document.querySelectorAll("g.node").length === 2 && document.querySelector("g.node[aria-expanded=false]")`)
	s.wait(`location.search.includes("fold=each")`)
	if err := chromedp.Do(s.ctx, chromedp.Reload()); err != nil {
		t.Fatal(err)
	}
	s.wait(`document.querySelectorAll("g.node").length === 2`)
	s.picture("boxes-closed")
	s.reach(`e.matches("g.node[aria-expanded=false]")`)
	s.press("l")
	s.wait(`document.querySelectorAll("g.node").length === 4`)
	place, err := chromedp.Run(s.ctx, chromedp.Evaluate[[]float64](`((b) => { const r = b.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })(document.querySelector(".turn-box rect"))`))
	if err == nil {
		err = chromedp.Do(s.ctx, chromedp.MouseClickXY(place[0], place[1]))
	}
	if err != nil {
		t.Fatal(err)
	}
	s.wait(`document.querySelectorAll("g.node").length === 2`)
	s.command("run", "nested.flowgen.yaml", "--quiet")
	s.open("/r")
	s.wait(`document.querySelector(".run-row .done")`)
	s.press("\r", "g")
	s.wait(`document.querySelectorAll("g.node.s-done").length === 4`)
}

// attached: an image and a table that a call has left are shown, and an address that leads elsewhere is not followed.
func attached(t *testing.T, exe, browser string) {
	s := begin(t, exe, browser, map[string]string{"ship.flowgen.yaml": ship})
	png, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAEklEQVR4nGP4z8CAB+GTG8HSALfKY52fTcuYAAAAAElFTkSuQmCC")
	if err != nil {
		t.Fatal(err)
	}
	const run = "w-20260102T150405000-abcd"
	dir := filepath.Join(s.dir, ".flowgen", "runs", run, "blobs", "default")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	keep := func(content []byte) string {
		sum := sha256.Sum256(content)
		name := filepath.Join(dir, hex.EncodeToString(sum[:]))
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return "file://" + filepath.ToSlash(name)
	}
	s.journal(run, []string{
		header,
		`{"kind":"intent","key":"draw","attempt":1,"tool":"w.draw@1","effects":"none","call_id":"c","input":{},"start_ns":10}`,
		`{"kind":"end","key":"draw","attempt":1,"output":[{"city":"Rome","n":1},{"city":"Oslo","n":2}],"attachments":[{"kind":"image","url":"` + keep(png) + `","content_type":"image/png","bytes":75},` +
			`{"kind":"table","url":"` + keep([]byte("name,n\n\"Ada, L\",1\n")) + `","content_type":"text/csv","bytes":18},{"kind":"image","url":"file:///etc/passwd","content_type":"image/png"},` +
			`{"kind":"image","url":"` + keep([]byte("<svg onload='pwned=1'>")) + `","content_type":"image/png"}],"end_ns":20}`,
		`{"kind":"finish","outcome":"succeeded","output":1,"at_ns":30}`,
	})
	s.expect = []string{"404"}
	s.open("/r/" + run + "?c=0")
	s.wait(`document.querySelectorAll(".attached").length === 4`)
	s.wait(`document.querySelectorAll(".attached img").length === 1 && document.querySelector(".attached img").naturalWidth === 10`)
	s.wait(`[...document.querySelectorAll(".attached td")].map((c) => c.innerText).join("|") === "Ada, L|1"`)
	s.sees("not kept here")
	s.sees("it is no PNG, JPEG, GIF or WebP")
	s.wait(`document.querySelector(".call table.sums")?.innerText.includes("Rome")`)
	s.picture("attachments")
	s.click("as JSON")
	s.sees(`"city": "Rome"`)
}

// together: an edit that another browser has overtaken is shown anew and nothing is lost; when the folder vanishes the page says so.
func together(t *testing.T, exe, browser string) {
	s := begin(t, exe, browser, map[string]string{"scout.flowgen.yaml": scout, "answers.yaml": scoutAnswers})
	second := &story{t: t, dir: s.dir, exe: exe, address: s.address}
	second.browse(browser)
	for _, one := range []*story{s, second} {
		one.open("/w?file=scout.flowgen.yaml&tab=agents")
		one.sees("finds lines")
	}
	s.click("Switch off")
	s.click("Show the edit")
	s.wait(`document.querySelector(".diff .add")`)
	second.eval(`[...document.querySelectorAll("button")].filter((b) => b.innerText === "Pin")[1].focus()`)
	second.press("\r")
	second.click("Show the edit")
	second.wait(`document.querySelector(".diff .add")`)
	second.click("Write")
	second.wait(`document.querySelector(".agent table")?.innerText.includes("blame")`)
	pinned := s.read("scout.flowgen.yaml")
	s.expect = []string{"409"}
	s.click("Write")
	s.sees("the file has changed since the edit was shown")
	if s.read("scout.flowgen.yaml") != pinned {
		t.Errorf("the other edit is lost:\n%s", s.read("scout.flowgen.yaml"))
	}
	s.wait(`document.querySelector(".diff")?.innerText.includes("blame: {tool: blame}")`)
	s.picture("overtaken")
	s.click("Write")
	s.wait(`document.querySelectorAll(".tools .badge.done").length === 1`)
	if text := s.read("scout.flowgen.yaml"); !strings.Contains(text, "blame: {tool: blame}") || !strings.Contains(text, "tools: [blame]") {
		t.Errorf("an edit is lost:\n%s", text)
	}
	if err := os.RemoveAll(s.dir); err != nil {
		t.Fatal(err)
	}
	s.expect = []string{"409", "404", "422", "410"}
	second.expect = s.expect
	s.open("/")
	s.sees("the folder is gone")
	s.picture("vanished")
	s.open("/r")
	s.wait(`document.querySelector("main .trouble, main .empty")`)
}

// strange: journals that are newer, foreign, torn or empty have a message in their place, and keep no other run from being shown.
func strange(t *testing.T, exe, browser string) {
	s := begin(t, exe, browser, map[string]string{"ship.flowgen.yaml": ship})
	raw := func(id, text string) {
		dir := filepath.Join(s.dir, ".flowgen", "runs", id)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "journal.jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	call := `{"kind":"intent","key":"a","attempt":1,"tool":"w.t@1","effects":"reads","call_id":"c","input":{},"start_ns":1}`
	s.journal("w-20260102T150401000-0001", []string{header, call, `{"kind":"end","key":"a","attempt":1,"output":1,"end_ns":2}`, `{"kind":"finish","outcome":"succeeded","output":1,"at_ns":3}`})
	s.journal("w-20260102T150402000-0002", []string{strings.Replace(header, `"format":1`, `"format":99`, 1), `{"kind":"finish","outcome":"succeeded","output":1,"at_ns":3}`})
	raw("w-20260102T150403000-0003", "Dear diary, today nothing ran.\nTomorrow neither.\n")
	s.journal("w-20260102T150404000-0004", []string{header, call})
	whole := s.read(filepath.Join(".flowgen", "runs", "w-20260102T150404000-0004", "journal.jsonl"))
	raw("w-20260102T150404000-0004", whole+`{"kind":"end","key":"a","att`)
	raw("w-20260102T150405000-0005", "")
	raw("w-20260102T150406000-0006", strings.Replace(whole, `"key":"a"`, `"key":"b"`, 1))
	s.expect = []string{"404", "422"}
	s.open("/r")
	s.wait(`document.querySelectorAll(".run-row:not(.head)").length === 5`)
	s.wait(`document.querySelectorAll(".run-row .done").length === 1`)
	s.wait(`document.querySelectorAll(".day").length === 1`)
	s.picture("strange")
	for id, want := range map[string]string{
		"w-20260102T150402000-0002": "format 99", "w-20260102T150403000-0003": "line 1", "w-20260102T150404000-0004": "stopped without a word",
		"w-20260102T150405000-0005": "", "w-20260102T150406000-0006": "line 2",
	} {
		s.open("/r/" + id)
		s.wait(`document.querySelector("main")?.innerText.trim()`)
		if want != "" {
			s.sees(want)
		}
	}
	s.open("/usage")
	s.sees("cannot be read and are left out")
	s.open("/inbox")
	s.sees("No run waits")
	s.open("/d/w-20260102T150401000-0001/w-20260102T150403000-0003")
	s.wait(`document.querySelector("main .trouble")`)
}
