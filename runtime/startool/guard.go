package startool

import (
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Starlark counts steps, but one step may make a value of any size out of one half as large, compare values that hold
// one part a million times, or hash them. So before a file is compiled, its operators, slices, tuples and method calls
// become calls of functions that reckon what the operation costs, refuse it when that is too much, and add it to the
// steps. Their names are none that a file can write.

// guard rewrites f in place.
func guard(f *syntax.File) { stmts(f.Stmts) }

func stmts(list []syntax.Stmt) {
	for i := range list {
		list[i] = stmt(list[i])
	}
}

func stmt(s syntax.Stmt) syntax.Stmt {
	switch s := s.(type) {
	case *syntax.ExprStmt:
		s.X = expr(s.X)
	case *syntax.IfStmt:
		s.Cond = expr(s.Cond)
		stmts(s.True)
		stmts(s.False)
	case *syntax.AssignStmt:
		return assign(s)
	case *syntax.DefStmt:
		rest := params(s.Params)
		stmts(s.Body)
		if rest != nil { // what *args collects is a new tuple
			s.Body = append([]syntax.Stmt{&syntax.ExprStmt{X: call(s.Def, "$tuple", rest)}}, s.Body...)
		}
	case *syntax.ForStmt:
		s.Vars = target(s.Vars)
		s.X = expr(s.X)
		stmts(s.Body)
	case *syntax.ReturnStmt:
		s.Result = expr(s.Result)
	}
	return s
}

// assign rewrites x op= y as x = $op=(x, y), and x[i] op= y as $index op=(x, i, y).
func assign(s *syntax.AssignStmt) syntax.Stmt {
	s.RHS = expr(s.RHS)
	if s.Op == syntax.EQ {
		s.LHS = target(s.LHS)
		return s
	}
	op := s.Op.String()
	switch x := s.LHS.(type) {
	case *syntax.Ident:
		s.RHS = call(s.OpPos, "$"+op, &syntax.Ident{NamePos: x.NamePos, Name: x.Name}, s.RHS)
		s.Op = syntax.EQ
	case *syntax.IndexExpr:
		return &syntax.ExprStmt{X: call(s.OpPos, "$[]"+op, expr(x.X), expr(x.Y), s.RHS)}
	}
	return s
}

// target rewrites what stands to the left of an assignment.
func target(x syntax.Expr) syntax.Expr {
	switch x := x.(type) {
	case *syntax.TupleExpr:
		targets(x.List)
	case *syntax.ListExpr:
		targets(x.List)
	case *syntax.ParenExpr:
		x.X = target(x.X)
	case *syntax.IndexExpr:
		x.X, x.Y = expr(x.X), expr(x.Y)
	case *syntax.DotExpr:
		x.X = expr(x.X)
	}
	return x
}

func targets(list []syntax.Expr) {
	for i := range list {
		list[i] = target(list[i])
	}
}

// params rewrites the defaults and returns the name that collects the rest, if there is one.
func params(list []syntax.Expr) (rest syntax.Expr) {
	for _, p := range list {
		switch p := p.(type) {
		case *syntax.BinaryExpr: // name=default
			p.Y = expr(p.Y)
		case *syntax.UnaryExpr:
			if id, ok := p.X.(*syntax.Ident); ok && p.Op == syntax.STAR {
				rest = &syntax.Ident{NamePos: id.NamePos, Name: id.Name}
			}
		}
	}
	return rest
}

func exprs(list []syntax.Expr) {
	for i := range list {
		list[i] = expr(list[i])
	}
}

func expr(x syntax.Expr) syntax.Expr {
	switch x := x.(type) {
	case nil:
		return nil
	case *syntax.ParenExpr:
		x.X = expr(x.X)
	case *syntax.CallExpr:
		return callExpr(x)
	case *syntax.DotExpr:
		return call(x.Dot, "$attr", expr(x.X), text(x.NamePos, x.Name.Name))
	case *syntax.Comprehension:
		return comprehension(x)
	case *syntax.DictExpr:
		for _, e := range x.List {
			e := e.(*syntax.DictEntry)
			e.Key, e.Value = expr(e.Key), expr(e.Value)
		}
	case *syntax.LambdaExpr:
		rest := params(x.Params)
		x.Body = expr(x.Body)
		if rest != nil {
			x.Body = call(x.Lambda, "$second", call(x.Lambda, "$tuple", rest), x.Body)
		}
	case *syntax.ListExpr:
		exprs(x.List)
	case *syntax.CondExpr:
		x.Cond, x.True, x.False = expr(x.Cond), expr(x.True), expr(x.False)
	case *syntax.TupleExpr:
		exprs(x.List)
		if len(x.List) > 0 {
			return call(syntax.Start(x), "$tuple", x.List...)
		}
	case *syntax.UnaryExpr:
		x.X = expr(x.X)
	case *syntax.BinaryExpr:
		x.X, x.Y = expr(x.X), expr(x.Y)
		if x.Op != syntax.AND && x.Op != syntax.OR {
			return call(x.OpPos, "$"+x.Op.String(), x.X, x.Y)
		}
	case *syntax.SliceExpr:
		return call(x.Lbrack, "$slice", expr(x.X), orNone(x.Lo, x.Lbrack), orNone(x.Hi, x.Lbrack), orNone(x.Step, x.Lbrack))
	case *syntax.IndexExpr:
		x.X, x.Y = expr(x.X), expr(x.Y)
	}
	return x
}

func comprehension(x *syntax.Comprehension) syntax.Expr {
	if e, ok := x.Body.(*syntax.DictEntry); ok {
		e.Key, e.Value = expr(e.Key), expr(e.Value)
	} else {
		x.Body = expr(x.Body)
	}
	for _, c := range x.Clauses {
		switch c := c.(type) {
		case *syntax.ForClause:
			c.Vars, c.X = target(c.Vars), expr(c.X)
		case *syntax.IfClause:
			c.Cond = expr(c.Cond)
		}
	}
	return x
}

// callExpr rewrites x.name(...) as $method(x, "name", ...); other calls reckon for themselves.
func callExpr(x *syntax.CallExpr) syntax.Expr {
	for i, a := range x.Args {
		switch a := a.(type) {
		case *syntax.BinaryExpr:
			if a.Op == syntax.EQ { // name=value
				a.Y = expr(a.Y)
				continue
			}
		case *syntax.UnaryExpr:
			if a.Op == syntax.STAR || a.Op == syntax.STARSTAR {
				a.X = expr(a.X)
				continue
			}
		}
		x.Args[i] = expr(x.Args[i])
	}
	if dot, ok := x.Fn.(*syntax.DotExpr); ok {
		x.Args = append([]syntax.Expr{expr(dot.X), text(dot.NamePos, dot.Name.Name)}, x.Args...)
		x.Fn = &syntax.Ident{NamePos: dot.NamePos, Name: "$method"}
		return x
	}
	x.Fn = expr(x.Fn)
	return x
}

func call(at syntax.Position, name string, args ...syntax.Expr) *syntax.CallExpr {
	return &syntax.CallExpr{Fn: &syntax.Ident{NamePos: at, Name: name}, Lparen: at, Args: args, Rparen: at}
}

func text(at syntax.Position, s string) syntax.Expr {
	return &syntax.Literal{Token: syntax.STRING, TokenPos: at, Raw: s, Value: s}
}

func orNone(x syntax.Expr, at syntax.Position) syntax.Expr {
	if x == nil {
		return &syntax.Ident{NamePos: at, Name: "None"}
	}
	return expr(x)
}

// operators are the tokens that become functions.
var operators = []syntax.Token{syntax.PLUS, syntax.MINUS, syntax.STAR, syntax.SLASH, syntax.SLASHSLASH, syntax.PERCENT,
	syntax.AMP, syntax.PIPE, syntax.CIRCUMFLEX, syntax.LTLT, syntax.GTGT, syntax.IN, syntax.NOT_IN}

var comparisons = []syntax.Token{syntax.EQL, syntax.NEQ, syntax.LT, syntax.GT, syntax.LE, syntax.GE}

var assignments = map[syntax.Token]syntax.Token{syntax.PLUS_EQ: syntax.PLUS, syntax.MINUS_EQ: syntax.MINUS, syntax.STAR_EQ: syntax.STAR,
	syntax.SLASH_EQ: syntax.SLASH, syntax.SLASHSLASH_EQ: syntax.SLASHSLASH, syntax.PERCENT_EQ: syntax.PERCENT, syntax.AMP_EQ: syntax.AMP,
	syntax.PIPE_EQ: syntax.PIPE, syntax.CIRCUMFLEX_EQ: syntax.CIRCUMFLEX, syntax.LTLT_EQ: syntax.LTLT, syntax.GTGT_EQ: syntax.GTGT}

// guarded is everything a file finds next to what it defines itself.
var guarded = environment()

func environment() starlark.StringDict {
	env := starlark.StringDict{}
	add := func(name string, f builtin) { env[name] = starlark.NewBuiltin(name, f) }
	for _, op := range operators {
		add("$"+op.String(), func(t *starlark.Thread, _ *starlark.Builtin, a starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return binary(t, op, a[0], a[1])
		})
	}
	for _, op := range comparisons {
		add("$"+op.String(), func(t *starlark.Thread, _ *starlark.Builtin, a starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return compare(t, op, a[0], a[1])
		})
	}
	for eq, op := range assignments {
		add("$"+eq.String(), func(t *starlark.Thread, _ *starlark.Builtin, a starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return inPlace(t, op, a[0], a[1])
		})
		add("$[]"+eq.String(), func(t *starlark.Thread, _ *starlark.Builtin, a starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return starlark.None, inPlaceIndex(t, op, a[0], a[1], a[2])
		})
	}
	add("$tuple", tuple)
	add("$second", func(_ *starlark.Thread, _ *starlark.Builtin, a starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return a[1], nil
	})
	add("$slice", slice)
	add("$attr", attribute)
	add("$method", method)
	for name, v := range starlark.Universe {
		if b, ok := v.(*starlark.Builtin); ok && !cheap[name] {
			env[name] = starlark.NewBuiltin(name, reckoned(b))
		}
	}
	env["getattr"] = starlark.NewBuiltin("getattr", getattr)
	return env
}

// cheap functions of the language cost no more than a step.
var cheap = map[string]bool{"abs": true, "bool": true, "chr": true, "dir": true, "hasattr": true, "len": true, "ord": true,
	"range": true, "type": true}
