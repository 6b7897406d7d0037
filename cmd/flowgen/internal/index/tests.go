package index

import (
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// tests adds the names of a workflow in a file of test cases.
func (b *builder) tests(wf *ir.Workflow, f *ir.CaseFile) {
	b.wf = wf
	b.file(f.Workflow, nil)
	for _, c := range f.Cases {
		b.file(c.Cassette, nil)
		b.declare(Case, c.Name, c.Span, nil, c.Description)
		for _, e := range c.Input {
			for _, in := range wf.Input {
				if in.Name == e.Key.Name {
					b.use(e.Key.Span, Input, in.Name, in.Span)
				}
			}
		}
		for _, e := range c.Answers {
			b.callKey(e.Key)
		}
		for _, e := range c.Want.Output {
			for _, o := range wf.Output {
				if o.Name.Name == e.Key.Name {
					b.use(e.Key.Span, Output, o.Name.Name, o.Name.Span)
				}
			}
		}
		for _, e := range c.Want.State {
			for _, s := range wf.State {
				if s.Path() == e.Key.Name {
					b.use(e.Key.Span, State, s.Name.Name, s.Name.Span)
				}
			}
		}
		for _, call := range c.Want.Calls {
			b.callKey(call.Key)
		}
		for _, id := range c.Want.Order {
			b.callKey(id)
		}
		if c.Want.Error != nil {
			b.callKey(c.Want.Error.Node)
		}
	}
}

// callKey adds the nodes that a key of calls names: `probe[*]/search`, `draft#2`.
func (b *builder) callKey(id ir.Ident) {
	at := unquoted(id.Span)
	if at.Text() != id.Name {
		return
	}
	bodies := []*ir.Body{&b.wf.Body}
	for lo := 0; lo <= len(id.Name); {
		part, _, _ := strings.Cut(id.Name[lo:], "/")
		name := part
		if i := strings.IndexAny(part, "[#"); i >= 0 {
			name = part[:i]
		}
		n := find(bodies, name)
		if n == nil {
			return
		}
		if !n.Inline {
			b.use(source.Span{File: at.File, Lo: at.Lo + lo, Hi: at.Lo + lo + len(name)}, Node, name, n.ID.Span)
		}
		bodies = nil
		if body := ir.BodyOf(n.Verb); body != nil {
			bodies = append(bodies, body)
		}
		if f, ok := n.Verb.(*ir.Flow); ok && f.Flow != nil {
			bodies = append(bodies, &f.Flow.Body)
		}
		lo += len(part) + 1
	}
}

func find(bodies []*ir.Body, id string) *ir.Node {
	for _, body := range bodies {
		for _, n := range body.Nodes {
			if n.ID.Name == id {
				return n
			}
		}
	}
	return nil
}
