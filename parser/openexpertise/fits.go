package openexpertise

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// What a node certainly writes is known where it is text, records, or an answer with a schema. The engine finds out when the
// node runs that the state does not take it, every time; here it is said before.

// fits warns about nodes whose every result the state refuses.
func (p *parser) fits(m dialect.Mapping, n *Node) {
	kind := "tool"
	if k := m.Get("kind"); k != nil {
		kind = k.Text.Value
	}
	switch {
	case kind == "dataset":
		p.takes(n, n.Writes, schema.List, "an array")
	case n.Schema != "":
		p.schemaFits(m, n)
	case n.JSON: // its keys are what the answer has
	case kind == "agent", kind == "skill", kind == "cli-agent":
		p.takes(n, n.Writes, schema.String, "text")
	}
}

// takes warns about a field that does not take a kind of value.
func (p *parser) takes(n *Node, fields []ir.Ident, kind schema.Kind, what string) {
	for _, id := range fields {
		s := p.field(id.Name)
		if s == nil {
			continue // another message
		}
		if t := s.Type.Kind; t != kind && t != schema.Any {
			p.refuses(n, id.Span, s, what)
		} else if s.Merge.Kind == ir.MergeAppend && kind != schema.List {
			p.refuses(n, id.Span, s, what)
		}
	}
}

func (p *parser) refuses(n *Node, at source.Span, s *ir.State, what string) {
	p.Report(diag.Diagnostic{Severity: diag.Warning, Code: diag.TypeMismatch, Span: at, Message: "\"" + n.ID.Name + "\" writes " + what + ", which the state field " + s.Name.Name + " does not take: the node always fails",
		Help: "declare the field as what is written, or write another one", Related: []diag.Related{{Span: s.Name.Span, Message: "it is declared here"}}})
}

func (p *parser) field(name string) *ir.State {
	for _, s := range p.wf.State {
		if s.Name.Name == name {
			return s
		}
	}
	return nil
}

// typeKinds are the kinds of the state for the types of JSON Schema.
var typeKinds = map[string]schema.Kind{"string": schema.String, "number": schema.Float, "integer": schema.Float, "boolean": schema.Bool, "object": schema.Map, "array": schema.List}

// schemaFits warns about required properties of a schema that are not fields of the state, or fields of another type.
func (p *parser) schemaFits(m dialect.Mapping, n *Node) {
	var s struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
		Required []string `json:"required"`
		Open     any      `json:"additionalProperties"`
		Pattern  any      `json:"patternProperties"`
	}
	if json.Unmarshal([]byte(n.Schema), &s) != nil {
		return
	}
	at := m.Key("schema")
	slices.Sort(s.Required)
	s.Required = slices.Compact(s.Required)
	required := func(name string) bool { _, found := slices.BinarySearch(s.Required, name); return found }
	for _, name := range s.Required {
		f := p.field(name)
		if f == nil {
			d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownName, Span: at, Message: "the schema requires \"" + name + "\", which is not a state field: every answer of \"" + n.ID.Name + "\" fails"}
			var names []string
			for _, s := range p.wf.State {
				names = append(names, s.Name.Name)
			}
			if len(name) < 100 {
				diag.Suggest(&d, name, names)
				d.Fixes = nil
			}
			p.Report(d)
			continue
		}
		word, _ := s.Properties[name].Type.(string)
		if kind, known := typeKinds[word]; known && f.Type.Kind != kind && f.Type.Kind != schema.Any {
			p.refuses(n, at, f, "values of the type "+word)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if p.field(name) == nil && !required(name) {
			p.Warn(diag.UnknownName, at, "declare it in `state.schema`, or remove it from the schema", "the schema has the property %q, which is not a state field: answers of %q with it fail", name, n.ID.Name)
		}
	}
	if len(s.Properties) == 0 || s.Pattern != nil || s.Open != nil && s.Open != false {
		return
	}
	for _, id := range n.Writes {
		if _, has := s.Properties[id.Name]; !has && !required(id.Name) && !mentions(n.Prompt, id.Name) {
			p.Warn(diag.Unused, id.Span, "add it to the properties of the schema, or remove it", "nothing writes %q here: the schema has no such property, and the prompt does not name it", id.Name)
		}
	}
}

// mentions reports whether a prompt has a name as a word.
func mentions(m *dialect.Mixed, name string) bool {
	return m != nil && regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).MatchString(m.Text.Value)
}
