package stargraph

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A choice is where a run goes when a condition holds.
type choice struct {
	cond   string // in the language of expressions; empty: always
	rule   *rule  // nil: the order of the file
	target ir.Ident
	span   source.Span
}

// exits are the choices of a node in the order in which they are looked at: halts before gotos, what has more salience before
// what has less, then as CLIPS does what asks for a fact that comes later, then as in the file. The last always holds.
func (p *parser) exits(i int) []choice {
	x := p.list[i]
	slices.SortStableFunc(x.rules, func(a, b *rule) int { return cmp.Or(b.salience-a.salience, b.rank-a.rank) })
	var out []choice
	seen := map[string]bool{}
	for _, halts := range []bool{true, false} {
		for _, r := range x.rules {
			if (r.target.Name == "") != halts {
				continue
			}
			cond, never := p.holds(x, r)
			if never || seen[cond] {
				continue
			}
			seen[cond] = true
			out = append(out, choice{cond, r, r.target, r.span})
			if cond == "" {
				return out
			}
		}
	}
	var next ir.Ident
	if i+1 < len(p.list) {
		next = p.list[i+1].id
	}
	return append(out, choice{target: next, span: x.id.Span})
}

// holds is the condition of a rule: all its tests.
func (p *parser) holds(x *node, r *rule) (cond string, never bool) {
	var all []string
	for _, t := range r.tests {
		if text := p.textOf(x, t.field); text != nil {
			t.field = text
		}
		if p.mayMiss(t.field) {
			absent := *t.field
			absent.typ = schema.OptOf(t.field.typ, "no node that writes "+t.field.id.Name+" may have run")
			t.field = &absent
		}
		if texts := t.field.texts; texts != nil && t.field.written && !slices.Contains(texts, t.value.Value) && slices.Contains(t.field.typ.Present().Values, t.value.Value) {
			p.tell(diag.Diagnostic{Severity: diag.Warning, Code: diag.DialectDiffers, Span: t.span, Message: "this holds for the engine only where a node wrote text: members of the Enum are " + strings.Join(texts, ", "), Help: "compare with the text of a member"})
		}
		c, fits := t.cond()
		switch {
		case fits == "" && t.not:
			all = append(all, negated(c))
			continue
		case fits == "":
			all = append(all, c)
			continue
		case t.field.typ.Kind == schema.Invalid:
			return "", true
		case t.not:
			p.tell(diag.Diagnostic{Severity: diag.Warning, Code: diag.IgnoredKey, Span: t.span, Message: "this is always true: " + t.field.id.Name + " is " + fits})
			continue
		}
		p.tell(diag.Diagnostic{Severity: diag.Warning, Code: diag.IgnoredKey, Span: t.span, Message: "this is never true: " + t.field.id.Name + " is " + fits})
		return "", true
	}
	return strings.Join(all, " && "), false
}

// negated is the condition that another does not hold.
func negated(cond string) string {
	switch {
	case strings.Contains(cond, "&&"):
		return "!(" + cond + ")"
	case strings.Contains(cond, " == "):
		return strings.Replace(cond, " == ", " != ", 1)
	case cond[0] == '!':
		return cond[1:]
	}
	return "!" + cond
}

// tell reports what is found of a rule once, however many nodes it is looked at after.
func (p *parser) tell(d diag.Diagnostic) {
	if p.told == nil {
		p.told = map[source.Span]bool{}
	}
	if !p.told[d.Span] {
		p.told[d.Span] = true
		p.Report(d)
	}
}

// cond is a test in the language of expressions. The engine compares Python's text of a value. never says what the field
// is when no value of its type has this text.
func (t test) cond() (cond, never string) {
	path, typ, want := t.field.path(), t.field.typ, t.value.Value
	if typ.Kind == schema.Opt {
		if want == "None" {
			return path + " == null", ""
		}
		c, never := (test{field: &field{id: t.field.id, typ: typ.Elem, texts: t.field.texts, written: t.field.written, input: t.field.input}, value: t.value}).cond()
		if never != "" {
			return "", never
		}
		return path + " != null && " + c, ""
	}
	switch typ.Kind {
	case schema.String:
		return path + " == " + strconv.Quote(want), ""
	case schema.Enum:
		texts := typ.Values
		if t.field.texts != nil {
			if texts = t.field.texts; slices.Contains(texts, want) {
				want = typ.Values[slices.Index(texts, want)]
			} else if !t.field.written {
				return "", "one of " + strings.Join(texts, ", ")
			}
		}
		if !slices.Contains(typ.Values, want) {
			return "", "one of " + strings.Join(texts, ", ")
		}
		return path + " == " + strconv.Quote(want), ""
	case schema.Bool:
		switch want {
		case "True":
			return path, ""
		case "False":
			return "!" + path, ""
		}
		return "", "a bool, whose text is True or False"
	case schema.Int:
		if v, err := strconv.ParseInt(want, 10, 64); err == nil && strconv.FormatInt(v, 10) == want {
			return path + " == " + want, ""
		}
		return "", "an int"
	case schema.Float:
		if v, err := strconv.ParseFloat(want, 64); err == nil && pythonFloat(v) == want && v-v == 0 {
			if math.Abs(v) >= 1e15 {
				return path + " == " + want, "" // without its exponent it would be an int
			}
			return path + " == " + strconv.FormatFloat(v, 'f', -1, 64), ""
		}
		return "", "a float"
	}
	return "", "of another type"
}

