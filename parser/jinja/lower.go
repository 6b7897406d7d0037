package jinja

import (
	"maps"
	"slices"
	"strconv"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
)

// A Part is a text that a text function makes of a template, and the local that holds it.
type Part struct {
	Local string
	Body  []PromptNode
}

// Lower makes the statements of a text function, whose parameters are the variables of its templates, and ends it with a
// function of the parts' addresses.
func Lower(f *ir.TextFunc, variables []string, parts []Part, end *expr.Func) {
	l := &lowering{names: map[string][]string{}, taken: map[string]bool{"loop": true, "inner": true}, last: map[string]int{}}
	for _, p := range parts {
		l.taken[p.Local] = true
	}
	for _, name := range variables {
		f.Params = append(f.Params, &expr.Param{Name: l.declare(name), Type: dyn})
	}
	var ends []*expr.Node
	for _, p := range parts {
		f.Do = append(f.Do, &ir.LetStmt{Name: ir.Ident{Name: p.Local}, Type: TextType})
		ends = append(ends, expr.Address(expr.Read(p.Local)))
	}
	for _, p := range parts {
		saved := maps.Clone(l.names)
		l.text, l.read = p.Local, names(p.Body)
		f.Do = append(f.Do, l.own(sets(p.Body))...)
		f.Do = append(f.Do, l.block(p.Body)...)
		l.names = saved
	}
	f.Do = append(f.Do, &ir.ReturnStmt{Value: of(expr.Invoke(end, ends...))})
	f.Result, f.Fails = end.Result, end.Fails
}

// A lowering translates a template to statements.
type lowering struct {
	text  string              // the local of the text that grows
	inner bool                // it is the parameter of a Lambda
	names map[string][]string // where the values of the template's names are here: a local, or a field of one
	taken map[string]bool     // names of locals
	read  map[string]bool     // names that the template reads anywhere
	last  map[string]int      // of names of the translation itself: the last number behind them
	loop  string              // the local of the innermost loop that says where it is
}

func of(n *expr.Node) *ir.Expr { return &ir.Expr{Node: n} }

// fresh is a name of the translation itself that no local in sight has.
func (l *lowering) fresh(name string) string {
	out := name
	for l.taken[out] {
		l.last[name]++
		out = name + strconv.Itoa(l.last[name]+1)
	}
	l.taken[out] = true
	return out
}

// declare makes a local of a name of the template, with marks at its end where another one in sight has it.
func (l *lowering) declare(name string) string {
	local := name
	for l.taken[local] {
		local += "_"
	}
	l.taken[local] = true
	l.names[name] = []string{local}
	return local
}

func let(name string, v *expr.Node) ir.Stmt {
	return &ir.LetStmt{Name: ir.Ident{Name: name}, Value: of(v)}
}

// own declares the names that are set in a scope of their own; each begins as what it is outside.
func (l *lowering) own(names []string) ir.Block {
	var out ir.Block
	for _, name := range names {
		if !l.read[name] {
			continue
		}
		before := l.names[name]
		stmt := &ir.LetStmt{Name: ir.Ident{Name: l.declare(name)}, Type: dyn}
		if before != nil {
			stmt.Value = of(expr.Read(before[0], before[1:]...))
		}
		out = append(out, stmt)
	}
	return out
}

// grow is the text that grows.
func (l *lowering) grow() *expr.Node {
	if l.inner {
		return expr.Read(l.text)
	}
	return expr.Address(expr.Read(l.text))
}

// on calls a method of the text that grows.
func (l *lowering) on(f *expr.Func, args ...*expr.Node) *expr.Node {
	return expr.Invoke(f, append([]*expr.Node{l.grow()}, args...)...)
}

func (l *lowering) block(list []PromptNode) ir.Block {
	var out ir.Block
	for _, n := range list {
		switch n := n.(type) {
		case *PromptText:
			out = append(out, &ir.DoStmt{Call: of(l.on(fnAdd, expr.Const(n.Lit)))})
		case *PromptShow:
			out = append(out, &ir.DoStmt{Call: of(l.show(n))})
		case *PromptIf:
			out = append(out, l.choice(n.Cases, n.Else)...)
		case *PromptFor:
			out = append(out, l.each(n)...)
		case *PromptSet:
			out = append(out, l.set(n)...)
		}
	}
	return out
}

func (l *lowering) show(n *PromptShow) *expr.Node {
	switch {
	case n.Kept:
		return l.on(fnKeep, l.value(n.X), expr.Const("{"+n.X.Name+"}"))
	case n.Joined || n.Spec != "":
		return l.on(fnPut, l.value(n.X), expr.Const(n.Spec))
	}
	return l.on(fnShow, l.value(n.X))
}

// set gives a name its value. One that nothing reads is evaluated all the same: it may fail.
func (l *lowering) set(n *PromptSet) ir.Block {
	v := l.given(n)
	if l.read[n.Name.Name] {
		to := l.names[n.Name.Name]
		return ir.Block{&ir.SetStmt{Target: of(expr.Read(to[0])), Value: of(v)}}
	}
	if v.Op == expr.Lit || v.Op == expr.Name {
		return nil
	}
	return ir.Block{&ir.LetStmt{Name: ir.Ident{Name: l.fresh("unread")}, Type: dyn, Value: of(v)}}
}

// given is what a name is set to.
func (l *lowering) given(n *PromptSet) *expr.Node {
	if n.X != nil {
		return l.value(n.X)
	}
	text, inner := l.text, l.inner
	l.text, l.inner = "inner", true
	do := l.block(n.Body)
	l.text, l.inner = text, inner
	return l.on(fnInner, expr.FnDo(do, "inner"))
}

