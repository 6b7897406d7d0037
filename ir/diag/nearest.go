package diag

import (
	"cmp"
	"strings"
)

// separators are free in names: fetch_diff, fetch-diff and fetchDiff are the same word.
var separators = strings.NewReplacer("_", "", "-", "")

func folded(s string) []rune { return []rune(strings.ToLower(separators.Replace(s))) }

// Nearest returns the candidate most like name, or "". Case and underscores are free, and decide only between candidates
// that are equally near without them. Then a swap of letters is likelier than another letter, and a slip in the middle
// than one at an end; after that the first candidate wins. One that is further away than half of the name, or has not a
// letter in common with it, is no help and is not offered.
func Nearest(name string, candidates []string) string {
	const longest = 200 // of names that somebody mistypes
	want := folded(name)
	if len(want) == 0 || len(name) > longest {
		return ""
	}
	best, least := "", unlike{folded: (len(want)+1)/2 + 1}
	for _, c := range candidates {
		if c == name || len(c) > 2*longest {
			continue
		}
		other := folded(c)
		u := unlike{folded: distance(want, other, least.folded+1)}
		if u.folded > least.folded || u.folded == least.folded && best == "" || u.folded >= max(len(want), len(other)) {
			continue
		}
		written := []rune(c)
		u.written = distance([]rune(name), written, 1<<30)
		u.letters = letters(want, other)
		u.ends = -ends(want, other)
		if best == "" || u.less(least) {
			best, least = c, u
		}
	}
	return best
}

// unlike is how far a candidate is from a name: the first number that differs decides.
type unlike struct {
	folded, written int // edits
	letters         int // letters that only one of them has
	ends            int // less when more of both ends is the same
}

func (u unlike) less(v unlike) bool {
	return cmp.Or(cmp.Compare(u.folded, v.folded), cmp.Compare(u.written, v.written), cmp.Compare(u.letters, v.letters), cmp.Compare(u.ends, v.ends)) < 0
}

// letters counts the letters that one of two names has and the other has not.
func letters(a, b []rune) int {
	count := map[rune]int{}
	for _, r := range a {
		count[r]++
	}
	for _, r := range b {
		count[r]--
	}
	n := 0
	for _, c := range count {
		n += max(c, -c)
	}
	return n
}

// ends is how many letters two names share at their start and at their end.
func ends(a, b []rune) int {
	n, least := 0, min(len(a), len(b))
	for n < least && a[n] == b[n] {
		n++
	}
	tail := 0
	for tail < least-n && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return n + tail
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