// pythonFloat is Python's text of a float.
func pythonFloat(v float64) string {
	s := strconv.FormatFloat(v, 'e', -1, 64)
	mantissa, exponent, ok := strings.Cut(s, "e")
	if n, err := strconv.Atoi(exponent); ok && err == nil && (n < -4 || n >= 16) {
		return mantissa + "e" + exponent
	}
	if s = strconv.FormatFloat(v, 'f', -1, 64); !strings.ContainsAny(s, ".nI") {
		s += ".0"
	}
	return s
}

// lower makes the nodes and the edges between them: a graph where its loops are such as have one beginning and one end, and
// else a machine that goes from node to node.
func (p *parser) lower(at source.Span) {
	exits := make([][]choice, len(p.list))
	for i := range p.list {
		exits[i] = p.exits(i)
	}
	exits = p.fork(exits)
	reached := p.reached(exits)
	for i, x := range p.list {
		if x.block != nil && !reached[i] {
			p.Warn(diag.IgnoredKey, x.block.at, "add a route to it, or remove it", "no route leads to these nodes: they do not run in parallel")
		} else if !reached[i] && !p.inside(x, reached) {
			p.Warn(diag.Unreachable, x.id.Span, "add a route to it, or remove it", "no route leads to node %q: it never runs, and is left out", x.id.Name)
		}
	}
	p.uncalled(reached)
	r := &router{parser: p, exits: exits, reached: reached}
	p.again(r)
	r.plan()
	begin := p.lowerState(at)
	if r.next != "" {
		p.wf.State = append(p.wf.State, r.state(at))
	}
	body := &p.wf.Body
	if r.machine {
		r.run(at)
	} else {
		r.graph()
	}
	if len(body.Nodes) == 0 { // the file has none
		body.Nodes = append(body.Nodes, &ir.Node{ID: ir.Ident{Name: "nothing", Span: at}, Verb: &ir.Let{}, Span: at})
	}
	if begin != nil {
		first := body.Nodes[0].ID
		body.Nodes = append([]*ir.Node{begin}, body.Nodes...)
		body.Edges = append([]*ir.Edge{{From: begin.ID, To: []ir.Ident{first}, Span: at}}, body.Edges...)
	}
}

// uncalled leaves out the tools that only nodes call which never run: of these there is a warning.
func (p *parser) uncalled(reached []bool) {
	called, left := map[string]bool{}, map[string]bool{}
	for i, x := range p.list {
		for _, name := range x.tools {
			called[name] = called[name] || reached[i] || p.inside(x, reached)
			left[name] = true
		}
	}
	p.wf.Tools = slices.DeleteFunc(p.wf.Tools, func(t *ir.Tool) bool {
		return left[t.FullName()] && !called[t.FullName()] && t.File == p.File
	})
}

// again refuses rules that are looked at once after a node that runs more than once.
func (p *parser) again(r *router) {
	for _, span := range p.once {
		for i := range p.list {
			for _, c := range r.exits[i] {
				if to := p.byID[c.target.Name]; r.reached[i] && to != nil && to.index == 0 {
					p.tell(diag.Diagnostic{Code: diag.NotSupported, Span: span, Message: "a rule that asks for nothing is looked at once, and the first node can run again", Help: "write `when: {node: ...}`"})
				}
			}
		}
	}
}

// reached are the nodes that the exits lead to from the first.
func (p *parser) reached(exits [][]choice) []bool {
	out := make([]bool, len(p.list))
	if len(out) == 0 {
		return out
	}
	out[0] = true
	for queue := []int{0}; len(queue) > 0; queue = queue[1:] {
		for _, c := range exits[queue[0]] {
			if to := p.byID[c.target.Name]; to != nil && !out[to.index] {
				out[to.index] = true
				queue = append(queue, to.index)
			}
		}
		if late := p.list[queue[0]].late; late != nil {
			if to := p.byID[late.Name]; to != nil && !out[to.index] {
				out[to.index] = true
				queue = append(queue, to.index)
			}
		}
	}
	return out
}

func orEnd(id ir.Ident, at source.Span) ir.Ident {
	if id.Name == "" {
		return ir.Ident{Name: "end", Span: at}
	}
	return id
}
