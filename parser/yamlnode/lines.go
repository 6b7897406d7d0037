package yamlnode

import "strings"

// LineBreak is the length of the line break at s[p:], 0 if there is none.
func LineBreak(s string, p int) int {
	switch {
	case p >= len(s):
		return 0
	case strings.HasPrefix(s[p:], "\r\n"):
		return 2
	case s[p] == '\n', s[p] == '\r':
		return 1
	}
	return 0
}

// EndOfLine is the offset of the break that ends the line of p, or of the end of s.
func EndOfLine(s string, p int) int {
	for p < len(s) && s[p] != '\n' && s[p] != '\r' {
		p++
	}
	return p
}

// StartOfLine is the offset of the first byte of the line of p.
func StartOfLine(s string, p int) int {
	for p > 0 && s[p-1] != '\n' && s[p-1] != '\r' {
		p--
	}
	return p
}
