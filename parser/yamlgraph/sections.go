package yamlgraph

import (
	"path"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

var configShape = &dialect.Shape{What: "`config`", Open: true, Keys: []dialect.Key{
	{Name: "recursion_limit", Doc: "how many steps a run takes at most"}, {Name: "max_map_items", Doc: "so many items of a list a map looks at"},
	{Name: "max_tokens", Doc: "of answers"}, {Name: "timeout", Doc: "seconds for a run"}, {Name: "max_concurrency", Doc: "so many nodes side by side"}, {Name: "tool_load_mode", Doc: "strict or warn"},
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
	p.wf.Dynamic.Tokens.Limit = int(p.Count(m.Get("recursion_limit"), "`recursion_limit`", 1, 1_000_000, 0))
	p.maxItems = int(p.Count(m.Get("max_map_items"), "`max_map_items`", 1, 1_000_000, 0))
	for _, key := range []string{"max_tokens", "timeout", "max_concurrency"} {
		if m.Get(key) != nil {
			p.Warn(diag.IgnoredKey, m.Key(key), "remove it", "flowgen does not read the `%s` of `config`", key)
		}
	}
}

// dataFiles reads files whose data the state begins with.
func (p *parser) dataFiles(n *yamlnode.Node) {
	switch {
	case n == nil:
		return
	case n.Kind != yamlnode.Mapping:
		p.WrongShape(n, "`data_files` is a mapping")
		return
	}
	o := &ir.Object{Span: n.Span}
	for _, e := range n.Entries {
		id := ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}
		file, ok := p.Text(e.Value, "a data file")
		if !ok {
			continue
		}
		clean := path.Clean(file.Name)
		switch {
		case strings.Contains(file.Name, "*"):
			p.Error(diag.NotSupported, file.Span, "name each file", "patterns of data files are not compiled")
			continue
		case path.IsAbs(file.Name) || clean == ".." || strings.HasPrefix(clean, "../"):
			p.Error(diag.BadLiteral, file.Span, "", "a data file stands in the folder of this file or below")
			continue
		}
		f, ok := p.load.Text(p.File, ir.Ident{Name: clean, Span: file.Span})
		if !ok {
			continue
		}
		var v ir.Value = &ir.Object{Span: file.Span} // an empty file
		if strings.TrimSpace(f.Text) != "" {
			root, _ := p.load.Find(file.Span, path.Join(path.Dir(p.File.Name), clean))
			if root == nil {
				continue
			}
			v = p.constant(root)
		}
		p.wf.Includes = append(p.wf.Includes, f)
		p.field(id, schema.AnyType)
		o.Entries = append(o.Entries, &ir.Entry{Key: id, Value: v})
	}
	if len(o.Entries) > 0 {
		p.wf.Dynamic.Seeds = o
	}
}
