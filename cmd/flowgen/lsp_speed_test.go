package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkLSP types in a file of 500 nodes and measures, at the client, how long answers take: the table of docs/benchmarks.md.
//
//	go test ./cmd/flowgen -run - -bench 'LSP$' -benchtime 300x
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
		used := e.cpu()
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
		b.ReportMetric(float64(10*(e.cpu()-used))/float64(b.N), "cpu-ms/key") // which other work on the machine hardly changes
	})
	b.Run("typing", func(b *testing.B) { // a text of a template, ten keys a second
		const word = "{{ n248.text }} of {{ n249.text }} "
		var times []time.Duration
		used, superseded, i := e.cpu(), 0, 0
		keys := time.NewTicker(100 * time.Millisecond)
		defer keys.Stop()
		for b.Loop() {
			<-keys.C
			began := time.Now()
			if i == len(word) {
				e.replace(name, "n250: {let: {text: \""+word, "n250: {let: {text: \"")
				i = 0
			} else {
				e.replace(name, "n250: {let: {text: \""+word[:i], "n250: {let: {text: \""+word[:i+1])
				i++
			}
			for p := range e.published {
				if p.Version != nil && *p.Version == e.versions[name] {
					break
				}
				superseded++
			}
			times = append(times, time.Since(began))
		}
		percentiles(b, times)
		b.ReportMetric(float64(superseded), "superseded")
		b.ReportMetric(float64(10*(e.cpu()-used))/float64(b.N), "cpu-ms/key")
		e.replace(name, "n250: {let: {text: \""+word[:i], "n250: {let: {text: \"")
		e.raw(name)
	})
	b.Run("fast", func(b *testing.B) { // as fast as the server takes it: what is replaced must not be published
		superseded := 0
		for b.Loop() {
			for range 10 {
				e.replace(name, "name: long", "name: long")
			}
			for p := range e.published {
				if p.Version != nil && *p.Version == e.versions[name] {
					break
				}
				superseded++
			}
		}
		b.ReportMetric(float64(superseded)/float64(b.N*10), "superseded/key")
	})
	for _, method := range []string{"completion", "hover", "definition", "signatureHelp"} {
		b.Run(method, func(b *testing.B) {
			var times []time.Duration
			used := e.cpu()
			for b.Loop() {
				began := time.Now()
				e.ask("textDocument/"+method, e.on(name, "n250.te", 0, 6))
				times = append(times, time.Since(began))
			}
			percentiles(b, times)
			b.ReportMetric(float64(10*(e.cpu()-used))/float64(b.N), "cpu-ms/key")
		})
	}
	b.Log(e.resident())
	before := e.cpu()
	time.Sleep(3 * time.Second)
	b.Logf("processor time in 3 s without keys: %d hundredths of a second", e.cpu()-before)
}

// resident is the memory of the server.
func (e *editor) resident() string {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", e.cmd.Process.Pid))
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmRSS") {
			return strings.TrimSpace(line)
		}
	}
	return "resident memory is not known on this system"
}

// cpu is the processor time that the server has used, in hundredths of a second.
func (e *editor) cpu() (n int) {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", e.cmd.Process.Pid))
	if f := strings.Fields(string(stat)); len(f) > 14 {
		var user, system int
		_, _ = fmt.Sscan(f[13], &user)
		_, _ = fmt.Sscan(f[14], &system)
		n = user + system
	}
	return n
}

// BenchmarkLSPWorkspace opens workspaces of many files: a tool that 200 workflows use is renamed, a name is looked for in 1,000.
//
//	go test ./cmd/flowgen -run - -bench LSPWorkspace -benchtime 20x
func BenchmarkLSPWorkspace(b *testing.B) {
	flows := func(n int) map[string]string {
		files := map[string]string{"tools.flowgen.yaml": "flowgen: 1\nname: tools\ntools:\n  greet: {shell: \"echo hi\", in: {who: string}, out: string, effects: none}\n"}
		for i := range n {
			files[fmt.Sprintf("f%d.flowgen.yaml", i)] = fmt.Sprintf("flowgen: 1\nname: f%d\ninclude: [tools.flowgen.yaml]\ninput: {who: string}\nnodes:\n  hello%d: {tool: greet, with: {who: $input.who}}\noutput: {text: $hello%d}\n", i, i, i)
		}
		return files
	}
	timed := func(b *testing.B, e *editor, do func()) {
		var times []time.Duration
		for b.Loop() {
			began := time.Now()
			do()
			times = append(times, time.Since(began))
		}
		slices.Sort(times)
		for _, p := range []int{50, 95} {
			b.ReportMetric(float64(times[(len(times)-1)*p/100].Microseconds())/1000, fmt.Sprintf("ms-p%d", p))
		}
		b.Log(e.resident())
	}
	b.Run("rename-200", func(b *testing.B) {
		e := edit(b, flows(200))
		e.openDisk("f0.flowgen.yaml")
		e.ask("workspace/symbol", object{"query": "x"})
		timed(b, e, func() {
			p := e.on("f0.flowgen.yaml", "greet", 0, 1)
			p["newName"] = "welcome"
			if n := len(answer[lspEdits](b, e.ask("textDocument/rename", p)).Changes); n != 201 {
				b.Fatalf("%d files", n)
			}
		})
	})
	b.Run("symbols-1000", func(b *testing.B) {
		e := edit(b, flows(1000))
		e.openDisk("f0.flowgen.yaml")
		e.ask("workspace/symbol", object{"query": "x"})
		timed(b, e, func() { e.ask("workspace/symbol", object{"query": "hello77"}) })
	})
}