func (l *lowering) choice(cases []PromptCase, other []PromptNode) ir.Block {
	if len(cases) == 0 {
		return l.block(other)
	}
	return ir.Block{&ir.IfStmt{Cond: of(l.truth(cases[0].Test)), Then: l.block(cases[0].Body), Else: l.choice(cases[1:], other)}}
}

// each is a loop over the items of a value.
func (l *lowering) each(n *PromptFor) ir.Block {
	var out ir.Block
	items := l.on(fnItems, l.value(n.Over))
	saved, taken, loop := l.names, maps.Clone(l.taken), l.loop
	if n.Where != nil {
		items = l.on(fnWhere, items, l.where(n))
		l.names, l.taken = saved, maps.Clone(taken)
	}
	list := ""
	if len(n.Else) > 0 {
		list = l.fresh("items")
		out = append(out, let(list, items))
		items = expr.Read(list)
		taken = maps.Clone(l.taken)
	}
	l.names = maps.Clone(saved)
	stmt := &ir.RangeStmt{Over: of(items)}
	var source []string
	switch one := len(n.Names) == 1; {
	case n.Loop:
		if l.loop == "" { // no variable of the template has that name
			l.loop = "loop"
		} else {
			l.loop = l.fresh("loop")
		}
		source = []string{l.loop, "item"}
		stmt.Over, stmt.Item = of(expr.Invoke(fnLoops, items)), ir.Ident{Name: l.loop}
	case one && reads(n.Body, n.Names[0].Name):
		stmt.Item = ir.Ident{Name: l.declare(n.Names[0].Name)}
	case !one:
		source = []string{l.fresh("item")}
		stmt.Item = ir.Ident{Name: source[0]}
	}
	if source != nil {
		stmt.Do = l.bind(n, source, func(name string) bool { return reads(n.Body, name) })
	}
	stmt.Do = append(stmt.Do, l.own(sets(n.Body))...)
	stmt.Do = append(stmt.Do, l.block(n.Body)...)
	l.names, l.taken, l.loop = saved, taken, loop
	out = append(out, stmt)
	if list != "" {
		size := &expr.Node{Op: expr.Call, Text: "size", Kids: []*expr.Node{expr.Read(list)}}
		none := &expr.Node{Op: expr.Binary, Text: "==", Kids: []*expr.Node{size, expr.Const(int64(0))}}
		out = append(out, &ir.IfStmt{Cond: of(none), Then: l.block(n.Else)})
	}
	return out
}

// where is the test of a loop's items.
func (l *lowering) where(n *PromptFor) *expr.Node {
	l.names = maps.Clone(l.names)
	read := func(name string) bool { return readsExpr(n.Where, name) }
	if len(n.Names) == 1 {
		if read(n.Names[0].Name) {
			name := l.declare(n.Names[0].Name)
			return expr.Fn(l.truth(n.Where), name)
		}
		return expr.Fn(l.truth(n.Where), l.fresh("item"))
	}
	item := l.fresh("item")
	do := l.bind(n, []string{item}, read)
	return expr.FnDo(append(do, &ir.ReturnStmt{Value: of(l.truth(n.Where))}), item)
}

// bind gives the names of a loop their values. A pair is taken apart also where nothing reads it: it may be none.
func (l *lowering) bind(n *PromptFor, source []string, read func(name string) bool) ir.Block {
	item := expr.Read(source[0], source[1:]...)
	if len(n.Names) == 1 {
		if !read(n.Names[0].Name) {
			return nil
		}
		return ir.Block{let(l.declare(n.Names[0].Name), item)}
	}
	pair := l.fresh("pair")
	for i, part := range []string{"key", "value"} {
		l.names[n.Names[i].Name] = []string{pair, part}
	}
	return ir.Block{let(pair, l.on(fnPair, item))}
}

// sets are the names that nodes set outside of loops, each once.
func sets(list []PromptNode) []string {
	var out []string
	var walk func(list []PromptNode)
	walk = func(list []PromptNode) {
		for _, n := range list {
			switch n := n.(type) {
			case *PromptSet:
				if !slices.Contains(out, n.Name.Name) {
					out = append(out, n.Name.Name)
				}
				walk(n.Body)
			case *PromptIf:
				for _, c := range n.Cases {
					walk(c.Body)
				}
				walk(n.Else)
			}
		}
	}
	walk(list)
	return out
}

// names are those that nodes read.
func names(list []PromptNode) map[string]bool {
	out := map[string]bool{}
	WalkPrompt(list, func(x *PromptExpr) bool {
		if x.Op == "name" {
			out[x.Name] = true
		}
		return true
	})
	return out
}

// readsExpr reports whether an expression has a name in it.
func readsExpr(x *PromptExpr, name string) bool {
	found := false
	x.Walk(func(x *PromptExpr) bool {
		found = found || x.Op == "name" && x.Name == name
		return !found
	})
	return found
}

// reads reports whether nodes read a name of the scope around them: not one that a loop of theirs has, too.
func reads(list []PromptNode, name string) bool {
	return slices.ContainsFunc(list, func(n PromptNode) bool {
		switch n := n.(type) {
		case *PromptShow:
			return readsExpr(n.X, name)
		case *PromptIf:
			return reads(n.Else, name) || slices.ContainsFunc(n.Cases, func(c PromptCase) bool { return readsExpr(c.Test, name) || reads(c.Body, name) })
		case *PromptFor:
			own := slices.ContainsFunc(n.Names, func(id ir.Ident) bool { return id.Name == name })
			return readsExpr(n.Over, name) || !own && (readsExpr(n.Where, name) || reads(n.Body, name)) || reads(n.Else, name)
		case *PromptSet:
			return readsExpr(n.X, name) || reads(n.Body, name)
		}
		return false
	})
}
