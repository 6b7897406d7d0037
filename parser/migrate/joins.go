package migrate

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/insert"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// joins were how many edges into a node have to be active: any, the only one now, or all, which is a condition.
func (x *finder) joins() {
	x.bodies(func(b body) {
		var stopped []string // nodes that stop the way when they do not run
		for _, e := range b.nodes.Entries {
			n, id := e.Value, e.Key.Text.Value
			j := n.Entry("join")
			if j == nil || n.Kind != yamlnode.Mapping || len(n.Entries) < 2 {
				continue
			}
			if j.Value.Text.Value != "all" {
				x.remove(n, j)
				continue
			}
			terms, ok := b.condition(id)
			if !ok {
				continue // left for a user: the compiler says what to write
			}
			if len(terms) == 0 { // all are active when one is
				x.remove(n, j)
				continue
			}
			stopped = append(stopped, id)
			text := strings.Join(terms, " && ")
			if when := n.Entry("when"); when != nil {
				x.replace(when.Value.Place(), expression(text+" && "+braced(plain(when.Value))))
				x.remove(n, j)
				continue
			}
			x.replace(source.Span{Lo: j.Key.Span.Lo, Hi: j.Value.Place().Hi}, "when: "+expression(text))
		}
		x.behind(b, stopped)
	})
}

// condition is what has to hold, when one edge into a node is active, for all to be. ok is false when no condition can say it.
func (b body) condition(id string) (terms []string, ok bool) {
	t, few := b.try()
	certain := func(asked func() bool) bool { return few && t.always(id, asked) }
	add := func(term string) {
		if !slices.Contains(terms, term) {
			terms = append(terms, term)
		}
	}
	for _, w := range t.into[id] {
		if certain(func() bool { return t.active(w) }) {
			continue
		}
		from := b.nodes.Get(w.from)
		switch {
		case w.fails || w.spent:
			return nil, false
		case certain(func() bool { return t.passed(w.from) }):
		case from.Get("when") != nil || skip(from) || b.skips && from.Get("on_error") == nil && from.Get("let") == nil:
			return nil, false // without a result the way goes on behind it
		default:
			add(w.from + " != null")
		}
		if w.condition != "" {
			add(braced(w.condition))
		}
	}
	return terms, true
}

// behind gives the edges out of nodes that stopped the way the condition that they ran.
func (x *finder) behind(b body, stopped []string) {
	if b.edges == nil || len(stopped) == 0 {
		return
	}
	for _, e := range b.edges.Items {
		if e.Kind != yamlnode.Scalar {
			from := plain(e.Get("from"))
			if !slices.Contains(stopped, from) || e.Get("switch") != nil || e.Get("max") != nil || len(e.Entries) == 0 {
				continue
			}
			if when := e.Entry("when"); when != nil {
				x.replace(when.Value.Place(), expression(from+" != null && "+braced(plain(when.Value))))
			} else {
				x.add(e, e.Entry("to"), "when", from+" != null")
			}
			continue
		}
		steps := chain(e.Text.Value)
		cut := false
		for _, s := range steps[:len(steps)-1] {
			for _, from := range s {
				cut = cut || slices.Contains(stopped, from)
			}
		}
		if !cut {
			continue
		}
		var edges []string
		for i := 1; i < len(steps); i++ {
			var free []string
			for _, from := range steps[i-1] {
				if !slices.Contains(stopped, from) {
					free = append(free, from)
				}
			}
			to := strings.Join(steps[i], ", ")
			if len(free) > 0 {
				edges = append(edges, strings.Join(free, ", ")+" -> "+to)
			}
			for _, from := range steps[i-1] {
				if !slices.Contains(stopped, from) {
					continue
				}
				if strings.Contains(to, ",") {
					to = "[" + to + "]"
				}
				edges = append(edges, "{from: "+from+", to: "+to+", when: "+from+" != null}")
			}
		}
		x.several(b.edges, e, edges)
	}
}

// several puts several elements in the place of one.
func (x *finder) several(list, it *yamlnode.Node, elements []string) {
	at := it.Place()
	if list.Style == yamlnode.Flow {
		for i, e := range elements {
			if strings.Contains(e, ",") && !strings.HasPrefix(e, "{") {
				elements[i] = insert.Quote(e)
			}
		}
		x.replace(at, strings.Join(elements, ", "))
		return
	}
	text := x.file.Text
	line := text[yamlnode.StartOfLine(text, at.Lo):at.Lo] // up to the dash, and it
	x.replace(at, strings.Join(elements, "\n"+line))
}

// chain splits `a, b -> c`.
func chain(text string) [][]string {
	var out [][]string
	for _, step := range strings.Split(text, "->") {
		out = append(out, names(step))
	}
	return out
}

func names(text string) []string {
	var out []string
	for _, name := range strings.Split(text, ",") {
		out = append(out, strings.TrimSpace(name))
	}
	return out
}

// targets are the ids of `to: a`, `to: a, b` and `to: [a, b]`.
func targets(n *yamlnode.Node) []string {
	var out []string
	for _, it := range items(n) {
		out = append(out, names(it.Text.Value)...)
	}
	return out
}

// plain is the text of an expression without its `$`.
func plain(n *yamlnode.Node) string {
	if n == nil {
		return ""
	}
	return strings.TrimPrefix(n.Text.Value, "$")
}

// braced puts an expression in parentheses when && would bind its parts apart.
func braced(s string) string {
	if strings.Contains(s, "||") || strings.Contains(s, "?") {
		return "(" + s + ")"
	}
	return s
}

// literal writes the value of a case in an expression.
func literal(key *yamlnode.Node) string {
	if key.Style == yamlnode.Plain && key.Tag != "!!str" && key.Tag != "" {
		return key.Text.Value
	}
	return insert.Quote(key.Text.Value)
}
