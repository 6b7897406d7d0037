package yamlgraph

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

var subgraphShape = nodeShape("a subgraph node", dialect.Key{Name: "graph", Required: true, Doc: "the file of the other graph"}, dialect.Key{Name: "mode", Doc: "invoke or direct"},
	dialect.Key{Name: "input_mapping", Doc: "fields of this graph with those of the other"}, dialect.Key{Name: "output_mapping", Doc: "fields of this graph with those of the other"},
	dialect.Key{Name: "interrupt_output_mapping", Doc: "the same, when the other graph asks a user"}, dialect.Key{Name: "checkpointer", Doc: "not read"})

// child reads the file of another graph that this one runs, and adds it to the workflow; nil when that is not possible, which is
// reported.
func (p *parser) child(ref ir.Ident) *ir.Workflow {
	child, _ := p.load.FlowNear(p.File, ref, false)
	if child == nil {
		return nil
	}
	if child.Origin != Name {
		p.Error(diag.NotSupported, ref.Span, "", "%s is not a YAMLGraph graph", ref.Name)
		return nil
	}
	if !slices.Contains(p.wf.Flows, child) {
		p.rename(child)
		p.wf.Flows = append(p.wf.Flows, child)
	}
	return child
}

// subgraph reads a node that runs another graph.
func (p *parser) subgraph(m dialect.Mapping, out *Node) {
	ref, ok := p.Text(m.Get("graph"), "`graph`")
	if !ok || p.load == nil {
		return
	}
	if ext := path.Ext(ref.Name); ext != ".yaml" && ext != ".yml" {
		p.Error(diag.BadLiteral, ref.Span, "", "the graph of a subgraph node is a file with .yaml or .yml")
		return
	}
	child := p.child(ref)
	if child == nil {
		return
	}
	s := &SubGraph{}
	direct := m.Get("mode") != nil && p.Word(m.Get("mode"), "the mode of a subgraph", "invoke", "direct") == "direct"
	for _, key := range []string{"input_mapping", "output_mapping", "interrupt_output_mapping"} {
		if n := m.Get(key); n != nil && direct {
			p.Error(diag.WrongShape, m.Key(key), "remove it, or write `mode: invoke`", "a subgraph with `mode: direct` shares the state, and has no `%s`", key)
		}
	}
	s.AllIn, s.AllOut = direct || p.all(m.Get("input_mapping")), direct || p.all(m.Get("output_mapping"))
	if n := m.Get("input_mapping"); !s.AllIn {
		s.In = p.mapped(n, child, "`input_mapping`")
	}
	if asks(child) {
		s.Out = p.atInterrupt(m.Get("interrupt_output_mapping"), child)
	}
	if n := m.Get("output_mapping"); !s.AllOut {
		for _, pair := range p.mapped(n, child, "`output_mapping`") {
			s.Out = slices.DeleteFunc(s.Out, func(o FieldPair) bool { return o.Parent.Name == pair.Parent.Name })
			s.Out = append(s.Out, pair)
		}
	}
	for i, pair := range s.Out {
		s.Out[i].Kept = kept(child, pair)
		if p.named(pair.Parent.Name, pair.Parent.Span); p.fields[pair.Parent.Name] == nil {
			out.Writes = append(out.Writes, pair.Parent)
		}
	}
	for i, pair := range s.In {
		s.In[i].Ref = p.reference(source.Text{Value: pair.Parent.Name, Span: pair.Parent.Span}, pair.Parent.Name)
	}
	out.Token.Sub = s
	out.Verb = &ir.Flow{Path: ref, Flow: child}
}

// atInterrupt reads the fields that the other graph hands on when it asks a user.
func (p *parser) atInterrupt(n *yamlnode.Node, child *ir.Workflow) []FieldPair {
	var out []FieldPair
	if p.all(n) {
		for _, s := range child.State {
			if name := s.Name.Name; name != "current_step" && p.fields[name] != nil {
				out = append(out, FieldPair{Parent: ir.Ident{Name: name, Span: n.Span}, Child: s.Name})
			}
		}
	} else {
		out = p.mapped(n, child, "`interrupt_output_mapping`")
	}
	for i := range out {
		out[i].asked = true
	}
	return out
}

// kept returns the child's field that stores the value of a pair at the last interrupt. It is empty if the value at the end is the
// same, and if a graph that the child runs asks, too: that is a row of the table of differences.
func kept(child *ir.Workflow, pair FieldPair) string {
	if !pair.asked || slices.ContainsFunc(child.Flows, asks) || askedLast(child, pair.Child.Name) {
		return ""
	}
	tree := treeOf(child)
	for _, x := range tree.Notes {
		if x.Field == pair.Child.Name {
			return x.As
		}
	}
	x := Note{Field: pair.Child.Name, As: pair.Child.Name + "_at_interrupt"}
	for declares(child, x.As) {
		x.As += "_"
	}
	tree.Notes = append(tree.Notes, x)
	return x.As
}

