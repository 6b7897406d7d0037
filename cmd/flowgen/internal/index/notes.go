package index

import (
	"fmt"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

// toolNotes are what a call of a tool does and may do.
func toolNotes(t *ir.Tool) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	kind := kindOf(t.Binding)
	switch {
	case t.Effects != ir.EffectsUnset && t.Category != "":
		add("%s, category %s, effects: %s", kind, t.Category, t.Effects)
	case t.Effects != ir.EffectsUnset:
		add("%s, effects: %s", kind, t.Effects)
	default:
		add("%s", kind)
	}
	if t.State != "" && t.State != "active" {
		add("it is %s", t.State)
	}
	if t.Approve {
		add("a user is asked before each call")
	}
	if t.Auth != nil && t.Auth.Secret.Name != "" {
		add("needs the secret %s", t.Auth.Secret.Name)
	}
	if len(t.Permissions) > 0 {
		add("needs the grants %s", strings.Join(t.Permissions, ", "))
	}
	if t.Sandbox.Name != "" {
		add("sandbox: %s", t.Sandbox.Name)
	}
	if t.Timeout != nil {
		add("timeout: %s", duration(t.Timeout))
	}
	if t.CostUSD != "" {
		add("costs $%s a call", t.CostUSD)
	}
	if t.Cache != "" && t.Cache != "none" {
		add("cache: %s", t.Cache)
	}
	return out
}

func kindOf(b ir.Binding) string {
	switch v := b.(type) {
	case *ir.GoTool:
		return "Go function"
	case *ir.CommandTool:
		if v.Shell {
			return "shell script"
		}
		return "command"
	case *ir.HTTPTool:
		return "HTTP request"
	case *ir.PythonTool:
		return "Python function"
	case *ir.JSTool:
		return "JavaScript function"
	case *ir.MCPTool:
		return "tool of the MCP server " + v.Server.Name
	case *ir.StarlarkTool:
		return "Starlark function"
	case *ir.SQLTool:
		return "SQL statement"
	case *ir.WasmTool:
		return "WebAssembly function"
	}
	return "tool"
}

func duration(d *ir.Duration) string {
	if d.Value == ir.UnboundedTime {
		return "unbounded"
	}
	s := d.Value.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// nodeNotes are how a node runs, and what it calls does.
func nodeNotes(n *ir.Node) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	switch v := n.Verb.(type) {
	case *ir.ToolCall:
		if v.Tool != nil {
			out = append(out, toolNotes(v.Tool)...)
		}
	case *ir.Agent:
		out = append(out, caps(v.Policy)...)
	case *ir.Map:
		items, parallel := v.MaxItems, v.Parallel
		if v.MaxItemsSpan.File == nil {
			items = ir.DefaultMaxItems
		}
		if parallel == 0 {
			parallel = ir.DefaultParallel
		}
		if items == 0 {
			add("any number of items, %d at a time", parallel)
		} else {
			add("at most %d items, %d at a time", items, parallel)
		}
	}
	if n.Retry != nil && n.Retry.Attempts > 1 {
		add("at most %d attempts", n.Retry.Attempts)
	}
	if n.OnError != nil {
		switch n.OnError.Kind {
		case ir.OnErrorSkip:
			add("an error leaves it without a value")
		case ir.OnErrorDefault:
			add("an error gives it its default")
		}
	}
	return out
}

// modelNotes are what a model costs.
func modelNotes(m *ir.Model) []string {
	out := []string{m.Model.Name}
	limit := ""
	switch {
	case m.Params.MaxTokens != nil:
		limit = fmt.Sprintf("; an answer has at most %d tokens", *m.Params.MaxTokens)
	case m.Unbounded:
		limit = "; an answer may be of any length"
	}
	listed, known := check.Listed(m)
	switch {
	case m.Price != nil:
		out = append(out, fmt.Sprintf("costs $%s for a million tokens of input, $%s of output%s", m.Price.Input, m.Price.Output, limit))
	case known:
		p := listed.Highest()
		out = append(out, fmt.Sprintf("costs at most $%s for a million tokens of input, $%s of output%s", p.Input, p.Output, limit))
	default:
		out = append(out, "what it costs is not known"+limit)
	}
	return out
}

// caps are the bounds of a policy.
func caps(p *ir.Policy) []string {
	if p == nil {
		return nil
	}
	var parts []string
	number := func(n *int64, what string) {
		if n != nil {
			parts = append(parts, fmt.Sprintf("%d %s", *n, what))
		}
	}
	number(p.MaxIterations, "turns")
	number(p.MaxToolCalls, "calls of tools")
	number(p.MaxTokens, "tokens")
	if p.MaxCostUSD != "" {
		parts = append(parts, "$"+p.MaxCostUSD)
	}
	if p.MaxTime != nil {
		parts = append(parts, duration(p.MaxTime))
	}
	var out []string
	if len(parts) > 0 {
		out = append(out, "at most "+strings.Join(parts, ", "))
	}
	if len(p.Effects) > 0 {
		var words []string
		for _, e := range p.Effects {
			words = append(words, e.String())
		}
		out = append(out, "may call tools with effects "+strings.Join(words, ", "))
	}
	return out
}
