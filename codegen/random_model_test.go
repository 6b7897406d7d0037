package codegen_test

import (
	"slices"
)

// The model of a random workflow: what random_write_test.go writes as YAML and random_reference_test.go interprets.
// Nothing in it knows how the compiler works.

// flow is a workflow file.
type flow struct {
	name   string
	fields []*field
	body   *body
	subs   []*flow // workflows its nodes call
	sub    bool    // its output is {v, ok} instead of everything
	v, ok  value   // of a sub-workflow
}

// field is a field of the state.
type field struct{ name, typ, merge, init string }

func (f *field) list() bool { return f.merge == "append" }

// body is the nodes of a workflow, of a loop or of one map item.
type body struct {
	nodes    []*node // in a topological order
	file     []*node // in the order of the file
	arcs     []*arc
	choices  []*choice
	backs    []*back
	inferred bool // no edges are written: they follow from what nodes read
	inline   bool // `do:` is the node itself
	v, ok    value
	parent   *node
}

// kind is what a node's result looks like.
type kind int

const (
	isOut   kind = iota // random.Out
	isBare              // random.Bare
	isNone              // nothing
	isMaybe             // random.Bare or nothing
	isInt               // an int
	isPair              // {v, ok}
	isList              // a list of elem
	isItems             // a list of {value, error}
)

// node is a node of any verb; which fields count follows from verb.
type node struct {
	id   string
	verb string // tool, let, go, map, loop, flow
	tool string // tool, go
	kind kind
	elem kind // of lists
	in   *body

	a, b        value // arguments, fields of let
	s           value // text argument
	ok          value // let
	fail, flaky int

	catch     []clause
	onError   string // "", skip, default
	fallback  int64
	attempts  int
	sets      []*set
	do        *body
	over      *items
	as, index string
	onItem    string // fail, keep, skip
	parallel  int
	until     value
	max       int
	flow      *flow
}

type clause struct {
	code string // or any
	to   *node  // nil: end
}

type set struct {
	node  *node
	field *field
	value value
	list  *items // append: instead of value
}

// arc is an edge between two nodes. Exactly one of the following is set: nothing (plain), choice with cases, clause,
// back (the exhausted edge), order (file order of effects).
type arc struct {
	from, to *node
	choice   *choice
	cases    []int
	clause   int // index of the catch clause + 1
	back     *back
	order    bool
}

// choice is a condition or a switch after a node.
type choice struct {
	from   *node
	cond   value // when; cases are 0 = true, 1 = false
	on     value // switch
	values []any // of the cases
	other  bool  // there is a default: the case after the last
	ends   []int // cases that lead to end
}

// back is an edge that leads back.
type back struct {
	from, header *node
	cond         *choice // nil: always
	max          int
	exhausted    string // "", end, node
	to           *node
}

// value is an expression of the model.
type value interface{}

type (
	lit   struct{ v any }
	input struct{ name string } // x, y
	state struct{ field *field }
	// item is the item of a map, or its index.
	item struct {
		name string
		path string // "" or v
	}
	// ref reads a result. How it is written depends on what the checker knows about it; what it means does not.
	ref struct {
		node *node
		path string // "", v, few, ok, route, size, failures
		def  any    // stands for an absent result
		form form
		hook int // writes `?.`
	}
	firstOf struct {
		refs []*ref
		def  any
		form form
	}
	op struct {
		op   string
		a, b value
	}
	ternary struct{ c, a, b value }
	caught  struct {
		node *node
		dead bool // written as a literal: the checker says it cannot be read here
	}
	concat struct{ parts []value } // text
)

// items is a list of ints, or of pairs when elem is isPair, isOut or isBare.
type items struct {
	input bool
	node  *node
	path  string // items, "" for lists; values = map(x, x.v)
	form  form
	elem  kind
}

type form int

const (
	plain     form = iota // n.v
	defaulted             // default(n.v, -1)
	tested                // n != null ? n.v : -1
	dead                  // -1: the checker says that n is never there
)

// writes reports whether the node's effects keep their order in the file.
func (n *node) writes() bool {
	switch n.verb {
	case "tool":
		return n.tool == "save" || n.tool == "note"
	case "map", "loop":
		return slices.ContainsFunc(n.do.nodes, (*node).writes)
	case "flow":
		return slices.ContainsFunc(n.flow.body.nodes, (*node).writes)
	}
	return false
}

// values lists what a node reads, its body included.
func (n *node) values(f func(any)) {
	walk := func(v value) { walkValue(v, f) }
	for _, v := range []value{n.a, n.b, n.s, n.ok, n.until} {
		walk(v)
	}
	if n.over != nil {
		f(n.over)
	}
	for _, s := range n.sets {
		walk(s.value)
		if s.list != nil {
			f(s.list)
		}
	}
	if n.do != nil {
		n.do.values(f)
	}
}

func (b *body) values(f func(any)) {
	for _, n := range b.nodes {
		n.values(f)
	}
	for _, c := range b.choices {
		walkValue(c.cond, f)
		walkValue(c.on, f)
	}
	walkValue(b.v, f)
	walkValue(b.ok, f)
}

func walkValue(v value, f func(any)) {
	switch v := v.(type) {
	case *ref, *caught, *item:
		f(v)
	case *firstOf:
		for _, r := range v.refs {
			f(r)
		}
	case *op:
		walkValue(v.a, f)
		walkValue(v.b, f)
	case *ternary:
		walkValue(v.c, f)
		walkValue(v.a, f)
		walkValue(v.b, f)
	case *concat:
		for _, p := range v.parts {
			walkValue(p, f)
		}
	}
}

// edges are the arcs of a body: as written, or as references make them.
func (b *body) edges() []*arc {
	out := slices.Clone(b.arcs)
	if !b.inferred {
		return out
	}
	linked, handler := map[[2]*node]bool{}, map[*node]bool{}
	for _, a := range out { // catch clauses: what else a handler reads decides nothing
		linked[[2]*node{a.from, a.to}], handler[a.to] = true, true
	}
	for _, n := range b.file {
		n.values(func(v any) {
			var from *node
			switch v := v.(type) {
			case *ref:
				if v.form != dead {
					from = v.node
				}
			case *caught:
				if !v.dead {
					from = v.node
				}
			case *items:
				if v.form != dead {
					from = v.node
				}
			}
			if from != nil && from.in == b && from != n && !linked[[2]*node{from, n}] {
				linked[[2]*node{from, n}] = true
				out = append(out, &arc{from: from, to: n, order: handler[n]})
			}
		})
	}
	var last *node
	for _, n := range b.file {
		if !n.writes() {
			continue
		}
		if last != nil && !linked[[2]*node{last, n}] {
			out = append(out, &arc{from: last, to: n, order: true})
		}
		last = n
	}
	return out
}

// reaches reports whether arcs lead from a to b.
func reaches(arcs []*arc, a, b *node) bool {
	seen := map[*node]bool{a: true}
	for stack := []*node{a}; len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, x := range arcs {
			if x.from == n && !seen[x.to] {
				if x.to == b {
					return true
				}
				seen[x.to] = true
				stack = append(stack, x.to)
			}
		}
	}
	return false
}

// members are the nodes of a loop, in topological order.
func (b *body) members(l *back) []*node {
	arcs := b.edges()
	var out []*node
	for _, n := range b.nodes {
		if n == l.header || n == l.from || reaches(arcs, l.header, n) && reaches(arcs, n, l.from) {
			out = append(out, n)
		}
	}
	return out
}
