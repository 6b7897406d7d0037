//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

// TestMain makes the test binary the service where a test starts it.
func TestMain(m *testing.M) {
	if os.Getenv("SERVICE") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// A server is a process of the service.
type server struct {
	cmd  *exec.Cmd
	addr string
	log  chan []string // all lines, when it has ended
}

func start(t *testing.T, dir string) *server {
	t.Helper()
	s := &server{cmd: exec.Command(os.Args[0]), log: make(chan []string, 1)}
	s.cmd.Env = append(os.Environ(), "SERVICE=1", "ADDR=127.0.0.1:0", "RUNS="+filepath.Join(dir, "runs"), "LEDGER="+filepath.Join(dir, "ledger"))
	out, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	addr := make(chan string, 1)
	go func() {
		var all []string
		for lines := bufio.NewScanner(out); lines.Scan(); {
			all = append(all, lines.Text())
			var record struct{ Msg, Addr string }
			if json.Unmarshal(lines.Bytes(), &record) == nil && record.Msg == "listening" {
				addr <- record.Addr
			}
		}
		close(addr)
		s.log <- all
	}()
	s.addr = <-addr
	if s.addr == "" {
		t.Fatalf("the service did not start: %s", <-s.log)
	}
	return s
}

// end ends the process with a signal and returns what it has logged.
func (s *server) end(t *testing.T, sig syscall.Signal) string {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	log := <-s.log
	err := s.cmd.Wait()
	if sig == syscall.SIGTERM && err != nil {
		t.Errorf("it did not end by itself: %v", err)
	}
	return strings.Join(log, "\n")
}

type reply struct {
	Run      string
	Question struct {
		Key, Question string
		Choices       []string
	}
	Result *struct {
		Decision string
		Payment  *string
	}
	Error string
}

func (s *server) post(t *testing.T, path, body string, status int) (r reply) {
	t.Helper()
	resp, err := http.Post("http://"+s.addr+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	_ = json.Unmarshal(text, &r)
	if resp.StatusCode != status {
		t.Fatalf("POST %s %s: %d, want %d: %s", path, body, resp.StatusCode, status, text)
	}
	return r
}

func (s *server) get(t *testing.T, path string) string {
	t.Helper()
	resp, err := http.Get("http://" + s.addr + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %d, %v, %s", path, resp.StatusCode, err, text)
	}
	return string(text)
}

// The service is killed between question and answer, and by and by takes wrong, late and unknown answers. The payment is made
// once.
func TestKilledBetween(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	asked := s.post(t, "/expenses", `{"employee": "ada", "purpose": "books", "euros": 120}`, http.StatusAccepted)
	if asked.Question.Key != "decision" || asked.Question.Question != "Pay ada 120 euros for books?" || len(asked.Question.Choices) != 2 {
		t.Errorf("%+v", asked)
	}
	path := "/expenses/" + asked.Run + "/answer"
	s.post(t, path, `{"question": "decision", "answer": "perhaps"}`, http.StatusUnprocessableEntity)
	s.end(t, syscall.SIGKILL)

	s = start(t, dir)
	if open := s.get(t, "/expenses/"+asked.Run+"/questions"); !strings.HasPrefix(open, `[{"key":"decision","question":"Pay ada 120 euros for books?"`) {
		t.Errorf("open questions: %s", open)
	}
	s.post(t, path, `{"question": "decision"`, http.StatusBadRequest)
	s.post(t, path, `{"question": "decision", "answer": ""}`, http.StatusUnprocessableEntity)
	s.post(t, path, `{"question": "finance", "answer": "approve"}`, http.StatusNotFound)
	s.post(t, "/expenses/other/answer", `{"question": "decision", "answer": "approve"}`, http.StatusNotFound)
	done := s.post(t, path, `{"question": "decision", "answer": "approve"}`, http.StatusOK)
	if done.Run != asked.Run || done.Result == nil || done.Result.Decision != "approve" || done.Result.Payment == nil || *done.Result.Payment != "ada-120" {
		t.Errorf("%+v", done)
	}
	s.post(t, path, `{"question": "decision", "answer": "reject"}`, http.StatusConflict)

	asked = s.post(t, "/expenses", `{"employee": "bob", "purpose": "a boat", "euros": 90000}`, http.StatusAccepted)
	s.post(t, "/expenses/"+asked.Run+"/answer", `{"question": "decision", "answer": "approve"}`, http.StatusPaymentRequired)
	if vars := s.get(t, "/debug/vars"); !strings.Contains(vars, `"expense.pay@1": 2`) || !strings.Contains(vars, `"Payment Required": 1`) {
		t.Errorf("%s", vars)
	}
	if open := s.get(t, "/expenses/"+asked.Run+"/questions"); open != "[]\n" {
		t.Errorf("open questions of a run that has ended: %s", open)
	}
	log := s.end(t, syscall.SIGTERM)
	for _, want := range []string{`"msg":"call","run":"` + done.Run + `","workflow":"expense","key":"payment","node":"payment"`, `"tool":"expense.pay@1","attempt":1,"duration":`,
		`"msg":"run succeeded","run":"` + done.Run, `"msg":"run failed","run":"` + asked.Run} {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no %s:\n%s", want, log)
		}
	}
	if ledger, err := os.ReadFile(filepath.Join(dir, "ledger")); err != nil || string(ledger) != "ada 120\n" {
		t.Errorf("%v, %q", err, ledger)
	}
}

// An answer that was written down before the service died is not lost: the next process goes on with it.
func TestKilledBehindTheAnswer(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	asked := s.post(t, "/expenses", `{"employee": "eve", "purpose": "tea", "euros": 3}`, http.StatusAccepted)
	s.end(t, syscall.SIGKILL)
	if err := runs.Open(filepath.Join(dir, "runs"), runs.Options{}).Respond(t.Context(), asked.Run, "decision", "approve"); err != nil {
		t.Fatal(err)
	}
	s = start(t, dir)
	s.post(t, "/expenses/"+asked.Run+"/answer", `{"question": "decision", "answer": "reject"}`, http.StatusConflict)
	s.end(t, syscall.SIGTERM)
	if ledger, err := os.ReadFile(filepath.Join(dir, "ledger")); err != nil || string(ledger) != "eve 3\n" {
		t.Errorf("%v, %q", err, ledger)
	}
}

// The code of the guides is that of this example.
func TestGuides(t *testing.T) {
	program, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	workflow, err := os.ReadFile("expense/expense.flowgen.yaml")
	if err != nil {
		t.Fatal(err)
	}
	doubt, err := os.ReadFile("../../runtime/journal/runs/example_doubt_test.go")
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := os.ReadFile("../../runtime/otel/example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"embedding.md", "approvals.md"} {
		text, err := os.ReadFile(filepath.Join("../../docs/guides", page))
		if err != nil {
			t.Fatal(err)
		}
		blocks := 0
		for i, block := range strings.Split(string(text), "```") {
			language, code, _ := strings.Cut(block, "\n")
			source := map[string]string{"go": string(program) + string(doubt) + string(metrics), "yml": string(workflow)}[language]
			if i%2 == 0 || source == "" {
				continue
			}
			blocks++
			for line := range strings.Lines(code) {
				if line = strings.TrimSpace(line); line != "..." && !strings.Contains(source, line) {
					t.Errorf("%s: the example has no line %s", page, line)
				}
			}
		}
		if blocks == 0 {
			t.Errorf("%s has no code", page)
		}
	}
}
