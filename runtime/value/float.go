package value

import (
	"math"
	"strconv"
)

// FormatFloat returns f as RFC 8785 (that is ECMAScript) writes numbers. NaN and infinities, which JSON has no text
// for and which no journalled value holds, give "NaN", "+Inf" and "-Inf".
func FormatFloat(f float64) string { return string(appendFloat(nil, f)) }

func appendFloat(b []byte, f float64) []byte {
	if f == 0 {
		return append(b, '0') // -0 too
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(b, f, 'f', -1, 64)
	}
	b = strconv.AppendFloat(b, f, 'e', -1, 64)
	// Go writes e-07, ECMAScript e-7
	if n := len(b); n >= 4 && b[n-4] == 'e' && b[n-2] == '0' {
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b
}
