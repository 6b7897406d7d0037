package flow_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestArithmeticIsExactOrRefused(t *testing.T) {
	edge := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{0, 1, -1, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, 1 << 32, -1 << 32, 3037000500}))
	ops := map[string]struct {
		ours func(a, b int64) (int64, error)
		big  func(z, a, b *big.Int) *big.Int
	}{
		"+": {flow.Add, (*big.Int).Add}, "-": {flow.Sub, (*big.Int).Sub}, "*": {flow.Mul, (*big.Int).Mul},
		"neg": {func(a, _ int64) (int64, error) { return flow.Neg(a) }, func(z, a, _ *big.Int) *big.Int { return z.Neg(a) }},
	}
	for name, op := range ops {
		rapid.Check(t, func(t *rapid.T) {
			a, b := edge.Draw(t, "a"), edge.Draw(t, "b")
			want := op.big(new(big.Int), big.NewInt(a), big.NewInt(b))
			got, err := op.ours(a, b)
			if want.IsInt64() != (err == nil) || err == nil && got != want.Int64() {
				t.Fatalf("%d %s %d = %d, %v; want %v", a, name, b, got, err, want)
			}
			if err != nil && codeOf(err) != value.ValidationError {
				t.Fatal(err)
			}
		})
	}
}

func TestFloatAndInt(t *testing.T) {
	for n, ok := range map[int64]bool{0: true, 1 << 53: true, -1 << 53: true, 1<<53 + 1: false, math.MinInt64: false} {
		if f, err := flow.Float(n); (err == nil) != ok || ok && int64(f) != n {
			t.Errorf("%d: %v, %v", n, f, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-300, 300)).Draw(t, "n")
		i8, err := flow.Int[int8](n)
		if (err == nil) != (n >= -128 && n <= 127) || err == nil && int64(i8) != n {
			t.Fatalf("int8(%d): %d, %v", n, i8, err)
		}
		u8, err := flow.Int[uint8](n)
		if (err == nil) != (n >= 0 && n <= 255) || err == nil && int64(u8) != n {
			t.Fatalf("uint8(%d): %d, %v", n, u8, err)
		}
		u64, err := flow.Int[uint64](n)
		if (err == nil) != (n >= 0) || err == nil && u64 != uint64(n) {
			t.Fatalf("uint64(%d): %d, %v", n, u64, err)
		}
		if i, err := flow.Int[int](n); err != nil || int64(i) != n {
			t.Fatalf("int(%d): %d, %v", n, i, err)
		}
	})
	if _, err := flow.Int[int8](200); err == nil || err.Error() != "VALIDATION_ERROR: 200 does not fit int8" {
		t.Error(err)
	}
}

func TestOptionalsAndConversions(t *testing.T) {
	one := flow.Ptr(1)
	if flow.Or(one, 2) != 1 || flow.Or(nil, 2) != 2 {
		t.Error("Or")
	}
	if flow.First(nil, one, flow.Ptr(3)) != one || flow.First[int](nil, nil) != nil || flow.First[int]() != nil {
		t.Error("First")
	}
	wide := func(n int) int64 { return int64(n) }
	if diff := cmp.Diff([]int64{1, 2}, flow.ConvertList([]int{1, 2}, wide)); diff != "" || flow.ConvertList(nil, wide) != nil {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]int64{"a": 1}, flow.ConvertMap(map[string]int{"a": 1}, wide)); diff != "" || flow.ConvertMap(nil, wide) != nil {
		t.Error(diff)
	}
	if p := flow.ConvertOpt(one, wide); *p != 1 || flow.ConvertOpt(nil, wide) != nil {
		t.Error(p)
	}
	if diff := cmp.Diff([]string{"a", "b"}, flow.SortedKeys(map[string]int{"b": 1, "a": 2})); diff != "" {
		t.Error(diff)
	}
}
