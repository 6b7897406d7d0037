package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkLSP types in a file of 500 nodes and measures, at the client, how long answers take: the table of docs/editor.md.
//
//	go test ./cmd/flowgen -run - -bench LSP -benchtime 300x
func BenchmarkLSP(b *testing.B) {
	var text strings.Builder
	text.WriteString("flowgen: 1\nname: long\ninput: {who: string}\nnodes:\n  n0: {let: {text: $input.who, n: 1}}\n")
	for i := 1; i < 500; i++ {
		fmt.Fprintf(&text, "  n%d: {let: {text: \"{{ n%d.text }} and\", n: $n%d.n + 1}}\n", i, i-1, i-1)
	}
	text.WriteString("output: {text: $n499.text}\n")
	const name = "long.flowgen.yaml"
	percentiles := func(b *testing.B, times []time.Duration) {
		slices.Sort(times)
		for _, p := range []int{50, 95, 99} {
			b.ReportMetric(float64(times[(len(times)-1)*p/100].Microseconds())/1000, fmt.Sprintf("ms-p%d", p))
		}
	}
	began := time.Now()
	e := edit(b, nil)
	b.Logf("initialize: %v", time.Since(began))
	began = time.Now()
	e.open(name, text.String())
	e.raw(name)
	b.Logf("first diagnostics: %v", time.Since(began))
	b.Run("diagnostics", func(b *testing.B) {
		var times []time.Duration
		for b.Loop() {
			began := time.Now()
			if strings.Contains(e.texts[name], "n250.text }} and") {
				e.replace(name, "n250.text }} and", "n250.tex }} and")
			} else {
				e.replace(name, "n250.tex }} and", "n250.text }} and")
			}
			e.raw(name)
			times = append(times, time.Since(began))
		}
		percentiles(b, times)
	})
	for _, method := range []string{"completion", "hover", "definition"} {
		b.Run(method, func(b *testing.B) {
			var times []time.Duration
			for b.Loop() {
				began := time.Now()
				e.ask("textDocument/"+method, e.on(name, "n250.te", 0, 6))
				times = append(times, time.Since(began))
			}
			percentiles(b, times)
		})
	}
	if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", e.cmd.Process.Pid)); err == nil {
		for line := range strings.Lines(string(status)) {
			if strings.HasPrefix(line, "VmRSS") {
				b.Log(line)
			}
		}
	}
}
