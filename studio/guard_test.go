package studio_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
	"github.com/flowgen-dev/flowgen/studio"
)

const (
	canary = "canary-7f3a91"
	host   = "127.0.0.1:4242"
	oneRun = "w-20260102T150405000-abcd"
)

// fake is a project of one file.
type fake struct{ edited int }

func (f *fake) Files() ([]string, error) { return []string{"w.flowgen.yaml"}, nil }

func (f *fake) Mark() (string, error) { return "", nil }

func (f *fake) Workflow(file string) (*studio.Workflow, error) {
	return &studio.Workflow{File: file, Name: "w", Source: canary, Diagnostics: json.RawMessage("[]")}, nil
}

func (f *fake) Node(string, string) (*studio.NodeText, error) { return &studio.NodeText{}, nil }

func (f *fake) Cases() ([]studio.CaseFile, error) { return []studio.CaseFile{}, nil }

func (f *fake) Overlay(studio.Operation) (map[string]string, error) { return nil, nil }

func (f *fake) Propose(op studio.Operation) (*studio.Edit, error) {
	return &studio.Edit{Diff: fmt.Sprintf("%s of %s, %d", op.Kind, canary, f.edited)}, nil
}

func (f *fake) Apply(op studio.Operation, diff string) (*studio.Edit, error) {
	now, _ := f.Propose(op)
	if now.Diff != diff {
		return now, studio.ErrStale
	}
	f.edited++
	return now, nil
}

// server is one over a run that waits for a user, with the canary in all that is recorded.
func server(t *testing.T, o studio.Options) *studio.Server {
	return serverOn(t, wal.OS, o)
}

func serverOn(t *testing.T, disk wal.Disk, o studio.Options) *studio.Server {
	t.Helper()
	o.Root, o.Runs = "/project", runs.Open(recorded(t), runs.Options{Disk: disk})
	if o.Project == nil {
		o.Project = &fake{}
	}
	if o.Command == nil {
		o.Command = func(args ...string) *exec.Cmd {
			t.Errorf("started %v", args)
			return exec.Command("false")
		}
	}
	s := studio.New(o, "4242")
	t.Cleanup(s.Close)
	return s
}

// recorded is a folder with the run.
func recorded(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, oneRun), 0o700); err != nil {
		t.Fatal(err)
	}
	log, _, err := wal.Open(wal.OS, filepath.Join(dir, oneRun, "journal.jsonl"), wal.Buffered)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`{"kind":"run","format":1,"workflow":"w","seed":"1","begin":"2026-01-02T15:04:05Z","graph":"g1","nodes":{"a":"1"},"input":{"x":"` + canary + `"}}`,
		`{"kind":"intent","key":"a[0]/` + canary + `","attempt":1,"tool":"w.t@1","effects":"reads","call_id":"c1","input":{"x":"` + canary + `"},"start_ns":10}`,
		`{"kind":"end","key":"a[0]/` + canary + `","attempt":1,"output":"` + canary + `","cost_usd":"0.25","tokens":12,"metered":true,"end_ns":20}`,
		`{"kind":"intent","key":"q","attempt":1,"tool":"human@1","effects":"none","call_id":"c2","input":{"question":"` + canary + `?","type":"bool"},"start_ns":30}`,
		`{"kind":"end","key":"q","attempt":1,"cancelled":"run","end_ns":31}`,
		`{"kind":"finish","outcome":"waiting","at_ns":32}`,
	} {
		if err := log.Append([]byte(line), false); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// paths are those with data.
var paths = []string{"/api/v1/project", "/api/v1/workflow?file=w.flowgen.yaml", "/api/v1/runs", "/api/v1/runs/" + oneRun, "/api/v1/runs/" + oneRun + "/calls", "/api/v1/runs/" + oneRun + "/calls/0",
	"/api/v1/runs/" + oneRun + "/calls/0/output", "/api/v1/inbox", "/api/v1/usage?group=node"}

func ask(s *studio.Server, method, path, body string, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = host
	r.Header.Set("Authorization", "Bearer "+s.Token())
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// TestAnswers: the page's own requests are answered, with the headers that keep it to itself.
func TestAnswers(t *testing.T) {
	s := server(t, studio.Options{})
	for _, path := range paths {
		w := ask(s, http.MethodGet, path, "", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-origin") })
		if w.Code != http.StatusOK || path != "/api/v1/project" && path != "/api/v1/runs" && !strings.Contains(w.Body.String(), canary) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s has the headers %v", path, w.Header())
		}
	}
	page := ask(s, http.MethodGet, "/r/"+oneRun, "", func(r *http.Request) {
		r.Header.Del("Authorization")
		r.Header.Set("Sec-Fetch-Site", "none")
	})
	if page.Code != http.StatusOK || strings.Contains(page.Body.String(), canary) || strings.Contains(page.Body.String(), s.Token()) {
		t.Errorf("the page: %d %s", page.Code, page.Body)
	}
	_, script, _ := strings.Cut(page.Body.String(), `src="`)
	script, _, _ = strings.Cut(script, `"`)
	plain, _, versioned := strings.Cut(script, "?")
	for path, kept := range map[string]bool{script: true, plain: false, plain + "?0": false, "/": false} {
		if w := ask(s, http.MethodGet, path, "", nil); w.Code != http.StatusOK || !versioned || strings.Contains(w.Header().Get("Cache-Control"), "immutable") != kept {
			t.Errorf("%s: %d, %v", path, w.Code, w.Header())
		}
	}
	policy := page.Header().Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "script-src 'self';", "style-src 'self';", "connect-src 'self';", "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'", "require-trusted-types-for 'script'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy %q lacks %q", policy, part)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
		t.Errorf("the policy %q has an exception", policy)
	}
}

