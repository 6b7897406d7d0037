package hashes

import (
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

// dynamicFrom enters what the nodes of a dialect depend on through the state: those before them that say they write what
// they read. In a loop, all nodes of it are before each.
func (w *walk) dynamicFrom(p *check.Program, in scope) {
	before := map[string][]string{} // by field
	enter := func(steps []*check.Step) {
		for _, s := range steps {
			for _, id := range s.Node.Dynamic.Writes {
				before[id.Name] = append(before[id.Name], in.paths[s])
			}
		}
	}
	for _, ph := range p.Phases {
		if ph.IR == nil {
			continue
		}
		all := slices.Concat(ph.Waves...)
		if ph.IR.Kind != ir.PhaseGraph {
			enter(all)
		}
		for _, s := range all {
			w.readers(s, ph.IR, in.paths[s], before)
			if ph.IR.Kind == ir.PhaseGraph {
				enter([]*check.Step{s})
			}
		}
	}
}

// readers enters what one node depends on.
func (w *walk) readers(s *check.Step, ph *ir.Phase, path string, before map[string][]string) {
	d := s.Node.Dynamic
	from := slices.Clone(w.out.From[path])
	read := func(r *ir.Reference) {
		if r != nil && r.Root == "state" && len(r.Path) > 0 {
			from = append(from, before[r.Path[0]]...)
		}
	}
	read(ph.Over)
	ph.Until.Refs(read)
	for _, id := range d.Reads {
		from = append(from, before[id.Name]...)
	}
	for _, r := range d.Routes {
		r.When.Refs(read)
	}
	for _, p := range d.Whens {
		p.Refs(read)
	}
	if d.Args != nil {
		ir.ValueReferences(d.Args, read)
	}
	if d.Each != nil {
		read(d.Each.Over)
	}
	from = slices.DeleteFunc(from, func(p string) bool { return p == path || w.out.Nodes[p] == "" })
	if slices.Sort(from); len(from) > 0 {
		w.out.From[path] = slices.Compact(from)
	}
}

// dynamicNode writes what a node of a dialect says about its data.
func dynamicNode(x *text, d *ir.DynamicNode) {
	if d == nil {
		return
	}
	x.mark("dynamic", true)
	if d.Args != nil {
		x.line("args", value(d.Args))
	}
	x.mark("reads written", d.ReadsSome)
	x.line("reads", idents(d.Reads)...)
	x.line("writes", idents(d.Writes)...)
	for _, r := range d.Routes {
		x.line("route", r.From.Name, r.To.Name, predicate(r.When))
	}
	for _, p := range d.Whens {
		x.line("when", predicate(p))
	}
	if d.Each != nil {
		x.line("each", reference(d.Each.Over), strconv.Itoa(d.Each.Concurrency))
	}
	x.line("spent", strconv.Itoa(int(d.OnSpent)), strconv.Itoa(d.Attempts), d.Base.String(), strconv.FormatBool(d.Double), strconv.Itoa(d.Times))
	x.line("prompt", mixed(d.Prompt))
	x.line("system", mixed(d.System))
	x.mark("json", d.JSON)
	x.line("schema", d.Schema)
	if d.AnswerAs != "" {
		x.line("answer as", d.AnswerAs)
	}
	token(x, d.Token)
}

// dynamic writes what a workflow of a dialect says besides its nodes.
func dynamic(x *text, d *ir.Dynamic) {
	if d == nil {
		return
	}
	x.line("dialect", d.Dialect, strconv.FormatBool(d.Upstream), strconv.Itoa(d.Concurrency))
	if d.Seeds != nil {
		x.line("seeds", value(d.Seeds))
	}
	for _, ph := range d.Phases {
		words := []string{strconv.Itoa(int(ph.Kind)), ph.ID.Name, reference(ph.Over), predicate(ph.Until), strconv.Itoa(ph.Max)}
		for _, n := range ph.Nodes {
			words = append(words, n.ID.Name)
		}
		x.line("phase", words...)
	}
	tokens(x, d.Tokens)
}

func predicate(p *ir.Predicate) string {
	if p == nil {
		return ""
	}
	words := []string{p.Op, reference(p.Ref)}
	if p.Lit != nil {
		words = append(words, value(p.Lit))
	}
	for _, k := range p.Kids {
		words = append(words, predicate(k))
	}
	return "(" + strings.Join(words, " ") + ")"
}

func reference(r *ir.Reference) string {
	if r == nil {
		return ""
	}
	instead := ""
	if r.Default != "" {
		instead = strconv.Quote(r.Default)
	}
	return "r" + strconv.Quote(r.Root) + strconv.Quote(strings.Join(r.Path, "\x00")) + strconv.Quote(r.Filter) + instead + strconv.Itoa(int(r.Missing))
}

func mixed(m *ir.Mixed) string {
	if m == nil {
		return ""
	}
	var b strings.Builder
	b.WriteByte('m')
	for _, s := range m.Segments {
		if s.Ref != nil {
			b.WriteString(reference(s.Ref))
		} else {
			b.WriteString(strconv.Quote(s.Lit))
		}
	}
	return b.String()
}
