package check

import (
	"fmt"
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// maxFields is how many fields a type has at most, those of the types of its fields included. A type that names another one
// several times doubles with every step: a few lines add up to more than any program can hold. So do fields of a large enum:
// each has its values in its tag.
const (
	maxFields    = 10_000
	maxAllFields = 200_000 // of all types of a workflow together
	enumField    = 64      // bytes of the values of an enum that count as a field
)

// sizes counts the fields that types come to.
type sizes map[*schema.Type]int

// of is at most maxFields+1. What a type holds again inside of itself counts once.
func (s sizes) of(t *schema.Type) int {
	if t == nil {
		return 0
	}
	if n, done := s[t]; done {
		return n
	}
	s[t] = 0
	n := s.of(t.Elem)
	for _, v := range t.Values {
		n += len(v) + 1
	}
	if len(t.Values) > 0 {
		n /= enumField
	}
	for _, f := range t.Fields {
		n = min(n+1+s.of(f.Type), maxFields+1)
	}
	for _, v := range t.Variants {
		n = min(n+1+s.of(v.Type), maxFields+1)
	}
	if t.Go != nil {
		for _, a := range t.Go.Args {
			n = min(n+s.of(a), maxFields+1)
		}
	}
	s[t] = n
	return n
}

// A written type is one that is in a file, or that a tool brings.
type writtenType struct {
	typ  *schema.Type
	at   source.Span
	what string
}

// writtenTypes are all types of a workflow, the declared ones first.
func writtenTypes(wf *ir.Workflow) []writtenType {
	var out []writtenType
	add := func(t *schema.Type, at source.Span, what string) {
		if t != nil {
			out = append(out, writtenType{t, at, what})
		}
	}
	for _, d := range wf.Types {
		add(d.Type, d.Span, "type "+d.Name)
	}
	for _, f := range wf.Input {
		add(f.Type, f.Span, "the type of "+f.Name)
	}
	for _, s := range wf.State {
		add(s.Type, s.Name.Span, "the type of "+s.Name.Name)
	}
	for _, o := range wf.Output {
		add(o.Type, o.Name.Span, "the type of "+o.Name.Name)
	}
	for _, t := range wf.Tools {
		add(t.In, t.Key.Span, "the input of "+t.Key.Name)
		add(t.Out, t.Key.Span, "the output of "+t.Key.Name)
	}
	nodeTypes(wf.Body.Nodes, add)
	return out
}

func nodeTypes(nodes []*ir.Node, add func(t *schema.Type, at source.Span, what string)) {
	for _, n := range nodes {
		switch v := n.Verb.(type) {
		case *ir.LLM:
			add(v.Out, n.ID.Span, "the answer of "+n.ID.Name)
		case *ir.Human:
			add(v.Out, n.ID.Span, "the answer of "+n.ID.Name)
		case *ir.ToolChoice:
			add(v.Out, n.ID.Span, "the result of "+n.ID.Name)
		case *ir.Parse:
			add(v.Out, n.ID.Span, "the result of "+n.ID.Name)
		}
		if body := ir.BodyOf(n.Verb); body != nil {
			nodeTypes(body.Nodes, add)
		}
	}
}

// tooMany reports the first input, state field or output that is one too many: programs have a field for each.
func tooMany(wf *ir.Workflow, sink *diag.Sink) bool {
	at, what := source.Span{}, ""
	switch {
	case len(wf.Input) > maxFields:
		at, what = wf.Input[maxFields].Span, "inputs"
	case len(wf.State) > maxFields:
		at, what = wf.State[maxFields].Name.Span, "state fields"
	case len(wf.Output) > maxFields:
		at, what = wf.Output[maxFields].Name.Span, "outputs"
	default:
		return false
	}
	sink.Report(diag.Diagnostic{Code: diag.YAMLLimit, Span: at, Message: fmt.Sprintf("there are more than %d %s", maxFields, what),
		Help: "combine them in lists, maps or values of a declared type"})
	return true
}

// bounded reports the first type of a workflow, or of one that it runs, that is too large, or from which on they are too
// large together: all that comes after it walks through types.
func bounded(wf *ir.Workflow, sink *diag.Sink) bool {
	s, total, seen := sizes{}, 0, map[*ir.Workflow]bool{}
	var visit func(wf *ir.Workflow) bool
	visit = func(wf *ir.Workflow) bool {
		if seen[wf] {
			return true
		}
		seen[wf] = true
		if tooMany(wf, sink) {
			return false
		}
		for _, w := range writtenTypes(wf) {
			what, most := w.what, maxFields
			if total += s.of(w.typ); total > maxAllFields {
				what, most = "the types of this workflow down to here have", maxAllFields
			} else if s.of(w.typ) <= maxFields {
				continue
			} else {
				what += " has"
			}
			sink.Report(diag.Diagnostic{Code: diag.YAMLLimit, Span: w.at, Message: fmt.Sprintf("%s more than %d fields, their fields and enums included", what, most),
				Help: "use `any` for the parts that the workflow does not look into"})
			return false
		}
		return !slices.ContainsFunc(wf.Flows, func(sub *ir.Workflow) bool { return !visit(sub) })
	}
	return visit(wf)
}
