package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// declareTools indexes the tools by name.
func (c *checker) declareTools() {
	c.tools = map[string][]*ir.Tool{}
	for _, t := range c.wf.Tools {
		c.tools[t.Name.Name] = append(c.tools[t.Name.Name], t)
		if key, _, _ := strings.Cut(t.Key.Name, "@"); key != t.Name.Name && !strings.Contains(key, ".") {
			c.tools[key] = append(c.tools[key], t)
		}
	}
}

// resolveTool finds the tool that a node names: `key`, `ns.name`, or `ns.name@version`, which must be written when there is
// more than one version. Where it stands in a list, beside has the names there: none of them is meant by a misspelt one.
func (c *checker) resolveTool(id ir.Ident, beside ...ir.Ident) *ir.Tool {
	if id.Name == "" {
		return nil
	}
	found := c.findTools(id.Name)
	name, version, exact := strings.Cut(id.Name, "@")
	switch len(found) {
	case 1:
		return found[0]
	case 0:
		if all := c.tools[name]; exact && len(all) > 0 {
			var have []string
			for _, t := range all {
				have = append(have, name+"@"+t.Version)
			}
			c.reportUnknown(diag.UnknownTool, fmt.Sprintf("tool %q has no version %s", name, version), id.Span, id.Name, have)
			return nil
		}
		c.reportUnknown(diag.UnknownTool, fmt.Sprintf("tool %q is not declared", id.Name), id.Span, id.Name, slices.DeleteFunc(c.toolNames(), func(name string) bool {
			return slices.ContainsFunc(beside, func(o ir.Ident) bool { return o.Name == name })
		}))
		return nil
	}
	d := diag.Diagnostic{Code: diag.AmbiguousTool, Span: id.Span, Message: fmt.Sprintf("tool %q has %d versions", name, len(found)),
		Help: "write the version: `" + name + "@" + found[len(found)-1].Version + "`"}
	for _, t := range found[:2] {
		d.Related = append(d.Related, diag.Related{Span: t.Key.Span, Message: "version " + t.Version})
	}
	c.report(d)
	return nil
}

// findTools are the tools that a name can mean.
func (c *checker) findTools(name string) []*ir.Tool {
	name, version, exact := strings.Cut(name, "@")
	found := c.tools[name]
	if exact {
		found = slices.DeleteFunc(slices.Clone(found), func(t *ir.Tool) bool { return t.Version != version })
	}
	return found
}

