package migrate

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// A way is an edge of a body, or what a catch clause leads to.
type way struct {
	from, to  string // from may be start
	condition string // an expression, empty when there is none
	fails     bool   // it is taken when from has failed
	spent     bool   // it is taken when the bound of a loop is spent
}

// ways are all edges of a body but those that lead back.
func (b body) ways() []way {
	var out []way
	to := func(n *yamlnode.Node, w way) {
		for _, w.to = range targets(n) {
			out = append(out, w)
		}
	}
	for _, n := range b.nodes.Entries {
		if c := n.Value.Get("catch"); c != nil {
			for _, e := range c.Entries {
				to(e.Value, way{from: n.Key.Text.Value, fails: true})
			}
		}
	}
	if b.edges == nil {
		return out
	}
	for _, e := range b.edges.Items {
		from := plain(e.Get("from"))
		switch {
		case e.Kind == yamlnode.Scalar:
			steps := chain(e.Text.Value)
			for i := 1; i < len(steps); i++ {
				for _, from := range steps[i-1] {
					for _, t := range steps[i] {
						out = append(out, way{from: from, to: t})
					}
				}
			}
		case e.Get("switch") != nil:
			on := braced(plain(e.Get("switch")))
			var others []string
			if cases := e.Get("cases"); cases != nil {
				for _, c := range cases.Entries {
					to(c.Value, way{from: from, condition: on + " == " + literal(c.Key)})
					others = append(others, on+" != "+literal(c.Key))
				}
			}
			to(e.Get("default"), way{from: from, condition: strings.Join(others, " && ")})
		case e.Get("max") != nil:
			to(e.Get("exhausted"), way{from: from, spent: true})
		default:
			to(e.Get("to"), way{from: from, condition: plain(e.Get("when"))})
		}
	}
	return out
}

// maxAtoms bounds the conditions that are tried in all combinations.
const maxAtoms = 12

// A trial is a body with all conditions given.
type trial struct {
	b     body
	into  map[string][]way
	atoms []string
	bits  int
	gates map[string]bool // of nodes, as far as they are known
}

// try prepares trials of a body. ok is false when it has more conditions than can be tried.
func (b body) try() (t *trial, ok bool) {
	t = &trial{b: b, into: map[string][]way{}}
	add := func(atom string) {
		if !slices.Contains(t.atoms, atom) {
			t.atoms = append(t.atoms, atom)
		}
	}
	for _, w := range b.ways() {
		t.into[w.to] = append(t.into[w.to], w)
		switch {
		case w.fails:
			add("catch " + w.from)
		case w.spent:
			add("spent " + w.from)
		case w.condition != "":
			add(w.condition)
		}
	}
	return t, len(t.atoms) <= maxAtoms
}

// holds is what an atom is in this trial.
func (t *trial) holds(atom string) bool { return t.bits>>slices.Index(t.atoms, atom)&1 == 1 }

// passed reports whether the way goes on behind a node.
func (t *trial) passed(id string) bool {
	return id == "start" || t.gate(id) && !(slices.Contains(t.atoms, "catch "+id) && t.holds("catch "+id))
}

func (t *trial) active(w way) bool {
	switch {
	case w.fails:
		return t.gate(w.from) && t.holds("catch "+w.from)
	case w.spent:
		return t.passed(w.from) && t.holds("spent "+w.from)
	}
	return t.passed(w.from) && (w.condition == "" || t.holds(w.condition))
}

// gate reports whether it is the turn of a node.
func (t *trial) gate(id string) bool {
	if known, ok := t.gates[id]; ok {
		return known
	}
	t.gates[id] = true // of a circle, which is reported elsewhere
	ways, all := t.into[id], t.b.nodes.Get(id).Get("join")
	is := len(ways) == 0
	if all != nil && all.Text.Value == "all" {
		is = !slices.ContainsFunc(ways, func(w way) bool { return !t.active(w) })
	} else {
		is = is || slices.ContainsFunc(ways, t.active)
	}
	t.gates[id] = is
	return is
}

// always reports whether what is asked holds in all trials in which one of the edges into a node is active.
func (t *trial) always(id string, asked func() bool) bool {
	for t.bits = range 1 << len(t.atoms) {
		t.gates = map[string]bool{}
		if slices.ContainsFunc(t.into[id], t.active) && !asked() {
			return false
		}
	}
	return true
}
