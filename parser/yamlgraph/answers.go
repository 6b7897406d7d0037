package yamlgraph

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// An answer is what is known of a state field that only model answers with a schema are written to.
type answer struct {
	node   ir.Ident // the last one that writes it
	fields map[string]json.RawMessage
}

// answerFields finds the fields whose values are answers with a known schema, and nothing else.
func (p *parser) answerFields() {
	p.known = map[string]*answer{}
	other := map[string]bool{}
	if p.tree.Seeds != nil {
		for _, e := range p.tree.Seeds.Entries {
			other[e.Key.Name] = true
		}
	}
	for _, n := range p.tree.Nodes {
		key := n.Token.Key.Name
		if _, asks := n.Verb.(*ir.LLM); asks && n.Schema != "" && key != "" && p.addAnswer(n) {
			continue
		}
		other[key] = true
		other[n.Token.Resume.Name] = true
		other[n.Token.Parsed.Name] = true
		if g := n.Token.Gather; g != nil {
			other[g.Failures] = true
		}
		for _, id := range n.Writes {
			other[id.Name] = true
		}
		if v, ok := n.Verb.(*ir.Let); ok {
			for _, f := range v.Fields {
				other[f.Key.Name] = true
			}
		}
		if s := n.Token.Sub; s != nil {
			if s.AllOut {
				p.known = map[string]*answer{}
				return
			}
			for _, pair := range s.Out {
				other[pair.Parent.Name] = true
			}
		}
	}
	maps.DeleteFunc(p.known, func(name string, _ *answer) bool { return other[name] })
}

// addAnswer adds the schema of a node's answer to what is known of its field.
func (p *parser) addAnswer(n *Node) bool {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal([]byte(n.Schema), &s) != nil || s.Properties == nil {
		return false
	}
	a := p.known[n.Token.Key.Name]
	if a == nil {
		a = &answer{fields: map[string]json.RawMessage{}}
		p.known[n.Token.Key.Name] = a
	}
	a.node = n.ID
	maps.Copy(a.fields, s.Properties)
	return true
}

// answerPath warns about a path to what no answer has: the engine takes it for a value that is missing. Functions may write
// fields of their own; what their sources name is left alone.
func (p *parser) answerPath(r *dialect.Reference) {
	a := p.known[r.Path[0]]
	if a == nil || len(r.Path) < 2 || a.fields[r.Path[1]] != nil || p.unread || p.sourceWords[r.Path[1]] {
		return
	}
	d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownName, Span: r.Text.Span,
		Message: fmt.Sprintf("the answer of node %q has no field %q: the value is always missing", a.node.Name, r.Path[1])}
	diag.Suggest(&d, r.Path[1], slices.Sorted(maps.Keys(a.fields)))
	d.Fixes = nil // the reference is more than the name
	p.Report(d)
}
