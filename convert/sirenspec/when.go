package sirenspec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/sirenspec"
)

// A question is a condition on values whose types only a run knows. What it asks of them becomes nodes, each of which says yes,
// no, or nothing where a value is missing or Python raises an exception: then the whole condition does not hold.
type question struct {
	*siren
	at    *sirenspec.Node // the one that the edge leads from
	name  string          // of its nodes
	nodes []*ir.Node
}

// typed reports whether a condition compares nothing but the texts of agents.
func (s *siren) typed(p *dialect.Predicate, at *sirenspec.Node) bool {
	switch p.Op {
	case "ref", "in", "not in":
		return false
	case "&&", "||", "not":
		return !slices.ContainsFunc(p.Kids, func(k *dialect.Predicate) bool { return !s.typed(k, at) })
	}
	return s.texts(p, at)
}

// texts reports whether a part of a condition looks at nothing but the texts of agents.
func (s *siren) texts(p *dialect.Predicate, at *sirenspec.Node) bool {
	if p.Op == "ref" {
		_, _, ok := s.tested(p.Ref, at)
		return ok
	}
	return (len(p.Kids) > 0 || p.Op == "const") && !slices.ContainsFunc(p.Kids, func(k *dialect.Predicate) bool { return !s.texts(k, at) })
}

// never reports whether no run gets to a node: none of the conditions of its edges ever holds.
func (s *siren) never(n *sirenspec.Node) bool {
	asks := s.asks
	defer func() { s.asks = asks }()
	s.asks = map[string]bool{}
	return len(n.Routes) > 0 && !slices.ContainsFunc(n.Routes, func(r *dialect.Route) bool {
		q := &question{siren: s, at: s.nodes[r.From.Name]}
		return r.When == nil || q.at == nil || s.typed(r.When, q.at) || q.holds(r.When, false) != "false"
	})
}

// raises reports whether a value raises an exception of Python in every run: an unknown name, a place that nothing writes,
// and what was spent where the engine has not counted yet.
func (q *question) raises(p *dialect.Predicate) bool {
	switch p.Op {
	case "unknown":
		return true
	case "ref":
		return q.missing(p.Ref) || q.tree.Upstream && p.Ref.Root == "working" && p.Ref.Path[0] == "_budget" &&
			!slices.ContainsFunc(q.order[:q.siren.at(q.at)], func(n *sirenspec.Node) bool { _, tool := n.Verb.(*ir.ToolCall); return !tool })
	}
	return false
}

// holds is the condition as an expression that is true where it holds, or with no where it is certainly false. Empty: it is not
// converted.
func (q *question) holds(p *dialect.Predicate, no bool) string {
	switch p.Op {
	case "const":
		if p.Lit.Tag == "!!bool" {
			return strconv.FormatBool((p.Lit.Text.Value == "true") != no)
		}
	case "not":
		return q.holds(p.Kids[0], !no)
	case "&&", "||":
		return q.both(p, no)
	}
	if q.raises(p) || flipped[p.Op] != "" && slices.ContainsFunc(p.Kids, q.raises) {
		return "false"
	}
	if text := q.known(p); text != "" && no {
		return "!(" + text + ")"
	} else if text != "" {
		return text
	}
	return q.asked(p, no)
}

// both is `and` and `or`, which look at the second part only where the first does not decide.
func (q *question) both(p *dialect.Predicate, no bool) string {
	a, b := q.holds(p.Kids[0], no), q.holds(p.Kids[1], no)
	other := q.holds(p.Kids[0], !no)
	switch {
	case a == "" || b == "" || other == "":
		return ""
	case (p.Op == "&&") != no:
		return both(a, b)
	case q.certain(p.Kids[0]):
		return either(a, b)
	}
	return either(a, both(other, b))
}

// certain reports whether a part of a condition always says yes or no.
func (q *question) certain(p *dialect.Predicate) bool {
	switch p.Op {
	case "const":
		return true
	case "not", "&&", "||":
		return !slices.ContainsFunc(p.Kids, func(k *dialect.Predicate) bool { return !q.certain(k) })
	}
	return q.known(p) != ""
}

func both(a, b string) string {
	switch {
	case a == "false" || b == "false":
		return "false"
	case a == "true":
		return b
	case b == "true":
		return a
	}
	return side(a) + " && " + side(b)
}

