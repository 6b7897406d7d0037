package ir

import "github.com/flowgen-dev/flowgen/ir/expr"

// Expressions calls f for every expression of the node, its `set:`, its `undo:` and its body included.
func Expressions(n *Node, f func(*expr.Node)) {
	value := func(v Value) { ValueExpressions(v, f) }
	Values(n.Verb, value)
	if body := BodyOf(n.Verb); body != nil {
		BodyExpressions(body, f)
	}
	if n.When != nil {
		value(n.When)
	}
	for _, s := range n.Set {
		value(s.Value)
	}
	if n.OnError != nil {
		value(n.OnError.Default)
	}
	if n.Undo != nil {
		Expressions(n.Undo, f)
	}
}

// Values calls f for every value that is directly in a verb: arguments, prompts, not what is inside a body.
func Values(verb Verb, f func(Value)) {
	with := func(w *With) { entries(w, f) }
	tmpl := func(t *Template) {
		if t != nil {
			f(t)
		}
	}
	prompt := func(p *Prompt) {
		if p != nil && p.File.Name == "" { // what is in a file sees only what it is given
			tmpl(p.Text)
		}
	}
	value := func(v Value) {
		if v != nil {
			f(v)
		}
	}
	Switch(verb,
		func(v *ToolCall) { with(v.With) },
		func(v *ToolChoice) {
			value(v.Tool)
			value(v.Args)
			value(v.ID)
		},
		func(v *LLM) {
			with(v.With)
			tmpl(v.System)
			prompt(v.Prompt)
			value(v.Media)
			value(v.Messages)
		},
		func(v *Agent) {
			with(v.With)
			prompt(v.System)
			prompt(v.Prompt)
			value(v.Messages)
			for _, t := range v.Tools {
				with(t.With)
			}
			for _, p := range v.Pins {
				value(p.CallID)
				value(p.Default)
			}
		},
		func(v *Human) {
			tmpl(v.Prompt)
			if v.OnTimeout != nil {
				value(v.OnTimeout.Default)
			}
		},
		func(v *Let) {
			value(v.Value)
			for _, e := range v.Fields {
				f(e.Value)
			}
		},
		func(v *GoCall) { with(v.With) },
		func(v *Map) {
			value(v.Over)
			value(v.ItemDefault)
		},
		func(v *Loop) {
			if v.Until != nil {
				f(v.Until)
			}
		},
		func(v *Flow) { with(v.With) },
		func(v *Fail) {
			tmpl(v.Message)
			value(v.Cause)
		},
		func(v *Wait) { value(v.Value) },
		func(v *Parse) { value(v.Value) },
		func(v *Perform) {
			if v.Call != nil {
				f(v.Call)
			}
		},
	)
}

func entries(w *With, f func(Value)) {
	if w != nil {
		for _, e := range w.Entries {
			f(e.Value)
		}
	}
}

// BodyExpressions calls f for every expression of a body: nodes, conditions, result.
func BodyExpressions(b *Body, f func(*expr.Node)) {
	for _, n := range b.Nodes {
		Expressions(n, f)
	}
	b.Block.Walk(func(n *expr.Node) bool { f(n); return false })
	for _, e := range b.Edges {
		if e.When != nil {
			ValueExpressions(e.When, f)
		}
		if e.Switch != nil {
			ValueExpressions(e.Switch, f)
		}
	}
	ValueExpressions(b.Result, f)
}

// ValueExpressions calls f for every expression inside a value.
func ValueExpressions(v Value, f func(*expr.Node)) {
	switch v := v.(type) {
	case *Expr:
		if v != nil && v.Node != nil {
			f(v.Node)
		}
	case *Template:
		if v != nil && v.Tmpl != nil {
			for _, s := range v.Tmpl.Segments {
				if s.Expr != nil {
					f(s.Expr)
				}
			}
		}
	case *List:
		for _, x := range v.Items {
			ValueExpressions(x, f)
		}
	case *Object:
		for _, e := range v.Entries {
			ValueExpressions(e.Value, f)
		}
	}
}
