package codegen_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/flowgen-dev/flowgen/codegen/testdata/random"
)

// The reference interprets a model by the text of the design: an edge is decided when its source has ended or was
// skipped and active when its source ran and its condition holds; a node runs once all its edges are decided, if one is
// active (any) or all are. It knows no plan and no concurrency. Where several nodes may fail first it follows every
// possibility, one run for each.

// An outcome is how a run can end.
type outcome struct {
	output  map[string]any
	calls   []string
	partial bool // the calls are not known
	node    string
	code    string
}

// failure is a candidate for the error of a scope.
type failure struct{ node, code string }

// reference is one run along one path of choices.
type reference struct {
	path  []int // what to choose
	sizes []int // how many choices there were
	calls map[string]int
	state map[string]any
	in    map[string]any
	// partial: a scope failed and the workflow went on, so that not every call in it need have been made
	partial bool
	why     []string // contradictions between the compiler's claims and what happens
}

// outcomes are all ways in which f can end with an input; ok is false when they are too many.
func outcomes(f *flow, in map[string]any) (all []outcome, problems []string, ok bool) {
	var path []int
	for range 300 {
		r := &reference{path: path, calls: map[string]int{}}
		o := r.run(f, in)
		all = append(all, o)
		problems = append(problems, r.why...)
		// The next path: the last choice that has an alternative left.
		path = nil
		for i := len(r.sizes) - 1; i >= 0; i-- {
			at := 0
			if i < len(r.path) {
				at = r.path[i]
			}
			if at+1 < r.sizes[i] {
				path = append(path, r.path[:min(i, len(r.path))]...)
				for len(path) < i {
					path = append(path, 0)
				}
				path = append(path, at+1)
				break
			}
		}
		if path == nil {
			return all, problems, true
		}
	}
	return nil, problems, false
}

// choose is which of the failures came first.
func (r *reference) choose(list []failure) failure {
	slices.SortFunc(list, func(a, b failure) int { return strings.Compare(a.node+" "+a.code, b.node+" "+b.code) })
	list = slices.Compact(list)
	if len(list) == 1 {
		return list[0]
	}
	k := 0
	if i := len(r.sizes); i < len(r.path) {
		k = r.path[i]
	}
	r.sizes = append(r.sizes, len(list))
	return list[k]
}

func (r *reference) run(f *flow, in map[string]any) outcome {
	r.enter(f, in)
	top := (*frame)(nil).inner()
	if list := r.body(f.body, top); len(list) > 0 {
		first := r.choose(list)
		return outcome{node: first.node, code: first.code}
	}
	o := outcome{output: map[string]any{}, partial: r.partial}
	for _, n := range f.body.nodes {
		if n.kind != isNone {
			o.output["r_"+n.id] = top.get(n)
		}
	}
	for _, s := range f.fields {
		o.output["s_"+s.name] = r.state[s.name]
	}
	for c, n := range r.calls {
		if r.partial {
			break
		}
		o.calls = append(o.calls, fmt.Sprint(c, " x", n))
	}
	sort.Strings(o.calls)
	return o
}

func (r *reference) enter(f *flow, in map[string]any) {
	r.in, r.state = in, map[string]any{}
	for _, s := range f.fields {
		switch {
		case s.list():
			r.state[s.name] = []any{}
		default:
			var n int64
			fmt.Sscan(s.init, &n)
			r.state[s.name] = n
		}
	}
}

type status int

const (
	pending status = iota
	ran            // perhaps without a result
	handled        // failed, and a clause took the error
	skipped
	failed  // the scope has failed
	blocked // waits for one that failed
)

// frame is one run of a body: of the workflow, one item, one iteration.
type frame struct {
	outer  *frame
	vals   map[*node]any
	status map[*node]status
	clause map[*node]int
	errs   map[*node]string
	taken  map[*choice]int
	vars   map[string]any
	arcs   []*arc

	dropped map[*node]int // items that maps left out
}

func (f *frame) get(n *node) any {
	for at := f; at != nil; at = at.outer {
		if v, ok := at.vals[n]; ok {
			return v
		}
	}
	return nil
}

func (f *frame) inner() *frame {
	return &frame{outer: f, vals: map[*node]any{}, status: map[*node]status{}, errs: map[*node]string{}, taken: map[*choice]int{},
		vars: map[string]any{}, dropped: map[*node]int{}}
}

// body runs a body and returns what may have failed first; nil when nothing failed.
func (r *reference) body(b *body, f *frame) []failure {
	f.arcs, f.clause = b.edges(), map[*node]int{}
	return r.level(b, b.nodes, nil, f)
}

