package yamlnode

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
)

// YAML11 is YAML 1.1 as PyYAML reads it: yes and off are booleans, 010 and 1_000 are numbers, and a float has a point.
// Times of day and dates, which PyYAML makes objects of, are text.
func YAML11(plain string) string {
	switch plain {
	case "", "~", "null", "Null", "NULL":
		return "!!null"
	}
	if _, ok := Bool11(plain); ok {
		return "!!bool"
	}
	switch {
	case int11.MatchString(plain):
		return "!!int"
	case float11.MatchString(plain):
		return "!!float"
	}
	return "!!str"
}

var (
	int11   = lazyregexp.New(`^[-+]?(0b[0-1_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+|[1-9][0-9_]*(:[0-5]?[0-9])+)$`)
	float11 = lazyregexp.New(`^[-+]?([0-9][0-9_]*\.[0-9_]*([eE][-+][0-9]+)?|\.[0-9][0-9_]*([eE][-+][0-9]+)?|[0-9][0-9_]*(:[0-5]?[0-9])+\.[0-9_]*|\.(inf|Inf|INF))$|^\.(nan|NaN|NAN)$`)
)

// Bool11 is a boolean of YAML 1.1; ok is false when it is none.
func Bool11(plain string) (value, ok bool) {
	switch plain {
	case "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
		return true, true
	case "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
		return false, true
	}
	return false, false
}

// Number11 is the JSON of a number of YAML 1.1; ok is false for infinities and what is not a number.
func Number11(plain string) (json string, integer, ok bool) {
	sign, text := "", strings.ReplaceAll(plain, "_", "")
	if strings.HasPrefix(text, "-") {
		sign = "-"
	}
	text = strings.TrimLeft(text, "+-")
	if int11.MatchString(plain) {
		n, good := new(big.Int), true
		switch {
		case strings.Contains(text, ":"):
			for _, part := range strings.Split(text, ":") {
				digit, err := strconv.ParseInt(part, 10, 64)
				good = good && err == nil
				n.Add(n.Mul(n, big.NewInt(60)), big.NewInt(digit))
			}
		case strings.HasPrefix(text, "0") && len(text) > 1 && text[1] != 'x' && text[1] != 'b':
			_, good = n.SetString(text, 8)
		default:
			_, good = n.SetString(text, 0)
		}
		if !good || !n.IsInt64() {
			return "", false, false
		}
		if sign != "" {
			n.Neg(n)
		}
		return n.String(), true, true
	}
	if !float11.MatchString(plain) || strings.Contains(text, ":") {
		return "", false, false
	}
	f, err := strconv.ParseFloat(sign+text, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return "", false, false
	}
	return strconv.FormatFloat(f, 'g', -1, 64), false, true
}
