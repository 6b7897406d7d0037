package jsvalue

import (
	"bytes"
	"strconv"
)

const maxSafe = 1<<53 - 1 // Number.MAX_SAFE_INTEGER

// Inexact returns the first integer in valid JSON that no JavaScript number is.
func Inexact(b []byte) string {
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c == '"' {
			i = endOfString(b, i)
			continue
		}
		if c < '0' || c > '9' {
			continue
		}
		start := i
		for i < len(b) && (b[i] >= '0' && b[i] <= '9' || b[i] == '.' || b[i] == 'e' || b[i] == 'E' || b[i] == '+' || b[i] == '-') {
			i++
		}
		if i-start < 16 || bytes.ContainsAny(b[start:i], ".eE") {
			continue
		}
		if n, err := strconv.ParseUint(string(b[start:i]), 10, 64); err != nil || n > maxSafe {
			return string(b[start:i])
		}
	}
	return ""
}

// endOfString returns the index of the quote that ends the string starting at i.
func endOfString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		i += n
		k := i
		for b[k-1] == '\\' {
			k--
		}
		if (i-k)%2 == 0 {
			return i
		}
	}
	return i
}
