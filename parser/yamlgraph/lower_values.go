package yamlgraph

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// root is where a reference begins, and the path that is left below it.
func (l *lowering) root(r *dialect.Reference) (*expr.Node, []string) {
	switch {
	case r.Root == "state" && len(r.Path) > 0 && l.tree.StateField(r.Path[0]) != nil:
		return expr.Read("state", r.Path[0]), r.Path[1:]
	case r.Root == "item" && l.item != "", r.Root == "output":
		return expr.Read(r.Root), r.Path
	}
	return dialect.Absent(), nil // which was reported
}

// of is a value of the file.
func (l *lowering) of(v ir.Value) *expr.Node {
	switch v := v.(type) {
	case *dialect.Reference:
		f, path := l.root(v)
		if len(path) == 0 {
			return f
		}
		args := []*expr.Node{f}
		for _, p := range path {
			args = append(args, expr.Const(p))
		}
		return expr.Invoke(dialect.At, args...)
	case *Calc:
		return expr.Invoke(calculations[v.Op], expr.Read(l.flow), l.of(v.Left), l.operand(v.Right))
	case *dialect.Mixed:
		return l.filled(v)
	case *ir.List:
		out := &expr.Node{Op: expr.ListLit}
		for _, x := range v.Items {
			out.Kids = append(out.Kids, l.of(x))
		}
		return out
	case *ir.Object:
		var out []expr.Entry
		for _, e := range v.Entries {
			out = append(out, expr.Put(e.Key.Name, l.of(e.Value)))
		}
		return expr.Object(out...)
	case *ir.Scalar:
		return dialect.Constant(v)
	}
	return expr.Const(nil)
}

// operand is a value in which references inside of maps that have no value are null, and not left out.
func (l *lowering) operand(v ir.Value) *expr.Node {
	o, ok := v.(*ir.Object)
	if !ok {
		return l.of(v)
	}
	var out []expr.Entry
	for _, e := range o.Entries {
		x := l.operand(e.Value)
		if _, ref := e.Value.(*dialect.Reference); ref {
			x = expr.Invoke(fnOrNull, x)
		}
		out = append(out, expr.Put(e.Key.Name, x))
	}
	return expr.Object(out...)
}

// filled is text with values in it, as Python writes them; what is missing stays as it is written.
func (l *lowering) filled(m *dialect.Mixed) *expr.Node {
	var parts []*expr.Node
	for _, s := range m.Segments {
		if s.Ref == nil {
			parts = append(parts, expr.Const(s.Lit))
			continue
		}
		kept := ""
		if s.Ref.Missing == dialect.MissingKeep {
			kept = s.Ref.Text.Value
		}
		parts = append(parts, expr.Invoke(fnFill, l.of(s.Ref), expr.Const(kept)))
	}
	switch len(parts) {
	case 0:
		return expr.Const("")
	case 1:
		return parts[0]
	}
	return expr.Join(parts...)
}

// calculated reports whether a value has to be calculated by a flow.
func calculated(v ir.Value) bool {
	switch v := v.(type) {
	case *Calc:
		return true
	case *ir.List:
		for _, x := range v.Items {
			if calculated(x) {
				return true
			}
		}
	case *ir.Object:
		for _, e := range v.Entries {
			if calculated(e.Value) {
				return true
			}
		}
	}
	return false
}

// whole is the state as one value. A function inside of a map sees its item in it.
func (l *lowering) whole() *expr.Node {
	if l.item != "" || len(l.tree.Notes) > 0 {
		return expr.Invoke(fnState, expr.Read("job"), expr.Read("state"))
	}
	return expr.Read("state")
}

// holds is the condition of an edge.
func (l *lowering) holds(c *dialect.Predicate) *expr.Node {
	if c.Op == "&&" || c.Op == "||" {
		return &expr.Node{Op: expr.Binary, Text: c.Op, Kids: []*expr.Node{l.holds(c.Kids[0]), l.holds(c.Kids[1])}}
	}
	return expr.Invoke(compares[c.Op], l.of(c.Kids[0].Ref), dialect.Constant(c.Kids[1].Lit))
}

// ruled is the flow that a node runs on, with the rules that hold around it.
func (l *lowering) ruled(n *Node) *expr.Node {
	t := n.Token
	flow := expr.Read(l.flow)
	var fields []expr.Entry
	if t.Limit > 0 {
		fields = append(fields, expr.Put("limit", expr.Const(int64(t.Limit))))
	}
	if len(t.Before) > 0 {
		fields = append(fields, expr.Put("before", l.rules(t.Before)))
	}
	if len(t.After) > 0 {
		fields = append(fields, expr.Put("after", l.rules(t.After)))
	}
	if len(fields) == 0 {
		return flow
	}
	return expr.Invoke(fnWith, flow, expr.Struct(rulesType, fields...))
}

func (l *lowering) rules(rules []*TokenRule) *expr.Node {
	out := &expr.Node{Op: expr.ListLit}
	for _, r := range rules {
		out.Kids = append(out.Kids, l.rule(r))
	}
	return out
}

var brokenFails = map[RuleFail]string{RuleHalt: "stop", RuleSkip: "skip", RuleRetry: "retry"}

func (l *lowering) rule(r *TokenRule) *expr.Node {
	fields := []expr.Entry{expr.Put("check", expr.Const(r.Check.Value))}
	if r.Message != "" {
		fields = append(fields, expr.Put("message", expr.Const(r.Message)))
	}
	if f := fails[brokenFails[r.Fail]]; f != nil {
		fields = append(fields, expr.Put("fail", expr.Invoke(f)))
	}
	if r.Fail == RuleRetry {
		fields = append(fields, expr.Put("tries", expr.Const(int64(r.Tries))))
	}
	return expr.Struct(ruleType, append(fields, expr.Put("holds", expr.Fn(l.truth(r.When), "output")))...)
}

// truth is the condition of a rule.
func (l *lowering) truth(c *dialect.Predicate) *expr.Node {
	switch c.Op {
	case "&&", "||":
		return &expr.Node{Op: expr.Binary, Text: c.Op, Kids: []*expr.Node{l.truth(c.Kids[0]), l.truth(c.Kids[1])}}
	case "not":
		return expr.Not(l.truth(c.Kids[0]))
	case "in":
		return expr.Invoke(fnIn, l.part(c.Kids[0]), l.part(c.Kids[1]))
	case "not in":
		return expr.Invoke(fnNotIn, l.part(c.Kids[0]), l.part(c.Kids[1]))
	}
	if f := compares[c.Op]; f != nil {
		return expr.Invoke(f, l.part(c.Kids[0]), l.part(c.Kids[1]))
	}
	return expr.Invoke(fnTrue, l.part(c))
}

// part is a part of a rule's condition.
func (l *lowering) part(c *dialect.Predicate) *expr.Node {
	switch c.Op {
	case "ref":
		if c.Ref.Root == "state" && len(c.Ref.Path) == 0 {
			return l.whole()
		}
		return l.of(c.Ref)
	case "const":
		return dialect.Constant(c.Lit)
	case "list":
		out := &expr.Node{Op: expr.ListLit}
		for _, k := range c.Kids {
			out.Kids = append(out.Kids, l.part(k))
		}
		return out
	case "file_exists":
		return expr.Invoke(fnIsFile, runHandle(), l.at(l.node), l.part(c.Kids[0]))
	case "dir_exists":
		return expr.Invoke(fnIsDir, runHandle(), l.at(l.node), l.part(c.Kids[0]))
	}
	if f := filters[c.Op]; f != nil {
		return expr.Invoke(f, l.part(c.Kids[0]))
	}
	return l.truth(c)
}
