package sirenspec

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

var (
	guardShape = &dialect.Shape{What: "a guardrail", Open: true, Keys: []dialect.Key{
		{Name: "name", Required: true, Doc: "injection, length, schema, pii or cost_cap"},
		{Name: "config", Doc: "what it takes"},
	}}
	lengthShape = &dialect.Shape{What: "the config of length", Open: true, Keys: []dialect.Key{
		{Name: "max_chars", Doc: "the most characters of an answer, 4000 if it is not written"},
		{Name: "mode", Doc: "truncate or raise"},
	}}
	piiShape = &dialect.Shape{What: "the config of pii", Open: true, Keys: []dialect.Key{
		{Name: "entities", Doc: "what is looked for: email, phone, ssn, credit_card"},
		{Name: "action", Doc: "redact, block or flag"},
		{Name: "replacement", Doc: "what stands for what is taken out"},
	}}
	schemaShape = &dialect.Shape{What: "the config of schema", Open: true, Keys: []dialect.Key{
		{Name: "schema", Required: true, Doc: "a JSON Schema of draft 7"},
	}}
	capShape = &dialect.Shape{What: "the config of cost_cap", Open: true, Keys: []dialect.Key{
		{Name: "max_usd", Doc: "the most dollars of a run"},
		{Name: "max_tokens", Doc: "the most tokens of a run"},
		{Name: "action", Doc: "abort or warn"},
	}}
)

// defaultLength is how long answers are under the length guardrail.
const defaultLength = 4000

// guardrails reads a list of checks. whole: it is that of the workflow, whose cost_cap bounds the run.
func (p *parser) guardrails(n *yamlnode.Node, whole bool) []Guard {
	if !p.IsList(n, "`guardrails`") {
		return nil
	}
	out := []Guard{}
	for _, it := range n.Items {
		name, config := it, (*yamlnode.Node)(nil)
		if it.Kind == yamlnode.Mapping {
			m, ok := p.Mapping(it, guardShape)
			if !ok {
				continue
			}
			name, config = m.Get("name"), m.Get("config")
		}
		word := p.Word(name, "a guardrail", "injection", "length", "schema", "pii", "cost_cap")
		if word == "" {
			continue
		}
		g := Guard{Name: word, Span: name.Span}
		ok := true
		switch word {
		case "injection":
			p.noConfig(config)
		case "length":
			p.lengthGuard(config, &g)
		case "pii":
			ok = p.piiGuard(config, &g)
		case "schema":
			ok = p.schemaGuard(config, &g)
		case "cost_cap":
			p.costCap(config, name, whole)
			ok = false
		}
		if ok {
			out = append(out, g)
		}
	}
	return out
}

func (p *parser) noConfig(n *yamlnode.Node) {
	if n != nil && n.Kind == yamlnode.Mapping {
		for _, e := range n.Entries {
			p.Warn(diag.IgnoredKey, e.Key.Span, "remove it", "unknown key `%s` in the config of injection (ignored)", clip(e.Key.Text.Value))
		}
	}
}

// lengthGuard reads the config of length, which the pages describe and the engine ignores.
func (p *parser) lengthGuard(n *yamlnode.Node, g *Guard) {
	g.Most = defaultLength
	m, ok := p.Mapping(n, lengthShape)
	if !ok {
		return
	}
	most := p.Count(m.Get("max_chars"), "`max_chars`", 0, 1<<31, defaultLength)
	raise := m.Get("mode") != nil && p.Word(m.Get("mode"), "`mode`", "truncate", "raise") == "raise"
	if most == defaultLength && !raise {
		return
	}
	if p.opts.Upstream {
		p.Differs(dialect.Head(n), "", "the engine ignores this: answers are cut after %d characters", defaultLength)
		return
	}
	p.Differs(dialect.Head(n), "", "the engine ignores this, and cuts answers after %d characters", defaultLength)
	g.Most, g.Raise = most, raise
}

func (p *parser) piiGuard(n *yamlnode.Node, g *Guard) bool {
	g.Action, g.Instead = "redact", "[REDACTED]"
	m, ok := p.Mapping(n, piiShape)
	if !ok {
		return n == nil
	}
	if e := m.Get("entities"); e != nil {
		g.What = []string{}
		if !p.IsList(e, "`entities`") {
			return false
		}
		for _, it := range e.Items {
			if w := p.Word(it, "what pii looks for", "email", "phone", "ssn", "credit_card"); w != "" {
				g.What = append(g.What, w)
			}
		}
	}
	if a := m.Get("action"); a != nil {
		g.Action = p.Word(a, "the action of pii", "redact", "block", "flag")
	}
	if id, ok := p.Text(m.Get("replacement"), "`replacement`"); ok {
		g.Instead = id.Name
	}
	return true
}

