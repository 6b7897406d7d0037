//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/jstool"
	"github.com/flowgen-dev/flowgen/runtime/pytool"
	"github.com/flowgen-dev/flowgen/runtime/sandbox"
)

// A tool that leaks says which process it is. fine needs some of everything, and says so as well.

const pythonLeaks = `import os, subprocess, threading, time
kept = []
def leak(kind, n):
    try:
        for i in range(n):
            if kind == "descriptors":
                kept.append(os.open("/dev/null", os.O_RDONLY))
            elif kind == "threads":
                threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
            elif kind == "memory":
                kept.append(bytearray(8 << 20))
            elif kind == "small memory":
                kept.append(b"x" * 1000 + str(i).encode())
            elif kind == "processes":
                kept.append(subprocess.Popen(["sleep", "1000"]))
            elif kind == "zombies":
                kept.append(subprocess.Popen(["true"]))
            elif kind == "nothing":
                subprocess.run(["sleep", "0.2"])
            elif kind == "orphans":
                subprocess.run(["sh", "-c", "sleep 1000 &"])
    except (OSError, RuntimeError, MemoryError):
        pass
    return os.getpid()
def fine():
    with open("/dev/null") as f:
        f.read()
    t = threading.Thread(target=bytearray, args=(10 << 20,)); t.start(); t.join()
    subprocess.run(["true"], check=True)
    return os.getpid()
`

const nodeLeaks = `import fs from "node:fs"; import { spawn, execFileSync } from "node:child_process"; import { Worker } from "node:worker_threads";
const kept = [];
export default async ({ kind, n }) => {
  if (kind === "fine") {
    fs.closeSync(fs.openSync("/dev/null")); execFileSync("true"); Buffer.alloc(10 << 20);
    return process.pid;
  }
  try {
    for (let i = 0; i < n; i++) {
      if (kind === "descriptors") kept.push(fs.openSync("/dev/null"));
      else if (kind === "threads") await new Promise((ok, no) => { const w = new Worker("setInterval(() => {}, 1000)", { eval: true, resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 } }); kept.push(w); w.on("online", ok).on("error", no) });
      else if (kind === "memory") kept.push(Buffer.alloc(8 << 20, 1));
      else if (kind === "processes") { const c = spawn("sleep", ["1000"], { stdio: "ignore" }); c.on("error", () => {}); kept.push(c) }
    }
  } catch {}
  return process.pid }`

type none = struct{}

type leakIn struct {
	Kind string `json:"kind"`
	N    int64  `json:"n"`
}

// leaky binds a tool that leaks, and one of the same module that does not.
func leaky(t *testing.T, language string, o ...flow.ToolOption) (leak func(*flow.Run, string, int64) (int64, error), fine func(*flow.Run) (int64, error)) {
	interpreter(t, language)
	if language == "node" {
		tool := jstool.Bind[leakIn, int64]("leak@1", flow.Writes, jstool.Module{Name: "leaks.mjs", Code: nodeLeaks}, o...)
		leak = func(r *flow.Run, kind string, n int64) (int64, error) {
			return flow.Call(r, node, tool, leakIn{kind, n})
		}
		return leak, func(r *flow.Run) (int64, error) { return leak(r, "fine", 0) }
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "leaks.py"), []byte(pythonLeaks), 0o600); err != nil {
		t.Fatal(err)
	}
	source := &pytool.Source{Path: []string{dir}}
	leaks := pytool.Bind[leakIn, int64]("leak@1", flow.Writes, pytool.Func{Source: source, Module: "leaks", Name: "leak"}, o...)
	fines := pytool.Bind[none, int64]("fine@1", flow.Writes, pytool.Func{Source: source, Module: "leaks", Name: "fine"}, o...)
	return func(r *flow.Run, kind string, n int64) (int64, error) {
			return flow.Call(r, node, leaks, leakIn{kind, n})
		},
		func(r *flow.Run) (int64, error) { return flow.Call(r, node, fines, none{}) }
}

// calls is how many calls a test makes at most until a worker has been replaced: processes are not counted after each.
const calls = 40

