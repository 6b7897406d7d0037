package sirenspec

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// circles reports placeholders that lead in a circle: the engine refuses to load such a file. Those of tools and questions
// to people are not looked at by it, and those with a default have a value in any case; names that something else writes, too, are no node's. The references of a circle are
// returned: nothing more is said about them.
func (p *parser) circles(b *graph, written map[string]bool) map[*dialect.Reference]bool {
	reads := map[*point][]circle{}
	for _, s := range b.points {
		switch s.node.Verb.(type) {
		case *ir.ToolCall, *ir.Human:
			continue
		}
		add := func(r *dialect.Reference) {
			if r.Root != "working" || r.Filter != "" || r.Path[0] == s.node.ID.Name || written[r.Path[0]] {
				return
			}
			if from := b.byID[r.Path[0]]; from != nil {
				reads[s] = append(reads[s], circle{from, r})
			}
		}
		nodeReferences(s.node, add)
		insideReferences(s.node, func(r *dialect.Reference, _ bool) { add(r) })
	}
	told := map[*dialect.Reference]bool{}
	done := map[*point]bool{}
	var way []circle
	var visit func(s *point)
	visit = func(s *point) {
		for _, next := range reads[s] {
			if at := slices.IndexFunc(way, func(x circle) bool { return x.step == next.step }); at >= 0 {
				p.circular(append(way[at+1:len(way):len(way)], next), told)
				continue
			}
			if !done[next.step] {
				way = append(way, next)
				visit(next.step)
				way = way[:len(way)-1]
			}
		}
		done[s] = true
	}
	for _, s := range b.points {
		if !done[s] {
			way = []circle{{s, nil}}
			visit(s)
		}
	}
	return told
}

// A circle is a step that another one reads, and where.
type circle struct {
	step *point
	ref  *dialect.Reference
}

// circular reports one circle, at the first of its references in the file.
func (p *parser) circular(way []circle, told map[*dialect.Reference]bool) {
	names := []string{way[len(way)-1].step.node.ID.Name}
	first := way[0].ref
	for _, x := range way {
		names = append(names, x.step.node.ID.Name)
		told[x.ref] = true
		if x.ref.Text.Span.Lo < first.Text.Span.Lo {
			first = x.ref
		}
	}
	p.Report(diag.Diagnostic{Code: diag.Cycle, Span: first.Text.Span, Message: "these placeholders form a cycle, so the engine rejects the file: " + strings.Join(names, " reads "),
		Help: "let one of them read something else, or give it a `default`"})
}
