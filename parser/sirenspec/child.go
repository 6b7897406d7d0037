package sirenspec

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

var childNodeShape = &dialect.Shape{What: "a workflow node", Open: true, Keys: []dialect.Key{
	{Name: "type", Required: true, Doc: "workflow", Form: dialect.OneWord("workflow")},
	{Name: "ref", Required: true, Doc: "the file of the workflow that is run", Form: dialect.Scalar},
	{Name: "inputs", Doc: "what it is given, by name", Form: dialect.Map},
	{Name: "writes", Doc: "where its output goes besides output.<node>", Form: dialect.Scalar},
	{Name: "max_depth", Doc: "how deep workflows run each other, 10 if it is not written", Form: dialect.Count},
	{Name: "streaming", Doc: "whether its text comes in pieces", Form: dialect.Form{Kind: dialect.FormBool}},
}}

// childNode reads a node that runs another workflow.
func (p *parser) childNode(n *yamlnode.Node, out *Node) {
	m, ok := p.Mapping(n, childNodeShape)
	if !ok {
		return
	}
	if m.Get("writes") != nil {
		p.writes(m, out)
	}
	if out.Writes == nil {
		out.Writes = []string{"output", out.ID.Name}
	}
	p.place("output", out.ID)
	depth := p.Count(m.Get("max_depth"), "`max_depth`", 1, 1000, 10)
	p.bind(m.Get("inputs"), out)
	p.roots = roots{}
	ref, ok := p.Text(m.Get("ref"), "`ref`")
	if !ok {
		return
	}
	wf := p.child(ref)
	if wf == nil {
		return
	}
	if have := deep(wf); int64(have) > depth {
		p.Error(diag.RecursiveFlow, ref.Span, "write a larger `max_depth`", "workflows run each other %d deep here, and `max_depth` is %d", have, depth)
		return
	}
	if !slices.Contains(p.wf.Flows, wf) {
		p.rename(wf)
		p.wf.Flows = append(p.wf.Flows, wf)
	}
	out.Verb = &ir.Flow{Path: ref, Flow: wf}
	if out.Args != nil {
		for _, e := range out.Args.Entries {
			passed(wf, e.Key.Name, variables(&ir.Object{Entries: []*ir.Entry{e}}))
		}
	}
}

// passed tells the tools of a workflow which environment variables an input of it holds.
func passed(wf *ir.Workflow, input string, names []string) {
	if len(names) == 0 {
		return
	}
	reads := func(v ir.Value) bool {
		found := false
		dialect.ValueReferences(v, func(r *dialect.Reference) { found = found || r.Root == "inputs" && r.Path[0] == input })
		return found
	}
	tree := treeOf(wf)
	if tree == nil {
		return
	}
	for _, d := range tree.Nodes {
		if v, ok := d.Verb.(*ir.Flow); ok && d.Args != nil {
			for _, e := range d.Args.Entries {
				if reads(e.Value) {
					passed(v.Flow, e.Key.Name, names)
				}
			}
		}
		call, ok := d.Verb.(*ir.ToolCall)
		if !ok {
			continue
		}
		for _, t := range wf.Tools {
			if q := d.Request; q != nil {
				if t.Key == call.Name && slices.ContainsFunc(append([]*dialect.Mixed{q.URL, q.Body}, values(q.Headers)...), func(m *dialect.Mixed) bool { return m != nil && reads(m) }) {
					q.Env = union(q.Env, names)
				}
			}
			if b, ok := t.Binding.(*ir.PythonTool); ok {
				if t.Key == call.Name && d.Args != nil && reads(d.Args) {
					b.Env = union(b.Env, names)
				}
			}
		}
	}
}

func union(have, more []string) []string {
	for _, name := range more {
		if !slices.Contains(have, name) {
			have = append(have, name)
		}
	}
	return have
}

// child reads the workflow that a ref stands for; nil after a message.
func (p *parser) child(ref ir.Ident) *ir.Workflow {
	if p.load == nil {
		return nil
	}
	ref.Name = strings.ReplaceAll(ref.Name, `\`, "/")
	wf, beside := p.load.FlowNear(p.File, ref, p.opts.Upstream)
	switch {
	case wf == nil:
		return nil
	case treeOf(wf) == nil:
		p.Error(diag.NotSupported, ref.Span, "", "%s is not a SirenSpec workflow", ref.Name)
		return nil
	}
	if beside && path.Dir(p.File.Name) != "." {
		p.Differs(ref.Span, "", "the engine looks for %s in the folder that it is run in, and not next to this file", ref.Name)
	}
	return wf
}

// deep is how deep workflows run each other, from wf on.
func deep(wf *ir.Workflow) int {
	most := 0
	for _, f := range wf.Flows {
		most = max(most, deep(f))
	}
	return most + 1
}

// rename gives a workflow a name that no other one has, by which the functions and types of its Go are called.
func (p *parser) rename(wf *ir.Workflow) {
	base := wf.Name.Name
	for i := 2; ; i++ {
		taken := false
		for _, f := range p.wf.Flows {
			taken = taken || named(f, wf)
		}
		if !taken {
			return
		}
		wf.Name.Name = base + "_" + strconv.Itoa(i)
	}
}

// named reports whether f, or a workflow that it runs, has the name of another workflow.
func named(f, other *ir.Workflow) bool {
	return f != other && f.Name.Name == other.Name.Name || slices.ContainsFunc(f.Flows, func(f *ir.Workflow) bool { return named(f, other) })
}

// dynamicField is the Go type of values that nothing is known about.
var dynamicField = &schema.Go{Path: schema.RuntimePath + "/dynamic", Name: "Field"}

// given declares an input that a placeholder reads: what a workflow that runs this one binds to it, or the command line.
func (p *parser) given(r *dialect.Reference) {
	name := r.Path[0]
	if !idForm.MatchString(name) {
		return // nothing can have that name: the node fails when it runs
	}
	for _, f := range p.wf.Input {
		if f.Name == name {
			return
		}
	}
	t := *schema.OptOf(schema.AnyType, "")
	t.Go = dynamicField
	p.wf.Input = append(p.wf.Input, &schema.Field{Name: name, Type: &t, Span: r.Text.Span, Omit: true})
}
