// Package measure compares the cases of workloads: in every round each case runs once for a short slice, so
// that whatever disturbs the machine disturbs all of them, and a ratio is that of two slices of the same round.
package measure

import (
	"fmt"
	goruntime "runtime"
	"slices"
	"time"

	"github.com/flowgen-dev/flowgen/bench/workload"
)

// Plan says how much is measured.
type Plan struct {
	Rounds int
	Slice  time.Duration // of one case in one round, about
}

// Spread is the smallest, the middle and the largest of some figures.
type Spread struct{ Min, Median, Max float64 }

// Result is what was measured of a case. Times and allocations are per unit of its workload.
type Result struct {
	Name    string
	Nanos   Spread
	Ratio   Spread  // of times, to the first case in the same round
	Fastest float64 // the ratio of the fastest times
	Allocs  float64 // the fewest in any round
	Bytes   float64
}

// Run measures the cases of c.
func Run(c workload.Comparison, p Plan) ([]Result, error) {
	sizes := make([]int, len(c.Cases))
	for i, k := range c.Cases {
		n, err := calibrate(k, p.Slice)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", c.ID, k.Name, err)
		}
		sizes[i] = n
	}
	slicesOf := make([][]slice, len(c.Cases))
	for round := range p.Rounds {
		for j := range c.Cases {
			i := (round + j) % len(c.Cases) // nobody is always the first
			s, err := take(c.Cases[i], sizes[i])
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", c.ID, c.Cases[i].Name, err)
			}
			slicesOf[i] = append(slicesOf[i], s)
		}
	}
	results := make([]Result, len(c.Cases))
	for i, k := range c.Cases {
		results[i] = summary(k.Name, slicesOf[i], slicesOf[0])
		results[i].Fastest = results[i].Nanos.Min / results[0].Nanos.Min
	}
	return results, nil
}

// slice is one measurement, per unit.
type slice struct{ nanos, allocs, bytes float64 }

// calibrate finds how many operations fill a slice.
func calibrate(k workload.Case, d time.Duration) (int, error) {
	for n := 1; ; n *= 2 {
		begin := time.Now()
		if err := k.Run(n); err != nil {
			return 0, err
		}
		if took := time.Since(begin); took >= d/2 || n >= 1<<30 {
			return max(1, int(float64(n)*float64(d)/float64(took))), nil
		}
	}
}

func take(k workload.Case, n int) (slice, error) {
	goruntime.GC() // nobody pays for what another case has left
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	begin := time.Now()
	err := k.Run(n)
	took := time.Since(begin)
	goruntime.ReadMemStats(&after)
	units := float64(n * k.Per)
	return slice{float64(took) / units, float64(after.Mallocs-before.Mallocs) / units, float64(after.TotalAlloc-before.TotalAlloc) / units}, err
}

func summary(name string, own, first []slice) Result {
	var nanos, ratio, allocs, bytes []float64
	for i, s := range own {
		nanos, ratio = append(nanos, s.nanos), append(ratio, s.nanos/first[i].nanos)
		allocs, bytes = append(allocs, s.allocs), append(bytes, s.bytes)
	}
	return Result{Name: name, Nanos: spread(nanos), Ratio: spread(ratio), Allocs: slices.Min(allocs), Bytes: slices.Min(bytes)}
}

func spread(x []float64) Spread {
	slices.Sort(x)
	return Spread{x[0], (x[(len(x)-1)/2] + x[len(x)/2]) / 2, x[len(x)-1]}
}
