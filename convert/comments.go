package convert

import (
	"strings"

	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlfmt"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// carry gives the comments of a file to the entries that were made of what they are about, and returns those about the
// whole file: all above its first key, and those after its last entry.
func carry(f *source.File, root *yamlnode.Node, out *doc.Mapping) (header, foot []string) {
	var made []*doc.Entry
	doc.Each(out, func(e *doc.Entry) {
		if e.From.File == f && e.From.Hi > e.From.Lo {
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
				e.Lead = append(e.Lead, c.Text)
			} else {
				foot = append(foot, c.Text)
			}
		default:
			e := beside(f, made, c.Lo)
			switch {
			case e == nil:
				foot = append(foot, c.Text)
			case e.Line == "":
				e.Line = c.Text
			default:
				e.Lead = append(e.Lead, c.Text)
			}
		}
	}
	return header, foot
}

// after is the entry that begins first after an offset, the outermost of several.
func after(made []*doc.Entry, off int) *doc.Entry {
	var best *doc.Entry
	for _, e := range made {
		if e.From.Lo > off && (best == nil || e.From.Lo < best.From.Lo) {
			best = e
		}
	}
	return best
}

// beside is the entry that a comment at the end of its line is about: the outermost that stands on that line as a whole,
// else the innermost that begins there, or ends there, else the innermost around it.
func beside(f *source.File, made []*doc.Entry, off int) *doc.Entry {
	line := strings.LastIndexByte(f.Text[:off], '\n') + 1
	var whole, begins, ends, around *doc.Entry
	for _, e := range made {
		lo, hi := e.From.Lo, e.From.Hi
		switch {
		case lo >= line && hi <= off:
			if whole == nil || hi-lo > whole.From.Hi-whole.From.Lo {
				whole = e
			}
		case lo >= line && lo < off:
			if begins == nil || lo >= begins.From.Lo {
				begins = e
			}
		case hi > line && hi <= off:
			if ends == nil || hi-lo <= ends.From.Hi-ends.From.Lo {
				ends = e
			}
		case lo < off && hi > off:
			if around == nil || hi-lo <= around.From.Hi-around.From.Lo {
				around = e
			}
		}
	}
	for _, e := range []*doc.Entry{whole, begins, ends, around} {
		if e != nil {
			return e
		}
	}
	return after(made, off)
}
