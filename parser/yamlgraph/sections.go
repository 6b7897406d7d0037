package yamlgraph

import (
	"path"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

var configShape = &dialect.Shape{What: "`config`", Open: true, Keys: []dialect.Key{
	{Name: "recursion_limit", Doc: "how many steps a run takes at most"}, {Name: "max_map_items", Doc: "so many items of a list a map looks at"},
	{Name: "max_tokens", Doc: "of answers"}, {Name: "timeout", Doc: "seconds for a run"}, {Name: "max_concurrency", Doc: "so many nodes in parallel"}, {Name: "tool_load_mode", Doc: "strict or warn"},
}}

// config reads the limits of a run.
func (p *parser) config(n *yamlnode.Node) {
	if n == nil {
		return
	}
	m, ok := p.Mapping(n, configShape)
	if !ok {
		return
	}
	p.tree.Limit = int(p.Count(m.Get("recursion_limit"), "`recursion_limit`", 1, 1_000_000, 0))
	p.maxItems = int(p.Count(m.Get("max_map_items"), "`max_map_items`", 1, 1_000_000, 0))
	p.width = int(p.Count(m.Get("max_concurrency"), "`max_concurrency`", 1, 10_000, 0))
	if m.Get("max_tokens") != nil {
		p.Warn(diag.IgnoredKey, m.Key("max_tokens"), "write it below `defaults`", "the engine does not read the `max_tokens` of `config`")
	}
	if m.Get("timeout") != nil {
		p.Differs(m.Key("timeout"), "write `timeout` at nodes", "flowgen does not bound the time of an entire run")
	}
}

// initial reads the values of fields that the state begins with, which win over those of data files.
func (p *parser) initial(n *yamlnode.Node) {
	switch {
	case n == nil || n.Kind == yamlnode.Scalar && p.Schema.Tag(n) == "!!null":
		return
	case !p.IsMapping(n, "`variables`"):
		return
	}
	for _, e := range n.Entries {
		id := ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}
		if p.named(id.Name, id.Span); p.fields[id.Name] == nil {
			p.Warn(diag.IgnoredKey, id.Span, "declare it in `state`", "the state has no field `%s`, so that the value is dropped", clipped(id.Name))
			continue
		}
		p.seed(&ir.Entry{Key: id, Value: p.constant(e.Value)})
	}
}

// seed is the value of a field that the state begins with; another of the same field is forgotten.
func (p *parser) seed(entry *ir.Entry) {
	d := p.tree
	if d.Seeds == nil {
		d.Seeds = &ir.Object{Span: entry.Key.Span}
	}
	d.Seeds.Entries = slices.DeleteFunc(d.Seeds.Entries, func(e *ir.Entry) bool { return e.Key.Name == entry.Key.Name })
	d.Seeds.Entries = append(d.Seeds.Entries, entry)
}

// dataFiles reads files whose data the state begins with.
func (p *parser) dataFiles(n *yamlnode.Node) {
	switch {
	case n == nil:
		return
	case !p.IsMapping(n, "`data_files`"):
		return
	}
	for _, e := range n.Entries {
		id := ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}
		file, ok := p.Text(e.Value, "a data file")
		if !ok {
			continue
		}
		v := p.dataFile(file)
		if v == nil {
			continue
		}
		p.field(id, schema.AnyType)
		p.seed(&ir.Entry{Key: id, Value: v})
	}
}

// dataFile is what a data file holds, or those that a pattern stands for, by their names without extension; nil after a
// mistake.
func (p *parser) dataFile(file ir.Ident) ir.Value {
	clean := path.Clean(file.Name)
	if path.IsAbs(file.Name) || clean == ".." || strings.HasPrefix(clean, "../") {
		p.Error(diag.BadLiteral, file.Span, "", "a data file is in the folder of this file or below")
		return nil
	}
	if !strings.ContainsAny(file.Name, "*?[") {
		return p.data(file, clean)
	}
	if strings.Contains(file.Name, "**") {
		p.Error(diag.BadLiteral, file.Span, "write a pattern for one folder, as in `data/*.yaml`", "the engine does not look through folders below: `**` is refused")
		return nil
	}
	if _, err := path.Match(clean, ""); err != nil {
		p.Error(diag.BadLiteral, file.Span, "", "the pattern of a data file cannot be read: %s", err)
		return nil
	}
	o := &ir.Object{Span: file.Span}
	for _, name := range p.matching(strings.Split(clean, "/"), "") {
		v := p.data(file, name)
		if v == nil {
			return nil
		}
		stem := strings.TrimSuffix(path.Base(name), path.Ext(name))
		o.Entries = slices.DeleteFunc(o.Entries, func(e *ir.Entry) bool { return e.Key.Name == stem })
		o.Entries = append(o.Entries, &ir.Entry{Key: ir.Ident{Name: stem, Span: file.Span}, Value: v})
	}
	if len(o.Entries) == 0 {
		p.Warn(diag.CannotRead, file.Span, "", "no file has a name like this: the field is an empty mapping")
	}
	return o
}

// matching are the files whose names fit the parts of a pattern, in the order of their names.
func (p *parser) matching(parts []string, dir string) []string {
	files, folders := p.load.Folder(p.File, dir)
	names := files
	if len(parts) > 1 {
		names = folders
	}
	var out []string
	for _, name := range names {
		if ok, _ := path.Match(parts[0], name); !ok {
			continue
		}
		if full := path.Join(dir, name); len(parts) > 1 {
			out = append(out, p.matching(parts[1:], full)...)
		} else {
			out = append(out, full)
		}
	}
	return out
}

// data is what a file of YAML holds; an empty one holds an empty mapping.
func (p *parser) data(file ir.Ident, name string) ir.Value {
	f, ok := p.load.Text(p.File, ir.Ident{Name: name, Span: file.Span})
	if !ok {
		return nil
	}
	p.wf.Includes = append(p.wf.Includes, f)
	if strings.TrimSpace(f.Text) == "" {
		return &ir.Object{Span: file.Span}
	}
	root, _ := p.load.Find(file.Span, path.Join(path.Dir(p.File.Name), name))
	if root == nil {
		return nil
	}
	return p.constant(root)
}

// exports looks at which fields would go into files: those that the state does not have never do.
func (p *parser) exports(n *yamlnode.Node) {
	switch {
	case n == nil:
		return
	case !p.IsMapping(n, "`exports`"):
		return
	}
	for _, e := range n.Entries {
		id := ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}
		if p.named(id.Name, id.Span); p.fields[id.Name] == nil {
			p.Warn(diag.UnknownName, id.Span, "declare it in `state`", "the state has no field `%s`, so that it is never exported", clipped(id.Name))
		}
		if f := e.Value.Get("format"); f != nil && !is(f, "json") && !is(f, "markdown") && !is(f, "text") {
			p.Warn(diag.UnknownWord, dialect.Head(f), "write `json`, `markdown` or `text`", "the engine takes any other format for text")
		}
	}
}
