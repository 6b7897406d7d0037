//go:build unix

package command_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/cli"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	_ "github.com/flowgen-dev/flowgen/runtime/serve/command"
)

var (
	readNode = &flow.Node{ID: "read", Pos: "w.flowgen.yaml:3:3", Index: 0}
	payNode  = &flow.Node{ID: "pay", Pos: "w.flowgen.yaml:4:3", Index: 1}
	info     = &flow.Info{Name: "pay", Nodes: []*flow.Node{readNode, payNode}}
)

// input is an order, which is paid by a line in a file.
type input struct {
	Order string `json:"order"`
}

type workflow struct{ rt *flow.Runtime }

func (w *workflow) Run(ctx context.Context, in input) (out string, err error) {
	run := flow.Start(ctx, w.rt, in)
	defer flow.End(run, &out, &err)
	read := flow.Bind("w.read@1", flow.Reads, func(_ context.Context, in input) (string, error) { return in.Order, nil })
	order, err := flow.Call(run, readNode, read, in)
	if err != nil {
		return "", err
	}
	pay := flow.Bind("w.pay@1", flow.Writes, func(_ context.Context, order string) (string, error) {
		f, err := os.OpenFile(os.Getenv("LEDGER"), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
		if err != nil {
			return "", err
		}
		defer f.Close()
		_, err = f.WriteString(order + "\n")
		return order, err
	})
	return flow.Call(run, payNode, pay, order)
}

// TestMain is the program when the test starts itself as that.
func TestMain(m *testing.M) {
	if os.Getenv("SERVED_PROGRAM") == "" {
		leaks.Main(m)
		return
	}
	cli.Main(info, func(o ...runtime.Option) (*workflow, error) {
		rt, err := flow.New(info, o...)
		return &workflow{rt}, err
	})
}

type program struct {
	cmd         *exec.Cmd
	addr, admin string
	log         chan string
}

func start(t *testing.T, dir string, args ...string) *program {
	t.Helper()
	p := &program{cmd: exec.Command(os.Args[0], append([]string{"serve", "--addr", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--runs", filepath.Join(dir, "runs")}, args...)...), log: make(chan string, 1)}
	p.cmd.Env = append(os.Environ(), "SERVED_PROGRAM=1", "LEDGER="+filepath.Join(dir, "ledger"))
	out, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan struct{})
	go func() {
		var all strings.Builder
		for lines := bufio.NewScanner(out); lines.Scan(); {
			all.WriteString(lines.Text() + "\n")
			var record struct{ Msg, Addr, Admin string }
			if json.Unmarshal(lines.Bytes(), &record) == nil && record.Msg == "listening" {
				p.admin = max(p.admin, record.Admin)
				if p.addr = record.Addr; p.addr != "" {
					close(ready)
				}
			}
		}
		p.log <- all.String()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		http.DefaultClient.CloseIdleConnections()
	})
	select {
	case <-ready:
	case text := <-p.log:
		t.Fatalf("it did not start: %s", text)
	}
	return p
}

func (p *program) end(t *testing.T, sig syscall.Signal) string {
	t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	log := <-p.log
	if err := p.cmd.Wait(); sig == syscall.SIGTERM && err != nil {
		t.Errorf("%v: %s", err, log)
	}
	return log
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// A program that is killed under load, again and again, loses no run that it has accepted, and pays none twice.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	accepted := map[string]string{} // order: run
	var mu sync.Mutex
	n := 0
	for range 5 {
		p := start(t, dir)
		var all sync.WaitGroup
		var answers atomic.Int64
		for range 4 {
			all.Go(func() {
				for {
					mu.Lock()
					n++
					order := fmt.Sprintf("order-%d", n)
					mu.Unlock()
					r, err := http.NewRequest("POST", "http://"+p.addr+"/v1/workflows/pay/runs", strings.NewReader(`{"order": "`+order+`"}`))
					if err != nil {
						t.Error(err)
						return
					}
					r.Header.Set("Content-Type", "application/json")
					r.Header.Set("Idempotency-Key", order)
					resp, err := http.DefaultClient.Do(r)
					if err != nil {
						return // it was killed
					}
					var v struct{ ID string }
					err = json.NewDecoder(resp.Body).Decode(&v)
					_ = resp.Body.Close()
					switch {
					case resp.StatusCode == http.StatusAccepted && err == nil:
						mu.Lock()
						accepted[order] = v.ID
						mu.Unlock()
						if answers.Add(1) == 20 {
							_ = p.cmd.Process.Kill()
						}
					case resp.StatusCode != http.StatusTooManyRequests && err == nil:
						t.Errorf("%d", resp.StatusCode)
						return
					}
				}
			})
		}
		all.Wait()
		<-p.log
		_ = p.cmd.Wait()
	}
	p := start(t, dir)
	doubtful := 0
	for order, id := range accepted {
		var v struct{ State string }
		for v.State == "" || v.State == "running" {
			status, text := get(t, "http://"+p.addr+"/v1/runs/"+id)
			if status != http.StatusOK || json.Unmarshal([]byte(text), &v) != nil {
				t.Fatalf("%s: %d %s", order, status, text)
			}
		}
		switch v.State {
		case "succeeded":
		case "in_doubt": // it was killed between the payment and its record
			doubtful++
		default:
			t.Errorf("%s is %s", order, v.State)
		}
	}
	if _, text := get(t, "http://"+p.admin+"/readyz"); text != "ok\n" {
		t.Errorf("%s", text)
	}
	p.end(t, syscall.SIGTERM)
	ledger, err := os.ReadFile(filepath.Join(dir, "ledger"))
	if err != nil {
		t.Fatal(err)
	}
	paid := map[string]int{}
	for line := range strings.Lines(string(ledger)) {
		if paid[strings.TrimSpace(line)]++; paid[strings.TrimSpace(line)] > 1 {
			t.Errorf("%s was paid twice", line)
		}
	}
	missing := 0
	for order := range accepted {
		if paid[order] == 0 {
			missing++
		}
	}
	if missing > doubtful {
		t.Errorf("%d of %d orders are not paid, %d are in doubt", missing, len(accepted), doubtful)
	}
	t.Logf("%d orders, %d in doubt", len(accepted), doubtful)
}

// Requests that a page of others lets a browser make are refused, and so is an address that everybody reaches.
func TestWhoMayAsk(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir)
	for header, v := range map[string]string{"Host": "evil.example", "Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"} {
		r, err := http.NewRequest("GET", "http://"+p.addr+"/v1/runs", nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Header.Set(header, v); header == "Host" {
			r.Host = v
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %s: %d", header, v, resp.StatusCode)
		}
	}
	p.end(t, syscall.SIGTERM)
	tokens := filepath.Join(dir, "tokens")
	if err := os.WriteFile(tokens, []byte("name=x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"other machines can reach 0.0.0.0:0":   {"--addr", "0.0.0.0:0"},
		"one of sha256 and cert are required":  {"--tokens", tokens},
		"TLS needs the files of a certificate": {"--tls-cert", tokens},
		"the certificate cannot be read":       {"--tls-cert", tokens, "--tls-key", tokens},
		"write the origin of a page":           {"--cors", "https://app.example.com/path"},
		"the tokens cannot be read":            {"--tokens", filepath.Join(dir, "none")},
		"unknown flag --adr":                   {"--adr", "x"},
		"expected a number, at least 1":        {"--max-runs", "0"},
		"write --on-restart resume":            {"--on-restart", "never"},
		"unexpected argument hello":            {"hello"},
		"runs must be recorded":                {"--runs", "off"},
		"cannot listen at 127.0.0.1:notaport":  {"--addr", "127.0.0.1:notaport"},
		"cannot listen at 127.0.0.1:notaport2": {"--addr", "127.0.0.1:0", "--admin", "127.0.0.1:notaport2"},
	} {
		cmd := exec.Command(os.Args[0], append([]string{"serve", "--runs", filepath.Join(dir, "runs"), "--addr", "127.0.0.1:0", "--admin", "off"}, args...)...)
		cmd.Env = append(os.Environ(), "SERVED_PROGRAM=1")
		if text, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(text), want) {
			t.Errorf("%v: %v, %s", args, err, text)
		}
	}
}