func either(a, b string) string {
	switch {
	case a == "true" || b == "true":
		return "true"
	case a == "false":
		return b
	case b == "false":
		return a
	}
	return a + " || " + b
}

// side is a part of `&&`.
func side(text string) string {
	if strings.Contains(text, " || ") {
		return "(" + text + ")"
	}
	return text
}

// known is a part of a condition on values that have types; empty: it is none.
func (q *question) known(p *dialect.Predicate) string {
	c := convert.Condition{Converter: q.Converter, Place: func(r *dialect.Reference) (string, *schema.Type) {
		if place, typ := q.place(r); typ != nil && typ.Kind != schema.Any {
			return place, typ
		}
		return "", nil
	}}
	if text := c.Typed(p); text != "" {
		return text
	}
	switch p.Op {
	case "in":
		return q.contained(p, c.Place)
	case "not in":
		if text := q.contained(p, c.Place); text != "" {
			return "!(" + text + ")"
		}
	case "ref":
		switch place, typ := c.Place(p.Ref); {
		case typ == nil:
		case typ.Kind == schema.String:
			return place + ` != ""`
		case typ.Kind == schema.Int || typ.Kind == schema.Float:
			return place + " != 0"
		}
	}
	return ""
}

// contained is `in` of a text and constants; empty: the condition is none.
func (q *question) contained(p *dialect.Predicate, place func(*dialect.Reference) (string, *schema.Type)) string {
	text := func(p *dialect.Predicate) string {
		if p.Op == "ref" {
			if expr, typ := place(p.Ref); typ != nil && typ.Kind == schema.String {
				return expr
			}
		} else if p.Op == "const" && p.Lit.Tag == "!!str" {
			return doc.Escaped(p.Lit.Text.Value)
		}
		return ""
	}
	part, whole := p.Kids[0], p.Kids[1]
	a := text(part)
	if b := text(whole); a != "" && b != "" && whole.Op == "ref" {
		return b + ".contains(" + a + ")"
	}
	if a == "" || part.Op != "ref" || whole.Op != "list" && whole.Op != "tuple" {
		return ""
	}
	var items []string
	for _, k := range whole.Kids {
		if k.Op != "const" || k.Lit.Tag != "!!str" {
			return ""
		}
		items = append(items, doc.Escaped(k.Lit.Text.Value))
	}
	if len(items) == 0 {
		return ""
	}
	return a + " in [" + strings.Join(items, ", ") + "]"
}

// place is a value that is certainly there, of type any where only a run knows what it is; nil: it is not converted.
func (q *question) place(r *dialect.Reference) (string, *schema.Type) {
	if r.Root == "working" && len(r.Path) > 0 {
		if expr, typ, ok := q.seeded(r.Path); ok {
			return expr, typ
		}
	}
	list := q.producers(r)
	if len(list) != 1 || r.Filter != "" || list[0].lines {
		return "", nil
	}
	p := list[0]
	sure := p.node == q.at && !q.skipped(q.at) || q.flow.Left(p.node, q.at)
	if !sure || p.own && q.unsaid(p.node) || p.node.Skips || q.keeps(p) {
		return "", nil
	}
	return p.place, p.typ
}

// An operand is one side of a comparison: a constant, or what is below a place.
type operand struct {
	value ir.Value
	below []string
	place bool
}

func (q *question) operand(p *dialect.Predicate) (o operand, ok bool) {
	switch p.Op {
	case "const":
		return operand{value: p.Lit}, true
	case "list":
		list := &ir.List{}
		for _, k := range p.Kids {
			if k.Op != "const" {
				return o, false
			}
			list.Items = append(list.Items, k.Lit)
		}
		return operand{value: list}, true
	case "ref":
		place, typ := q.place(p.Ref)
		if typ == nil {
			return o, false
		}
		o = operand{value: convert.Ref(place), place: true}
		if list := q.producers(p.Ref); len(list) == 1 && typ == schema.AnyType {
			o.below = list[0].below
		}
		return o, true
	}
	return o, false
}

var flipped = map[string]string{"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<=", "in": "contains"}

