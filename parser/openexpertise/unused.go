package openexpertise

import (
	"encoding/json"

	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// neverSet warns about state fields that no node of an experience can write, and which something looks for or nothing names:
// the engine takes them for missing. What modules write is not known, so that a field whose name stands anywhere in one of
// them counts as written. A field in `reads` alone is one that a module may do without.
func (p *parser) neverSet() {
	if p.Sink.HasErrors() {
		return
	}
	set, named := map[string]bool{}, p.stateReferences()
	var texts strings.Builder
	for _, n := range p.tree.Nodes {
		for _, id := range n.Writes {
			set[id.Name] = true
		}
		for _, id := range n.Reads {
			set[id.Name] = set[id.Name] || !named[id.Name]
		}
		if n.Schema != "" || n.JSON {
			for _, name := range properties(n.Schema) {
				set[name] = true
			}
			texts.WriteString(n.Schema + "\n")
			if n.Prompt != nil {
				for _, s := range n.Prompt.Segments { // placeholders are what is known of the state
					texts.WriteString(s.Lit + "\n")
				}
			}
		}
		if call, ok := n.Verb.(*ir.ToolCall); ok {
			code, known := moduleCode(call.Tool)
			if !known || len(n.Writes) == 0 && writesUnnamed(code) {
				return
			}
			texts.WriteString(code + "\n")
		}
	}
	words := map[string]bool{}
	for _, w := range wordForm.FindAllString(texts.String(), -1) {
		words[w] = true
	}
	for _, s := range p.wf.State {
		if name := s.Name.Name; !set[name] && !words[name] {
			p.Warn(diag.Unused, s.Name.Span, "add it to `writes` of the node that sets it, or remove it", "state %q is never set", name)
		}
	}
}

// stateReferences are the state fields that conditions, args, lists and prompts look for.
func (p *parser) stateReferences() map[string]bool {
	named := map[string]bool{}
	see := func(r *dialect.Reference) {
		if r.Root == "state" && len(r.Path) > 0 {
			named[r.Path[0]] = true
		}
	}
	for _, n := range p.tree.Nodes {
		if n.Args != nil {
			dialect.ValueReferences(n.Args, see)
		}
		if n.Prompt != nil {
			dialect.ValueReferences(n.Prompt, see)
		}
		if n.Each != nil {
			see(n.Each.Over)
		}
		for _, w := range n.Whens {
			w.Refs(see)
		}
		for _, r := range n.Routes {
			r.When.Refs(see)
		}
	}
	for _, ph := range p.tree.Phases {
		if ph.Over != nil {
			see(ph.Over)
		}
		ph.Until.Refs(see)
	}
	return named
}

var (
	wordForm  = lazyregexp.New(`[A-Za-z_][A-Za-z0-9_]*`)
	delta     = lazyregexp.New(`\bstate_delta\b`)
	counted   = lazyregexp.New(`\bmetrics\b`)
	deltaNone = lazyregexp.New(`\bstate_delta"?\s*:\s*\{\s*\}`)
)

// moduleCode is the code of a tool with all that it imports; none for commands and files. It is not known of tools that take
// the place of modules.
func moduleCode(t *ir.Tool) (code string, known bool) {
	if t == nil {
		return "", false
	}
	switch b := t.Binding.(type) {
	case *ir.JSTool:
		return b.Bundle, b.Bundle != ""
	case *ir.GoTool, *ir.PythonTool, *ir.StarlarkTool, *ir.WasmTool, *ir.MCPTool:
		return "", false
	}
	return "", true
}

// counts has the tools whose modules return metrics say what calls took.
func (p *parser) counts() {
	for _, t := range p.wf.Tools {
		if code, _ := moduleCode(t); counted.MatchString(code) {
			t.Usage = metrics
		}
	}
}

// writesUnnamed reports whether a module may write without `writes` on its node: all that it says of a delta is not that it
// is empty.
func writesUnnamed(code string) bool {
	n := len(delta.FindAllString(code, -1))
	return n == 0 || n > len(deltaNone.FindAllString(code, -1))
}

// properties are the names in a JSON Schema of an object.
func properties(schema string) []string {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal([]byte(schema), &s) != nil {
		return nil
	}
	names := slices.Clone(s.Required)
	for name := range s.Properties {
		names = append(names, name)
	}
	return names
}
