//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/examples/triage/host"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/llm/fake"
)

// wire stands between the program and its servers, and kills it at one of its requests.
type wire struct {
	mu   sync.Mutex
	seen []string // what went through
	at   int      // the request that is the last one, from 1; 0: none
	when moment
	kill func()
	dead chan struct{} // closed when the program has ended
}

// moment says when the program dies.
type moment int

const (
	before moment = iota // the request has not gone through
	amid                 // it has, and nobody knows
	behind               // the answer is on its way
)

// to starts a server that passes on to another.
func (w *wire) to(t *testing.T, server string) string {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.at--
		last, when, kill, dead := w.at == 0, w.when, w.kill, w.dead
		if !last || when != before {
			w.seen = append(w.seen, r.Method+" "+r.URL.Path)
		}
		w.mu.Unlock()
		if !last {
			proxy.ServeHTTP(rw, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if when == amid {
			proxy.ServeHTTP(httptest.NewRecorder(), r.Clone(t.Context()))
		}
		if when == behind {
			proxy.ServeHTTP(rw, r)
			_ = http.NewResponseController(rw).Flush()
		}
		kill()
		<-dead
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// killed is the program with the servers it talks to.
type killed struct {
	exe  string
	env  []string
	wire *wire
	host *host.Server
}

// start runs the program and returns its output, or says that it was killed.
func (k *killed) start(t *testing.T, args ...string) (out []byte, dead bool) {
	t.Helper()
	cmd := exec.Command(k.exe, args...)
	cmd.Env = append(os.Environ(), k.env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	ended := make(chan struct{})
	k.wire.mu.Lock()
	err := cmd.Start()
	k.wire.kill, k.wire.dead = func() { _ = cmd.Process.Kill() }, ended
	k.wire.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	close(ended)
	if cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
		return nil, true
	}
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, stderr.String())
	}
	return stdout.Bytes(), false
}

// The program is killed at each of its requests: before it, when it has gone through and when it is answered. Resumed, it
// gives the same output, asks no model again that had answered, and the comment is there once.
func TestKilledAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	dir := t.TempDir()
	k := &killed{exe: filepath.Join(dir, "triage"), wire: &wire{}}
	if out, err := exec.Command("go", "build", "-o", k.exe, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	m, err := fake.Start("key-of-the-test", model)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	base, err := url.Parse(m.Base(fake.OpenAI))
	if err != nil {
		t.Fatal(err)
	}
	models := k.wire.to(t, base.Scheme+"://"+base.Host) + base.Path
	k.env = []string{"OPENAI_API_KEY=key-of-the-test", "OPENAI_BASE_URL=" + models}

	begin := func(name string, at int, when moment) (out []byte, dead bool, folder *runs.Folder) {
		h, err := host.Start()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Stop() })
		k.host = h
		server, err := url.Parse(k.wire.to(t, fmt.Sprintf("http://127.0.0.1:%d", h.Port)))
		if err != nil {
			t.Fatal(err)
		}
		k.wire.mu.Lock()
		k.wire.seen, k.wire.at, k.wire.when = nil, at, when
		k.wire.mu.Unlock()
		folder = runs.Open(filepath.Join(dir, name), runs.Options{})
		out, dead = k.start(t, "run", "--quiet", "--runs", folder.Dir(), "--input", "port="+server.Port())
		return out, dead, folder
	}
	whole, _, _ := begin("whole", 0, before)
	requests := k.wire.seen
	var want Output
	if err := json.Unmarshal(whole, &want); err != nil || len(requests) != 5 || len(want.Calls) != 2 {
		t.Fatalf("%v, %q, %s", err, requests, whole)
	}
	faster := 0
	for at := range len(requests) {
		for when := before; when <= behind; when++ {
			name := fmt.Sprintf("request-%d-%d", at, when)
			first, dead, folder := begin(name, at+1, when)
			if !dead && (when != behind || !bytes.Equal(first, whole)) {
				t.Fatalf("%s: it has survived, with %s", name, first)
			}
			list, err := folder.List()
			if err != nil || len(list) != 1 {
				t.Fatalf("%s: %+v, %v", name, list, err)
			}
			if list[0].Outcome == journal.Succeeded && when == behind { // who has the answer can be faster than what kills it
				faster++
			} else if list[0].Outcome != journal.Open || !dead {
				t.Fatalf("%s: %+v", name, list)
			}
			out, _ := k.start(t, "resume", list[0].ID, "--quiet", "--runs", folder.Dir())
			if diff := cmp.Diff(string(whole), string(out)); diff != "" {
				t.Errorf("%s: output (-want +got):\n%s", name, diff)
			}
			if n := len(k.host.Comments()); n != 1 {
				t.Errorf("%s: %d comments", name, n)
			}
			k.wire.mu.Lock()
			twice := len(k.wire.seen) - len(requests)
			seen := strings.Join(k.wire.seen, "\n")
			k.wire.mu.Unlock()
			if when == before && twice != 0 || when == amid && twice != 1 || when == behind && twice > 1 {
				t.Errorf("%s: the program has asked for:\n%s", name, seen)
			}
			again, _ := k.start(t, "replay", list[0].ID, "--quiet", "--runs", folder.Dir())
			if !bytes.Equal(again, whole) {
				t.Errorf("%s: replayed: %s", name, again)
			}
		}
	}
	t.Logf("killed at %d requests, three times each; %d times it had done all before", len(requests), faster)
}