// TestAttacks: what other machines, other pages and other programs can send gets no byte of data, and starts nothing.
func TestAttacks(t *testing.T) {
	s := server(t, studio.Options{})
	header := func(name, v string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, v) }
	}
	named := func(h string) func(*http.Request) { return func(r *http.Request) { r.Host = h } }
	without := func(name string) func(*http.Request) { return func(r *http.Request) { r.Header.Del(name) } }
	attacks := map[string]func(*http.Request){
		"rebinding":           named("evil.example:4242"),
		"another port":        named("127.0.0.1:4243"),
		"no port":             named("127.0.0.1"),
		"no host":             named(""),
		"a name of localhost": named("localhost.evil.example:4242"),
		"another loopback":    named("127.0.0.2:4242"),
		"a trailing dot":      named("localhost.:4242"),
		"rebinding and origin": func(r *http.Request) {
			r.Host = "evil.example:4242"
			r.Header.Set("Origin", "http://evil.example:4242")
		},
		"another origin":      header("Origin", "http://evil.example"),
		"another local port":  header("Origin", "http://127.0.0.1:8080"),
		"another local name":  header("Origin", "http://localhost:4242"),
		"https":               header("Origin", "https://"+host),
		"null origin":         header("Origin", "null"),
		"empty origin":        header("Origin", ""),
		"two origins":         func(r *http.Request) { r.Header["Origin"] = []string{"http://" + host, "http://evil.example"} },
		"cross-site":          header("Sec-Fetch-Site", "cross-site"),
		"same-site":           header("Sec-Fetch-Site", "same-site"),
		"a typed address":     header("Sec-Fetch-Site", "none"),
		"an unknown site":     header("Sec-Fetch-Site", "SAME-ORIGIN"),
		"no token":            without("Authorization"),
		"an empty token":      header("Authorization", "Bearer "),
		"a wrong token":       header("Authorization", "Bearer "+strings.Repeat("0", 64)),
		"a part of the token": header("Authorization", "Bearer "+s.Token()[:63]),
		"a longer token":      header("Authorization", "Bearer "+s.Token()+"0"),
		"basic":               header("Authorization", "Basic "+s.Token()),
		"a cookie":            func(r *http.Request) { r.Header.Del("Authorization"); r.Header.Set("Cookie", "token="+s.Token()) },
		"a query":             func(r *http.Request) { r.Header.Del("Authorization"); r.URL.RawQuery += "&token=" + s.Token() },
		"websocket":           func(r *http.Request) { r.Header.Set("Connection", "Upgrade"); r.Header.Set("Upgrade", "websocket") },
		"a form": func(r *http.Request) {
			r.Method = "POST"
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		},
		"plain text":  func(r *http.Request) { r.Method = "POST"; r.Header.Set("Content-Type", "text/plain") },
		"no type":     func(r *http.Request) { r.Method = "POST"; r.Header.Del("Content-Type") },
		"a preflight": func(r *http.Request) { r.Method = "OPTIONS"; r.Header.Set("Access-Control-Request-Method", "POST") },
		"head":        func(r *http.Request) { r.Method = "HEAD" },
		"put":         func(r *http.Request) { r.Method = "PUT" },
		"delete":      func(r *http.Request) { r.Method = "DELETE" },
	}
	type target struct{ method, path, body string }
	targets := []target{{"POST", "/api/v1/runs", `{"file":"w.flowgen.yaml"}`}, {"POST", "/api/v1/runs/" + oneRun + "/answers", `{"key":"q","answer":"true"}`}, {"POST", "/api/v1/edits", `{"kind":"pin","file":"w.flowgen.yaml"}`}, {"GET", "/api/v1/events?topics=runs,run:" + oneRun, ""},
		{"POST", "/api/v1/tests", `{}`}, {"GET", "/api/v1/tests", ""}, {"GET", "/api/v1/graph?file=w.flowgen.yaml", ""}, {"GET", "/api/v1/runs/" + oneRun + "/report", ""}}
	for _, path := range paths {
		targets = append(targets, target{"GET", path, ""})
	}
	tried := 0
	for name, change := range attacks {
		for _, to := range targets {
			tried++
			w := ask(s, to.method, to.path, to.body, change)
			if text := w.Body.String(); w.Code < 400 || strings.Contains(text, canary) || strings.Contains(text, s.Token()) || strings.Contains(text, "w.flowgen.yaml") {
				t.Errorf("%s, %s %s: %d %s", name, to.method, to.path, w.Code, text)
			}
			if w.Header().Get("Access-Control-Allow-Origin") != "" || w.Header().Get("Set-Cookie") != "" {
				t.Errorf("%s, %s: %v", name, to.path, w.Header())
			}
		}
	}
	if tried < 400 {
		t.Errorf("%d attacks were tried", tried)
	}
	if list, err := journal(t, s); err != nil || strings.Contains(list, `"answer"`) {
		t.Errorf("something was answered: %s, %v", list, err)
	}
}

