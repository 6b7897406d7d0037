package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// declareTools indexes the tools by name.
func (c *checker) declareTools() {
	c.tools = map[string][]*ir.Tool{}
	for _, t := range c.wf.Tools {
		c.tools[t.Name.Name] = append(c.tools[t.Name.Name], t)
		if t.Key.Name != t.Name.Name && !strings.ContainsAny(t.Key.Name, ".@") {
			c.tools[t.Key.Name] = append(c.tools[t.Key.Name], t)
		}
	}
}

// resolveTool finds the tool a node names: `key`, `ns.name`, or `ns.name@version`, which must be written when there is
// more than one version.
func (c *checker) resolveTool(v *ir.ToolCall) *ir.Tool {
	if v.Name.Name == "" {
		return nil
	}
	name, version, exact := strings.Cut(v.Name.Name, "@")
	found := c.tools[name]
	if exact {
		found = slices.DeleteFunc(slices.Clone(found), func(t *ir.Tool) bool { return t.Version != version })
	}
	switch len(found) {
	case 1:
		return found[0]
	case 0:
		if all := c.tools[name]; exact && len(all) > 0 {
			var have []string
			for _, t := range all {
				have = append(have, name+"@"+t.Version)
			}
			c.reportUnknown(diag.UnknownTool, fmt.Sprintf("tool %q has no version %s", name, version), v.Name.Span, v.Name.Name, have)
			return nil
		}
		c.reportUnknown(diag.UnknownTool, fmt.Sprintf("tool %q is not declared", v.Name.Name), v.Name.Span, v.Name.Name, c.toolNames())
		return nil
	}
	d := diag.Diagnostic{Code: diag.AmbiguousTool, Span: v.Name.Span, Message: fmt.Sprintf("tool %q has %d versions", name, len(found)),
		Help: "write the version: `" + name + "@" + found[len(found)-1].Version + "`"}
	for _, t := range found[:2] {
		d.Related = append(d.Related, diag.Related{Span: t.Key.Span, Message: "version " + t.Version})
	}
	c.report(d)
	return nil
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
	return ir.EffectsExternal
}

// Effects is what calling the tool does: as declared, or the worst when it is not.
func Effects(t *ir.Tool) ir.Effects { return effectsOf(t) }

func flowEffects(wf *ir.Workflow) ir.Effects {
	worst := ir.EffectsNone
	if wf == nil {
		return worst
	}
	byName := map[string]*ir.Tool{}
	for _, t := range wf.Tools {
		byName[t.Key.Name], byName[t.Name.Name], byName[t.FullName()] = t, t, t
	}
	var walk func(b *ir.Body)
	walk = func(b *ir.Body) {
		for _, n := range b.Nodes {
			switch v := n.Verb.(type) {
			case *ir.ToolCall:
				if t := byName[v.Name.Name]; t != nil {
					worst = max(worst, effectsOf(t))
				} else {
					worst = ir.EffectsExternal
				}
			case *ir.Map:
				walk(&v.Do)
			case *ir.Loop:
				walk(&v.Do)
			case *ir.Flow:
				worst = max(worst, flowEffects(v.Flow))
			case *ir.LLM, *ir.Agent, *ir.Human, *ir.ToolChoice:
				worst = ir.EffectsExternal
			}
		}
	}
	walk(&wf.Body)
	return worst
}

// checkTools checks what tools declare about themselves.
func (c *checker) checkTools() {
	for _, t := range c.wf.Tools {
		switch b := t.Binding.(type) {
		case *ir.GoTool:
		case *ir.CommandTool:
			c.commandTool(t, b)
		case *ir.HTTPTool:
			c.unavailableTool(t, "http")
			continue
		case *ir.PythonTool:
			c.unavailableTool(t, "python")
			continue
		case *ir.JSTool:
			c.unavailableTool(t, "js")
			continue
		case *ir.MCPTool:
			c.unavailableTool(t, "mcp")
			continue
		case *ir.StarlarkTool:
			c.unavailableTool(t, "starlark")
			continue
		default:
			continue // the parser found no binding and said so
		}
		if t.Effects == ir.EffectsUnset && t.File == c.wf.File {
			c.warn(diag.Diagnostic{Code: diag.EffectsUnset, Span: t.Key.Span, Message: "tool \"" + t.Key.Name + "\" does not say what effects it has, so that the worst is assumed (external)",
				Help: "add `effects: none`, `reads`, `writes` or `external`"})
		}
		if t.State == "deprecated" || t.State == "blocked" {
			continue // reported where it is used
		}
	}
}

func (c *checker) unavailableTool(t *ir.Tool, kind string) {
	c.report(diag.Diagnostic{Code: diag.Unavailable, Span: t.Key.Span, Message: "this version of flowgen cannot compile `" + kind + "` tools",
		Help: "use a `go` or a `command` tool"})
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
		if v.Value != nil {
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