func TestLeaksReplaceTheWorker(t *testing.T) {
	isolated := []flow.ToolOption{sandbox.Process()}
	for _, tt := range []struct {
		language, kind string
		n              int64 // of the leak of one call
		o              []flow.ToolOption
		long           bool // .ci/run has it: the others show the same limit, or the same leak
	}{
		{"python3", "descriptors", 100_000, isolated, true},
		{"python3", "descriptors", 40, isolated, false},
		{"python3", "threads", 1000, isolated, true},
		{"python3", "threads", 5, isolated, false},
		{"python3", "memory", 1000, isolated, true},
		{"python3", "memory", 4, isolated, false},
		{"python3", "small memory", 50_000, isolated, false},
		{"python3", "processes", 10, isolated, false},
		{"python3", "processes", 100, isolated, false},
		{"python3", "zombies", 10, isolated, true},
		{"python3", "orphans", 10, isolated, false},
		{"python3", "descriptors", 3000, nil, false},
		{"python3", "threads", 100, nil, true},
		{"python3", "memory", 100, nil, true},
		{"python3", "processes", 20, nil, false},
		{"node", "descriptors", 100_000, isolated, true},
		{"node", "descriptors", 40, isolated, false},
		{"node", "threads", 2, isolated, false},
		{"node", "memory", 4, isolated, false},
		{"node", "processes", 10, isolated, false},
		{"node", "processes", 100, isolated, false},
		{"node", "descriptors", 3000, nil, false},
		{"node", "memory", 100, nil, true},
	} {
		if tt.long && os.Getenv("LONG") == "" {
			continue
		}
		t.Run(fmt.Sprintf("%s/%s/%d/%d", tt.language, tt.kind, tt.n, len(tt.o)), func(t *testing.T) {
			leak, fine := leaky(t, tt.language, tt.o...)
			r := start(t)
			first, err := leak(r, tt.kind, tt.n)
			for range 10 { // a busy machine may still have the processes of the test before, and they count
				if err == nil || !strings.Contains(err.Error(), "could not be started") {
					break
				}
				first, err = leak(r, tt.kind, tt.n)
			}
			if err != nil {
				t.Fatal(err)
			}
			background := slices.Contains([]string{"processes", "zombies", "orphans"}, tt.kind) // counted there: calls may be faster
			for range calls {
				pid, err := fine(r)
				if err != nil && background { // it is the last one that pays: the count that follows is at once
					background = false
					pid, err = fine(r)
				}
				if err != nil {
					t.Fatalf("the next call: %v", err)
				}
				if pid != first {
					return
				}
				if pid, err = leak(r, tt.kind, tt.n); err != nil && background { // on a busy machine the count is later
					background = false
					pid, err = fine(r)
				}
				if err != nil {
					t.Fatal(err)
				}
				if pid != first {
					return
				}
			}
			t.Error("the worker was not replaced")
		})
	}
}

// A worker whose tools give back what they take is kept, however many calls it has and however many at a time.
func TestWorkersAreKept(t *testing.T) {
	for _, language := range []string{"python3", "node"} {
		for _, o := range [][]flow.ToolOption{nil, {sandbox.Process()}} {
			t.Run(fmt.Sprint(language, len(o)), func(t *testing.T) {
				_, fine := leaky(t, language, o...)
				r := start(t)
				first, err := fine(r)
				if err != nil {
					t.Fatal(err)
				}
				for range calls {
					if pid, err := fine(r); pid != first || err != nil {
						t.Fatalf("worker %d after %d, %v", pid, first, err)
					}
				}
			})
		}
	}
}

// So are those whose calls have processes of their own all the time: what a running call has is not left behind.
func TestBusyWorkersAreKept(t *testing.T) {
	leak, _ := leaky(t, "python3")
	r := start(t)
	const atOnce, rounds = 80, 4
	seen := map[int64]bool{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range atOnce {
		wg.Go(func() {
			for range rounds {
				pid, err := leak(r, "nothing", 1)
				mu.Lock()
				if seen[pid] = true; err != nil {
					t.Error(err)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if most := 2 * goruntime.GOMAXPROCS(0); len(seen) > most {
		t.Errorf("%d workers instead of %d", len(seen), most)
	}
}

// A program whose tools have warm workers leaves no folder of them behind at its end.
func TestExitRemovesFolders(t *testing.T) {
	temp := t.TempDir()
	if err := os.Chmod(temp, 0o711); err != nil { // root's tools are other users
		t.Fatal(err)
	}
	for _, language := range []string{"python3", "node"} {
		_, fine := leaky(t, language, sandbox.Process())
		t.Setenv("TMPDIR", temp)
		if _, err := fine(start(t)); err != nil {
			t.Fatal(err)
		}
		if list, _ := filepath.Glob(filepath.Join(temp, "flowgen-sandbox-*")); len(list) != 1 {
			t.Errorf("%s: folders %q while the worker is warm", language, list)
		}
		runtime.Exit()
		if list, _ := filepath.Glob(filepath.Join(temp, "flowgen-sandbox-*")); len(list) != 0 {
			t.Errorf("%s: %q are left", language, list)
		}
	}
}
