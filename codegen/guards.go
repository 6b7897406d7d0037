package codegen

import (
	"slices"

	"github.com/dave/jennifer/jen"
)

// A guard is a declaration of a variable, and an if without else that sets it. Guards of one condition that follow each other
// become one: a block reads a value that may be absent once.
type guard struct {
	key   string     // the condition, as Go
	names []string   // of the variables
	decls []jen.Code // of them, before the if
	cond  jen.Code
	take  []jen.Code

	typ   jen.Code // of the last declaration, which has no value; nil: it has one
	zeros int      // how many variables it has
}

// guard adds the two to the statements before an expression. typ is that of a variable without a value.
func (l *lowerer) guard(name string, typ, decl, cond jen.Code, take []jen.Code) {
	g := &guard{names: []string{name}, decls: []jen.Code{decl}, cond: cond, take: take, typ: typ}
	if typ != nil {
		g.decls, g.zeros = []jen.Code{jen.Var().Id(ident(name)).Add(typ)}, 1
	}
	test := jen.If(cond).Block(take...)
	if l.guards != nil {
		l.guards[test] = g
		g.key = lowerRender(cond)
	}
	l.add(g.decls[0], test)
}

// with is both guards in one: g comes after earlier.
func (earlier *guard) with(g *guard) *guard {
	one := &guard{key: g.key, names: slices.Concat(earlier.names, g.names), decls: slices.Concat(earlier.decls, g.decls),
		cond: g.cond, take: slices.Concat(earlier.take, g.take), typ: g.typ, zeros: g.zeros}
	if g.typ != nil && earlier.typ != nil && lowerRender(g.typ) == lowerRender(earlier.typ) {
		one.zeros += earlier.zeros
		var list []jen.Code
		for _, name := range one.names[len(one.names)-one.zeros:] {
			list = append(list, jen.Id(ident(name)))
		}
		one.decls = append(one.decls[:len(one.decls)-2], jen.Var().List(list...).Add(g.typ))
	}
	return one
}

// merge adds statements. A guard among them goes into the last one with its condition, where only guards are between.
func (b *block) merge(stmts []jen.Code) {
	for _, s := range stmts {
		b.add(s)
		if g := b.fn.guards[s]; g != nil {
			b.mergeGuard(g)
		}
	}
}

// mergeGuard merges the guard at the end of b. Expressions change nothing but the variables of guards, so that it may move
// before guards whose variables it does not read. One that can fail does not: the first failure is the one that counts.
func (b *block) mergeGuard(g *guard) {
	at := len(b.code) - 2 // of the declaration of g
	var between []string  // variables of the guards between
	for i := at; i > 0; {
		earlier := b.fn.guards[b.code[i-1]]
		if earlier == nil {
			return
		}
		i -= len(earlier.decls) + 1
		if earlier.key != g.key {
			between = append(between, earlier.names...)
			continue
		}
		if uses(g.take, between) || uses(g.decls, append(between, earlier.names...)) || len(between) > 0 && len(g.take) > 1 {
			return
		}
		one := earlier.with(g)
		test := jen.If(one.cond).Block(one.take...)
		b.fn.guards[test] = one
		b.code = slices.Concat(b.code[:i], one.decls, []jen.Code{test}, b.code[i+len(earlier.decls)+1:at])
		return
	}
}

// uses reports whether code reads or sets one of the variables.
func uses(code []jen.Code, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return lowerUses(code, name) })
}
