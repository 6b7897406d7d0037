package diag

import (
	"cmp"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/editdistance"
)

// separators are free in names: fetch_diff, fetch-diff and fetchDiff are the same word.
var separators = strings.NewReplacer("_", "", "-", "")

func folded(s string) []rune { return []rune(strings.ToLower(separators.Replace(s))) }

// Nearest returns the candidate that somebody meant who wrote name, or "": one that differs by no more than two slips of the
// finger and by no more than a third of the name. Case, underscores and dashes are free, and decide only between candidates
// that are equally near without them. Of two that are equally near with them nobody knows which was meant: none is offered.
func Nearest(name string, candidates []string) string {
	const longest = 200 // of names that somebody mistypes
	want := folded(name)
	if len(want) == 0 || len(name) > longest {
		return ""
	}
	best, least, tie := "", unlike{folded: maxSlips}, false
	for _, c := range candidates {
		if c == name || c == best || len(c) > 2*longest || !nameable(c, name) {
			continue
		}
		other := folded(c)
		u := unlike{folded: editdistance.Of(want, other, maxSlips+1)}
		if u.folded > least.folded || 3*u.folded > max(len(want), len(other)) {
			continue
		}
		u.written = editdistance.Of([]rune(name), []rune(c), 1<<30)
		switch {
		case best == "" || u.less(least):
			best, least, tie = c, u, false
		case u == least:
			tie = true
		}
	}
	if tie {
		return ""
	}
	return best
}

// nameable reports whether a candidate can be written in place of a name: without quotes, spaces and the like that the name
// does not have itself.
func nameable(candidate, name string) bool {
	return !strings.ContainsFunc(candidate, func(r rune) bool {
		special := r <= ' ' || r == 0x7f || strings.ContainsRune("!\"#$%&'()*,;<=>?[\\]^`{|}~", r)
		return special && !strings.ContainsRune(name, r)
	})
}

// maxSlips is how many edits make of a name another one.
const maxSlips = 2

// unlike is how far a candidate is from a name, in edits: the first number that differs decides.
type unlike struct{ folded, written int }

func (u unlike) less(v unlike) bool {
	return cmp.Or(cmp.Compare(u.folded, v.folded), cmp.Compare(u.written, v.written)) < 0
}

// Close reports whether two names differ by no more than two slips of the finger, and by less than a third of the name.
func Close(a, b string) bool {
	x, y := []rune(a), []rune(b)
	d := editdistance.Of(x, y, 3)
	return d <= 2 && 3*d < max(len(x), len(y))
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
