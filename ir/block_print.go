package ir

import (
	"fmt"
	"strconv"
	"strings"
)

// String is a block as tests and hashes have it: a line for each statement, blocks inside it further right.
func (b Block) String() string {
	var out strings.Builder
	for _, s := range b {
		printStmt(&out, s)
	}
	return out.String()
}

func printBlock(out *strings.Builder, b Block) {
	for line := range strings.Lines(b.String()) {
		out.WriteString("  " + line)
	}
}

// printStmt writes a statement and the blocks in it.
func printStmt(out *strings.Builder, s Stmt) {
	line := func(words ...string) {
		out.WriteString(strings.Join(strings.Fields(strings.Join(words, " ")), " ") + "\n")
	}
	switch s := s.(type) {
	case *RunStmt:
		printRun(out, s)
	case *IfStmt:
		out.WriteString("if " + printExpr(s.Cond))
		if s.Label != "" {
			out.WriteString(" label " + strconv.Quote(s.Label))
		}
		out.WriteString("\n")
		printBlock(out, s.Then)
		if len(s.Else) > 0 {
			line("else")
			printBlock(out, s.Else)
		}
	case *SwitchStmt:
		out.WriteString("switch " + printExpr(s.On) + "\n")
		for _, a := range s.Arms {
			if n, ok := a.Value.(*Node); ok {
				out.WriteString("case @" + n.ID.Name + "\n")
			} else {
				fmt.Fprintf(out, "case %#v\n", a.Value)
			}
			printBlock(out, a.Do)
		}
		if len(s.Default) > 0 {
			line("default")
			printBlock(out, s.Default)
		}
	case *SideStmt:
		line("side")
		for _, arm := range s.Arms {
			out.WriteString("  arm\n")
			var inside strings.Builder
			printBlock(&inside, arm)
			for l := range strings.Lines(inside.String()) {
				out.WriteString("  " + l)
			}
		}
	case *WhileStmt:
		line("while", printExpr(s.Cond), dumpOpt("label", dumpQuoteIf(s.Label)), dumpOpt("index", s.Index.Name), printMax(s.Max), printScope(s.Scope))
		printBlock(out, s.Do)
	case *RangeStmt:
		out.WriteString("for " + s.Index.Name + ", " + s.Item.Name + " in " + printExpr(s.Over) + printScope(s.Scope) + "\n")
		printBlock(out, s.Do)
	case *LetStmt:
		out.WriteString("let " + s.Name.Name)
		if s.Type != nil {
			out.WriteString(" " + s.Type.String())
		}
		if s.Value != nil {
			out.WriteString(" = " + printExpr(s.Value))
		}
		out.WriteString("\n")
	case *SetStmt:
		out.WriteString("set " + printExpr(s.Target) + " = " + printExpr(s.Value) + "\n")
	case *DoStmt:
		out.WriteString("do " + printExpr(s.Call) + "\n")
	case *NextStmt:
		line("next")
	case *BreakStmt:
		line("break")
	case *ReturnStmt:
		out.WriteString(strings.TrimSuffix("return "+printExpr(s.Value), " ") + "\n")
	}
}

func printRun(out *strings.Builder, s *RunStmt) {
	out.WriteString("run " + s.Node.ID.Name)
	if s.Into.Name != "" {
		out.WriteString(" into " + s.Into.Name)
	}
	if s.Call != nil {
		out.WriteString(" = again " + printExpr(s.Call))
	} else if p, ok := s.Node.Verb.(*Perform); ok {
		out.WriteString(" = perform " + p.String())
	}
	out.WriteString("\n")
}

// String is the agent with its fields.
func (a *PerformAgent) String() string {
	var b strings.Builder
	b.WriteString("agent")
	if a.Model != nil {
		b.WriteString(" of " + a.Model.Name.Name)
	}
	for _, id := range a.Tools {
		b.WriteString(" " + id.Name)
	}
	b.WriteString(" turns " + strconv.FormatInt(a.Iterations, 10))
	if a.Type != nil {
		b.WriteString(" " + a.Type.String())
	}
	for _, f := range a.Fields {
		b.WriteString(" " + f.Key + ": " + f.Value.String())
	}
	return b.String()
}

// String is the call with what bounds its uses.
func (p *Perform) String() string {
	var b strings.Builder
	if p.Kind != "" {
		b.WriteString(p.Kind + " ")
	}
	b.WriteString(printExpr(p.Call))
	for _, u := range p.AtMost {
		name := ""
		switch of := u.Of.(type) {
		case *Tool:
			name = of.Key.Name
		case *Model:
			name = of.Name.Name
		case *Workflow:
			name = of.Name.Name
		}
		b.WriteString("; " + name + " at most " + dumpBound(int(u.N)))
	}
	if p.Agent != nil {
		b.WriteString("; " + p.Agent.String())
	}
	if p.Times > 0 {
		b.WriteString("; times " + strconv.Itoa(p.Times))
	}
	if p.Attempts > 0 {
		b.WriteString("; attempts " + strconv.Itoa(p.Attempts))
	}
	if in := p.Items; in != nil {
		b.WriteString("; items")
		if in.Most > 0 {
			b.WriteString(" at most " + strconv.FormatInt(in.Most, 10))
		}
		if in.Limit > 0 {
			b.WriteString(" side " + strconv.Itoa(in.Limit))
		}
	}
	if p.Person {
		b.WriteString("; person")
	}
	if p.Inside != nil {
		b.WriteString("; inside\n")
		var inside strings.Builder
		printBlock(&inside, p.Inside.Block)
		b.WriteString(strings.TrimSuffix(inside.String(), "\n"))
	}
	if p.Gives != "" {
		b.WriteString("; gives " + p.Gives)
	}
	words := func(word string, ids []Ident) {
		for i, id := range ids {
			if i == 0 {
				b.WriteString("; " + word)
			}
			b.WriteString(" " + id.Name)
		}
	}
	words("reads", p.Reads)
	if p.ReadsAll {
		b.WriteString("; reads all")
	}
	words("writes", p.Writes)
	return b.String()
}

func printExpr(e *Expr) string {
	if e == nil || e.Node == nil {
		return ""
	}
	return e.Node.String()
}

func printMax(n int) string {
	if n == 0 {
		return ""
	}
	return "max " + dumpBound(n)
}

func printScope(s *Scope) string {
	if s == nil {
		return ""
	}
	return " scope " + s.ID.Name
}
