package codegen_test

import (
	"fmt"
	"strings"
)

const randomPackage = "github.com/flowgen-dev/flowgen/codegen/testdata/random"

// mark is where a part of the model stands in the text.
type mark struct {
	lo, hi int
	part   any // *ref, *firstOf, *caught, *items, *set, *node
}

// writer writes a flow as YAML and notes where the parts stand.
type writer struct {
	strings.Builder
	strict bool // values that nothing asks a type of are written so that they cannot be absent
	marks  []mark
}

func (w *writer) f(format string, args ...any) { fmt.Fprintf(w, format, args...) }

func (w *writer) marked(part any, write func()) {
	lo := w.Len()
	write()
	w.marks = append(w.marks, mark{lo, w.Len(), part})
}

// at is the innermost part around an offset.
func (w *writer) at(off int) any {
	var best *mark
	for i, m := range w.marks {
		if m.lo <= off && off < m.hi && (best == nil || m.hi-m.lo < best.hi-best.lo) {
			best = &w.marks[i]
		}
	}
	if best == nil {
		return nil
	}
	return best.part
}

// around is the innermost firstOf around an offset.
func (w *writer) around(off int) *firstOf {
	for _, m := range w.marks {
		if f, ok := m.part.(*firstOf); ok && m.lo <= off && off < m.hi {
			return f
		}
	}
	return nil
}

func (f *flow) write(strict bool) *writer {
	w := &writer{strict: strict}
	w.f("flowgen: 1\nname: %s\n", f.name)
	w.f("input:\n  x: int\n  y: {type: int, default: 3}\n  xs: {type: list<int>, default: []}\n")
	w.f("tools:\n")
	for _, t := range []struct{ name, fn, effects string }{
		{"calc", "Calc", "none"}, {"look", "Look", "reads"}, {"save", "Save", "writes"}, {"plain", "Plain", "none"},
		{"note", "Note", "external"}, {"maybe", "Maybe", "reads"},
	} {
		w.f("  %s: {go: %s.%s, effects: %s}\n", t.name, randomPackage, t.fn, t.effects)
	}
	w.f("state:\n")
	for _, s := range f.fields {
		w.f("  %s: {type: %s", s.name, s.typ)
		switch s.merge {
		case "reducer":
			w.f(", merge: \"go:%s.Fold\"", randomPackage)
		case "last":
		default:
			w.f(", merge: %s", s.merge)
		}
		if s.init != "" {
			w.f(", init: %s", s.init)
		}
		w.f("}\n")
	}
	w.body(f.body, "")
	w.f("output:\n")
	if f.sub {
		w.f("  v: '$")
		w.number(f.v)
		w.f("'\n  ok: '$")
		w.truth(f.ok)
		w.f("'\n")
		return w
	}
	for _, n := range f.body.nodes {
		if n.kind != isNone {
			w.f("  r_%s: $%s\n", n.id, n.id)
		}
	}
	for _, s := range f.fields {
		w.f("  s_%s: $state.%s\n", s.name, s.name)
	}
	return w
}

func (w *writer) body(b *body, indent string) {
	w.f("%snodes:\n", indent)
	for _, n := range b.file {
		w.f("%s  ", indent)
		w.marked(n, func() { w.f("%s", n.id) })
		w.f(":\n")
		w.node(n, indent+"    ")
	}
	if !b.inferred && len(b.nodes) > 1 || len(b.backs) > 0 {
		w.edges(b, indent)
	}
}

func (w *writer) node(n *node, indent string) {
	args := func(key string) {
		w.f("%s%s: {a: '$", indent, key)
		w.value(n.a)
		w.f("', b: '$")
		w.value(n.b)
		w.f("'}\n")
	}
	switch n.verb {
	case "tool":
		w.f("%stool: %s\n%swith: {id: %s, fail: %d, flaky: %d, a: '$", indent, n.tool, indent, n.id, n.fail, n.flaky)
		w.value(n.a)
		w.f("', b: '$")
		w.value(n.b)
		w.f("', s: '")
		w.text(n.s)
		w.f("'}\n")
	case "let":
		w.f("%slet: {v: '$", indent)
		w.number(n.a)
		w.f("', ok: '$")
		w.truth(n.ok)
		w.f("'}\n")
	case "go":
		w.f("%sgo: %s.%s\n", indent, randomPackage, n.tool)
		args("with")
	case "flow":
		w.f("%sflow: ./%s.flowgen.yaml\n%swith: {x: '$", indent, n.flow.name, indent)
		w.value(n.a)
		w.f("', y: '$")
		w.value(n.b)
		w.f("', xs: $input.xs}\n")
	case "map":
		w.f("%smap: '$", indent)
		w.items(n.over)
		w.f("'\n%sas: %s\n", indent, n.as)
		if n.index != "" {
			w.f("%sindex: %s\n", indent, n.index)
		}
		if n.parallel > 0 {
			w.f("%sparallel: %d\n", indent, n.parallel)
		}
		w.f("%son_item_error: %s\n", indent, n.onItem)
		w.inside(n.do, indent)
	case "loop":
		w.f("%sloop: {max: %d", indent, n.max)
		if n.until != nil {
			w.f(", until: '")
			w.value(n.until)
			w.f("'")
		}
		w.f("}\n")
		w.inside(n.do, indent)
	}
	w.handling(n, indent)
}

