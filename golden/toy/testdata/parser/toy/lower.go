package toy

import (
	"regexp"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// settle holds the names in texts to those that are known at their step, and translates the steps.
func settle(r *dialect.Reader, wf *ir.Workflow, t *tree) {
	known := map[string]*expr.Node{}
	for _, id := range t.given {
		known[id.Name] = expr.Read("input", id.Name)
	}
	wf.Body.Block = ir.Block{}
	for _, s := range t.steps {
		text := lowerText(r, s, known)
		if s.count {
			n := count(wf, s, text)
			wf.Body.Nodes, wf.Body.Block = append(wf.Body.Nodes, n), append(wf.Body.Block, &ir.RunStmt{Node: n})
		} else {
			wf.Body.Block = append(wf.Body.Block, &ir.LetStmt{Name: s.id, Value: &ir.Expr{Node: text}})
		}
		known[s.id.Name] = expr.Read(s.id.Name)
		wf.Output = append(wf.Output, &ir.Output{Name: s.id, Value: &ir.Expr{Node: known[s.id.Name]}})
	}
}

// placeholder is {name}, or {name!} for capitals.
var placeholder = regexp.MustCompile(`\{(\w+)(!?)\}`)

// lowerText translates a text with placeholders.
func lowerText(r *dialect.Reader, s step, known map[string]*expr.Node) *expr.Node {
	var parts []*expr.Node
	at := 0
	for _, m := range placeholder.FindAllStringSubmatchIndex(s.text.Value, -1) {
		parts = append(parts, expr.Const(s.text.Value[at:m[0]]))
		at = m[1]
		name := s.text.Value[m[2]:m[3]]
		value := known[name]
		if value == nil {
			r.Error(diag.UnknownName, s.text.At(m[2], m[3]), "", "no input and no step before this one is called %q", name)
			continue
		}
		if m[4] < m[5] {
			value = expr.Invoke(fnShout, value)
		}
		parts = append(parts, value)
	}
	return expr.Join(append(parts, expr.Const(s.text.Value[at:]))...)
}

// count makes the node of a step that counts, and the tool that does it, once.
func count(wf *ir.Workflow, s step, text *expr.Node) *ir.Node {
	if len(wf.Tools) == 0 {
		id := ir.Ident{Name: "words", Span: s.id.Span}
		wf.Tools = append(wf.Tools, &ir.Tool{Name: id, Key: id, Version: "1", File: wf.File, Effects: ir.EffectsNone, In: schema.StringType, Out: schema.StringType,
			Binding: &ir.Made{New: &ir.Expr{Node: expr.Invoke(fnWords, expr.Const("words@1"))}, Reach: &ir.Reach{}}})
	}
	call := expr.Invoke(fnCall, expr.Of(expr.UseRun, "", nil), expr.Of(expr.UseNode, "", nil), expr.Of(expr.UseTool, "words", wf.Tools[0]), text)
	return &ir.Node{ID: s.id, Span: s.id.Span, Verb: &ir.Perform{Call: &ir.Expr{Node: call}}}
}