// asked is a part of a condition that a node decides.
func (q *question) asked(p *dialect.Predicate, no bool) string {
	if p.Op == "ref" {
		o, ok := q.operand(p)
		if !ok {
			return ""
		}
		return said(q.node("Truth", convert.Pair("v", o.value), convert.Pair("path", textList(o.below))), no)
	}
	if flipped[p.Op] == "" && p.Op != "not in" {
		return ""
	}
	op := p.Op
	if op == "not in" {
		op, no = "in", !no
	}
	if text := q.sized(p, op, no); text != "" {
		return text
	}
	a, ok := q.operand(p.Kids[0])
	b, also := q.operand(p.Kids[1])
	switch {
	case !ok || !also || !a.place && !b.place:
		return ""
	case !a.place:
		a, b, op = b, a, flipped[op]
	}
	with := []*ir.Entry{convert.Pair("v", a.value), convert.Pair("path", textList(a.below)), convert.Pair("is", convert.Literal(op)), convert.Pair("to", b.value)}
	if len(b.below) > 0 {
		return said(q.node("CompareParts", append(with, convert.Pair("below", textList(b.below)))...), no)
	}
	return said(q.node("Compare", with...), no)
}

// sized is a comparison of the size of a value with a number.
func (q *question) sized(p *dialect.Predicate, op string, no bool) string {
	a, b := p.Kids[0], p.Kids[1]
	if b.Op == "call len" {
		a, b, op = b, a, flipped[op]
	}
	if a.Op != "call len" || len(a.Kids) != 1 || b.Op != "const" || b.Lit.Tag != "!!int" || op == "in" || op == "contains" {
		return ""
	}
	o, ok := q.operand(a.Kids[0])
	if !ok || !o.place {
		return ""
	}
	id := q.node("Size", convert.Pair("v", o.value), convert.Pair("path", textList(o.below)))
	text := id + " " + op + " " + b.Lit.Text.Value
	if no {
		text = "!(" + text + ")"
	}
	return id + " != null && " + text
}

// said is what a node says that may say nothing.
func said(id string, no bool) string {
	if no {
		return "!default(" + id + ", true)"
	}
	return "default(" + id + ", false)"
}

// node is the id of a node that asks a value, one for all parts that ask the same.
func (q *question) node(function string, with ...*ir.Entry) string {
	call := convert.Call(guardPath+function, with...)
	for _, n := range q.nodes {
		if same(n.Verb.(*ir.GoCall), call) {
			return n.ID.Name
		}
	}
	id := q.FreeID(q.name)
	for i := 2; q.asks[id]; i++ {
		id = q.FreeID(q.name + "_" + strconv.Itoa(i))
	}
	q.asks[id] = true
	q.nodes = append(q.nodes, &ir.Node{ID: convert.Name(id), Verb: call})
	return id
}

// same reports whether two calls are the same.
func same(a, b *ir.GoCall) bool {
	return a.Func.Ref.Name == b.Func.Ref.Name && slices.EqualFunc(a.With.Entries, b.With.Entries, func(x, y *ir.Entry) bool {
		return x.Key.Name == y.Key.Name && spelt(x.Value) == spelt(y.Value)
	})
}

func spelt(v ir.Value) string {
	switch v := v.(type) {
	case *ir.Expr:
		return "$" + v.Text.Value
	case *ir.Scalar:
		return v.Tag + doc.Escaped(v.Text.Value)
	case *ir.List:
		var b strings.Builder
		for _, it := range v.Items {
			b.WriteString(spelt(it) + ",")
		}
		return "[" + b.String() + "]"
	}
	return ""
}

// textList is a list of texts.
func textList(list []string) *ir.List {
	out := &ir.List{}
	for _, w := range list {
		out.Items = append(out.Items, convert.Literal(w))
	}
	return out
}

// put puts the nodes of a question in front of the one that runs when it holds, one after the other.
func (q *question) put(target string) {
	b := &q.Out.Body
	from := q.ends(q.at)
	i := slices.IndexFunc(b.Nodes, func(n *ir.Node) bool { return n.ID.Name == target })
	if i < 0 {
		return // it was refused
	}
	b.Nodes = slices.Insert(b.Nodes, i, q.nodes...)
	names := []string{from}
	for _, n := range q.nodes {
		names = append(names, n.ID.Name)
	}
	b.Edges = append(b.Edges, chained(names)...)
}
