package lsp

import "strings"

// A hunk is lines that are replaced, with what replaces them.
type hunk struct {
	lo, hi int
	text   string
}

// maxCompared is how many pairs of lines are compared; beyond that all that differs is one hunk.
const maxCompared = 4_000_000

// hunks are the smallest differences of two texts, by their longest common subsequence of lines.
func hunks(a, b []string) []hunk {
	lo := 0
	for lo < len(a) && lo < len(b) && a[lo] == b[lo] {
		lo++
	}
	endA, endB := len(a), len(b)
	for endA > lo && endB > lo && a[endA-1] == b[endB-1] {
		endA--
		endB--
	}
	x, y := a[lo:endA], b[lo:endB]
	if len(x) == 0 && len(y) == 0 {
		return nil
	}
	if (len(x)+1)*(len(y)+1) > maxCompared {
		return []hunk{{lo, endA, strings.Join(y, "")}}
	}
	common := commonLines(x, y)
	var out []hunk
	for i, j := 0, 0; i < len(x) || j < len(y); {
		h := hunk{lo: lo + i}
		for i < len(x) && (j == len(y) || x[i] != y[j]) || j < len(y) && i == len(x) {
			if j == len(y) || i < len(x) && common[i+1][j] >= common[i][j+1] {
				i++
			} else {
				h.text += y[j]
				j++
			}
		}
		h.hi = lo + i
		out = append(out, h)
		for i < len(x) && j < len(y) && x[i] == y[j] {
			i++
			j++
		}
	}
	return out
}

// commonLines are how many lines the rests of two texts have in common.
func commonLines(x, y []string) [][]int32 {
	common := make([][]int32, len(x)+1)
	for i := len(x); i >= 0; i-- {
		common[i] = make([]int32, len(y)+1)
		if i == len(x) {
			continue
		}
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	return common
}
