package convert

import (
	"strings"

	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlfmt"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// carry gives the comments of a file to the entries that were made of what they are about, and returns those about the
// whole file: all above its first key, and those after its last entry.
func carry(f *source.File, root *yamlnode.Node, doc *mapping) (header, foot []string) {
	var made []*entry
	each(doc, func(e *entry) {
		if e.from.File == f && e.from.Hi > e.from.Lo {
			made = append(made, e)
		}
	})
	first := root.Span.Lo
	for _, c := range yamlfmt.Comments(f.Text, root) {
		switch {
		case c.Lo < first:
			header = append(header, c.Text)
		case c.Alone:
			if e := after(made, c.Lo); e != nil {
				e.lead = append(e.lead, c.Text)
			} else {
				foot = append(foot, c.Text)
			}
		default:
			e := beside(f, made, c.Lo)
			switch {
			case e == nil:
				foot = append(foot, c.Text)
			case e.line == "":
				e.line = c.Text
			default:
				e.lead = append(e.lead, c.Text)
			}
		}
	}
	return header, foot
}

// after is the entry that begins first after an offset, the outermost of several.
func after(made []*entry, off int) *entry {
	var best *entry
	for _, e := range made {
		if e.from.Lo > off && (best == nil || e.from.Lo < best.from.Lo) {
			best = e
		}
	}
	return best
}

// beside is the entry that a comment at the end of its line is about: the outermost that stands on that line as a whole,
// else the innermost that begins there, or ends there, else the innermost around it.
func beside(f *source.File, made []*entry, off int) *entry {
	line := strings.LastIndexByte(f.Text[:off], '\n') + 1
	var whole, begins, ends, around *entry
	for _, e := range made {
		lo, hi := e.from.Lo, e.from.Hi
		switch {
		case lo >= line && hi <= off:
			if whole == nil || hi-lo > whole.from.Hi-whole.from.Lo {
				whole = e
			}
		case lo >= line && lo < off:
			if begins == nil || lo >= begins.from.Lo {
				begins = e
			}
		case hi > line && hi <= off:
			if ends == nil || hi-lo <= ends.from.Hi-ends.from.Lo {
				ends = e
			}
		case lo < off && hi > off:
			if around == nil || hi-lo <= around.from.Hi-around.from.Lo {
				around = e
			}
		}
	}
	for _, e := range []*entry{whole, begins, ends, around} {
		if e != nil {
			return e
		}
	}
	return after(made, off)
}
