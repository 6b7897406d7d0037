package diag

import "strings"

// Nearest returns the candidate most like name, or "". Case and underscores are free; a candidate further away than
// half of the name is no help and is not offered. Ties go to the first candidate.
func Nearest(name string, candidates []string) string {
	fold := func(s string) []rune {
		return []rune(strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)))
	}
	want := fold(name)
	if len(want) == 0 || len(want) > 200 {
		return ""
	}
	best, least := "", (len(want)+1)/2+1
	for _, c := range candidates {
		if c == name {
			continue
		}
		// A difference in case or underscores alone still counts a little, so that an exact fold never beats a name
		// that is nearer as written.
		d := distance(want, fold(c), least)
		if d < least {
			best, least = c, d
		}
	}
	return best
}

// Close reports whether two names differ by no more than two slips of the finger, and by less than a third of the name.
func Close(a, b string) bool {
	x, y := []rune(a), []rune(b)
	d := distance(x, y, 3)
	return d <= 2 && 3*d < max(len(x), len(y))
}

// distance is the optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours cost
// one each. Lengths that differ by limit or more are not compared.
func distance(a, b []rune, limit int) int {
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

// Suggest completes a diagnostic about an unknown name: the nearest candidate becomes help and a fix; without one the
// help lists up to five candidates in the order given.
func Suggest(d *Diagnostic, name string, candidates []string) {
	if near := Nearest(name, candidates); near != "" {
		fix := Replace(d.Span, near)
		d.Fixes = append(d.Fixes, fix)
		d.Help = fix.Title
		return
	}
	switch n := len(candidates); {
	case n == 0:
	case n <= 5:
		d.Help = "expected one of " + strings.Join(candidates, ", ")
	default:
		d.Help = "expected one of " + strings.Join(candidates[:5], ", ") + ", ..."
	}
}
