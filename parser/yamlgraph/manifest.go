package yamlgraph

import (
	"path"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

var (
	manifestShape = &dialect.Shape{What: "a manifest", Keys: []dialect.Key{
		{Name: "name", Required: true, Doc: "the tool's name"}, {Name: "description", Required: true, Doc: "what it does"}, {Name: "runtime", Required: true, Doc: "how it runs"},
	}}
	runtimeShapes = map[string]*dialect.Shape{
		"shell": {What: "the runtime of a shell tool", Keys: []dialect.Key{{Name: "type", Required: true, Doc: "shell"}, {Name: "command", Required: true, Doc: "the command"},
			{Name: "parse", Doc: "text, json or none"}, {Name: "timeout", Doc: "seconds"}}},
		"python": {What: "the runtime of a python tool", Keys: []dialect.Key{{Name: "type", Required: true, Doc: "python"}, {Name: "function", Required: true, Doc: "the function"},
			{Name: "path", Doc: "the file of the module"}, {Name: "module", Doc: "the module"}}},
		"graph": {What: "the runtime of a graph tool", Keys: []dialect.Key{{Name: "type", Required: true, Doc: "graph"}, {Name: "path", Required: true, Doc: "the file of the graph"},
			{Name: "input_mapping", Doc: "arguments with fields"}, {Name: "output_key", Doc: "the field of the result"}}},
	}
	manifestToolShape = &dialect.Shape{What: "a tool with a manifest", Keys: []dialect.Key{{Name: "manifest", Required: true, Doc: "the file of the manifest", Form: dialect.Scalar}}}
	slotShape         = &dialect.Shape{What: "a slot", Open: true, Keys: []dialect.Key{{Name: "slot", Doc: "true"}, {Name: "contract", Doc: "what a tool has to be"}, {Name: "description", Doc: "what it is for"}}}
)

// manifest is the declaration of a tool that a manifest holds; nil after a mistake. named says that the manifest has the
// name of the tool.
func (p *parser) manifest(file ir.Ident, key ir.Ident, named bool) (tool *yamlnode.Node, kind string) {
	clean := path.Clean(file.Name)
	if path.IsAbs(file.Name) {
		p.Error(diag.BadLiteral, file.Span, "", "a manifest is named from the folder of this file")
		return nil, ""
	}
	full := path.Join(path.Dir(p.File.Name), clean)
	root, f := p.load.Find(file.Span, full)
	if f == nil {
		p.Error(diag.CannotRead, file.Span, "", "cannot find the manifest %s", full)
		return nil, ""
	}
	p.wf.Includes = append(p.wf.Includes, f)
	if root == nil {
		return nil, ""
	}
	m, ok := p.Mapping(root, manifestShape)
	if !ok {
		return nil, ""
	}
	if id, ok := p.Text(m.Get("name"), "the name of a manifest"); ok && named && id.Name != key.Name {
		p.Error(diag.UnknownName, id.Span, "write `name: "+key.Name+"`, or call the tool `"+id.Name+"`", "the manifest is that of %q, and the tool is called %q", id.Name, key.Name)
		return nil, ""
	}
	rt := m.Get("runtime")
	if rt == nil {
		return nil, ""
	}
	if kind = "shell"; rt.Get("type") != nil {
		if kind = p.Word(rt.Get("type"), "the type of a runtime", "shell", "python", "graph"); kind == "" {
			return nil, ""
		}
	}
	r, ok := p.Mapping(rt, runtimeShapes[kind])
	if !ok {
		return nil, ""
	}
	if kind == "python" && (r.Get("path") == nil) == (r.Get("module") == nil) {
		p.Error(diag.WrongShape, dialect.Head(rt), "", "a python tool has one of `path` and `module`")
		return nil, ""
	}
	out := rt
	if d := m.Get("description"); d != nil {
		out = with(out, "description", d)
	}
	if at := r.Get("path"); at != nil && at.Kind == yamlnode.Scalar {
		if inner := path.Clean(at.Text.Value); path.IsAbs(inner) || kind == "python" && (inner == ".." || strings.HasPrefix(inner, "../")) {
			p.Error(diag.BadLiteral, at.Span, "", "the path leads out of the folder of the manifest")
			return nil, ""
		}
		out = with(out, "path", wordAt(path.Join(path.Dir(clean), at.Text.Value), at.Span))
	}
	return out, kind
}

// declared is the declaration that stands for a tool: that of its manifest, that of what is bound to its slot, or its own.
// It is nil when there is none.
func (p *parser) declared(e yamlnode.Entry) *yamlnode.Node {
	key := ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}
	if n := e.Value.Get("manifest"); n != nil {
		for _, other := range e.Value.Entries {
			if name := other.Key.Text.Value; name != "manifest" {
				p.Error(diag.UnknownKey, other.Key.Span, "write it in the manifest", "a tool with a manifest has the key `manifest` alone")
			}
		}
		file, ok := p.Text(n, "`manifest`")
		if !ok {
			return nil
		}
		tool, _ := p.manifest(file, key, true)
		return tool
	}
	if s := e.Value.Get("slot"); is(s, "true") && p.Schema.Tag(s) == "!!bool" {
		return p.slot(e.Value, key)
	}
	return e.Value
}

// slot is the declaration of the tool that is bound to a slot.
func (p *parser) slot(n *yamlnode.Node, key ir.Ident) *yamlnode.Node {
	m, ok := p.Mapping(n, slotShape)
	if !ok {
		return nil
	}
	file := p.opts.Tools[key.Name]
	if file == "" {
		p.Error(diag.MissingKey, key.Span, "say which tool it is with `--tool "+key.Name+"=MANIFEST.yaml`", "the slot %q has no tool", key.Name)
		return nil
	}
	if rel := relative(path.Dir(p.File.Name), file); rel != "" {
		file = rel
	}
	tool, kind := p.manifest(ir.Ident{Name: file, Span: key.Span}, key, false)
	c := m.Get("contract")
	if tool == nil || c == nil {
		return tool
	}
	var kinds []string
	for _, id := range p.Idents(c.Get("runtimes"), "`runtimes`") {
		kinds = append(kinds, id.Name)
	}
	if len(kinds) > 0 && !slices.Contains(kinds, kind) {
		p.Error(diag.UnknownWord, key.Span, "", "the slot %q takes tools of the type %s, and %s is a %s tool", key.Name, strings.Join(kinds, " or "), file, kind)
		return nil
	}
	if kind != "shell" || tool.Get("command") == nil {
		return tool
	}
	for _, id := range p.Idents(c.Get("args"), "`args`") {
		if !strings.Contains(tool.Get("command").Text.Value, "{"+id.Name+"}") {
			p.Error(diag.UnknownName, key.Span, "", "the slot %q hands on the argument `%s`, which the command of %s does not have", key.Name, id.Name, file)
			return nil
		}
	}
	return tool
}

// relative is a file, named from where the command runs, as it is named from a folder.
func relative(dir, file string) string {
	if dir == "." || path.IsAbs(file) || path.IsAbs(dir) {
		return file
	}
	return strings.Repeat("../", strings.Count(path.Clean(dir), "/")+1) + file
}