// journal is what the run has recorded, as the page reads it.
func journal(t *testing.T, s *studio.Server) (string, error) {
	t.Helper()
	w := ask(s, http.MethodGet, "/api/v1/runs/"+oneRun, "", nil)
	var head struct {
		Waits []json.RawMessage `json:"waits"`
	}
	err := json.Unmarshal(w.Body.Bytes(), &head)
	if len(head.Waits) != 1 {
		return `"answer"`, err
	}
	return "", err
}

// TestReadOnly: with it no address changes or starts anything; with NoRun none starts anything, and answers and edits are written.
func TestReadOnly(t *testing.T) {
	acts := map[string]string{
		"/api/v1/runs":                            `{"file":"w.flowgen.yaml"}`,
		"/api/v1/runs/" + oneRun + "/resume":      `{}`,
		"/api/v1/runs/" + oneRun + "/cancel":      `{}`,
		"/api/v1/runs/" + oneRun + "/rerun":       `{"from":"q"}`,
		"/api/v1/runs/" + oneRun + "/answers":     `{"key":"q","answer":"true"}`,
		"/api/v1/edits":                           `{"kind":"pin","file":"w.flowgen.yaml"}`,
		"/api/v1/edits/1/apply":                   `{}`,
		"/api/v1/tests":                           `{}`,
		"/api/v1/runs/" + oneRun + "/calls/0/xyz": `{}`,
	}
	s := server(t, studio.Options{ReadOnly: true})
	for path, body := range acts {
		if w := ask(s, http.MethodPost, path, body, nil); w.Code != http.StatusNotFound && w.Code != http.StatusMethodNotAllowed || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("read-only, %s: %d %s", path, w.Code, w.Body)
		}
	}
	s = server(t, studio.Options{NoRun: true})
	for _, path := range []string{"/api/v1/runs", "/api/v1/runs/" + oneRun + "/resume", "/api/v1/runs/" + oneRun + "/cancel", "/api/v1/runs/" + oneRun + "/rerun", "/api/v1/tests"} {
		if w := ask(s, http.MethodPost, path, acts[path], nil); w.Code != http.StatusNotFound && w.Code != http.StatusMethodNotAllowed {
			t.Errorf("no run, %s: %d %s", path, w.Code, w.Body)
		}
	}
	if w := ask(s, http.MethodPost, "/api/v1/runs/"+oneRun+"/answers", `{"key":"q","answer":"perhaps"}`, nil); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "VALIDATION_ERROR") {
		t.Errorf("a wrong answer: %d %s", w.Code, w.Body)
	}
	if w := ask(s, http.MethodPost, "/api/v1/runs/"+oneRun+"/answers", `{"key":"q","answer":"true"}`, nil); w.Code != http.StatusOK {
		t.Errorf("an answer: %d %s", w.Code, w.Body)
	}
	if w := ask(s, http.MethodPost, "/api/v1/runs/"+oneRun+"/answers", `{"key":"q","answer":"false"}`, nil); w.Code != http.StatusGone || !strings.Contains(w.Body.String(), `it was answered with \"true\"`) {
		t.Errorf("a second answer: %d %s", w.Code, w.Body)
	}
}