func (p *parser) schemaGuard(n *yamlnode.Node, g *Guard) bool {
	if n == nil {
		p.Error(diag.MissingKey, g.Span, "write `{name: schema, config: {schema: ...}}`", "the guardrail schema needs a config with the key `schema`")
		return false
	}
	m, ok := p.Mapping(n, schemaShape)
	if !ok {
		return false
	}
	s := m.Get("schema")
	if s == nil {
		return false
	}
	if !p.IsMapping(s, "a schema") {
		return false
	}
	g.Schema = dialect.JSON(p.Value(s, nil))
	return (&schemaRefs{parser: p, root: s, members: map[*yamlnode.Node]map[string]*yamlnode.Node{}}).parts(s, false)
}

// schemaParts looks at what a schema cannot be used without: its patterns and what it refers to.
func (p *schemaRefs) parts(n *yamlnode.Node, names bool) bool {
	ok := true
	for _, e := range n.Entries {
		key, v := e.Key.Text.Value, e.Value
		switch {
		case names:
		case key == "enum" || key == "const" || key == "default" || key == "examples":
			continue
		case key == "pattern" && v.Kind == yamlnode.Scalar:
			ok = p.patternOf(v, v.Text.Value) && ok
		case key == "patternProperties" && v.Kind == yamlnode.Mapping:
			for _, pe := range v.Entries {
				ok = p.patternOf(pe.Key, pe.Key.Text.Value) && ok
			}
		case key == "$ref" && v.Kind == yamlnode.Scalar && !p.has(v.Text.Value):
			p.Error(diag.UnknownName, v.Span, "a reference begins with `#/`, as in `#/definitions/item`", "the schema has nothing at `%s`", clip(v.Text.Value))
			ok = false
		}
		ok = p.parts(v, key == "properties" || key == "definitions" || key == "patternProperties" || key == "dependencies") && ok
	}
	for _, it := range n.Items {
		ok = p.parts(it, false) && ok
	}
	return ok
}

func (p *parser) patternOf(n *yamlnode.Node, pattern string) bool {
	if _, err := regexp.Compile(pattern); err != nil {
		p.Error(diag.NotSupported, n.Span, "", "this pattern is not compiled: %v", strings.TrimPrefix(fmt.Sprint(err), "error parsing regexp: "))
		return false
	}
	return true
}

// schemaRefs looks for what the references of a schema name.
type schemaRefs struct {
	*parser
	root    *yamlnode.Node
	members map[*yamlnode.Node]map[string]*yamlnode.Node // of mappings that references lead into
}

// member is the value of a key of a mapping; nil when there is none.
func (p *schemaRefs) member(n *yamlnode.Node, name string) *yamlnode.Node {
	all, done := p.members[n]
	if !done {
		all = make(map[string]*yamlnode.Node, len(n.Entries))
		for _, e := range n.Entries {
			all[e.Key.Text.Value] = e.Value
		}
		p.members[n] = all
	}
	return all[name]
}

// has reports whether a reference names a part of the schema.
func (p *schemaRefs) has(ref string) bool {
	n := p.root
	path, ok := strings.CutPrefix(ref, "#")
	if !ok || path != "" && path[0] != '/' {
		return false
	}
	for _, name := range strings.Split(path, "/")[1:] {
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		if n.Kind == yamlnode.Sequence {
			var i int
			if _, err := fmt.Sscan(name, &i); err != nil || i < 0 || i >= len(n.Items) {
				return false
			}
			n = n.Items[i]
			continue
		}
		if n = p.member(n, name); n == nil {
			return false
		}
	}
	return true
}

// costCap reads a bound of what a run may cost.
func (p *parser) costCap(n, name *yamlnode.Node, whole bool) {
	if n == nil {
		p.Error(diag.MissingKey, name.Span, "write `{name: cost_cap, config: {max_usd: 1.0}}`", "the guardrail cost_cap needs a config with `max_usd` or `max_tokens`")
		return
	}
	m, ok := p.Mapping(n, capShape)
	if !ok {
		return
	}
	b := &Budget{Exceeded: "abort", Span: n.Span}
	p.ceilings(m, b, "max_usd", "the config of cost_cap")
	if a := m.Get("action"); a != nil {
		b.Exceeded = p.Word(a, "the action of cost_cap", "abort", "warn")
	}
	if !whole {
		p.Warn(diag.IgnoredKey, name.Span, "write it in `guardrails` of the workflow", "cost_cap has an effect for an entire workflow only: nothing checks it for an agent")
		return
	}
	p.tree.Budgets = append(p.tree.Budgets, b)
}
