package stargraph

import "strings"

// Context is what a model is told of documents that were found: each with its id before it. A document is its id and its text.
func Context(hits [][]string) string {
	lines := make([]string, 0, len(hits))
	for _, h := range hits {
		if len(h) == 2 {
			lines = append(lines, strings.TrimRight("["+h[0]+"] "+h[1], " \t\r\n"))
		}
	}
	return strings.Join(lines, "\n")
}

// Citations are the ids of documents that were found.
func Citations(hits [][]string) []string {
	ids := make([]string, 0, len(hits))
	for _, h := range hits {
		if len(h) > 0 {
			ids = append(ids, h[0])
		}
	}
	return ids
}