// askedLast reports whether a field has the same value when a graph ends as when it asked last: it asks once, whatever happens, and
// what comes after does not write the field.
func askedLast(wf *ir.Workflow, field string) bool {
	tree := treeOf(wf)
	if len(tree.Start) != 1 || field == "errors" || field == "current_step" {
		return false
	}
	asked := false
	at := tree.Start[0].Name
	for range tree.Nodes { // at most: a cycle never comes to the end
		n := tree.node(at)
		if n == nil {
			break
		}
		t := n.Token
		writes := t.Key.Name == field || t.Resume.Name == field || t.Parsed.Name == field
		switch v := n.Verb.(type) {
		case *ir.Human:
			if asked || t.Resume.Name == field {
				return false
			}
			asked, writes = true, false
		case *ir.LLM:
		case *ir.Let:
			writes = writes || slices.ContainsFunc(v.Fields, func(f *ir.Entry) bool { return f.Key.Name == field })
		default: // may write any
			writes = true
		}
		if asked && writes || len(t.Before)+len(t.After) > 0 || len(t.Exits) > 1 {
			return false
		}
		at = ""
		for _, x := range t.Exits {
			if at = x.To.Name; x.When != nil || x.Routed || x.Spent {
				return false
			}
		}
	}
	return asked && tree.node(at) == nil
}

// all reports whether a mapping is of all fields.
func (p *parser) all(n *yamlnode.Node) bool {
	return n != nil && n.Kind == yamlnode.Scalar && p.Word(n, "a mapping of fields", "auto", "*") != ""
}

// mapped reads fields of this graph with those of the other, which it has to have.
func (p *parser) mapped(n *yamlnode.Node, child *ir.Workflow, what string) []FieldPair {
	if n == nil || n.Kind == yamlnode.Scalar {
		return nil
	}
	if n.Kind != yamlnode.Mapping {
		p.WrongShape(n, what+" is a mapping, auto or \"*\"")
		return nil
	}
	var out []FieldPair
	for _, e := range n.Entries {
		to, ok := p.Text(e.Value, "a field of the other graph")
		if !ok {
			continue
		}
		to.Name = strings.TrimPrefix(to.Name, "state.")
		from := ir.Ident{Name: strings.TrimPrefix(e.Key.Text.Value, "state."), Span: e.Key.Span}
		if !declares(child, to.Name) {
			d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownName, Span: to.Span, Message: "the state of " + path.Base(child.File.Name) + " has no field \"" + to.Name + "\""}
			var names []string
			for _, s := range child.State {
				names = append(names, s.Name.Name)
			}
			if len(to.Name) < 100 {
				diag.Suggest(&d, to.Name, names)
			}
			p.Report(d)
			if what == "`input_mapping`" {
				continue
			}
		}
		out = append(out, FieldPair{Parent: from, Child: to})
	}
	return out
}

// declares reports whether a graph has a field, which it gets when every state has it.
func declares(wf *ir.Workflow, name string) bool {
	if slices.ContainsFunc(wf.State, func(s *ir.State) bool { return s.Name.Name == name }) {
		return true
	}
	tree := treeOf(wf)
	i := slices.IndexFunc(tree.Common, func(s *ir.State) bool { return s.Name.Name == name })
	if i < 0 {
		return false
	}
	wf.State = append(wf.State, tree.Common[i])
	tree.Common = slices.Delete(tree.Common, i, i+1)
	return true
}

// asks reports whether a graph, or one that it runs, asks a user.
func asks(wf *ir.Workflow) bool {
	for _, n := range treeOf(wf).Nodes {
		if _, person := n.Verb.(*ir.Human); person {
			return true
		}
	}
	return slices.ContainsFunc(wf.Flows, asks)
}

// rename gives a graph a name that no other one has, by which the functions and types of its Go are called.
func (p *parser) rename(wf *ir.Workflow) {
	base := wf.Name.Name
	for i := 2; wf.Name.Name == p.wf.Name.Name || slices.ContainsFunc(p.wf.Flows, func(f *ir.Workflow) bool { return hasName(f, wf) }); i++ {
		wf.Name.Name = base + "_" + strconv.Itoa(i)
	}
}

func hasName(f, other *ir.Workflow) bool {
	return f != other && f.Name.Name == other.Name.Name || slices.ContainsFunc(f.Flows, func(f *ir.Workflow) bool { return hasName(f, other) })
}
