package cli

import (
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/editdistance"
)

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
		if d := editdistance.Of(want, norm(c), least); d < least {
			best, least = c, d
		}
	}
	return best
}
