package value

import (
	"math"
	"testing"
)

type weights struct {
	One  float64 `json:"one"`
	Two  *float64
	Deep struct {
		F float64 `json:"f"`
		*tied
	} `json:"deep"`
	Next *weights
}

type tied struct{ Knot float64 }

type plainWeights struct {
	One  float64
	Two  *float64
	Deep struct {
		Name string
		F    float64
	}
	Last *struct{ F, G float64 }
}

// TestChecker: a Checker finds what Validate finds, where it looks without reflection and where it does not.
func TestChecker(t *testing.T) {
	if CheckerFor[plainWeights]().sound == nil || CheckerFor[weights]().sound != nil || CheckerFor[[]float64]().sound != nil {
		t.Error("types are not looked at as they should be")
	}
	for _, bad := range []float64{0, math.NaN(), math.Inf(1), math.Inf(-1)} {
		for place := range 6 {
			p := plainWeights{Last: &struct{ F, G float64 }{}, Two: new(float64)}
			*[]*float64{&p.One, p.Two, &p.Deep.F, &p.Last.F, &p.Last.G, new(float64)}[place] = bad
			w := weights{Two: new(float64), Next: &weights{}}
			w.Deep.tied = &tied{}
			*[]*float64{&w.One, w.Two, &w.Deep.F, &w.Deep.Knot, &w.Next.One, new(float64)}[place] = bad
			for _, x := range []struct{ got, want error }{
				{asError(CheckerFor[plainWeights]().Check(&p)), Validate(p)}, {asError(CheckerFor[weights]().Check(&w)), Validate(w)},
			} {
				if (x.got == nil) != (x.want == nil) || x.got != nil && x.got.Error() != x.want.Error() {
					t.Errorf("%v at %d: %v, not %v", bad, place, x.got, x.want)
				}
			}
			if place < 5 && bad != 0 && CheckerFor[plainWeights]().Check(&p) == nil {
				t.Errorf("%v at %d is not found", bad, place)
			}
		}
	}
	if err := CheckerFor[plainWeights]().Check(&plainWeights{}); err != nil {
		t.Error(err)
	}
}

func asError(err *ToolError) error {
	if err == nil {
		return nil
	}
	return err
}
