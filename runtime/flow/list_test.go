package flow_test

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// The functions of lists return new lists, which are never nil, and leave their arguments as they are.
func TestListFunctions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Int64Range(-4, 4), 0, 12).Draw(t, "xs")
		before := slices.Clone(xs)
		n := rapid.Int64Range(1, math.MaxInt64).Draw(t, "n")
		if rapid.Bool().Draw(t, "small") {
			n = n%5 + 1
		}
		chunks, err := flow.Chunk(xs, n)
		if err != nil || chunks == nil || !slices.Equal(flow.Flatten(chunks), xs) {
			t.Fatalf("chunks of %d: %v, %v", n, chunks, err)
		}
		for i, c := range chunks {
			if int64(len(c)) != n && i < len(chunks)-1 || len(c) == 0 || int64(len(c)) > n {
				t.Fatalf("chunk %d of %d has %d items", i, n, len(c))
			}
			_ = append(c, 99) // which must not reach the next one
		}
		sorted, distinct, reversed := flow.Sort(xs, cmp.Compare), flow.Distinct(xs), flow.Reverse(xs)
		if !slices.IsSorted(sorted) || !slices.Equal(flow.Reverse(reversed), xs) || len(flow.Distinct(sorted)) != len(distinct) {
			t.Fatalf("%v: sorted %v, distinct %v, reversed %v", xs, sorted, distinct, reversed)
		}
		pairs := make([][2]int64, len(xs))
		for i, x := range xs {
			pairs[i] = [2]int64{x, int64(i)}
		}
		by := flow.SortBy(pairs, func(p [2]int64) int64 { return p[0] }, cmp.Compare)
		if !slices.IsSortedFunc(by, func(a, b [2]int64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }) {
			t.Fatalf("not stable: %v", by)
		}
		lo, hi := rapid.Int64Range(-2, 14).Draw(t, "lo"), rapid.Int64Range(-2, 14).Draw(t, "hi")
		part, err := flow.Slice(xs, lo, hi)
		if fits := 0 <= lo && lo <= hi && hi <= int64(len(xs)); fits != (err == nil) || fits && (part == nil || !slices.Equal(part, xs[lo:hi])) {
			t.Fatalf("slice(%d, %d) of %v: %v, %v", lo, hi, xs, part, err)
		}
		most, least := flow.Greatest(xs, cmp.Compare), flow.Least(xs, cmp.Compare)
		if len(xs) > 0 != (most != nil) || most != nil && (*most != slices.Max(xs) || *least != slices.Min(xs)) {
			t.Fatalf("%v: from %v to %v", xs, least, most)
		}
		for _, list := range [][]int64{sorted, distinct, reversed, flow.Concat[int64](), flow.Concat(xs, nil)} {
			if list == nil {
				t.Fatal("a list is nil")
			}
		}
		if !slices.Equal(xs, before) {
			t.Fatalf("%v became %v", before, xs)
		}
	})
}

func TestChunkOfNothing(t *testing.T) {
	for _, n := range []int64{0, -1, math.MinInt64} {
		if _, err := flow.Chunk([]int{1}, n); err == nil {
			t.Errorf("chunk(%d) is no error", n)
		}
	}
}

// A replacement whose result would fill the memory is an error before anything is made of it.
func TestReplaceIsBounded(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	for _, tt := range []struct{ s, old, new string }{{long, "a", long}, {long, "", long}, {long, "aa", strings.Repeat("b", 200)}} {
		if got, err := flow.Replace(tt.s, tt.old, tt.new); err == nil {
			t.Errorf("a text of %d bytes", len(got))
		}
	}
	for _, tt := range [][4]string{{"a-b", "-", "+", "a+b"}, {"ab", "", ".", ".a.b."}, {long, "b", long, long}, {"", "x", long, ""}, {"aa", "a", "", ""}} {
		if got, err := flow.Replace(tt[0], tt[1], tt[2]); err != nil || got != tt[3] {
			t.Errorf("%.10q, %q: %.10q, %v", tt[0], tt[1], got, err)
		}
	}
}

func TestDivision(t *testing.T) {
	for _, tt := range []struct{ a, b, q, r int64 }{{7, 2, 3, 1}, {-7, 2, -3, -1}, {7, -2, -3, 1}, {math.MinInt64, 1, math.MinInt64, 0}, {5, -1, -5, 0}} {
		q, err := flow.Div(tt.a, tt.b)
		r, err2 := flow.Mod(tt.a, tt.b)
		if q != tt.q || r != tt.r || err != nil || err2 != nil {
			t.Errorf("%d by %d: %d, %d, %v, %v", tt.a, tt.b, q, r, err, err2)
		}
	}
	for _, b := range []int64{0, -1} {
		_, err := flow.Div(math.MinInt64, b)
		_, err2 := flow.Mod(math.MinInt64, b)
		if err == nil || err2 == nil {
			t.Errorf("by %d: %v, %v", b, err, err2)
		}
	}
	for _, zero := range []float64{0, math.Copysign(0, -1)} {
		if _, err := flow.DivFloat(1, zero); err == nil {
			t.Error("a float was divided by zero")
		}
	}
}
