package flow

import (
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// maxText is the longest text that Replace makes: 64 MiB, what a result may have at most.
const maxText = 64 << 20

// LowerASCII returns s with the letters A to Z in lower case. Other letters stay.
func LowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, s)
}

// UpperASCII returns s with the letters a to z in upper case. Other letters stay.
func UpperASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r - ('a' - 'A')
		}
		return r
	}, s)
}

// Replace returns s with every old, from left to right, replaced by new; an empty old is before every character and
// at the end. VALIDATION_ERROR when the result would be longer than 64 MiB.
func Replace(s, old, new string) (string, error) {
	if more, n := len(new)-len(old), strings.Count(s, old); n > 0 && more > 0 && n > (maxText-len(s))/more {
		return "", value.Invalid("replace: the result would be longer than 64 MiB")
	}
	return strings.ReplaceAll(s, old, new), nil
}
