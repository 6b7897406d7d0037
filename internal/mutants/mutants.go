//go:build unix

package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A mutant is one change of one operator. Its key does not contain a line, so that it outlives edits elsewhere.
type mutant struct {
	id   int // within its package, from 1
	file string
	line int
	fn   string // the function around it, with its receiver: Log.Append
	expr string // as it is written, on one line
	op   string // what is changed: boundary, negation, arithmetic, step, sign
	nth  int    // of the equal ones of a function, from 1
}

func (m mutant) key() string {
	key := strings.Join([]string{m.file, m.fn, m.expr, m.op}, " | ")
	if m.nth > 1 {
		key += fmt.Sprintf(" #%d", m.nth)
	}
	return key
}

// name is how the environment of a test chooses the mutant.
func (m mutant) name(pkg string) string { return fmt.Sprintf("%s:%d", pkg, m.id) }

// An edit replaces length bytes at an offset. Edits at one offset keep their order; those that close come before those
// that open, and inner ones close first.
type edit struct {
	at, length int
	text       string
}

// A source is one file that is being instrumented.
type source struct {
	file    string // relative to the module
	text    []byte
	info    *types.Info
	base    int // offset of the file in its token.File
	lines   func(token.Pos) int
	mutants []mutant
	opens   []edit
	closes  []edit
	next    int // id of the next mutant
	fn      string
	seen    map[string]int
}

// arithmetic are the operators that are exchanged, and the helper that does it.
var arithmetic = map[token.Token]string{token.ADD: "Add", token.SUB: "Sub", token.MUL: "Mul", token.QUO: "Quo", token.REM: "Rem"}

// ordered are the comparisons with a boundary.
var ordered = map[token.Token]string{token.LSS: "Less", token.LEQ: "LessEq", token.GTR: "More", token.GEQ: "MoreEq"}

// instrument puts every mutant of a file behind a switch, all of them into one text: the operators become calls of the
// helpers of helpers.tmpl. Lines stay where they are. Constants are left alone: what they say is decided when compiling.
func (s *source) instrument(f *ast.File) []byte {
	s.seen = map[string]int{}
	for _, d := range f.Decls {
		s.fn = "-"
		if fn, ok := d.(*ast.FuncDecl); ok {
			s.fn = name(fn)
		}
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GenDecl:
				return n.Tok != token.CONST
			case *ast.BinaryExpr:
				s.binary(n)
			case *ast.UnaryExpr:
				s.sign(n)
			case *ast.IncDecStmt:
				x := string(s.slice(n.X))
				s.opens = append(s.opens, edit{s.off(n.TokPos), 2, fmt.Sprintf(" = mutant%s(%d, %s)", map[token.Token]string{token.INC: "Inc", token.DEC: "Dec"}[n.Tok], s.add(n, "step"), x)})
			}
			return true
		})
	}
	return s.apply()
}

func (s *source) binary(n *ast.BinaryExpr) {
	t := s.info.Types[n]
	if t.Value != nil {
		return
	}
	switch {
	case n.Op == token.EQL || n.Op == token.NEQ:
		s.around(n, "((", fmt.Sprintf(") != mutantOn(%d))", s.add(n, "negation")))
	case ordered[n.Op] != "":
		id := s.add(n, "boundary")
		s.add(n, "negation")
		operand := s.info.TypeOf(n.X)
		if isUntyped(operand) {
			operand = s.info.TypeOf(n.Y)
		}
		s.call(n, ordered[n.Op], id, operand)
	case arithmetic[n.Op] != "" && isNumber(t.Type):
		s.call(n, arithmetic[n.Op], s.add(n, "arithmetic"), t.Type)
	}
}

func (s *source) sign(n *ast.UnaryExpr) {
	if n.Op != token.SUB {
		return
	}
	t := s.info.TypeOf(n)
	if basic, ok := t.(*types.Basic); ok && !isUntyped(t) {
		s.around(n, fmt.Sprintf("mutantSign[%s](%d, ", basic.Name(), s.add(n, "sign")), ")")
		s.opens[len(s.opens)-1].length = 1 // the sign itself
	}
}

// call turns a op b into mutantOp(id, a, b).
func (s *source) call(n *ast.BinaryExpr, helper string, id int, operand types.Type) {
	inst := ""
	if basic, ok := operand.(*types.Basic); ok && !isUntyped(operand) {
		inst = "[" + basic.Name() + "]" // an untyped shift takes its type from here
	}
	s.around(n, fmt.Sprintf("mutant%s%s(%d, ", helper, inst, id), ")")
	s.opens = append(s.opens, edit{s.off(n.OpPos), len(n.Op.String()), ","})
}

func (s *source) around(n ast.Node, before, after string) {
	s.opens = append(s.opens, edit{s.off(n.Pos()), 0, before})
	s.closes = append(s.closes, edit{s.off(n.End()), 0, after})
}

func (s *source) add(n ast.Node, op string) int {
	m := mutant{id: s.next, file: s.file, line: s.lines(n.Pos()), fn: s.fn, expr: strings.Join(strings.Fields(string(s.slice(n))), " "), op: op}
	s.seen[m.key()]++
	m.nth = s.seen[m.key()]
	s.next++
	s.mutants = append(s.mutants, m)
	return m.id
}

func (s *source) off(p token.Pos) int     { return int(p) - s.base }
func (s *source) slice(n ast.Node) []byte { return s.text[s.off(n.Pos()):s.off(n.End())] }

// apply writes the edits into the text. Nodes are visited from the outside in: what opens is in that order, what closes in
// the opposite one.
func (s *source) apply() []byte {
	slices.Reverse(s.closes)
	edits := append(s.closes, s.opens...)
	slices.SortStableFunc(edits, func(a, b edit) int { return a.at - b.at })
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(out, s.text[at:e.at]...)
		out = append(out, e.text...)
		at = e.at + e.length
	}
	return append(out, s.text[at:]...)
}

func name(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	t := fn.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "." + fn.Name.Name
		default:
			return fn.Name.Name
		}
	}
}

func isUntyped(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return ok && b.Info()&types.IsUntyped != 0
}

func isNumber(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsInteger|types.IsFloat) != 0
}
