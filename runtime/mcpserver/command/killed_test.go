//go:build unix

package command_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// paid is what a call of the tool says.
type paid struct {
	Run, State string
	Output     *output
}

// pays calls the tool with an order, whose name is its idempotency key, and asks again while the run goes on.
func pays(t *testing.T, c *mcp.ClientSession, order string) (*paid, error) {
	p := &mcp.CallToolParams{Name: "pay", Arguments: map[string]any{"order": order}, Meta: mcp.Meta{"flowgen.dev/idempotency-key": order}}
	for {
		r, err := c.CallTool(t.Context(), p)
		if err != nil {
			return nil, err
		}
		if r.StructuredContent == nil { // nothing was begun: the program is about to stop
			return nil, errors.New("refused")
		}
		v := &paid{}
		if text, err := json.Marshal(r.StructuredContent); err != nil || json.Unmarshal(text, v) != nil {
			return nil, err
		}
		if v.State != "running" {
			return v, nil
		}
		p = &mcp.CallToolParams{Name: "run_result", Arguments: map[string]any{"run": v.Run}}
	}
}

// A program that is killed or stopped while clients call its tool, again and again, loses no order and pays none twice: clients call
// again with the same key.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	ledger := filepath.Join(dir, "ledger")
	const orders = 60
	known := map[string]*paid{}
	var mu sync.Mutex
	round := func(version string, enough int64, sig syscall.Signal) {
		cmd := exec.Command(os.Args[0], "mcp", "--addr", "127.0.0.1:0", "--admin", "off", "--drain", "1ms", "--runs", filepath.Join(dir, "runs"))
		cmd.Env = append(os.Environ(), "SERVED_PROGRAM=1", "LEDGER="+ledger)
		log, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		address := make(chan string, 1)
		over := make(chan struct{})
		go func() {
			defer close(over)
			for lines := bufio.NewScanner(log); lines.Scan(); {
				var record struct{ Msg, Addr string }
				if json.Unmarshal(lines.Bytes(), &record) == nil && record.Msg == "listening" && record.Addr != "" {
					address <- record.Addr
				}
			}
		}()
		url := "http://" + <-address + "/mcp"
		var done atomic.Int64
		var all sync.WaitGroup
		for k := range 4 {
			all.Go(func() {
				transport := &mcp.StreamableClientTransport{Endpoint: url, MaxRetries: -1}
				c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
				if err != nil {
					return // it was killed before
				}
				defer func() { _ = c.Close() }()
				for n := k; n < orders; n += 4 {
					order := fmt.Sprint("o", n)
					mu.Lock()
					before := known[order]
					mu.Unlock()
					if before != nil && before.State == "succeeded" {
						continue
					}
					v, err := pays(t, c, order)
					if err != nil {
						return
					}
					mu.Lock()
					if before != nil && before.Run != v.Run {
						t.Errorf("%s is run %s, then %s", order, before.Run, v.Run)
					}
					known[order] = v
					mu.Unlock()
					if done.Add(1) == enough {
						_ = cmd.Process.Signal(sig)
					}
				}
			})
		}
		all.Wait()
		_ = cmd.Process.Signal(sig)
		<-over
		_ = cmd.Wait()
	}
	round("2025-06-18", 12, syscall.SIGKILL)
	round("2026-07-28", 12, syscall.SIGTERM)
	round("2025-06-18", 12, syscall.SIGKILL)
	round("2026-07-28", orders+1, syscall.SIGTERM)

	text, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if lines[strings.TrimSpace(line)]++; lines[strings.TrimSpace(line)] > 1 {
			t.Errorf("%s was paid twice", line)
		}
	}
	doubtful := 0
	for n := range orders {
		order := fmt.Sprint("o", n)
		switch v := known[order]; {
		case v == nil:
			t.Errorf("%s is lost", order)
		case v.State == "in_doubt": // it was killed between the payment and its record
			doubtful++
		case v.State != "succeeded" || v.Output.Paid != order || lines[order] != 1:
			t.Errorf("%s: %+v, paid %d times", order, v, lines[order])
		}
	}
	t.Logf("%d orders, %d in doubt", orders, doubtful)
}
