package stargraph

import (
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// The records of an IR document that say nothing about where a run goes. The engine refuses keys that they do not have.
var (
	toolRefShape = &dialect.Shape{What: "a tool of a graph", Keys: []dialect.Key{
		{Name: "id", Required: true, Doc: "its id"},
		{Name: "version", Doc: "its version"},
	}}
	skillRefShape = &dialect.Shape{What: "a skill of a graph", Keys: toolRefShape.Keys}
	storeShape    = &dialect.Shape{What: "a store", Keys: []dialect.Key{
		{Name: "name", Required: true, Doc: "its name, from which its capabilities are made"},
		{Name: "provider", Required: true, Doc: "what keeps it"},
	}}
	packShape = &dialect.Shape{What: "a pack of rules", Keys: []dialect.Key{
		{Name: "id", Required: true, Doc: "its id"},
		{Name: "version", Doc: "its version"},
		{Name: "requires", Doc: "versions that it needs"},
	}}
	requiresShape = &dialect.Shape{What: "`requires`", Keys: []dialect.Key{
		{Name: "stargraph_facts_version", Doc: "of the facts"},
		{Name: "api_version", Doc: "of the interface"},
	}}
	migrateShape = &dialect.Shape{What: "a migration", Keys: []dialect.Key{
		{Name: "from_hash", Required: true, Doc: "the hash of the older graph"},
		{Name: "to_hash", Required: true, Doc: "the hash of this graph"},
	}}
	checkpointsShape = &dialect.Shape{What: "`checkpoints`", Keys: []dialect.Key{
		{Name: "every", Doc: "node-exit or never"},
		{Name: "store", Doc: "where, as in sqlite:./.stargraph/run.sqlite"},
	}}
)

var versionForm = lazyregexp.New(`^([0-9]+)\.[0-9]+\.[0-9]+$`)

// version reads the version of the format: as in the engine only another major number is a mistake.
func (p *parser) version(m dialect.Mapping) {
	n := m.Get("ir_version")
	id, ok := p.Text(n, "the version of the format")
	if !ok {
		return
	}
	if p.Schema.Tag(n) != "!!str" {
		p.Error(diag.BadLiteral, id.Span, "write it as in 1.1.0", "the format version has three numbers separated by dots, but this is one number")
		return
	}
	switch v := versionForm.FindStringSubmatch(id.Name); {
	case v == nil:
		p.Warn(diag.IgnoredKey, id.Span, "write it as in 1.1.0", "%q is not a version (ignored)", id.Name)
	case v[1] != "1":
		p.Error(diag.NotSupported, id.Span, "", "documents of version %s: this is not compiled", id.Name)
	}
}

// records reads what does not change a run, and says what has no effect here.
func (p *parser) records(m dialect.Mapping) {
	p.toolClaims(p.named(m, "tools", toolRefShape, "id"))
	p.named(m, "skills", skillRefShape, "id")
	p.storeClaims(p.named(m, "stores", storeShape, "name"))
	for _, pack := range p.named(m, "governance", packShape, "id") {
		if r := pack.Get("requires"); r != nil {
			p.Mapping(r, requiresShape)
		}
	}
	if n := m.Get("governance"); n != nil && len(n.Items) > 0 {
		p.Warn(diag.IgnoredKey, m.Key("governance"), "write what has to hold as rules of the graph", "packs of rules are not run, as in the engine")
	}
	if n := m.Get("migrate"); n != nil {
		if len(p.recordsOf(n, "`migrate`", migrateShape)) > 0 {
			p.Differs(m.Key("migrate"), "", "runs are resumed from journals, which know by themselves what a changed graph keeps")
		}
	}
	if n := m.Get("checkpoints"); n != nil {
		c, _ := p.Mapping(n, checkpointsShape)
		p.optionalWord(c.Get("every"), "`every`", "node-exit", "never")
		p.Differs(m.Key("checkpoints"), "", "every run is recorded, and `--sync` says what is forced to the disk")
	}
}

// optionalWord is Word for a key that may be left out.
func (p *parser) optionalWord(n *yamlnode.Node, what string, words ...string) {
	if n != nil {
		p.Word(n, what, words...)
	}
}

// recordsOf reads a list of records.
func (p *parser) recordsOf(n *yamlnode.Node, what string, shape *dialect.Shape) []dialect.Mapping {
	if !p.IsList(n, what) {
		return nil
	}
	var out []dialect.Mapping
	for _, it := range n.Items {
		if m, ok := p.Mapping(it, shape); ok {
			out = append(out, m)
		}
	}
	return out
}

// named reads a list of records with ids, which differ.
func (p *parser) named(m dialect.Mapping, key string, shape *dialect.Shape, id string) []dialect.Mapping {
	n := m.Get(key)
	if n == nil {
		return nil
	}
	seen := map[string]source.Span{}
	list := p.recordsOf(n, "`"+key+"`", shape)
	for _, r := range list {
		name, ok := p.Text(r.Get(id), "`"+id+"`")
		if !ok {
			continue
		}
		if key == "governance" {
			p.slug(name, "a pack")
		}
		if first, dup := seen[name.Name]; dup {
			p.Report(diag.Diagnostic{Code: diag.DuplicateName, Span: name.Span, Message: "`" + name.Name + "` appears twice in `" + key + "`", Related: []diag.Related{{Span: first, Message: "the first is here"}}})
		}
		seen[name.Name] = name.Span
	}
	return list
}

// slug holds an id to its form.
func (p *parser) slug(id ir.Ident, what string) {
	if !idForm.MatchString(id.Name) {
		p.Error(diag.BadName, id.Span, lower(id.Name), "the id of %s is made of lower-case letters, digits, `_`, `-` and `.`, and begins with a letter or a digit", what)
	}
}

// lower is what an id may be meant to be.
func lower(name string) string {
	if l := strings.ToLower(name); idForm.MatchString(l) {
		return "replace with `" + l + "`"
	}
	return ""
}