// level runs nodes in topological order. Loops that begin here run as a whole when their header's turn comes.
func (r *reference) level(b *body, nodes []*node, inside *back, f *frame) []failure {
	var fails []failure
	for _, n := range nodes {
		if f.status[n] != pending {
			continue
		}
		if l := outermost(b, n, inside); l != nil {
			fails = append(fails, r.loop(b, l, f)...)
			continue
		}
		fails = append(fails, r.node(n, f)...)
	}
	return fails
}

// outermost is the largest loop with header n that lies inside another, nil when there is none.
func outermost(b *body, n *node, inside *back) *back {
	var best *back
	for _, l := range b.backs {
		if l.header != n || l == inside || inside != nil && len(b.members(l)) >= len(b.members(inside)) {
			continue
		}
		if best == nil || len(b.members(l)) > len(b.members(best)) {
			best = l
		}
	}
	return best
}

func (r *reference) loop(b *body, l *back, f *frame) []failure {
	members := b.members(l)
	for i := 0; ; i++ {
		for _, m := range members {
			f.status[m] = pending
			delete(f.vals, m)
			delete(f.errs, m)
			delete(f.dropped, m)
		}
		if fails := r.level(b, members, l, f); len(fails) > 0 {
			return fails
		}
		again := f.status[l.from] == ran && (l.cond == nil || f.taken[l.cond] == 0)
		switch {
		case !again:
			return nil
		case i+1 < l.max:
		case l.exhausted == "":
			for _, m := range members {
				f.status[m] = failed
			}
			return []failure{{l.header.id, "POLICY_DENIED"}}
		default:
			return nil
		}
	}
}

// active reports whether an edge is active, once it is decided.
func (f *frame) active(a *arc) bool {
	from := f.status[a.from]
	switch {
	case a.clause > 0:
		return from == handled && f.clause[a.from] == a.clause-1
	case from != ran:
		return false
	case a.back != nil:
		return a.back.cond == nil || f.taken[a.back.cond] == 0
	case a.choice != nil:
		return slices.Contains(a.cases, f.taken[a.choice])
	}
	return true
}

func (r *reference) node(n *node, f *frame) []failure {
	edges, live := 0, 0
	for _, a := range f.arcs {
		if a.to != n {
			continue
		}
		if s := f.status[a.from]; s == failed || s == blocked {
			f.status[n] = blocked
			return nil
		}
		if a.order {
			continue
		}
		edges++
		if f.active(a) {
			live++
		}
	}
	if edges > 0 && live == 0 {
		f.status[n] = skipped
		return nil
	}
	saved := r.save()
	v, fails := r.verb(n, f)
	if len(fails) > 0 {
		first := failure{}
		if len(n.catch) > 0 || n.onError != "" {
			first = r.choose(fails)
			r.state = saved // nothing of a scope that failed is visible outside
		}
		k := slices.IndexFunc(n.catch, func(c clause) bool { return c.code == first.code })
		if k < 0 {
			k = slices.IndexFunc(n.catch, func(c clause) bool { return c.code == "any" })
		}
		switch {
		case k >= 0:
			f.status[n], f.clause[n], f.errs[n] = handled, k, first.code
			return nil
		case n.onError == "":
			f.status[n] = failed
			if first.code != "" {
				return []failure{first}
			}
			return fails
		case n.onError == "skip":
			v = nil
		default:
			v = n.fallbackValue()
		}
		if n.onError == "skip" {
			f.status[n] = ran
			return r.decide(n, f)
		}
	}
	f.status[n] = ran
	if v != nil {
		f.vals[n] = v
	}
	for _, s := range n.sets {
		if !r.set(s, f) {
			f.status[n] = failed
			return []failure{{n.name(), "VALIDATION_ERROR"}}
		}
	}
	return r.decide(n, f)
}

func (r *reference) save() map[string]any {
	out := map[string]any{}
	for k, v := range r.state {
		out[k] = v
	}
	return out
}

// name is how an error names the node.
func (n *node) name() string {
	if n.in.inline {
		switch n.verb {
		case "tool":
			return n.tool
		}
		return n.verb
	}
	return n.id
}

func (n *node) fallbackValue() any {
	v := n.fallback
	switch n.kind {
	case isOut:
		return map[string]any{"v": v, "few": int64(2), "ok": true, "route": "green", "items": []any{v}}
	case isBare:
		return map[string]any{"v": v, "few": int64(2), "ok": true}
	case isPair:
		return map[string]any{"v": v, "ok": true}
	case isInt:
		return v
	}
	return []any{}
}

// set writes to state; false when a set_once field was written before.
func (r *reference) set(s *set, f *frame) bool {
	if s.list != nil {
		r.state[s.field.name] = slices.Concat(r.state[s.field.name].([]any), r.list(s.list, f))
		return true
	}
	v := r.eval(s.value, f).(int64)
	switch s.field.merge {
	case "append":
		r.state[s.field.name] = append(slices.Clone(r.state[s.field.name].([]any)), v)
	case "reducer":
		r.state[s.field.name] = random.Fold(r.state[s.field.name].(int64), v)
	case "set_once":
		if r.state["set "+s.field.name] != nil {
			return false
		}
		r.state["set "+s.field.name] = true
		r.state[s.field.name] = v
	default:
		r.state[s.field.name] = v
	}
	return true
}

