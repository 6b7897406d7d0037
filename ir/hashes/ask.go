package hashes

import (
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
)

// tokenAsk writes what a node of YAMLGraph asks a model. Who is asked is written with the node's models.
func tokenAsk(x *text, a *ir.TokenAsk) {
	if a == nil {
		return
	}
	x.line("ask", a.Model.Name, a.Fallback.Name, strconv.FormatBool(a.Skips), strconv.FormatBool(a.SkipsSet), strconv.FormatBool(a.JSON), strconv.Itoa(a.Limit), strconv.Itoa(int(a.Fail)), strconv.Itoa(a.Retries), a.Route, a.Other.Name)
	if r := a.Prompt; r != nil {
		for _, t := range []*ir.PromptTemplate{r.System, r.User} {
			if t != nil {
				x.line("template", promptNodes(t.Body))
			}
		}
	}
	for _, v := range a.Values {
		x.line("variable", v.Key.Name, value(v.Value))
	}
	for _, v := range a.Needs {
		x.line("needs", v.Key.Name, value(v.Value))
	}
	for _, r := range a.Routes {
		x.line("route", r.Label, r.To.Name)
	}
	x.mark("copilot", a.Copilot)
	for _, k := range a.Candidates {
		x.line("candidate", k.Provider, k.Model, k.Use.Name)
	}
	if g := a.Agent; g != nil {
		x.line("agent", append(idents(g.Tools), strconv.Itoa(g.Iterations), g.Results, strconv.FormatBool(g.Talks))...)
	}
}

// promptNodes is the text of a template without its layout.
func promptNodes(list []ir.PromptNode) string {
	var b strings.Builder
	for _, n := range list {
		switch n := n.(type) {
		case *ir.PromptText:
			b.WriteString(strconv.Quote(n.Lit))
		case *ir.PromptShow:
			b.WriteString("{" + promptExpr(n.X) + ":" + strconv.Quote(n.Spec) + strconv.FormatBool(n.Joined) + strconv.FormatBool(n.Kept) + "}")
		case *ir.PromptIf:
			for _, c := range n.Cases {
				b.WriteString("if" + promptExpr(c.Test) + "(" + promptNodes(c.Body) + ")")
			}
			b.WriteString("else(" + promptNodes(n.Else) + ")")
		case *ir.PromptFor:
			b.WriteString("for" + strings.Join(idents(n.Names), ",") + strconv.FormatBool(n.Loop) + promptExpr(n.Over) + promptExpr(n.Where) + "(" + promptNodes(n.Body) + ")else(" + promptNodes(n.Else) + ")")
		case *ir.PromptSet:
			b.WriteString("set" + n.Name.Name + promptExpr(n.X) + "(" + promptNodes(n.Body) + ")")
		}
	}
	return b.String()
}

func promptExpr(x *ir.PromptExpr) string {
	if x == nil {
		return "()"
	}
	words := []string{x.Op, strconv.Quote(x.Name)}
	if x.Lit != nil {
		words = append(words, value(x.Lit))
	}
	for _, k := range x.Kids {
		words = append(words, promptExpr(k))
	}
	return "(" + strings.Join(words, " ") + ")"
}