func (w *writer) inside(b *body, indent string) {
	w.f("%sdo:\n", indent)
	if b.inline {
		w.node(b.nodes[0], indent+"  ")
		return
	}
	w.body(b, indent+"  ")
	w.f("%s  result: {v: '$", indent)
	w.number(b.v)
	w.f("', ok: '$")
	w.truth(b.ok)
	w.f("'}\n")
}

func (w *writer) handling(n *node, indent string) {
	if n.attempts > 0 {
		w.f("%sretry: {attempts: %d, base: 20us, cap: 50us}\n", indent, n.attempts)
	}
	if len(n.catch) > 0 {
		var list []string
		for _, c := range n.catch {
			list = append(list, c.code+": "+name(c.to))
		}
		w.f("%scatch: {%s}\n", indent, strings.Join(list, ", "))
	}
	switch n.onError {
	case "skip":
		w.f("%son_error: skip\n", indent)
	case "default":
		w.f("%son_error: {default: %s}\n", indent, n.fallbackText())
	}
	if len(n.sets) > 0 {
		w.f("%sset:\n", indent)
		for _, s := range n.sets {
			w.f("%s  ", indent)
			w.marked(s, func() {
				w.f("%s: '$", s.field.name)
				if s.list != nil {
					w.items(s.list)
				} else {
					w.value(s.value)
				}
				w.f("'")
			})
			w.f("\n")
		}
	}
}

func name(n *node) string {
	if n == nil {
		return "end"
	}
	return n.id
}

// fallbackText is the literal that stands for a failed result.
func (n *node) fallbackText() string {
	switch n.kind {
	case isOut:
		return fmt.Sprintf("{v: %d, few: 2, ok: true, route: green, items: [%d]}", n.fallback, n.fallback)
	case isBare:
		return fmt.Sprintf("{v: %d, few: 2, ok: true}", n.fallback)
	case isPair:
		return fmt.Sprintf("{v: %d, ok: true}", n.fallback)
	case isInt:
		return fmt.Sprint(n.fallback)
	}
	return "[]"
}

func (w *writer) edges(b *body, indent string) {
	w.f("%sedges:\n", indent)
	written := map[any]bool{}
	for _, a := range b.arcs {
		switch {
		case a.clause > 0 || a.back != nil:
		case a.choice == nil:
			if written[a] {
				continue
			}
			chain := a.from.id
			if a.from.id[len(a.from.id)-1]%2 == 0 { // sometimes a fork in one line, sometimes a chain
				var to []string
				for _, o := range b.arcs {
					if o.from == a.from && o.choice == nil && o.clause == 0 && o.back == nil {
						written[o] = true
						to = append(to, o.to.id)
					}
				}
				w.f("%s  - %s -> %s\n", indent, chain, strings.Join(to, ", "))
				continue
			}
			for at := a; at != nil; {
				written[at] = true
				chain += " -> " + at.to.id
				next := at
				at = nil
				for _, o := range b.arcs {
					if o.from == next.to && o.choice == nil && o.clause == 0 && o.back == nil && !written[o] {
						at = o
						break
					}
				}
			}
			w.f("%s  - %s\n", indent, chain)
		case a.choice.on != nil:
			if !written[a.choice] {
				written[a.choice] = true
				w.switchEdge(b, a.choice, indent)
			}
		default:
			for _, k := range a.cases {
				w.f("%s  - {from: %s, to: %s, when: '", indent, a.from.id, a.to.id)
				w.condition(a.choice, k)
				w.f("'}\n")
			}
		}
	}
	for _, l := range b.backs {
		w.f("%s  - {from: %s, to: %s, max: %d", indent, l.from.id, l.header.id, l.max)
		if l.cond != nil {
			w.f(", when: '")
			w.condition(l.cond, 0)
			w.f("'")
		}
		if l.exhausted != "" {
			w.f(", exhausted: %s", name(l.to))
		}
		w.f("}\n")
	}
}

func (w *writer) condition(c *choice, k int) {
	if k == 1 {
		w.f("!(")
		defer w.f(")")
	}
	w.value(c.cond)
}

