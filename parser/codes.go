package parser

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir/diag"
)

// Codes is the table of all diagnostics, with the examples that only files of public dialects can show.
func Codes() []diag.Entry {
	all := slices.Clone(diag.Codes())
	for _, d := range public {
		for _, x := range d.Examples {
			i := slices.IndexFunc(all, func(e diag.Entry) bool { return e.Code == x.Code })
			if i >= 0 && all[i].Wrong == "" {
				all[i].Wrong, all[i].Right = x.Wrong, x.Right
			}
		}
	}
	return all
}