// decide makes the decisions after a node.
func (r *reference) decide(n *node, f *frame) []failure {
	for _, c := range n.in.choices {
		if c.from != n {
			continue
		}
		if c.cond != nil {
			f.taken[c] = 1
			if r.eval(c.cond, f).(bool) {
				f.taken[c] = 0
			}
			continue
		}
		k := slices.Index(c.values, r.eval(c.on, f))
		switch {
		case k >= 0:
			f.taken[c] = k
		case c.other:
			f.taken[c] = len(c.values)
		default:
			f.status[n] = failed
			return []failure{{n.name(), "VALIDATION_ERROR"}}
		}
	}
	return nil
}

func (r *reference) verb(n *node, f *frame) (any, []failure) {
	num := func(v value) int64 { return r.eval(v, f).(int64) }
	switch n.verb {
	case "tool":
		return r.tool(n, f)
	case "let":
		return map[string]any{"v": num(n.a), "ok": r.eval(n.ok, f)}, nil
	case "go":
		a, b := num(n.a), num(n.b)
		if n.tool == "MixOdd" {
			if _, err := random.MixOdd(a, b); err != nil {
				return nil, []failure{{n.name(), "VALIDATION_ERROR"}}
			}
		}
		return random.Mix(a, b), nil
	case "flow":
		return r.sub(n, f)
	case "map":
		return r.mapped(n, f)
	}
	return r.looped(n, f)
}

func (r *reference) tool(n *node, f *frame) (any, []failure) {
	in := random.In{ID: n.id, A: r.eval(n.a, f).(int64), B: r.eval(n.b, f).(int64), S: r.eval(n.s, f).(string), Fail: int64(n.fail), Flaky: int64(n.flaky)}
	r.calls[random.Line(in)] += 1 + n.flaky
	out, code := random.Compute(in)
	if code != "" {
		for range n.attempts - 1 {
			switch code {
			case "RATE_LIMIT", "TIMEOUT", "NETWORK_ERROR", "PROVIDER_ERROR":
				r.calls[random.Line(in)]++
			}
		}
		return nil, []failure{{n.name(), string(code)}}
	}
	v := map[string]any{"v": out.V, "few": out.Few, "ok": out.Ok}
	switch n.kind {
	case isNone:
		return nil, nil
	case isMaybe:
		if out.Few == 0 {
			return nil, nil
		}
	case isOut:
		items := []any{}
		for _, x := range out.Items {
			items = append(items, x)
		}
		v["items"], v["route"] = items, string(out.Route)
	}
	return v, nil
}

func (r *reference) sub(n *node, f *frame) (any, []failure) {
	in := map[string]any{"x": r.eval(n.a, f), "y": r.eval(n.b, f), "xs": r.in["xs"]}
	state, outer := r.state, r.in
	defer func() { r.state, r.in = state, outer }()
	r.enter(n.flow, in)
	inner := (*frame)(nil).inner()
	if fails := r.body(n.flow.body, inner); len(fails) > 0 {
		r.partial = true
		return nil, fails
	}
	return map[string]any{"v": r.eval(n.flow.v, inner), "ok": r.eval(n.flow.ok, inner)}, nil
}

// do runs the body of a map or a loop once.
func (r *reference) do(b *body, inner *frame) (any, []failure) {
	if fails := r.body(b, inner); len(fails) > 0 {
		return nil, fails
	}
	if b.inline {
		return inner.get(b.nodes[0]), nil
	}
	return map[string]any{"v": r.eval(b.v, inner), "ok": r.eval(b.ok, inner)}, nil
}

func (r *reference) mapped(n *node, f *frame) (any, []failure) {
	out := []any{}
	var fails []failure
	dropped := 0
	for i, x := range r.list(n.over, f) {
		inner := f.inner()
		inner.vars[n.as], inner.vars[n.index] = x, int64(i)
		saved := r.save()
		v, list := r.do(n.do, inner)
		if len(list) == 0 {
			if n.onItem == "keep" {
				v = map[string]any{"value": v, "error": nil}
			}
			out = append(out, v)
			continue
		}
		r.partial = true
		switch n.onItem {
		case "keep":
			out = append(out, map[string]any{"value": nil, "error": r.choose(list).code})
			r.state = saved
		case "skip":
			dropped++
			r.state = saved
		default:
			fails = append(fails, list...)
		}
	}
	f.dropped[n] = dropped
	return out, fails
}

