package sirenspec

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// The engine reads files into models that take text for text only, numbers also as text, and no empty values but where a
// model allows them. What it refuses for its kind alone is an error with --compat upstream, and is understood otherwise.

// refused tells what the engine refuses and is understood here.
func (p *parser) refused(at source.Span, code diag.Code, help, format string, args ...any) {
	format = "the engine refuses the file: " + format
	if p.opts.Upstream {
		p.Error(code, at, help, format, args...)
		return
	}
	p.Differs(at, help, format, args...)
}

// Text reads a scalar as text; a number or a boolean is told.
func (p *parser) Text(n *yamlnode.Node, what string) (ir.Ident, bool) {
	id, ok := p.Reader.Text(n, what)
	if tag := "!!str"; ok && p.Schema.Tag(n) != tag {
		p.refused(n.Span, diag.WrongShape, "write `\""+clip(id.Name)+"\"`", "%s is text, and this is a value of YAML", what)
	}
	return id, ok
}

// textOnly tells values of a mapping that the engine takes as text.
func (p *parser) textOnly(n *yamlnode.Node, what string) {
	for _, e := range n.Entries {
		v := e.Value
		switch {
		case v.Kind == yamlnode.Scalar && p.Schema.Tag(v) != "!!str":
			p.refused(v.Span, diag.WrongShape, "write `\""+clip(v.Text.Value)+"\"`", "%s are texts, and this is a value of YAML", what)
		case v.Kind != yamlnode.Scalar:
			p.refused(dialect.Head(v), diag.WrongShape, "", "%s are texts, and this is a %s", what, v.Kind)
		}
	}
}

// empties are the keys whose values may be left out, by what their mapping is.
var empties = map[string][]string{
	"a workflow":                  {"input", "state", "guardrails", "defaults", "budget", "env_file", "memory", "version"},
	"`input`":                     {"message"},
	"`state`":                     {},
	"an agent":                    {"guardrails"},
	"`defaults`":                  {"retry", "on_failure"},
	"a retry policy":              {},
	"`on_failure`":                {"fallback_node", "default_output"},
	"a budget":                    {"max_tokens", "max_cost_usd", "max_duration_s"},
	"an edge":                     {"when"},
	"an agent node":               {"type", "retry", "on_failure", "max_tokens_per_call"},
	"a tool node":                 {},
	"the config of an http tool":  {"headers", "body"},
	"the config of a python tool": {"args"},
	"a swrm node":                 {"concurrency", "synthesis"},
	"the swrm of a factory":       {"concurrency", "synthesis"},
	"an agent of a swrm":          {"model", "guardrails"},
	"a synthesis":                 {"model", "guardrails"},
	"a factory node":              {"agent", "swrm", "for_each", "swarm_size"},
	"a workflow node":             {"writes"},
	"a human node":                {"prompt", "timeout", "default_output"},
	"a guardrail":                 {"config"},
}

// Mapping reads a mapping; values that are left out are told where the engine wants one.
func (p *parser) Mapping(n *yamlnode.Node, s *dialect.Shape) (dialect.Mapping, bool) {
	m, ok := p.Reader.Mapping(n, s)
	may, known := empties[s.What]
	if !ok || !known {
		return m, ok
	}
	for _, e := range m.Node.Entries {
		name := e.Key.Text.Value
		if e.Value.Kind != yamlnode.Null || slices.Contains(may, name) || slices.ContainsFunc(s.Keys, func(k dialect.Key) bool { return k.Required && k.Name == name }) {
			continue
		}
		if slices.ContainsFunc(s.Keys, func(k dialect.Key) bool { return k.Name == name }) {
			p.refused(e.Key.Span, diag.WrongShape, "remove it", "`%s` has no value", name)
		}
	}
	return m, true
}

// numeral is a scalar as a number: text that is one counts, too.
func (p *parser) numeral(n *yamlnode.Node) (text string, ok bool) {
	if n.Kind != yamlnode.Scalar {
		return "", false
	}
	plain := n.Text.Value
	switch p.Schema.Tag(n) {
	case "!!int", "!!float":
	case "!!str":
		plain = strings.TrimSpace(plain)
	default:
		return "", false
	}
	text, _, ok = yamlnode.Number(plain)
	return text, ok
}

// Count reads an integer from least to most, which may be text or end in `.0`.
func (p *parser) Count(n *yamlnode.Node, what string, least, most, absent int64) int64 {
	if n != nil {
		if text, ok := p.numeral(n); ok {
			own := *n
			own.Style, own.Explicit, own.Text.Value = yamlnode.Plain, false, text
			n = &own
		}
	}
	return p.Reader.Count(n, what, least, most, absent)
}

// lax are the texts that the engine takes for booleans.
var lax = map[string]bool{"true": true, "yes": true, "on": true, "y": true, "t": true, "1": true, "false": false, "no": false, "off": false, "n": false, "f": false, "0": false}

// flag reads true or false, which may be text.
func (p *parser) flag(n *yamlnode.Node, what string, absent bool) bool {
	if n == nil {
		return absent
	}
	if n.Kind == yamlnode.Scalar {
		if v, ok := lax[strings.ToLower(n.Text.Value)]; ok {
			return v
		}
	}
	p.NotBool(n, what)
	return absent
}
