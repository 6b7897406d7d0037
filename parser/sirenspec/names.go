package sirenspec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// contextPlace warns about a place of a condition that nothing writes: the engine takes the condition for false.
func (p *parser) contextPlace(r *dialect.Reference) {
	if len(r.Path) == 0 || p.holds(r.Root, r.Path[0]) {
		return
	}
	p.unwritten(r, r.Root, r.Path[0], fmt.Sprintf("nothing writes %s.%s: a condition that asks for it never holds", r.Root, r.Path[0]))
}

// holds reports whether a bucket of the context has a name.
func (p *parser) holds(bucket, name string) bool {
	return p.placed[bucket+"."+name]
}

// unwritten warns about a name that a bucket does not have.
func (p *parser) unwritten(r *dialect.Reference, bucket, name, message string) {
	d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownName, Span: r.Text.Span, Message: message}
	var names []string
	for _, s := range p.wf.State {
		if key, ok := strings.CutPrefix(s.Name.Name, bucket+"."); ok && key != "_budget" {
			names = append(names, key)
		}
	}
	if p.Sink.Errors() <= maxSuggested {
		diag.Suggest(&d, name, names)
		d.Fixes = nil // the reference is more than the name
	}
	p.Report(d)
}

// placeholders checks what is in the texts of the nodes, in the order in which they run.
func (p *parser) placeholders(g *graph, order []*point) {
	place := map[string]int{}
	for i, s := range order {
		place[s.node.ID.Name] = i
	}
	// written are the names that something besides the node of that name writes, or that are there from the beginning.
	written := map[string]bool{}
	if seeds := p.tree.Seeds; seeds != nil {
		for _, bucket := range seeds.Entries {
			if o, ok := bucket.Value.(*ir.Object); ok && bucket.Key.Name == "working" {
				for _, e := range o.Entries {
					written[e.Key.Name] = true
				}
			}
		}
	}
	for _, s := range order {
		if w := s.node.Writes; len(w) > 1 && w[0] == "working" {
			written[w[1]] = true
		}
	}
	round := map[*dialect.Reference]bool{}
	if len(order) > 0 {
		round = p.circles(g, written)
	}
	for i, s := range order {
		nodeReferences(s.node, func(r *dialect.Reference) {
			if r.Root == "working" && !round[r] {
				p.placeholder(r, s, i, place, written)
			}
		})
		insideReferences(s.node, func(r *dialect.Reference, own bool) {
			switch {
			case r.Root != "working" || round[r]:
			case r.Path[0] == s.node.ID.Name && !written[r.Path[0]]:
				p.ownValue(r, s, own)
			default:
				p.placeholder(r, s, i, place, written)
			}
		})
	}
}

// placeholder checks one reference to the working bucket.
func (p *parser) placeholder(r *dialect.Reference, s *point, at int, place map[string]int, written map[string]bool) {
	name := r.Path[0]
	producer, isNode := place[name]
	switch {
	case isNode && !written[name]:
		p.nodeValue(r, s, at, producer)
	case isNode || written[name]:
	case name == "working" && len(r.Path) > 1 && p.workingPath(r, place):
	case (name == "working" || name == "output") && r.Filter == "":
		p.rootOfPath(r, s, place)
	case r.Filter == "":
		if p.holds("working", name) {
			return // a node that was refused
		}
		p.unwritten(r, "working", name, fmt.Sprintf("nothing is called %s: the node fails when it runs", name))
	}
}

// workingPath makes `{{ working.x }}` of a name that is not a node what the pages say it is. It reports whether it did.
func (p *parser) workingPath(r *dialect.Reference, place map[string]int) bool {
	name := r.Path[1]
	if _, node := place[name]; node || !p.holds("working", name) {
		return false
	}
	help := "write `{{ " + strings.Join(r.Path[1:], ".") + " }}`"
	d := diag.Diagnostic{Severity: diag.Note, Code: diag.DialectDiffers, Span: r.Text.Span, Help: help,
		Message: fmt.Sprintf("documented: the value at working.%s; in the engine `working` is an unknown placeholder root, and the node fails", name)}
	if p.tree.Upstream {
		return false
	}
	if r.Filter != "" {
		d.Message = fmt.Sprintf("documented: the value at working.%s; in the engine `working` is an unknown placeholder root, and the filter's text replaces it", name)
	}
	p.Report(d)
	r.Path = r.Path[1:]
	return true
}

// rootOfPath reports a path that begins with the name of a bucket, which templates do not know. Nodes are refused below
// working where the engine's own linter looks, which does not see tools and people.
func (p *parser) rootOfPath(r *dialect.Reference, s *point, place map[string]int) {
	d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownName, Span: r.Text.Span, Message: fmt.Sprintf("unknown placeholder root `%s`: the node will fail at run time", r.Path[0])}
	if r.Path[0] == "output" {
		d.Help = "write the value to `working.NAME`, and read it as `NAME`"
	} else if len(r.Path) > 1 {
		_, node := place[r.Path[1]]
		if node || p.holds("working", r.Path[1]) {
			d.Help = "replace with `" + strings.Join(r.Path[1:], ".") + "`"
		}
		switch s.node.Verb.(type) {
		case *ir.ToolCall, *ir.Human:
		default:
			if node {
				d.Severity, d.Message = diag.Error, fmt.Sprintf("`working.%s` is a node, which placeholders name without `working`", r.Path[1])
			}
		}
	}
	p.Report(d)
}

// nodeValue checks a reference to the result of a node.
func (p *parser) nodeValue(r *dialect.Reference, s *point, at, producer int) {
	from := s.graph.byID[r.Path[0]]
	keys := resultKeys(from.node)
	key := keys[0]
	d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownName, Span: r.Text.Span}
	switch {
	case r.Filter != "":
		return
	case producer >= at:
		d.Message = fmt.Sprintf("%q runs after %q: the value is not there yet, and the node fails", r.Path[0], s.node.ID.Name)
		d.Help = "add an edge from " + r.Path[0] + " to " + s.node.ID.Name
	case len(r.Path) > 2 && r.Path[1] == "agents" && slices.Contains(keys, "agents") && !slices.Contains(agentIDs(from.node), r.Path[2]):
		p.noAgent(r, from)
		return
	case len(r.Path) > 1 && !slices.Contains(keys, r.Path[1]):
		d.Message = fmt.Sprintf("the result of %q is `%s.%s`: the node fails when it runs", r.Path[0], r.Path[0], key)
		d.Help = "replace with `" + strings.Join(append([]string{r.Path[0], key}, r.Path[2:]...), ".") + "`"
	default:
		return
	}
	p.Report(d)
}

// nodeReferences calls f for every reference of a node's texts.
func nodeReferences(n *Node, f func(*dialect.Reference)) {
	d := n
	texts := []*dialect.Mixed{d.System, d.Prompt}
	if v, ok := n.Verb.(*ir.ToolChoice); ok {
		dialect.ValueReferences(v.Tool, f)
	}
	if q := d.Request; q != nil {
		texts = append(texts, q.URL, q.Body)
		for _, h := range q.Headers {
			texts = append(texts, h.Value)
		}
	}
	for _, t := range texts {
		if t != nil {
			dialect.ValueReferences(t, f)
		}
	}
	if d.Args != nil {
		dialect.ValueReferences(d.Args, f)
	}
}