func (r *reference) looped(n *node, f *frame) (v any, fails []failure) {
	for range n.max {
		if v, fails = r.do(n.do, f.inner()); len(fails) > 0 {
			r.partial = true
			return nil, fails
		}
		if n.until != nil {
			f.vals[n] = v
			stop := r.eval(n.until, f).(bool)
			delete(f.vals, n)
			if stop {
				return v, nil
			}
		}
	}
	if n.until != nil {
		return nil, []failure{{n.name(), "POLICY_DENIED"}}
	}
	return v, nil
}

func (r *reference) list(l *items, f *frame) []any {
	if l.input {
		return r.in["xs"].([]any)
	}
	v := f.get(l.node)
	if v == nil {
		r.claim(l.form == plain, "%s is absent", l.node.id)
		return nil
	}
	if l.path != "" {
		v = v.(map[string]any)[l.path]
	}
	return v.([]any)
}

// claim notes that the compiler was wrong about what can be absent.
func (r *reference) claim(wrong bool, format string, args ...any) {
	if wrong {
		r.why = append(r.why, fmt.Sprintf(format, args...)+", against what the checker says")
	}
}

func (r *reference) eval(v value, f *frame) any {
	switch v := v.(type) {
	case lit:
		return v.v
	case *input:
		return r.in[v.name]
	case *state:
		if v.field.list() {
			return int64(len(r.state[v.field.name].([]any)))
		}
		return r.state[v.field.name]
	case *item:
		for at := f; at != nil; at = at.outer {
			if x, ok := at.vars[v.name]; ok {
				if v.path != "" {
					return x.(map[string]any)[v.path]
				}
				return x
			}
		}
	case *ref:
		x, there := r.read(v, f)
		r.claim(!there && v.form == plain && v.path != "failures" && v.node.kind != isMaybe && v.node.onError != "skip", "%s is absent", v.node.id)
		// Where references make the edges, not reading it may have changed when the reader runs.
		if v.form == dead {
			r.claim(there && !v.node.in.inferred, "%s is there", v.node.id)
			return v.def
		}
		return x
	case *firstOf:
		for _, x := range v.refs {
			if y, there := r.read(x, f); there {
				return y
			}
		}
		if len(v.refs) > 0 {
			r.claim(v.form == plain, "all of first are absent, of which one is %s", v.refs[0].node.id)
		}
		return v.def
	case *op:
		return r.operator(v, f)
	case *ternary:
		if r.eval(v.c, f).(bool) {
			return r.eval(v.a, f)
		}
		return r.eval(v.b, f)
	case *concat:
		var b strings.Builder
		for _, p := range v.parts {
			fmt.Fprint(&b, r.eval(p, f))
		}
		return b.String()
	case *caught:
		if v.dead {
			return "xnone"
		}
		code := f.errs[v.node]
		r.claim(f.status[v.node] != handled, "%s has no error", v.node.id)
		return "x" + code
	}
	panic(fmt.Sprintf("no value: %#v", v))
}

func (r *reference) read(v *ref, f *frame) (any, bool) {
	if v.path == "failures" {
		for at := f; at != nil; at = at.outer {
			if n, ok := at.dropped[v.node]; ok {
				return int64(n), true
			}
		}
		return int64(0), false
	}
	x := f.get(v.node)
	if x == nil {
		return v.def, false
	}
	switch v.path {
	case "":
		return x, true
	case "size":
		return int64(len(x.([]any))), true
	}
	return x.(map[string]any)[v.path], true
}

func (r *reference) operator(v *op, f *frame) any {
	a := r.eval(v.a, f)
	switch v.op {
	case "!":
		return !a.(bool)
	case "&&":
		return a.(bool) && r.eval(v.b, f).(bool)
	case "||":
		return a.(bool) || r.eval(v.b, f).(bool)
	}
	x, y := a.(int64), r.eval(v.b, f).(int64)
	switch v.op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "<":
		return x < y
	case ">=":
		return x >= y
	case "==":
		return x == y
	}
	return x != y
}

// canonical writes an output so that equal ones are the same text: errors by their code, an empty list of state as no
// list.
func canonical(output any) string {
	b, err := json.Marshal(output)
	if err != nil {
		panic(err)
	}
	var v any
	dec := json.NewDecoder(strings.NewReader(string(b)))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		panic(err)
	}
	v = simplify(v)
	if m, ok := v.(map[string]any); ok && m["s_seen"] == nil {
		m["s_seen"] = []any{}
	}
	b, _ = json.Marshal(v)
	return string(b)
}

func simplify(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if code, ok := v["code"]; ok && v["message"] != nil {
			return code
		}
		for k, x := range v {
			v[k] = simplify(x)
		}
	case []any:
		for i, x := range v {
			v[i] = simplify(x)
		}
	}
	return v
}