func (c *checker) toolNames() []string {
	var names []string
	for _, t := range c.wf.Tools {
		name := t.Key.Name
		if i := strings.IndexByte(name, '@'); i >= 0 {
			name = name[:i]
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// unbound reports whether the source of a tool could not be read, which was reported: it might say what is missing.
func unbound(t *ir.Tool) bool {
	g, ok := t.Binding.(*ir.GoTool)
	return ok && g.Func.Bind == nil || t.In != nil && t.In.Kind == schema.Invalid
}

// toolIn is the input of a tool; no declaration and no source means that it takes nothing.
func toolIn(t *ir.Tool) *schema.Type {
	if t.In != nil {
		return t.In
	}
	if g, ok := t.Binding.(*ir.GoTool); ok && g.Func.Bind == nil {
		return schema.InvalidType
	}
	return schema.EmptyType
}

func toolOut(t *ir.Tool) *schema.Type {
	if t.Out != nil {
		return t.Out
	}
	if g, ok := t.Binding.(*ir.GoTool); ok && g.Func.Bind == nil {
		return schema.InvalidType
	}
	if cmd, ok := t.Binding.(*ir.CommandTool); ok {
		switch cmd.Format {
		case ir.FormatText:
			return schema.StringType
		case ir.FormatLines:
			return schema.ListOf(schema.StringType)
		}
	}
	return schema.EmptyType
}

// effectsOf is what a tool does, as written or, when it does not say, the worst.
func effectsOf(t *ir.Tool) ir.Effects {
	if t.Effects != ir.EffectsUnset {
		return t.Effects
	}
	if h, ok := t.Binding.(*ir.HTTPTool); ok && (h.Method == "GET" || h.Method == "HEAD") {
		return ir.EffectsReads
	}
	if _, ok := t.Binding.(*ir.WasmTool); ok {
		return ir.EffectsNone // a module can reach nothing
	}
	return ir.EffectsExternal
}

// Effects is what calling the tool does: as declared, or the worst when it is not.
func Effects(t *ir.Tool) ir.Effects { return effectsOf(t) }

// nodeEffects is the worst that a node can do, with what is inside it. It can be asked before anything is typed.
func (c *checker) nodeEffects(n *ir.Node) ir.Effects {
	if e, ok := c.effects[n]; ok {
		return e
	}
	worst := ir.EffectsNone
	use := func(e ir.Effects) { worst = max(worst, e) }
	ir.Switch(n.Verb,
		func(v *ir.ToolCall) {
			for _, t := range c.findTools(v.Name.Name) {
				use(effectsOf(t))
			}
		},
		func(v *ir.ToolChoice) { use(c.useEffects(v)) },
		func(*ir.LLM) { use(ir.EffectsExternal) },
		func(*ir.Agent) { use(ir.EffectsExternal) },
		func(*ir.Human) { use(ir.EffectsReads) },
		func(*ir.Let) {},
		func(*ir.GoCall) {},
		func(v *ir.Map) { use(c.bodyEffects(&v.Do)) },
		func(v *ir.Loop) { use(c.bodyEffects(&v.Do)) },
		func(v *ir.Flow) { use(c.flowEffects(v.Flow)) },
		func(*ir.Fail) {},
		func(*ir.Wait) {},
		func(*ir.Parse) {},
		func(v *ir.Perform) { use(c.performEffects(v)) },
	)
	c.effects[n] = worst
	return worst
}

// performEffects is the worst that can come of what a Perform is handed.
func (c *checker) performEffects(v *ir.Perform) ir.Effects {
	worst := ir.EffectsNone
	if v.Person {
		worst = ir.EffectsReads
	}
	if v.Inside != nil {
		worst = max(worst, c.bodyEffects(v.Inside))
	}
	for _, u := range v.AtMost {
		worst = max(worst, c.useEffects(u.Of))
	}
	if v.Call != nil {
		for _, u := range ir.Uses(v.Call.Node) {
			worst = max(worst, c.useEffects(u.Ref))
		}
	}
	return worst
}

// useEffects is the worst that can come of a Handle.
func (c *checker) useEffects(of any) ir.Effects {
	switch of := of.(type) {
	case *ir.Tool:
		return effectsOf(of)
	case *ir.Workflow:
		return c.flowEffects(of)
	case *ir.ToolChoice:
		worst := ir.EffectsNone
		for _, x := range c.choices(of) {
			worst = max(worst, effectsOf(x.Tool))
		}
		return worst
	}
	return ir.EffectsExternal
}

func (c *checker) flowEffects(wf *ir.Workflow) ir.Effects {
	worst := ir.EffectsNone
	if f := c.flows[wf]; f != nil {
		for _, s := range f.Body.Steps {
			worst = max(worst, s.effects)
		}
	}
	return worst
}

func (c *checker) bodyEffects(b *ir.Body) ir.Effects {
	worst := ir.EffectsNone
	for _, n := range b.Nodes {
		worst = max(worst, c.nodeEffects(n))
	}
	return worst
}

// policyNotApplied warns about bounds of the policy that nothing here can reach: nobody should count on one that is not
// there.
func (c *checker) policyNotApplied() {
	p := c.wf.Policy
	if p == nil {
		return
	}
	var keys []string
	for _, k := range []struct {
		name string
		set  bool
	}{
		{"max_iterations", p.MaxIterations != nil && !c.agents}, {"max_total_tokens", p.MaxTokens != nil && len(c.models) == 0},
	} {
		if k.set {
			keys = append(keys, "`"+k.name+"`")
		}
	}
	if len(keys) > 0 {
		c.warn(diag.Diagnostic{Code: diag.NotApplied, Span: p.Span, Message: "nothing is bounded by " + strings.Join(keys, ", ") + " of the policy: no node asks a model for it",
			Help: "remove it; `max_iterations` is about agents, and `max_total_tokens` about models"})
	}
}

// envText refuses text that is the name of a secret: it was the secret in earlier versions.
func (c *checker) envText(v ir.EnvVar) {
	at, now := v.Value.Source(), "{secret: "+v.Value.Text.Value+"}"
	c.report(diag.Diagnostic{Code: diag.OldSpelling, Span: at, Message: "this is the text \"" + v.Value.Text.Value + "\", and a secret is written `" + now + "` now",
		Help:  "replace with `" + now + "`; `flowgen fmt --migrate` does it in all files",
		Fixes: []diag.Fix{{Title: "replace with `" + now + "`", Edits: []diag.Edit{{Span: at, New: now}}}}})
}

// checkTools checks what tools declare about themselves.
func (c *checker) checkTools() {
	c.policyNotApplied()
	c.netAllow()
	c.servers()
	c.checkModels()
	for _, t := range c.wf.Tools {
		own := t.File == c.wf.File
		c.idle = !own && !c.used[t]
		c.tier(t)
		if own || c.used[t] {
			c.toolSpec(t)
		}
		switch b := t.Binding.(type) {
		case nil:
			continue // the parser found no binding and said so
		case *ir.OpenAPITool:
			continue // the document has no such operation, which was reported
		case *ir.GoTool, *ir.PythonTool, *ir.JSTool, *ir.StarlarkTool, *ir.WasmTool, *ir.SQLTool, *ir.SlotTool:
			if t.Auth != nil {
				c.secret(t.Auth.Secret)
			}
		case *ir.CommandTool:
			c.commandTool(t, b)
		case *ir.HTTPTool:
			c.httpTool(t, b)
		case *ir.MCPTool:
			c.mcpTool(t, b)
		case *ir.Made:
			c.made(t, b)
		}
		if b, ok := t.Binding.(*ir.PythonTool); ok && b.Filled != nil {
			c.problems(b.Filled.Text, expr.CheckAt(b.Filled.Node, apart{}, filledType, expr.Place{}))
		}
		if effectsOf(t) == ir.EffectsExternal && t.Effects == ir.EffectsUnset && own && t.EffectsSpan.IsZero() && !unbound(t) {
			c.warn(diag.Diagnostic{Code: diag.EffectsUnset, Span: t.Key.Span, Message: "tool \"" + t.Key.Name + "\" does not declare its effects, so the worst is assumed (external)",
				Help: "add `effects: none`, `reads`, `writes` or `external`"})
		}
	}
	c.idle = false
}

// commandTool types the templates of a command: they see the tool's input and nothing else.
func (c *checker) commandTool(t *ir.Tool, b *ir.CommandTool) {
	e := &env{c: c, params: toolIn(t)}
	for _, tmpl := range slices.Concat(b.Args, []*ir.Template{b.Stdin, b.Dir}) {
		if tmpl != nil {
			c.value(tmpl, schema.StringType, e)
		}
	}
	for _, v := range b.Env {
		switch {
		case v.Secret.Name != "":
			c.secret(v.Secret)
		case v.Value != nil && c.isSecret(v.Value.Text.Value):
			c.envText(v)
		case v.Value != nil:
			c.value(v.Value, schema.StringType, e)
		}
	}
	out := t.Out
	if out == nil {
		return
	}
	if b.Format == ir.FormatText && out.Kind != schema.String {
		c.report(diag.Diagnostic{Code: diag.TypeMismatch, Span: t.Key.Span, Message: fmt.Sprintf("a command's text output is a string, and out is %s", out)})
	}
}

// Out is the type of a tool's result, as declared or as its binding implies.
func Out(t *ir.Tool) *schema.Type { return toolOut(t) }
