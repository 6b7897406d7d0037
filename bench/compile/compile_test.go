package compile

import (
	"os"
	"runtime"
	"strings"
	"testing"
)

// cost is what the compiler needs for one line.
type cost struct{ allocs, bytes float64 }

func measure(t *testing.T, text string, f func(string) error) cost {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := f(text); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	lines := float64(strings.Count(text, "\n"))
	return cost{float64(after.Mallocs-before.Mallocs) / lines, float64(after.TotalAlloc-before.TotalAlloc) / lines}
}

func TestCheckGrowsLinearly(t *testing.T) {
	for _, s := range Shapes {
		grows(t, s, func(text string) error { _, err := Check(text); return err })
	}
}

func TestGenerateGrowsLinearly(t *testing.T) {
	for _, s := range Shapes {
		grows(t, s, func(text string) error { _, err := Generate(text); return err })
	}
}

// grows fails when a line of a workflow of 10,000 lines, and with LONG of 100,000, needs more than one of 1,000. Bytes may
// grow a little, because tables that double leave more behind in large workflows. Time without allocations, such as a search
// repeated for every node, does not show here: docs/benchmarks.md has the times.
func grows(t *testing.T, s Shape, f func(string) error) {
	t.Run(s.Name, func(t *testing.T) {
		small := measure(t, s.Text(100), f)
		sizes := []int{1000}
		if os.Getenv("LONG") != "" {
			sizes = append(sizes, 9000)
		}
		for _, nodes := range sizes {
			big := measure(t, s.Text(nodes), f)
			t.Logf("%s: %.0f allocations and %.0f bytes a line with 100 nodes, %.0f and %.0f with %d", s.Name, small.allocs, small.bytes, big.allocs, big.bytes, nodes)
			if big.allocs > 1.1*small.allocs || big.bytes > 1.25*small.bytes {
				t.Errorf("a line of %d nodes costs %+v, one of 100 nodes %+v", nodes, big, small)
			}
		}
	})
}

func BenchmarkCompile(b *testing.B) {
	for _, s := range Shapes {
		for _, size := range []struct {
			name  string
			nodes int
		}{{"1k", 90}, {"10k", 900}, {"100k", 9000}} {
			text := s.Text(size.nodes)
			lines := float64(strings.Count(text, "\n"))
			b.Run(s.Name+"/"+size.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Generate(text); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/lines*1000, "ms/kloc")
			})
		}
	}
}
