// Package editdistance counts the slips between what somebody typed and what there is. The compiler and the command lines of
// programs both suggest names by it, each with limits of its own.
package editdistance

import "strings"

// Of returns the optimal string alignment distance of a and b: insertions, deletions, substitutions and swaps of neighbours
// cost one each. Words whose lengths differ by limit or more are not compared: their distance is limit.
func Of(a, b []rune, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}

// Nearest returns the candidate most like name, or "" when none is near enough
// to be what was meant. Case, hyphens and underscores count little.
func Nearest(name string, candidates []string) string {
	fold := strings.NewReplacer("-", "", "_", "")
	norm := func(s string) []rune { return []rune(strings.ToLower(fold.Replace(s))) }
	want := norm(name)
	if len(want) == 0 || len(want) > 100 {
		return ""
	}
	best, least := "", (len(want)+1)/2+1
	for _, c := range candidates {
		if d := Of(want, norm(c), least); d < least {
			best, least = c, d
		}
	}
	return best
}
