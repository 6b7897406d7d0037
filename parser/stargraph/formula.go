package stargraph

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// maxWays is in how many ways the left side of a rule may hold.
const maxWays = 64

// clips reads the left side of a rule in CLIPS.
func (p *parser) clips(n *yamlnode.Node) (ways []way, salience int, ok bool) {
	f, salience, bad := readClips(n.Text.Value)
	if bad != nil {
		p.uncompiled(n.Text, bad.lo, bad.hi, bad.why)
		return nil, 0, false
	}
	ways, ok = p.ways(n.Text, f, false)
	if len(ways) > maxWays {
		p.uncompiled(n.Text, 0, len(n.Text.Value), "it can hold in too many ways")
		return nil, 0, false
	}
	return ways, salience, ok
}

func (p *parser) uncompiled(t source.Text, lo, hi int, why string) {
	p.Error(diag.NotSupported, t.At(lo, hi), "write `when: {node: ..., field: value}`", "this condition of CLIPS is not compiled: %s", why)
}

// ways are those in which a formula can hold or, with not, cannot. They are more than maxWays when there are too many. ok is
// false after a mistake.
func (p *parser) ways(t source.Text, f *formula, not bool) (out []way, ok bool) {
	switch {
	case f.op == 'p':
		return p.fits(t, f.pattern, not)
	case f.op == '=':
		return p.equals(t, f.pattern, not)
	case f.op == '!':
		return p.ways(t, f.kids[0], !not)
	}
	all := (f.op == '&') != not
	if all {
		out = []way{{every: true, rank: -1}}
	}
	ok = true
	for _, kid := range f.kids {
		ways, fine := p.ways(t, kid, not)
		if ok = ok && fine; all {
			ways = both(out, ways)
		} else {
			ways = append(out, ways...)
		}
		out = ways[:min(len(ways), maxWays+1)]
	}
	return out, ok
}

// both are the ways in which one of each list holds.
func both(a, b []way) []way {
	var out []way
	for _, x := range a {
		for _, y := range b {
			if len(out) > maxWays {
				return out
			}
			w := way{every: x.every && y.every, nodes: x.nodes, tests: slices.Concat(x.tests, y.tests), rank: max(x.rank, y.rank)}
			if x.every {
				w.nodes = y.nodes
			} else if !y.every {
				w.nodes = slices.DeleteFunc(slices.Clone(x.nodes), func(n *node) bool { return !slices.Contains(y.nodes, n) })
			}
			if w.every || len(w.nodes) > 0 {
				out = append(out, w)
			}
		}
	}
	return out
}

// when a formula holds always, or never.
func constantly(holds bool) []way {
	if holds {
		return []way{{every: true, rank: -1}}
	}
	return nil
}

// fits are the ways in which there is a fact that a pattern fits or, with not, none.
func (p *parser) fits(t source.Text, c pattern, not bool) ([]way, bool) {
	rank := 0
	switch f := p.fact(c.name); {
	case c.name == "initial-fact":
		p.Differs(t.At(c.lo, c.hi), "", "CLIPS 6.4, which the engine runs, has no initial-fact: this rule never holds")
		return constantly(not), true
	case c.name == "node-id" && (c.slot == "" || c.slot == "id"):
	case f == nil || c.name == "node-id" || c.slot != "" && c.slot != "value" && c.slot[0] != '_':
		d := diag.Diagnostic{Severity: diag.Warning, Code: diag.IgnoredKey, Span: t.At(c.lo, c.hi), Message: "this rule never holds: the engine has no facts of this form", Help: "write `(field (value \"x\"))` with the name of a state field"}
		if not {
			d.Message = "this is always true: the engine has no facts of this form"
		}
		if c.slot != "" {
			d.Message = strings.Replace(d.Message, "holds: the engine has", "holds here, and the engine refuses the graph: it has", 1)
		}
		if near := diag.Nearest(c.name, p.fieldNames()); f == nil && near != "" && diag.Close(c.name, near) {
			d.Help = "`" + near + "` may be meant"
		}
		p.Report(d)
		return constantly(not), true
	default:
		p.unmirrored(f, t.At(c.lo, c.hi))
		rank = p.rankOf(f)
	}
	out, ok := constantly(!not), true
	if c.value != nil {
		out, ok = p.ways(t, c.value.formula(c), not)
	}
	for i := range out {
		if !not {
			out[i].rank = max(out[i].rank, rank)
		}
	}
	return out, ok
}

// formula is what a constraint says of the slot of a pattern.
func (c *constraint) formula(p pattern) *formula {
	f := &formula{op: '&'}
	switch c.op {
	case '|':
		f.op = '|'
	case '~':
		f.op = '!'
	case 't':
		return c.test
	case '"', 's':
		return &formula{op: '=', pattern: pattern{name: p.name, slot: p.slot, value: c, lo: c.lo, hi: c.hi}}
	}
	for _, kid := range c.kids {
		f.kids = append(f.kids, kid.formula(p))
	}
	return f
}

// equals are the ways in which the value of a slot is a constant or, with not, is not.
func (p *parser) equals(t source.Text, c pattern, not bool) ([]way, bool) {
	value, at := c.value, t.At(c.value.lo, c.value.hi)
	if c.name == "node-id" {
		return p.atNode(value, at, not), true
	}
	f := p.fact(c.name)
	switch {
	case f == nil:
		return constantly(not), true
	case value.op != '"':
		p.Warn(diag.IgnoredKey, at, "put it in quotes", "this rule %s holds: values of fields are text, and %s is not", map[bool]string{false: "never", true: "always"}[not], value.text)
		return constantly(not), true
	case c.slot == "_origin":
		return constantly((value.text == "state") != not), true
	case c.slot == "_source":
		return constantly((value.text == "mirror") != not), true
	case c.slot != "value":
		p.uncompiled(t, c.lo, c.hi, "the slot "+c.slot+" differs from run to run")
		return nil, false
	}
	inner := t.At(value.lo+1, value.hi-1) // without its quotes
	return []way{{every: true, rank: -1, tests: []test{{field: f, value: source.Text{Value: value.text, Span: inner, Opaque: true}, span: inner, not: not}}}}, true
}

// atNode is the way in which the node that has run is one or, with not, any other.
func (p *parser) atNode(value *constraint, at source.Span, not bool) []way {
	x := p.byID[value.text]
	if value.op != 's' || x == nil {
		d := diag.Diagnostic{Severity: diag.Warning, Code: diag.IgnoredKey, Span: at, Message: "this is never true: unknown node `" + value.text + "`"}
		if value.op != 's' {
			d.Message, d.Help = "this is never true: node ids are not strings", "remove the quotes"
		} else if near := diag.Nearest(value.text, p.nodeNames()); near != "" && diag.Close(value.text, near) {
			d.Help = "`" + near + "` may be meant"
		}
		p.Report(d)
		return constantly(not)
	}
	w := way{nodes: []*node{x}, rank: -1}
	if not {
		w.nodes = slices.DeleteFunc(slices.Clone(p.list), func(y *node) bool { return y == x })
	}
	return []way{w}
}

func (p *parser) nodeNames() []string {
	var names []string
	for _, x := range p.list {
		names = append(names, x.written())
	}
	return names
}

func (p *parser) fieldNames() []string {
	var names []string
	for _, f := range p.order {
		names = append(names, f.id.Name)
	}
	return names
}
