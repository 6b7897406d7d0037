package browser

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A temporal is where runs of ship.flowgen.yaml are on Temporal: a server with a worker, or what stands for them.
type temporal interface {
	program() string // of `build --engine temporal`
	begin(id string)
	answer(id string)
	leave() // the server goes away
	back()
}

// onTemporal: runs on Temporal are listed, filtered and shown with their calls as those of a folder are; what the page cannot do there is
// not offered, and said. It follows them, and says when the server is away without losing what it has shown. TEMPORAL_SERVER is the program
// `temporal`, whose server is used then.
func onTemporal(t *testing.T, exe, browser string) {
	s := project(t, exe, map[string]string{"ship.flowgen.yaml": ship})
	var there temporal
	if server := os.Getenv("TEMPORAL_SERVER"); server != "" {
		there = newTemporalServer(s, server)
	} else {
		there = newStandIn(s)
	}
	there.begin("monday")
	there.answer("monday")
	there.begin("order/1")

	s.serve("", "--temporal", there.program(), s.dir)
	s.browse(browser)
	rows := func(n int) {
		t.Helper()
		s.wait(fmt.Sprintf(`document.querySelectorAll(".run-row:not(.head)").length === %d`, n))
	}
	s.open("/r")
	s.sees("No runs in")
	s.reach(`e.matches("select[name=in]")`)
	s.press("T")
	s.wait(`location.search === "?in=temporal"`)
	rows(2)
	s.sees("2 runs of Temporal, read by ship")
	s.wait(`[...document.querySelectorAll(".run-row .mono")].map((e) => e.innerText).join() === "order/1,monday" && ![...document.querySelectorAll(".chip")].some((c) => /waits|stopped/.test(c.innerText))`)
	s.wait(`document.querySelectorAll(".run-row .m.done").length === 1`)
	s.picture("temporal-runs")
	s.click("succeeded")
	rows(1)
	s.click("failed")
	s.sees("Temporal has no such run.")
	s.click("All")
	rows(2)
	s.reach(`e.matches(".bar select:not([name])")`)
	s.press("s")
	s.wait(`location.search.includes("workflow=ship")`)
	rows(2)

	s.open("/r?in=temporal&state=running")
	rows(1)
	s.press("\r")
	s.wait(`location.pathname === "/r/temporal%3Aorder%2F1"`)
	s.sees("The page only reads it")
	s.sees("Ship HELLO?")
	s.wait(`document.querySelectorAll(".rows .row").length === 2`)
	s.row("loud")
	s.press("\r")
	s.wait(`document.querySelector(".call .head code")?.innerText === "loud" && document.querySelector(".call .value").innerText.includes("HELLO")`)
	s.sees("answer with respond of the program")
	s.wait(`![...document.querySelectorAll("button")].some((b) => /^(Cancel|Compare|Resume|Retry|Make a case|Rerun|Edit and rerun|Show the edit|yes|no)\b/.test(b.innerText.trim()))`)
	s.picture("temporal-run")
	s.press("g")
	s.wait(`document.querySelectorAll("g.node.s-done, g.node.s-wait").length === 2`)
	s.press("g")

	s.expect = []string{"502"}
	there.leave()
	s.sees("ship cannot read run order/1: ")
	s.sees("What was read before is shown.")
	s.wait(`document.querySelectorAll(".rows .row").length === 2`)
	s.picture("temporal-away")
	there.back()
	there.answer("order/1")
	s.wait(`document.querySelector(".lead .badge.done")?.innerText === "succeeded" && !document.querySelector(".trouble")`)
	s.open("/r?in=temporal")
	s.wait(`document.querySelectorAll(".run-row .m.done").length === 2`)
	s.open("/r/temporal:other")
	s.sees("ship cannot read run other")
	s.open("/r?in=temporal")
	rows(2)
	there.leave()
	s.sees("ship cannot list runs on Temporal: ")
	s.picture("temporal-list-away")
}

// printer stands for a program of `build --engine temporal`: it prints what the test has written, and an error once the server is away.
const printer = `#!/bin/sh
cd "$(dirname "$0")" || exit 1
if [ -e away ]; then echo 'the Temporal server at 127.0.0.1:7233 does not answer' >&2; exit 3; fi
case "$1" in
list) cat list.json ;;
inspect) for id; do :; done; cat "$(echo "$id" | tr / _).jsonl" ;;
*) exit 2 ;;
esac
`

// A standIn has runs of the folder where those of Temporal would be.
type standIn struct {
	*story
	bin  string
	runs []string // entries of the list, the newest first
	over map[string]string
}

func newStandIn(s *story) *standIn {
	s.t.Helper()
	in := &standIn{story: s, bin: filepath.Join(s.t.TempDir(), "a program"), over: map[string]string{}}
	if err := os.Mkdir(in.bin, 0o700); err != nil {
		s.t.Fatal(err)
	}
	in.put("ship", printer)
	return in
}

func (in *standIn) program() string { return filepath.Join(in.bin, "ship") }

