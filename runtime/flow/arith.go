package flow

import (
	"math"
	"math/bits"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Add returns a + b, VALIDATION_ERROR on overflow. So do Sub, Mul and Neg.
func Add(a, b int64) (int64, error) {
	c := a + b
	if (c > a) != (b > 0) {
		return 0, value.Invalid("%d + %d is out of the range of int", a, b)
	}
	return c, nil
}

// Sub returns a - b, VALIDATION_ERROR on overflow.
func Sub(a, b int64) (int64, error) {
	c := a - b
	if (c < a) != (b > 0) {
		return 0, value.Invalid("%d - %d is out of the range of int", a, b)
	}
	return c, nil
}

// Mul returns a * b, VALIDATION_ERROR on overflow.
func Mul(a, b int64) (int64, error) {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	negative := (a < 0) != (b < 0)
	if hi != 0 || lo > math.MaxInt64 && !(negative && lo == 1<<63) {
		return 0, value.Invalid("%d * %d is out of the range of int", a, b)
	}
	return a * b, nil
}

// Div returns a / b without what is left, rounded towards zero: VALIDATION_ERROR when b is zero, and on overflow.
func Div(a, b int64) (int64, error) {
	switch {
	case b == 0:
		return 0, value.Invalid("%d / 0: nothing can be divided by zero", a)
	case b == -1:
		return Neg(a)
	}
	return a / b, nil
}

// Mod returns what a / b leaves, with the sign of a: VALIDATION_ERROR when b is zero, and when a / b is out of range.
func Mod(a, b int64) (int64, error) {
	switch {
	case b == 0:
		return 0, value.Invalid("%d %% 0: nothing can be divided by zero", a)
	case b == -1 && a == math.MinInt64:
		return 0, value.Invalid("%d %% -1 is out of the range of int", a)
	}
	return a % b, nil
}

// DivFloat returns a / b, VALIDATION_ERROR when b is zero.
func DivFloat(a, b float64) (float64, error) {
	if b == 0 {
		return 0, value.Invalid("%s / 0: nothing can be divided by zero", value.FormatFloat(a))
	}
	return a / b, nil
}

func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

// Neg returns -a, VALIDATION_ERROR on overflow.
func Neg(a int64) (int64, error) {
	if a == math.MinInt64 {
		return 0, value.Invalid("-(%d) is out of the range of int", a)
	}
	return -a, nil
}

// exactFloat is the largest magnitude up to which every integer is a float64.
const exactFloat = 1 << 53

// Float returns n as a float, VALIDATION_ERROR when |n| > 2^53.
func Float(n int64) (float64, error) {
	if n > exactFloat || n < -exactFloat {
		return 0, value.Invalid("%d has no exact float", n)
	}
	return float64(n), nil
}

// Int narrows n to a Go integer type, VALIDATION_ERROR when it does not fit.
func Int[T int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64](n int64) (T, error) {
	t := T(n)
	if int64(t) != n || (t < 0) != (n < 0) {
		return 0, value.Invalid("%d does not fit %T", n, t)
	}
	return t, nil
}
