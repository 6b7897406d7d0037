package browser

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// manyCalls records a run with calls in a map, of which the one in the middle has failed.
func (s *story) manyCalls(id string, calls int) {
	s.t.Helper()
	lines := []string{header}
	for i := range calls {
		end := fmt.Sprintf(`"output":{"hits":["file%d.go","other%d.go"],"score":%d}`, i%97, i%31, i*7919%1000)
		if i == calls/2 {
			end = `"error":{"code":"TIMEOUT","message":"too slow","details":null,"retry_after_s":null}`
		}
		lines = append(lines, fmt.Sprintf(`{"kind":"intent","key":"probe[%d]/search","attempt":1,"tool":"w.search@1","effects":"reads","call_id":"%064x","input":{"i":%d,"text":"item %d of the list"},"start_ns":%d}`, i, uint64(i)*0x9E3779B97F4A7C15, i, i, i*1000_000),
			fmt.Sprintf(`{"kind":"end","key":"probe[%d]/search","attempt":1,%s,"end_ns":%d}`, i, end, i*1000_000+5_000_000))
	}
	s.journal(id, append(lines, fmt.Sprintf(`{"kind":"finish","outcome":"succeeded","output":1,"at_ns":%d}`, calls*1000_000+6_000_000)))
}

// metrics are counters of the browser.
func (s *story) metrics() map[string]float64 {
	s.t.Helper()
	out := map[string]float64{}
	list, err := chromedp.Call(s.ctx, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, m := range list.Metrics {
		out[m.Name] = m.Value
	}
	return out
}

func (s *story) number(js string) float64 {
	s.t.Helper()
	n, err := chromedp.Run(s.ctx, chromedp.Evaluate[float64](js))
	if err != nil {
		s.t.Fatalf("%s: %v", js, err)
	}
	return n
}

func quantile(list []float64, q float64) float64 {
	slices.Sort(list)
	return list[min(len(list)-1, int(math.Ceil(q*float64(len(list))))-1)]
}

// TestSpeed measures the goals of the page in a real browser, for docs/benchmarks.md. It asserts nothing of time: machines differ.
func TestSpeed(t *testing.T) {
	if os.Getenv("LONG") == "" {
		t.Skip("set LONG to measure")
	}
	browser, exe := chromium(t), flowgen(t)
	s := begin(t, exe, browser, map[string]string{"ship.flowgen.yaml": ship})
	if _, err := chromedp.Call(s.ctx, performance.Enable, performance.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(s.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `window.rowsAt = 0; new MutationObserver(() => { if (!window.rowsAt && document.querySelector(".rows .row")) requestAnimationFrame(() => { window.rowsAt ||= performance.now(); }); }).observe(document, {childList: true, subtree: true})`}); err != nil {
		t.Fatal(err)
	}

	var paints []float64
	for range 20 {
		s.open("/")
		s.wait(`performance.getEntriesByName("first-contentful-paint").length`)
		paints = append(paints, s.number(`performance.getEntriesByName("first-contentful-paint")[0].startTime`))
	}
	t.Logf("G1 first contentful paint: cold %.0f ms, warm p95 of %d %.0f ms", paints[0], len(paints)-1, quantile(paints[1:], 0.95))

	for i, calls := range []int{1_000, 10_000, 100_000} {
		id := fmt.Sprintf("w-20260102T15040%d000-abcd", i)
		s.manyCalls(id, calls)
		var took []float64
		var steps [4][]float64
		for range 5 {
			s.open("/r/" + id)
			s.wait(`window.rowsAt`)
			took = append(took, s.number("window.rowsAt"))
			for i, at := range []string{`performance.getEntriesByType("navigation")[0].responseEnd`, `performance.getEntriesByType("resource").find((e) => e.name.includes("studio.js"))?.responseEnd ?? 0`,
				`performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd`, `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0`} {
				steps[i] = append(steps[i], s.number(at))
			}
			s.sees(fmt.Sprintf("%d,000 calls", calls/1000))
		}
		t.Logf("G3 run of %d calls: rows after %.0f ms, median of 5; document there after %.0f, script %.0f, run %.0f, first paint %.0f", calls, quantile(took, 0.5), quantile(steps[0], 0.5), quantile(steps[1], 0.5), quantile(steps[2], 0.5), quantile(steps[3], 0.5))
	}
	s.press("l")
	s.wait(`document.querySelector(".rows").getAttribute("aria-rowcount") === "100001"`)
	s.scrolled()
	s.followed()
	s.largeOutput()
	s.reported10k()
}

// TestSpeedOf is TestSpeed for a list of many runs, and for a program that a page follows.
func TestSpeedOf(t *testing.T) {
	if os.Getenv("LONG") == "" {
		t.Skip("set LONG to measure")
	}
	browser, exe := chromium(t), flowgen(t)
	for name, measure := range map[string]func(*story){"list": (*story).manyRuns, "program": (*story).unslowed} {
		t.Run(name, func(t *testing.T) {
			measure(begin(t, exe, browser, map[string]string{"ship.flowgen.yaml": ship}))
		})
	}
}

const busy = `flowgen: 1
name: busy
tools:
  list: {starlark: ./list.star, in: {n: int}, out: list<int>, effects: none}
  one: {starlark: ./one.star, in: {n: int}, out: int, effects: none}
nodes:
  all: {tool: list, with: {n: 30000}}
  each: {map: $all, as: i, max_items: 30000, parallel: 4, do: {tool: one, with: {n: $i}}}
output: {n: $size(each)}
`

// unslowed measures what a run of 30,000 calls takes while a page follows it, and while none does.
func (s *story) unslowed() {
	s.t.Helper()
	s.write("busy.flowgen.yaml", busy)
	s.write("list.star", "def list(n):\n    out = []\n    for i in [None] * n:\n        out.append(len(out))\n    return out\n")
	s.write("one.star", "def one(n):\n    x = 0\n    for i in range(200):\n        x += n % (i + 1)\n    return x\n")
	s.command("run", "busy.flowgen.yaml", "--quiet")
	var alone, seen, aloneCPU, seenCPU []float64
	for range 5 {
		for _, followed := range []bool{false, true} {
			if followed {
				s.open("/r?workflow=busy")
				s.wait(`document.querySelector(".run-row .done")`)
			} else if err := chromedp.Do(s.ctx, chromedp.Navigate("about:blank")); err != nil {
				s.t.Fatal(err)
			}
			cmd := exec.Command(s.exe, "run", "busy.flowgen.yaml", "--quiet")
			cmd.Dir = s.dir
			began := time.Now()
			if err := cmd.Start(); err != nil {
				s.t.Fatal(err)
			}
			if followed {
				s.wait(`document.querySelector(".run-row .run")`)
				s.mouse("busy")
			}
			if err := cmd.Wait(); err != nil {
				s.t.Fatal(err)
			}
			took, used := time.Since(began).Seconds(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
			if followed {
				seen, seenCPU = append(seen, took), append(seenCPU, used)
			} else {
				alone, aloneCPU = append(alone, took), append(aloneCPU, used)
			}
			if followed {
				s.wait(`document.querySelector(".lead .badge.done")`)
			}
		}
	}
	s.t.Logf("a run of 30,000 calls: %.2f s alone, %.2f s while a page follows it, medians of 5, ratio %.2f; of processors %.2f s and %.2f s, ratio %.2f", quantile(alone, 0.5), quantile(seen, 0.5), quantile(seen, 0.5)/quantile(alone, 0.5),
		quantile(aloneCPU, 0.5), quantile(seenCPU, 0.5), quantile(seenCPU, 0.5)/quantile(aloneCPU, 0.5))
}

// scrolled measures frames while all rows pass, and what the page needs then.
func (s *story) scrolled() {
	s.t.Helper()
	before := s.metrics()
	s.eval(`window.frames = []; (() => { const el = document.querySelector(".rows"); const n = 235; let i = 0; let last = performance.now(); const step = () => { const now = performance.now(); window.frames.push(now - last); last = now; el.scrollTop = (el.scrollHeight - el.clientHeight) * (i / n); if (++i <= n) requestAnimationFrame(step); else window.scrolled = true; }; requestAnimationFrame(step); })(); 0`)
	s.wait("window.scrolled")
	after := s.metrics()
	over := s.number(`window.frames.filter((f) => f > 17.5).length`)
	n := s.number("window.frames.length")
	s.t.Logf("G4 scrolling through 100,000 calls: %.0f of %.0f frames over 17.5 ms, script %.2f ms a frame, layout and style %.2f ms (software rendering)", over, n,
		(after["ScriptDuration"]-before["ScriptDuration"])/n*1000, (after["LayoutDuration"]+after["RecalcStyleDuration"]-before["LayoutDuration"]-before["RecalcStyleDuration"])/n*1000)
	if _, err := chromedp.Call(s.ctx, heapprofiler.CollectGarbage, cdp.Empty{}); err != nil {
		s.t.Fatal(err)
	}
	s.t.Logf("G5 at 100,000 calls: %.0f elements, heap %.0f MB, %.0f MB without what is garbage", s.number(`document.querySelectorAll("*").length`), after["JSHeapUsedSize"]/1e6, s.metrics()["JSHeapUsedSize"]/1e6)
}

// sealed is a line of a journal that begins at an offset.
func sealed(line string, at int) []byte {
	body := []byte(strings.TrimSuffix(line, "}"))
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := crc32.Update(crc32.Update(0, table, binary.LittleEndian.AppendUint64(nil, uint64(at))), table, body)
	return fmt.Appendf(nil, "%s,\"sum\":\"%08x\"}\n", body, sum)
}

// followed measures the time from a line in a journal to its bar, while 19 others grow.
func (s *story) followed() {
	s.t.Helper()
	const runs, lines = 20, 60
	files, sizes := make([]*os.File, runs), make([]int, runs)
	for i := range files {
		id := fmt.Sprintf("w-20260103T1504%02d000-abcd", i)
		s.journal(id, []string{header})
		f, err := os.OpenFile(filepath.Join(s.dir, ".flowgen", "runs", id, "journal.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			s.t.Fatal(err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			s.t.Fatal(err)
		}
		files[i], sizes[i] = f, int(info.Size())
	}
	s.open("/r/w-20260103T150400000-abcd")
	s.wait(`document.querySelector(".rows")`)
	s.eval(`window.drawn = {}; new MutationObserver(() => { const n = document.querySelector(".rows").getAttribute("aria-rowcount"); window.drawn[n] ??= Date.now(); }).observe(document.body, {attributes: true, childList: true, subtree: true}); 0`)
	wrote := map[int]int64{}
	for n := range lines {
		for i, f := range files {
			line := sealed(fmt.Sprintf(`{"kind":"intent","key":"n%d","attempt":1,"tool":"w.t@1","effects":"reads","call_id":"c","input":{},"start_ns":%d}`, n, n*1000), sizes[i])
			if _, err := f.Write(line); err != nil {
				s.t.Fatal(err)
			}
			sizes[i] += len(line)
			if i == 0 {
				wrote[n+1] = time.Now().UnixMilli()
			}
		}
		s.wait(fmt.Sprintf("window.drawn[%d]", n+1))
	}
	var took []float64
	for n, at := range wrote {
		took = append(took, s.number(fmt.Sprintf("window.drawn[%d]", n))-float64(at))
	}
	s.t.Logf("G6 line to bar, %d runs grow: p50 %.0f ms, p95 %.0f ms", runs, quantile(took, 0.5), quantile(took, 0.95))
}

// largeOutput measures how soon the beginning of 50 MB is there.
func (s *story) largeOutput() {
	s.t.Helper()
	const id = "w-20260104T150400000-abcd"
	text := []byte(`"` + strings.Repeat("0123456789", 5_000_000) + `"`)
	sum := sha256.Sum256(text)
	name := hex.EncodeToString(sum[:])
	dir := filepath.Join(s.dir, ".flowgen", "runs", id, "blobs")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.journal(id, []string{header, `{"kind":"intent","key":"big","attempt":1,"tool":"w.t@1","effects":"reads","call_id":"c","input":{},"start_ns":1}`,
		fmt.Sprintf(`{"kind":"end","key":"big","attempt":1,"output":{"$blob":"%s","bytes":%d},"end_ns":2}`, name, len(text)), `{"kind":"finish","outcome":"succeeded","output":1,"at_ns":3}`})
	s.open("/r/" + id)
	s.wait(`document.querySelector(".rows .row")`)
	s.eval(`window.big = 0; (() => { const from = performance.now(); const look = () => { if ((document.querySelector(".value")?.innerText.length ?? 0) > 60000) window.big = performance.now() - from; else requestAnimationFrame(look); }; document.querySelector(".rows .row").click(); look(); })(); 0`)
	s.wait("window.big")
	s.t.Logf("G7 output of 50 MB: its beginning after %.0f ms", s.number("window.big"))
}

// reported10k measures a file of 10,000 calls.
func (s *story) reported10k() {
	s.t.Helper()
	const id = "w-20260102T150401000-abcd"
	began := time.Now()
	s.command("inspect", id, "--html", "run.html")
	wrote := time.Since(began)
	text := s.read("run.html")
	var packed bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	_, _ = zip.Write([]byte(s.read(filepath.Join(".flowgen", "runs", id, "journal.jsonl"))))
	_ = zip.Close()
	was := s.address
	var took []float64
	for range 5 {
		s.file("")
		s.wait(`window.rowsAt`)
		took = append(took, s.number("window.rowsAt"))
	}
	s.address = was
	s.t.Logf("G16 file of 10,000 calls: written in %.1f s, %d KB (journal with gzip %d KB), rows after %.0f ms, median of 5", wrote.Seconds(), len(text)/1000, packed.Len()/1000, quantile(took, 0.5))
}

// manyRuns measures the list of 10,000 runs, and a filter of it.
func (s *story) manyRuns() {
	s.t.Helper()
	for i := range 10_000 {
		outcome := `"outcome":"succeeded","output":1`
		if i%10 == 0 {
			outcome = `"outcome":"failed","failure":"node a: TIMEOUT: too slow"`
		}
		id := fmt.Sprintf("w-202601%02dT%02d%02d%02d000-%04x", 5+i/8000, i/3600%24, i/60%60, i%60, i)
		s.journal(id, []string{header, `{"kind":"intent","key":"a","attempt":1,"tool":"w.t@1","effects":"reads","call_id":"c","input":{},"start_ns":1}`,
			`{"kind":"end","key":"a","attempt":1,"output":1,"end_ns":2}`, `{"kind":"finish",` + outcome + `,"at_ns":3}`})
		past := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(s.dir, ".flowgen", "runs", id, "journal.jsonl"), past, past); err != nil {
			s.t.Fatal(err)
		}
	}
	pause := func() { s.wait(`(window.since ??= performance.now()) + 3000 < performance.now()`) }
	s.open("/usage")
	pause() // what has changed at this moment is not kept
	s.open("/r")
	s.sees("10,0")
	pause() // the server reads ahead then
	for _, c := range []struct{ name, path string }{{"first page", "runs?"}, {"workflow", "runs?workflow=w"}, {"outcome", "runs?state=failed"}, {"text", "runs?q=too+slow"}, {"date", "runs?since=2026-01-02T00:00:00Z"}} {
		var took []float64
		for range 6 {
			s.eval(`window.answered = 0; (async () => { const from = performance.now(); const r = await fetch("/api/v1/` + c.path + `", {headers: {Authorization: "Bearer " + sessionStorage.getItem("flowgen.studio.token")}}); await r.json(); window.answered = performance.now() - from; })(); 0`)
			s.wait("window.answered")
			took = append(took, s.number("window.answered"))
		}
		s.t.Logf("G8 list of 10,000 runs, %s: first %.0f ms, then %.0f ms, median of 5", c.name, took[0], quantile(took[1:], 0.5))
	}
}

// TestSoak: the server's memory and open files stay flat while pages come and go over a folder with many runs. SOAK is how long; without
// LONG it is not run.
func TestSoak(t *testing.T) {
	if os.Getenv("LONG") == "" && os.Getenv("SOAK") == "" {
		t.Skip("set LONG, or SOAK=8h")
	}
	long, runs := time.Minute, 100
	if text := os.Getenv("SOAK"); text != "" {
		var err error
		if long, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
		runs = 1000 // half a gigabyte
	}
	browser, exe := chromium(t), flowgen(t)
	s := begin(t, exe, browser, map[string]string{"ship.flowgen.yaml": ship})
	for i := range runs {
		s.manyCalls(fmt.Sprintf("w-20260102T15%02d%02d000-abcd", i/60, i%60), 1000)
	}
	var first, last [3]int
	began := time.Now()
	said := began
	for end, round := began.Add(long), 0; time.Now().Before(end) || round < 3; round++ {
		for _, path := range []string{"/r", fmt.Sprintf("/r/w-20260102T15%02d%02d000-abcd", round%(runs/60), round%60), "/", "/usage?group=tool", "/inbox"} {
			s.open(path)
			s.wait(`document.querySelector("main")?.innerText.trim()`)
		}
		last = s.resources()
		if round <= 1 || time.Since(began) < min(2*time.Minute, long/2) { // all has been read once
			first = last
		}
		if time.Since(said) > min(2*time.Minute, long/5) {
			said = time.Now()
			t.Logf("after %v and %d rounds of 5 pages: %d MB, %d open files, %d threads", time.Since(began).Round(time.Second), round+1, last[0], last[1], last[2])
		}
	}
	t.Logf("G15 after %v: %d MB (%d MB after the first minutes), %d open files (%d), %d threads (%d)", long, last[0], first[0], last[1], first[1], last[2], first[2])
	if last[0] > 150 {
		t.Errorf("the server has %d MB", last[0])
	}
	if last[1] > first[1]+10 {
		t.Errorf("%d files are open, %d were", last[1], first[1])
	}
}

// resources are the resident megabytes, the open files and the threads of studio, on Linux.
func (s *story) resources() (out [3]int) {
	s.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if err != nil {
		s.t.Skip("needs /proc")
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.Atoi(strings.Fields(rest)[0])
			out[0] = kb / 1000
		}
		if rest, ok := strings.CutPrefix(line, "Threads:"); ok {
			out[2], _ = strconv.Atoi(strings.TrimSpace(rest))
		}
	}
	names, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.pid))
	if err != nil {
		s.t.Fatal(err)
	}
	out[1] = len(names)
	return out
}