// put writes a file of the program, which others find whole or not at all.
func (in *standIn) put(name, text string) {
	in.t.Helper()
	err := os.WriteFile(filepath.Join(in.bin, name+".part"), []byte(text), 0o700)
	if err == nil {
		err = os.Rename(filepath.Join(in.bin, name+".part"), filepath.Join(in.bin, name))
	}
	if err != nil {
		in.t.Fatal(err)
	}
}

// begin runs the workflow in the folder, which has no runs afterwards.
func (in *standIn) begin(id string) {
	in.t.Helper()
	journal := func() string {
		in.t.Helper()
		names, err := filepath.Glob(filepath.Join(in.dir, ".flowgen", "runs", "ship-*", "journal.jsonl"))
		if err != nil || len(names) != 1 {
			in.t.Fatalf("%v, %v", names, err)
		}
		text, err := os.ReadFile(names[0])
		if err != nil {
			in.t.Fatal(err)
		}
		return string(text)
	}
	in.command("run", "ship.flowgen.yaml", "--quiet")
	in.put(strings.ReplaceAll(id, "/", "_")+".jsonl", journal())
	in.command("respond", "ship.flowgen.yaml", "latest", "yes", "--quiet")
	in.over[id] = journal()
	if err := os.RemoveAll(filepath.Join(in.dir, ".flowgen", "runs")); err != nil {
		in.t.Fatal(err)
	}
	in.runs = append([]string{fmt.Sprintf(`{"id": %q, "workflow": "ship", "status": "running", "started": "2026-01-02T15:04:05Z"}`, id)}, in.runs...)
	in.put("list.json", "["+strings.Join(in.runs, ", ")+"]")
}

func (in *standIn) answer(id string) {
	in.t.Helper()
	in.put(strings.ReplaceAll(id, "/", "_")+".jsonl", in.over[id])
	for i, one := range in.runs {
		if strings.Contains(one, id) {
			in.runs[i] = strings.Replace(strings.Replace(one, "running", "completed", 1), "}", `, "closed": "2026-01-02T15:04:09Z"}`, 1)
		}
	}
	in.put("list.json", "["+strings.Join(in.runs, ", ")+"]")
}

func (in *standIn) leave() { in.t.Helper(); in.put("away", "") }

func (in *standIn) back() {
	in.t.Helper()
	if err := os.Remove(filepath.Join(in.bin, "away")); err != nil {
		in.t.Fatal(err)
	}
}

// A temporalServer is a server of Temporal's command line tool with a worker.
type temporalServer struct {
	*story
	exe, bin, dir string
	ports         [2]string
	cmd           *exec.Cmd
}

func newTemporalServer(s *story, exe string) *temporalServer {
	s.t.Helper()
	in := &temporalServer{story: s, exe: exe, dir: s.t.TempDir()}
	in.bin = filepath.Join(in.dir, "ship")
	if said := s.command("build", "ship.flowgen.yaml", "--engine", "temporal", "-o", in.bin); strings.Contains(said, "exit status") {
		s.t.Fatal(said)
	}
	for i := range in.ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			s.t.Fatal(err)
		}
		defer l.Close()
		_, in.ports[i], _ = net.SplitHostPort(l.Addr().String())
	}
	s.t.Setenv("TEMPORAL_ADDRESS", "127.0.0.1:"+in.ports[0])
	return in
}

func (in *temporalServer) program() string {
	return in.bin
}

// back starts the server, and a worker once it answers.
func (in *temporalServer) back() {
	in.t.Helper()
	in.cmd = in.start(in.exe, "server", "start-dev", "--headless", "--log-level", "error", "--ip", "127.0.0.1", "--port", in.ports[0], "--http-port", in.ports[1], "--db-filename", filepath.Join(in.dir, "db"))
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); ; <-tick.C {
		r, err := http.Get("http://127.0.0.1:" + in.ports[1] + "/api/v1/namespaces/default")
		if err == nil {
			r.Body.Close()
			if r.StatusCode == http.StatusOK {
				break
			}
		}
		if time.Now().After(end) {
			in.t.Fatalf("the server does not serve: %v", err)
		}
	}
	in.start(in.bin, "worker")
}

func (in *temporalServer) start(exe string, args ...string) *exec.Cmd {
	in.t.Helper()
	cmd := exec.Command(exe, args...)
	cmd.Dir = in.story.dir
	if err := cmd.Start(); err != nil {
		in.t.Fatal(err)
	}
	in.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

func (in *temporalServer) run(args ...string) {
	in.t.Helper()
	if in.cmd == nil {
		in.back()
	}
	var out []byte
	var err error
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); time.Now().Before(end); <-tick.C { // a run asks when a worker has come so far
		if out, err = exec.Command(in.bin, args...).CombinedOutput(); err == nil {
			return
		}
	}
	in.t.Fatalf("%v: %v\n%s", args, err, out)
}

func (in *temporalServer) begin(id string) { in.t.Helper(); in.run("start", "--id", id) }

func (in *temporalServer) answer(id string) { in.t.Helper(); in.run("respond", id, "yes") }

func (in *temporalServer) leave() {
	in.t.Helper()
	_ = in.cmd.Process.Kill()
	_ = in.cmd.Wait()
}
