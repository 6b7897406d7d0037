package browser

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestSite: the documentation's site and its playground in Chromium. SITE is the folder that `make site` has written.
func TestSite(t *testing.T) {
	dir := os.Getenv("SITE")
	if dir == "" {
		t.Skip("SITE names no folder")
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	s := &story{t: t, address: server.URL}
	s.browse(chromium(t))

	visit := func(path string) {
		t.Helper()
		if err := chromedp.Do(s.ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(server.URL+"/"+path)); err != nil {
			t.Fatal(err)
		}
	}
	for _, page := range []string{"index.html", "docs/language.html", "docs/diagnostics.html", "docs/start.html"} {
		visit(page)
		s.picture("site " + strings.ReplaceAll(page, "/", " "))
	}

	// Search by keyboard alone, from a page that is not at the root.
	s.press("/")
	s.eval(`document.activeElement.id === "search" || (() => { throw "the search has no focus" })(); search.value = ""; 0`) // keys of the protocol are typed although the page has taken them
	s.press("r", "e", "t", "r", "y")
	s.wait(`document.querySelectorAll("#found a").length > 2`)
	s.picture("site search")
	s.press(kb.Tab, kb.Enter)
	s.wait(`location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)))`)

	// The mode is kept on the next page.
	s.click("Dark mode")
	s.wait(`getComputedStyle(document.body).backgroundColor === "rgb(13, 17, 23)"`)
	s.picture("site dark")
	visit("docs/faq.html")
	s.wait(`document.documentElement.dataset.theme === "dark"`)
	s.picture("site dark next")

	// On a narrow screen nothing is cut off.
	if err := chromedp.Do(s.ctx, chromedp.EmulateViewport(360, 740)); err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"index.html", "docs/language.html", "playground/index.html"} {
		visit(page)
		s.wait(`document.documentElement.scrollWidth <= 360`)
		s.picture("site narrow " + strings.ReplaceAll(page, "/", " "))
	}
	if err := chromedp.Do(s.ctx, chromedp.EmulateViewport(1400, 880)); err != nil {
		t.Fatal(err)
	}

	visit("playground/index.html")
	s.wait(`document.body.dataset.first`)
	if ms, err := chromedp.Run(s.ctx, chromedp.Evaluate[string](`document.body.dataset.first`)); err == nil {
		t.Logf("first diagnostics after %s ms", ms)
	}
	s.sees("No mistakes.")
	s.picture("playground dark")
	s.click("Light mode")
	s.mouse("Graph")
	s.wait(`document.querySelectorAll("#graph rect").length > 2`)
	s.picture("playground graph")
	s.mouse("Go")
	s.sees("package hello")
	s.mouse("Plan")
	s.wait(`document.querySelector("#plan pre").textContent.length > 50`)
	s.picture("playground plan")

	// A mistake: its diagnostic leads to its place, and the address to the text.
	s.eval(`text.value = "flowgen: 1\nname: é\ninput: {a: strin}\nnodes:\n  one: {let: $input.a}\noutput: {x: $one}\n"; text.dispatchEvent(new Event("input")); 0`)
	s.mouse("Diagnostics")
	s.sees("strin")
	s.wait(`document.querySelectorAll(".diagnostics .error button").length > 0`)
	s.wait(`at("example").value === ""`) // "hello" can be chosen again
	s.picture("playground mistake")
	s.eval(`[...document.querySelectorAll(".diagnostics .error")].find((d) => d.innerText.includes("strin")).querySelector("button").click(); 0`)
	s.wait(`text.value.slice(text.selectionStart, text.selectionEnd) === "strin"`)
	s.wait(`location.hash.length > 20`)
	shared, err := chromedp.Run(s.ctx, chromedp.Evaluate[string](`location.hash`))
	if err != nil {
		t.Fatal(err)
	}
	visit("playground/index.html" + shared)
	s.wait(`text.value.includes("input: {a: strin}")`)
	s.wait(`document.querySelectorAll(".diagnostics .error").length > 0`)

	// What the file only names is a stub, or a note.
	s.eval(`text.value = "flowgen: 1\nname: stubs\ninput: {a: string}\ntools:\n  go: {go: ./x.F, in: {a: string}, out: string}\n  py: {python: \"m:f\"}\nnodes:\n  one: {tool: go, with: {a: $input.a}}\n  two: {tool: py, with: {a: $one}}\noutput: {x: $one}\n"; text.dispatchEvent(new Event("input")); 0`)
	s.sees("Stubs: go")
	s.sees("the playground has only this file")

	// The simulator has the examples in it.
	s.eval(`at("example").value = "expense"; at("example").onchange(); 0`)
	s.mouse("Simulate")
	s.wait(`document.getElementById("tab-simulate").getAttribute("aria-selected") === "true" && !at("start").disabled`)
	s.eval(`at("start").click(); 0`)
	s.wait(`at("report").dataset.exit === "0"`)
	s.sees("nothing was found")
	s.picture("playground simulated")
}
