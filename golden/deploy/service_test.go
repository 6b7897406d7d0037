//go:build unix

package deploy

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestService serves the workflow of examples/service, kills the server under load, again and again, and starts it again: the
// ledger, which is outside of it, has every payment once. LONG does it 20 times.
func TestService(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	dir, cache := t.TempDir(), t.TempDir()
	exe, ledger := filepath.Join(dir, "expense"), filepath.Join(dir, "ledger")
	if out, err := exec.Command("go", "build", "-ldflags=-s", "-o", dir, "../../cmd/flowgen").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	build := exec.Command(filepath.Join(dir, "flowgen"), "build", "../../examples/service/expense/expense.flowgen.yaml", "--verbs", "serve,mcp", "-o", exe)
	builds, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	build.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache, "GOCACHE="+strings.TrimSpace(string(builds)))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	start := func() *server {
		return serve(t, exe, []string{"serve", "--addr", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--runs", filepath.Join(dir, "runs")}, append(os.Environ(), "LEDGER="+ledger))
	}
	rounds := 3
	if os.Getenv("LONG") != "" {
		rounds = 20
	}
	e := &expenses{accepted: map[string]string{}}
	for range rounds {
		s := start()
		e.load(t, s)
		<-s.log
		_ = s.cmd.Wait()
	}
	s := start()
	doubtful := e.settle(t, s)
	paid := map[string]int{}
	for line := range strings.Lines(read(t, ledger)) {
		if paid[line]++; paid[line] > 1 {
			t.Errorf("paid twice: %s", line)
		}
	}
	if len(paid) < len(e.accepted)-doubtful || len(paid) > len(e.accepted) {
		t.Errorf("%d of %d expenses are paid, and %d are in doubt", len(paid), len(e.accepted), doubtful)
	}
	t.Logf("%d expenses, %d in doubt", len(e.accepted), doubtful)
	t.Run("clients", func(t *testing.T) { s.clients(t) })
	s.stop(t)
}

// expenses are runs that a server has accepted.
type expenses struct {
	mu       sync.Mutex
	n        int
	accepted map[string]string // by who has them: the run
}

// load begins runs and answers their questions until the server is killed, in the middle of others.
func (e *expenses) load(t *testing.T, s *server) {
	var all sync.WaitGroup
	var answers atomic.Int64
	for range 4 {
		all.Go(func() {
			for {
				e.mu.Lock()
				e.n++
				who := fmt.Sprintf("employee-%d", e.n)
				e.mu.Unlock()
				id := e.begin(t, s, who)
				if id == "" {
					return // it was killed
				}
				e.mu.Lock()
				e.accepted[who] = id
				e.mu.Unlock()
				if s.approve(t, id, "wait=60") == 0 {
					return
				}
				if answers.Add(1) == 10 {
					_ = s.cmd.Process.Kill()
				}
			}
		})
	}
	all.Wait()
}

// begin returns the run of an expense, that which has begun when there is one already, or "" when nobody answers.
func (e *expenses) begin(t *testing.T, s *server, who string) (id string) {
	status, text := s.try(t, "POST", "/v1/workflows/expense/runs", `{"employee": "`+who+`", "purpose": "books", "euros": 7}`, "Prefer", "wait=60", "Idempotency-Key", who)
	var v struct{ ID string }
	switch {
	case status == 0:
		return ""
	case status >= 300 || json.Unmarshal([]byte(text), &v) != nil:
		t.Errorf("%s: %d %s", who, status, text)
	}
	return v.ID
}

// approve answers the question of a run and returns the status, 0 when nobody answers.
func (s *server) approve(t *testing.T, id, prefer string) int {
	status, text := s.try(t, "PUT", "/v1/runs/"+id+"/questions/decision", `{"answer": "approve"}`, "Prefer", prefer)
	if status >= 300 && status != http.StatusConflict && status != http.StatusGone {
		t.Errorf("%s: %d %s", id, status, text)
	}
	return status
}

// try is ask of a server that may be killed: the status is 0 then.
func (s *server) try(t *testing.T, method, path, body string, headers ...string) (status int, text string) {
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.addr+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, ""
	}
	defer resp.Body.Close()
	var v json.RawMessage
	if json.NewDecoder(resp.Body).Decode(&v) != nil {
		return 0, "" // cut off
	}
	return resp.StatusCode, string(v)
}

// settle answers what is open, and waits until all runs are over. It returns how many of them were cut off in a payment.
func (e *expenses) settle(t *testing.T, s *server) (doubtful int) {
	for _, who := range slices.Sorted(maps.Keys(e.accepted)) {
		id := e.accepted[who]
		if again := e.begin(t, s, who); again != id {
			t.Fatalf("%s was run %s and is %q now", who, id, again)
		}
		var v struct{ State string }
		for v.State == "" || v.State == "running" || v.State == "waiting" {
			status, text := s.try(t, "GET", "/v1/runs/"+id, "", "Prefer", "wait=60")
			if status != http.StatusOK || json.Unmarshal([]byte(text), &v) != nil {
				t.Fatalf("%s: %d %s", who, status, text)
			}
			if v.State == "waiting" {
				s.approve(t, id, "wait=60")
			}
		}
		switch v.State {
		case "succeeded":
		case "in_doubt":
			doubtful++
		default:
			t.Errorf("%s is %s", who, v.State)
		}
	}
	return doubtful
}

// clients calls the server with the official Python SDK of MCP, and with a client that a public generator makes of its OpenAPI
// document.
func (s *server) clients(t *testing.T) {
	packages := os.Getenv("PYTHON_CLIENTS")
	switch {
	case packages == "" && os.Getenv("CI") != "":
		t.Fatal("PYTHON_CLIENTS is not set")
	case packages == "" || packages == "none":
		t.Skip("PYTHON_CLIENTS is not set: .ci/run installs the packages")
	}
	dir := t.TempDir()
	script, err := filepath.Abs("testdata/service.py")
	if err != nil {
		t.Fatal(err)
	}
	_, document := s.try(t, "GET", "/v1/openapi.json", "")
	write(t, filepath.Join(dir, "openapi.json"), document)
	for _, args := range [][]string{
		{"-m", "openapi_python_client", "generate", "--path", "openapi.json", "--output-path", "served", "--meta", "none"},
		{script, "http://" + s.addr},
	} {
		cmd := exec.CommandContext(t.Context(), "python3", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PYTHONPATH="+packages+string(filepath.ListSeparator)+dir)
		if out, err := cmd.CombinedOutput(); err != nil || args[0] == script && string(out) != "well\n" {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}
