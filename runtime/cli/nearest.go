package cli

import "strings"

// nearest returns the candidate most like name, or "" when none is near enough
// to be what was meant. Case, hyphens and underscores count little.
func nearest(name string, candidates []string) string {
	fold := strings.NewReplacer("-", "", "_", "")
	norm := func(s string) []rune { return []rune(strings.ToLower(fold.Replace(s))) }
	want := norm(name)
	if len(want) == 0 || len(want) > 100 {
		return ""
	}
	best, least := "", (len(want)+1)/2+1
	for _, c := range candidates {
		if d := distance(want, norm(c)); d < least {
			best, least = c, d
		}
	}
	return best
}

// distance counts insertions, deletions, substitutions and swaps of neighbours.
func distance(a, b []rune) int {
	before, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
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
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(b)]
}