func (w *writer) switchEdge(b *body, c *choice, indent string) {
	w.f("%s  - {from: %s, switch: '", indent, c.from.id)
	w.value(c.on)
	w.f("', cases: {")
	targets := func(k int) string {
		var to []string
		for _, a := range b.arcs {
			for _, x := range a.cases {
				if a.choice == c && x == k {
					to = append(to, a.to.id)
				}
			}
		}
		if len(to) == 0 {
			return "end"
		}
		return "[" + strings.Join(to, ", ") + "]"
	}
	for i, v := range c.values {
		if i > 0 {
			w.f(", ")
		}
		w.f("%v: %s", v, targets(i))
	}
	w.f("}")
	if c.other {
		w.f(", default: %s", targets(len(c.values)))
	}
	w.f("}\n")
}

// text writes a template.
func (w *writer) text(v value) {
	switch v := v.(type) {
	case lit:
		w.f("%v", v.v)
	case *concat:
		for _, p := range v.parts {
			if l, ok := p.(lit); ok {
				if s, ok := l.v.(string); ok {
					w.f("%s", s)
					continue
				}
			}
			w.f("{{ ")
			w.value(p)
			w.f(" }}")
		}
	case *caught:
		w.f("x")
		w.marked(v, func() {
			if v.dead {
				w.f("none")
			} else {
				w.f("{{ %s.error.code }}", v.node.id)
			}
		})
	}
}

func (w *writer) number(v value) {
	w.value(v)
	if w.strict {
		w.f(" + 0")
	}
}

func (w *writer) truth(v value) {
	w.value(v)
	if w.strict {
		w.f(" && true")
	}
}

func (w *writer) value(v value) {
	switch v := v.(type) {
	case lit:
		if s, ok := v.v.(string); ok {
			w.f("%q", s)
			return
		}
		w.f("%v", v.v)
	case *input:
		w.f("input.%s", v.name)
	case *state:
		if v.field.list() {
			w.f("size(state.%s)", v.field.name)
		} else {
			w.f("state.%s", v.field.name)
		}
	case *item:
		if v.path == "" {
			w.f("%s", v.name)
		} else {
			w.f("%s.%s", v.name, v.path)
		}
	case *op:
		if v.op == "!" {
			w.f("!(")
			w.value(v.a)
			w.f(")")
			return
		}
		w.f("(")
		w.value(v.a)
		w.f(" %s ", v.op)
		w.value(v.b)
		w.f(")")
	case *ternary:
		w.f("(")
		w.value(v.c)
		w.f(" ? ")
		w.value(v.a)
		w.f(" : ")
		w.value(v.b)
		w.f(")")
	case *firstOf:
		w.marked(v, func() {
			if len(v.refs) == 0 {
				w.f("%v", v.def)
				return
			}
			if v.form == defaulted {
				w.f("default(")
				defer func() { w.f(", %v)", v.def) }()
			}
			if len(v.refs) == 1 {
				w.marked(v.refs[0], func() { w.ref(v.refs[0], plain) })
				return
			}
			w.f("first(")
			for i, r := range v.refs {
				if i > 0 {
					w.f(", ")
				}
				w.marked(r, func() { w.ref(r, plain) })
			}
			w.f(")")
		})
	case *ref:
		w.marked(v, func() { w.ref(v, v.form) })
	}
}

func (w *writer) ref(r *ref, f form) {
	def := fmt.Sprint(r.def)
	if s, ok := r.def.(string); ok {
		def = fmt.Sprintf("%q", s)
	}
	id, path := r.node.id, ""
	switch r.path {
	case "size":
		switch f {
		case plain:
			w.f("size(%s)", id)
		case defaulted:
			w.f("size(default(%s, []))", id)
		case tested:
			w.f("(%s != null ? size(%s) : %s)", id, id, def)
		case dead:
			w.f("%s", def)
		}
		return
	case "failures":
		if f == dead {
			w.f("%s", def)
		} else {
			w.f("size(%s.failures)", id)
		}
		return
	case "":
		path = id
	default:
		path = id + "." + r.path
	}
	switch f {
	case plain:
		w.f("%s", path)
	case defaulted:
		if r.hook == 1 && r.path != "" {
			path = id + "?." + r.path
		}
		w.f("default(%s, %s)", path, def)
	case tested:
		switch r.def {
		case true:
			w.f("(%s == null || %s)", id, path)
		case false:
			w.f("(%s != null && %s)", id, path)
		default:
			w.f("(%s != null ? %s : %s)", id, path, def)
		}
	case dead:
		w.f("%s", def)
	}
}

func (w *writer) items(l *items) {
	w.marked(l, func() {
		path := "input.xs"
		if !l.input {
			path = l.node.id
			if l.path != "" {
				path += "." + l.path
			}
		}
		if l.form == defaulted && !l.input {
			path = "default(" + path + ", [])"
		}
		w.f("%s", path)
	})
}
