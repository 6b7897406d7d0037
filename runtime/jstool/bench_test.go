package jstool

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// The workload of performance.md's W9: one call of a JavaScript function, beside the worker one writes by hand and beside a
// process for each call.

var sizes = []struct{ name, text string }{
	{"100B", strings.Repeat("+ line of diff text\n", 5)},
	{"64KB", strings.Repeat("+ line of diff text\n", 3277)},
}

// minimal is a hand-written worker: a child process that answers one line with one line, one call at a time.
type minimal struct {
	mu  sync.Mutex
	in  io.WriteCloser
	out *bufio.Reader
	id  int
}

func startMinimal(b *testing.B, argv ...string) *minimal {
	b.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			b.Error(err)
		}
	})
	return &minimal{in: in, out: bufio.NewReaderSize(out, 64<<10)}
}

func (w *minimal) call(f string, a diffIn) (out diffOut, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.id++
	b, err := json.Marshal(struct {
		ID int    `json:"id"`
		F  string `json:"f"`
		A  diffIn `json:"a"`
	}{w.id, f, a})
	if err != nil {
		return out, err
	}
	if _, err := w.in.Write(append(b, '\n')); err != nil {
		return out, err
	}
	line, err := w.out.ReadBytes('\n')
	if err != nil {
		return out, err
	}
	var r struct {
		ID int             `json:"id"`
		OK json.RawMessage `json:"ok"`
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return out, err
	}
	return out, json.Unmarshal(r.OK, &out)
}

var greet = Module{Name: "greet.mjs", Code: `export default async (a) => ({ lines: a.raw.split("\n").length - 1, n: a.n + 1 })`}

func BenchmarkW9(b *testing.B) {
	program, err := interpreter("")
	if err != nil {
		b.Skip(err)
	}
	tool := Bind[diffIn, diffOut]("parse@1", flow.None, greet)
	r := newRun(b)
	check := func(b *testing.B, out diffOut, err error, lines int) {
		if err != nil || out != (diffOut{int64(lines), 2}) {
			b.Fatalf("%v, %v", out, err)
		}
	}
	hand := startMinimal(b, program, "testdata/minimal.mjs")
	for _, s := range sizes {
		lines := strings.Count(s.text, "\n")
		b.Run(s.name+"/flowgen", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				out, err := flow.Call(r, node, tool, diffIn{s.text, 1})
				check(b, out, err, lines)
			}
		})
		b.Run(s.name+"/hand", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				out, err := hand.call("t:parse_diff", diffIn{s.text, 1})
				check(b, out, err, lines)
			}
		})
	}
	for _, s := range sizes {
		// Side by side, in turns: what else the machine does hits both.
		b.Run(s.name+"/ratio", func(b *testing.B) {
			lines := strings.Count(s.text, "\n")
			inTurns(b, func() {
				out, err := flow.Call(r, node, tool, diffIn{s.text, 1})
				check(b, out, err, lines)
			}, func() {
				out, err := hand.call("t:parse_diff", diffIn{s.text, 1})
				check(b, out, err, lines)
			})
		})
	}
	for _, n := range []int{2, 64} {
		b.Run(fmt.Sprintf("100B/flowgen-par%d", n), func(b *testing.B) {
			parallel(b, n, func() error {
				_, err := flow.Call(r, node, tool, diffIn{sizes[0].text, 1})
				return err
			})
		})
	}
	b.Run("100B/spawn", func(b *testing.B) {
		m, err := json.Marshal(map[string]any{"id": 1, "f": "t:parse_diff", "a": diffIn{sizes[0].text, 1}})
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			cmd := exec.Command(program, "testdata/minimal.mjs")
			cmd.Stdin = bytes.NewReader(append(m, '\n'))
			if out, err := cmd.Output(); err != nil || !bytes.Contains(out, []byte(`"lines":5`)) {
				b.Fatalf("%s, %v", out, err)
			}
		}
	})
}

// inTurns runs a and b in short turns and reports the medians of both and their ratio.
func inTurns(b *testing.B, f, hand func()) {
	const turn = 50
	var ours, theirs []float64
	time1 := func(f func()) float64 {
		begin := time.Now()
		for range turn {
			f()
		}
		return float64(time.Since(begin).Nanoseconds()) / turn
	}
	for b.Loop() {
		ours = append(ours, time1(f))
		theirs = append(theirs, time1(hand))
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	o, t := ours[len(ours)/2], theirs[len(theirs)/2]
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(o, "flowgen-ns")
	b.ReportMetric(t, "hand-ns")
	b.ReportMetric(o/t, "ratio")
}

// parallel shares b.N calls among n goroutines.
func parallel(b *testing.B, n int, f func() error) {
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	b.ResetTimer()
	for range n {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if err := f(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}
