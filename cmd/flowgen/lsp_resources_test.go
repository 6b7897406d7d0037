package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// goFlows are n workflows that call the functions of five Go packages.
func goFlows(n int) map[string]string {
	files := map[string]string{"go.mod": "module example.com/flows\n\ngo 1.25\n"}
	for i := range 5 {
		files[fmt.Sprintf("p%d/p.go", i)] = fmt.Sprintf("package p%d\n\nimport (\n\t\"context\"\n\t\"encoding/json\"\n\t\"net/http\"\n)\n\n// Do gives the status.\nfunc Do(ctx context.Context, who string) (string, error) {\n\t_, err := json.Marshal(who)\n\treturn http.StatusText(200), err\n}\n", i)
	}
	for i := range n {
		files[fmt.Sprintf("f%d.flowgen.yaml", i)] = fmt.Sprintf("flowgen: 1\nname: f%d\ninput: {who: string}\ntools:\n  do: {go: ./p%d.Do, effects: none}\nnodes:\n  a: {tool: do, with: {who: $input.who}}\n  b: {tool: do, with: {who: $a}}\noutput: {text: $b}\n", i, i%5)
	}
	return files
}

// bound waits until the server knows the Go function that a tool calls.
func (e *editor) bound(name string) {
	e.t.Helper()
	for {
		list := answer[[]lspLocation](e.t, e.ask("textDocument/definition", e.on(name, "./p", 0, 4)))
		if len(list) > 0 {
			return
		}
	}
}

// BenchmarkLSPStart starts the server and opens a file: until initialize is answered, until the diagnostics of the file are there, and
// until its Go functions are known.
//
//	go test ./cmd/flowgen -run - -bench LSPStart -benchtime 10x
func BenchmarkLSPStart(b *testing.B) {
	for _, c := range []struct {
		name  string
		files map[string]string
		flow  string
	}{{"shop", map[string]string{"shop.flowgen.yaml": shop}, "shop.flowgen.yaml"}, {"go", goFlows(1), "f0.flowgen.yaml"}} {
		b.Run(c.name, func(b *testing.B) {
			dir := edit(b, c.files).dir
			var began [3]time.Duration
			for b.Loop() {
				start := time.Now()
				e := editIn(b, dir)
				began[0] += time.Since(start)
				e.openDisk(c.flow)
				e.raw(c.flow)
				began[1] += time.Since(start)
				if c.name == "go" {
					e.bound(c.flow)
					began[2] += time.Since(start)
				}
				e.conn.Close()
			}
			for i, unit := range []string{"ms-initialize", "ms-diagnostics", "ms-go"} {
				b.ReportMetric(float64(began[i].Microseconds())/1000/float64(b.N), unit)
			}
		})
	}
}

// BenchmarkLSPResources is the memory of the server with 100 workflows and five Go packages, after that of 10,000 edits, and its
// processor time and processes when nobody types.
//
//	go test ./cmd/flowgen -run - -bench LSPResources -benchtime 1x
func BenchmarkLSPResources(b *testing.B) {
	for b.Loop() {
		e := edit(b, goFlows(100))
		const name = "f0.flowgen.yaml"
		e.openDisk(name)
		e.bound(name)
		e.ask("workspace/symbol", object{"query": "f"})
		e.raw(name)
		b.ReportMetric(e.megabytes(), "MB-opened")
		words := []string{"who: $a", "who: $b", "who: $a.x"}
		for i := range 10_000 {
			e.replace(name, words[i%3], words[(i+1)%3])
			if i%10 == 9 {
				e.raw(name)
			}
			if i == 999 {
				b.ReportMetric(e.megabytes(), "MB-1000-edits")
			}
		}
		b.ReportMetric(e.megabytes(), "MB-10000-edits")
		before := e.cpu()
		time.Sleep(5 * time.Second) // the measure: nobody types
		b.ReportMetric(float64(e.cpu()-before), "idle-hundredths-of-5s")
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", e.cmd.Process.Pid, e.cmd.Process.Pid))
		b.ReportMetric(float64(len(strings.Fields(string(children)))), "processes")
	}
}

// megabytes is the memory of the server.
func (e *editor) megabytes() float64 {
	fields := strings.Fields(e.resident())
	if len(fields) < 2 {
		return 0
	}
	kb, _ := strconv.Atoi(fields[1])
	return float64(kb) / 1024
}