// busy is a disk whose files another process has until it has been asked a few times.
type busy struct {
	wal.Disk
	asked int
}

func (b *busy) Lock(name string) (func() error, error) {
	if b.asked++; b.asked < 4 {
		return nil, wal.ErrLocked
	}
	return b.Disk.Lock(name)
}

// TestAnswerWaits: an answer waits for the program that has asked and has not ended yet.
func TestAnswerWaits(t *testing.T) {
	disk := &busy{Disk: wal.OS}
	s := serverOn(t, disk, studio.Options{NoRun: true})
	if w := ask(s, http.MethodPost, "/api/v1/runs/"+oneRun+"/answers", `{"key":"q","answer":"true"}`, nil); w.Code != http.StatusOK || disk.asked != 4 {
		t.Errorf("after %d tries: %d %s", disk.asked, w.Code, w.Body)
	}
}

// guarded counts who locks the run while a program that continues it has written nothing.
type guarded struct {
	wal.Disk
	size  func() int64
	begun atomic.Int64 // the size when the program was started
	early atomic.Int32
}

func (g *guarded) Lock(name string) (func() error, error) {
	if begun := g.begun.Load(); begun > 0 && g.size() == begun {
		g.early.Add(1)
	}
	return g.Disk.Lock(name)
}

// finished is a file with what ends a run when it is appended to its journal.
func finished(t *testing.T, journal string) string {
	t.Helper()
	text, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "journal.jsonl")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	log, _, err := wal.Open(wal.OS, name, wal.Buffered)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(log.Append([]byte(`{"kind":"finish","outcome":"succeeded","output":1,"at_ns":40}`), false), log.Close()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, whole[len(text):], 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestAnswersTogether: a second answer does not lock the run while the program that the first one started is about to.
func TestAnswersTogether(t *testing.T) {
	disk, late := &guarded{Disk: wal.OS}, make(chan *httptest.ResponseRecorder)
	var s *studio.Server
	var journal string
	disk.size = func() int64 {
		info, err := os.Stat(journal)
		if err != nil {
			t.Error(err)
			return 0
		}
		return info.Size()
	}
	s = serverOn(t, disk, studio.Options{Command: func(args ...string) *exec.Cmd {
		journal = filepath.Join(args[slices.Index(args, "--runs")+1], oneRun, "journal.jsonl")
		disk.begun.Store(disk.size())
		go func() {
			late <- ask(s, http.MethodPost, "/api/v1/runs/"+oneRun+"/answers", `{"key":"q","answer":"false"}`, nil)
		}()
		return exec.Command("sh", "-c", `sleep 0.5; cat "$0" >> "$1"`, finished(t, journal), journal)
	}})
	if w := ask(s, http.MethodPost, "/api/v1/runs/"+oneRun+"/answers", `{"key":"q","answer":"true"}`, nil); w.Code != http.StatusOK || strings.Contains(w.Body.String(), "note") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := <-late; w.Code != http.StatusGone || disk.early.Load() != 0 {
		t.Errorf("%d %s; the run was locked %d times while its program started", w.Code, w.Body, disk.early.Load())
	}
}

// TestEdits: what is written is what was shown; an edit that would be another one now is shown again and not written.
func TestEdits(t *testing.T) {
	p := &fake{}
	s := server(t, studio.Options{Project: p})
	propose := func() string {
		w := ask(s, http.MethodPost, "/api/v1/edits", `{"kind":"pin","file":"w.flowgen.yaml"}`, nil)
		var e struct{ ID, Diff string }
		if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || w.Code != http.StatusOK || !strings.Contains(e.Diff, canary) {
			t.Fatalf("%d %s, %v", w.Code, w.Body, err)
		}
		return e.ID
	}
	first, second := propose(), propose()
	if w := ask(s, http.MethodPost, "/api/v1/edits/"+first+"/apply", `{}`, nil); w.Code != http.StatusOK || p.edited != 1 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := ask(s, http.MethodPost, "/api/v1/edits/"+second+"/apply", `{}`, nil); w.Code != http.StatusConflict || p.edited != 1 || !strings.Contains(w.Body.String(), `"edit":{"diff"`) {
		t.Errorf("of two pages that edit: %d %s", w.Code, w.Body)
	}
	if w := ask(s, http.MethodPost, "/api/v1/edits/"+first+"/apply", `{}`, nil); w.Code != http.StatusNotFound || p.edited != 1 {
		t.Errorf("a second time: %d %s", w.Code, w.Body)
	}
	for _, file := range []string{"../w.flowgen.yaml", "/etc/passwd", "x.flowgen.yaml", ""} {
		w := ask(s, http.MethodPost, "/api/v1/edits", `{"kind":"pin","file":"`+file+`"}`, nil)
		v := ask(s, http.MethodGet, "/api/v1/workflow?file="+file, "", nil)
		if w.Code != http.StatusNotFound || v.Code != http.StatusNotFound {
			t.Errorf("%s: %d, %d", file, w.Code, v.Code)
		}
	}
	for _, body := range []string{``, `x`, `[]`, `{"kind":"pin","unknown":1}`, `{} {}`, strings.Repeat(" ", 2<<20) + `{}`} {
		if w := ask(s, http.MethodPost, "/api/v1/edits", body, nil); w.Code != http.StatusBadRequest {
			t.Errorf("the body %.20q: %d %s", body, w.Code, w.Body)
		}
	}
}

// TestActs: acts start this flowgen with a list of arguments, in which an id or text of a page is one argument.
func TestActs(t *testing.T) {
	var got []string
	s := server(t, studio.Options{Command: func(args ...string) *exec.Cmd {
		got = args
		return exec.Command("sh", "-c", "cat >&2; exit 5")
	}})
	w := ask(s, http.MethodPost, "/api/v1/runs", `{"file":"w.flowgen.yaml","input":{"x":"; rm -rf / $(x)"}}`, nil)
	if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "exit code 5") || !strings.Contains(w.Body.String(), "rm -rf") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if text := strings.Join(got, " "); !strings.HasPrefix(text, "run w.flowgen.yaml --runs ") || !strings.HasSuffix(text, " --input-json -") || strings.Contains(text, "rm") {
		t.Errorf("started %q", text)
	}
	w = ask(s, http.MethodPost, "/api/v1/runs/"+oneRun+"/resume", `{"again":true}`, nil)
	if text := strings.Join(got, " "); w.Code != http.StatusUnprocessableEntity || !strings.HasPrefix(text, "resume w.flowgen.yaml "+oneRun) || !strings.HasSuffix(text, "--again") {
		t.Errorf("%d %s, started %q", w.Code, w.Body, text)
	}
	for _, id := range []string{"nothing-20260102T150405000-abcd", "..%2f..%2fetc", "--help", "%2e%2e"} {
		got = nil
		if w := ask(s, http.MethodPost, "/api/v1/runs/"+id+"/resume", `{}`, nil); w.Code < 400 || got != nil {
			t.Errorf("%s: %d, started %v", id, w.Code, got)
		}
	}
}

// TestEvents: a stream says the calls of a run, and then what is appended.
func TestEvents(t *testing.T) {
	s := server(t, studio.Options{NoRun: true})
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { r.Host = host; s.ServeHTTP(w, r) }))
	defer h.Close()
	defer s.Close()
	req, _ := http.NewRequest(http.MethodGet, h.URL+"/api/v1/events?topics=runs,run:"+oneRun, nil)
	req.Header.Set("Authorization", "Bearer "+s.Token())
	res, err := h.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	next := func(event, part string) {
		t.Helper()
		for found := false; lines.Scan(); {
			if found && strings.Contains(lines.Text(), part) {
				return
			}
			found = lines.Text() == "event: "+event
		}
		t.Fatalf("the stream has ended without %s: %v", event, lines.Err())
	}
	next("calls", canary)
	next("run", `"state":"waiting"`)
	if w := ask(s, http.MethodPost, "/api/v1/runs/"+oneRun+"/answers", `{"key":"q","answer":"true"}`, nil); w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	next("run", `"waits":[]`)
	s.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Errorf("the stream does not end well: %v", err)
	}
}
