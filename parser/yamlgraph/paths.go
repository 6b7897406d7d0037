package yamlgraph

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
)

// endless warns about a graph none of whose nodes that run leads to END, lacks edges, or may leave all of them untaken.
func (p *parser) endless(o *order, reached map[*Node]bool) {
	for n := range reached {
		t := n.Token
		if len(t.Exits) == 0 || len(t.Exits) > len(o.after[n]) || t.Limit > 0 || t.Ask != nil && t.Ask.Limit > 0 {
			return
		}
		if !slices.ContainsFunc(t.Exits, func(e *Exit) bool { return e.When == nil }) {
			return // the run ends when no condition is true
		}
	}
	if len(reached) > 0 && !p.Sink.HasErrors() {
		p.Report(diag.Diagnostic{Severity: diag.Warning, Code: diag.Unreachable, Span: o.first[0].ID.Span, Message: "no node leads to END: the run ends at the limit of its steps", Help: "add an edge to END"})
	}
}

// answerPaths warns about paths into answers of models that their schemas do not have. A field that anything else may write has
// no schema.
func (p *parser) answerPaths() {
	schemas, other := map[string][]string{}, map[string]bool{}
	for _, n := range p.tree.Nodes {
		t := n.Token
		if a := t.Ask; a != nil && n.Schema != "" && t.Key.Name != "" && a.Agent == nil && !a.Copilot {
			schemas[t.Key.Name] = append(schemas[t.Key.Name], n.Schema)
		} else if t.Key.Name != "" {
			other[t.Key.Name] = true
		}
		for _, id := range n.Writes {
			other[id.Name] = other[id.Name] || id.Name != t.Key.Name
		}
		switch v := n.Verb.(type) {
		case *ir.Let:
			for _, f := range v.Fields {
				other[f.Key.Name] = true
			}
		case *Map, *ir.Flow:
			return // they may write any field
		}
		if f := p.functionOf(n); f != nil {
			if f.Def == nil || len(f.Def.Files) == 0 {
				return // what it returns is written field by field
			}
			for _, file := range f.Def.Files {
				for _, word := range wordForm.FindAllString(file.Text, -1) {
					other[word] = true
				}
			}
		}
	}
	for _, r := range p.paths {
		if list := schemas[r.Path[0]]; len(list) == 1 && !other[r.Path[0]] {
			p.answerPath(r.Path[1:], list[0], func(name string, names []string) {
				d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownName, Span: r.Text.Span, Message: fmt.Sprintf("the answer in %q has no field %q: the value is always missing", r.Path[0], name)}
				diag.Suggest(&d, name, names)
				d.Fixes = nil // the reference is more than the name
				p.Report(d)
			})
		}
	}
}

// answerPath calls missing with the first name of a path that the objects of a JSON Schema cannot have.
func (p *parser) answerPath(path []string, schema string, missing func(name string, names []string)) {
	at := json.RawMessage(schema)
	for _, name := range path {
		var s struct {
			Type       any
			Properties map[string]json.RawMessage
			More       any `json:"additionalProperties"`
		}
		if json.Unmarshal(at, &s) != nil || s.Type != "object" || len(s.Properties) == 0 {
			return
		}
		next, ok := s.Properties[name]
		if !ok {
			if s.More == false {
				missing(name, slices.Sorted(maps.Keys(s.Properties)))
			}
			return
		}
		at = next
	}
}
