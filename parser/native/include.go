package native

import (
	"path"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// include reads the files under `include:`, each once and before what includes them.
func (p *parser) include(n *yamlnode.Node) {
	for _, ref := range p.refs(n, "a file") {
		root, f := p.load.Include(p.file, ref)
		if f != nil {
			p.wf.FileUses = append(p.wf.FileUses, ir.FileUse{At: ref.Span, File: f})
		}
		if root == nil || p.isCycle(f, ref) || p.included[f] {
			continue
		}
		p.included[f] = true
		p.wf.Includes = append(p.wf.Includes, f)
		p.includeFile(root, f)
	}
}

// isCycle reports a file that includes itself, through whatever others.
func (p *parser) isCycle(f *source.File, ref ir.Ident) bool {
	for i, open := range p.chain {
		if open != f {
			continue
		}
		names := make([]string, 0, len(p.chain)-i+1)
		for _, c := range p.chain[i:] {
			names = append(names, path.Base(c.Name))
		}
		p.report(diag.IncludeCycle, ref.Span, "move what both need into a file of its own",
			"files include one another: %s", strings.Join(append(names, path.Base(f.Name)), " -> "))
		return true
	}
	return false
}

// librarySections are the keys that an included file can have besides flowgen, name and description.
var librarySections = []string{"include", "types", "tools", "models", "providers", "servers", "agents"}

// isLibrary reports a file that is there to be included: it declares something, and has no key that only a workflow can have.
func isLibrary(root *yamlnode.Node) bool {
	if root == nil || root.Kind != yamlnode.Mapping {
		return false
	}
	declares := false
	for _, e := range root.Entries {
		if shapeLibrary.key(e.Key.Text.Value) == nil {
			return false
		}
		declares = declares || slices.Contains(librarySections, e.Key.Text.Value)
	}
	return declares
}

func (p *parser) includeFile(root *yamlnode.Node, f *source.File) {
	outer := p.file
	p.file = f
	p.chain = append(p.chain, f)
	defer func() { p.file, p.chain = outer, p.chain[:len(p.chain)-1] }()

	if root.Kind != yamlnode.Mapping {
		p.wrongShape(root, shapeLibrary.What+" is a mapping", "")
		return
	}
	m := mapping{node: root, shape: shapeLibrary, values: map[string]*yamlnode.Node{}, keys: map[string]*yamlnode.Node{}}
	p.readKeys(&m, func(key *yamlnode.Node) bool {
		if shapeWorkflow.key(key.Text.Value) == nil {
			return false
		}
		p.report(diag.NotIncludable, key.Span, "an included file can have "+list(quoted(librarySections), "and")+"; an entire workflow is called by a node with `flow:`",
			"`%s` cannot be included", key.Text.Value)
		return true
	})
	if !m.has("flowgen") {
		p.missingKey(root, shapeLibrary, "flowgen")
	}
	p.version(m)
	namespace := p.wf.Name.Name
	if n := m.get("name"); n != nil {
		if t, ok := p.text(n, "the name of a file"); ok {
			p.checkName(ir.Ident{Name: t.Value, Span: textSpan(t)}, workflowID)
			namespace = t.Value
		}
	}
	p.library(m, namespace)
}

// Suffix is the end of the names of workflow files.
const Suffix = ".flowgen.yaml"

// stem is the id a file's name suggests.
func stem(file string) string {
	s := path.Base(file)
	if t, ok := strings.CutSuffix(s, Suffix); ok {
		s = t
	} else {
		s = strings.TrimSuffix(s, path.Ext(s))
	}
	if s = toID(s); len(s) > maxName {
		s = s[:maxName]
	}
	if !idForm.MatchString(s) {
		return "workflow"
	}
	return s
}
