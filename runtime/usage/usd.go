package usage

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// USD is an amount of dollars as an integer of billionths: sums of it are exact, which sums of floats are not.
type USD int64

const dollar USD = 1e9

// ParseUSD reads a decimal such as "0.002": digits, and at most nine of them behind a point. What is too large to hold,
// more than nine billion dollars, becomes the largest amount there is.
func ParseUSD(s string) (USD, error) {
	whole, part, point := strings.Cut(s, ".")
	if whole == "" || len(whole) > 12 || point && part == "" || len(part) > 9 || strings.Trim(whole+part, "0123456789") != "" {
		return 0, fmt.Errorf("%q is not an amount in dollars: write a decimal like \"0.50\"", value.Clip(s, 40))
	}
	d, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt((part + "000000000")[:9], 10, 64)
	if err != nil {
		return 0, err
	}
	if d >= math.MaxInt64/int64(dollar) {
		return math.MaxInt64, nil
	}
	return USD(d)*dollar + USD(n), nil
}

// String returns the decimal without trailing zeros: "0.002".
func (u USD) String() string {
	sign := ""
	if u < 0 {
		sign, u = "-", -u
	}
	s := strconv.FormatInt(int64(u/dollar), 10)
	if part := int64(u % dollar); part != 0 {
		s += "." + strings.TrimRight(fmt.Sprintf("%09d", part), "0")
	}
	return sign + s
}

// MarshalText writes the decimal.
func (u USD) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText reads what ParseUSD reads.
func (u *USD) UnmarshalText(b []byte) error {
	v, err := ParseUSD(string(b))
	if err == nil {
		*u = v
	}
	return err
}
