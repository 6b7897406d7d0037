package migrate

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/parser/insert"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// policies visits the policies of the workflow, of its agents and of nodes that run one.
func (x *finder) policies(visit func(policy *yamlnode.Node)) {
	of := func(n *yamlnode.Node) {
		if p := n.Get("policy"); p != nil && p.Kind == yamlnode.Mapping {
			visit(p)
		}
	}
	of(x.root)
	x.section("agents", func(_ string, n *yamlnode.Node) { of(n) })
	x.nodes(of)
}

// effects were `read` and `write`, too.
func (x *finder) effects() {
	words := map[string]string{"read": "reads", "write": "writes"}
	x.section("tools", func(_ string, n *yamlnode.Node) { x.word(n.Get("effects"), words) })
	x.policies(func(p *yamlnode.Node) {
		for _, it := range items(p.Get("effects")) {
			x.word(it, words)
		}
	})
}

// status was `state`, which is the name of the fields that nodes write.
func (x *finder) status() {
	x.section("tools", func(_ string, n *yamlnode.Node) { x.rename(n, "state", "status") })
}

// secretsInEnv were known by their names: text that is exactly the name of a secret.
func (x *finder) secretsInEnv() {
	names := slices.Concat(x.in.Secrets, x.secretNames())
	secret := func(n *yamlnode.Node, is func(string) bool) {
		env := n.Get("env")
		if env == nil {
			return
		}
		for _, e := range env.Entries {
			if v := e.Value; v.Kind == yamlnode.Scalar && v.Anchor == "" && v.Alias.IsZero() && is(v.Text.Value) {
				x.replace(v.Span, "{secret: "+insert.Text(v.Text.Value)+"}")
			}
		}
	}
	x.section("tools", func(_ string, n *yamlnode.Node) {
		secret(n, func(text string) bool { return slices.Contains(names, text) })
	})
	x.section("servers", func(_ string, n *yamlnode.Node) { // there text was nothing else
		secret(n, func(text string) bool { return !strings.Contains(text, "{{") })
	})
}

// arguments of a tool that data chooses stood under `args`.
func (x *finder) arguments() {
	x.nodes(func(n *yamlnode.Node) {
		if n.Get("tool_call") != nil {
			x.rename(n, "args", "with")
		}
	})
}

// failures had words of their own in each place.
func (x *finder) failures() {
	pins := func(n *yamlnode.Node) {
		if p := n.Get("pins"); p != nil {
			for _, e := range p.Entries {
				x.word(e.Value.Get("on_missing"), map[string]string{"null": "skip", "error": "fail", "stale_last_success": "keep"})
			}
		}
	}
	x.section("agents", func(_ string, n *yamlnode.Node) { pins(n) })
	x.nodes(func(n *yamlnode.Node) {
		pins(n)
		x.word(n.Get("on_item_error"), map[string]string{"drop": "skip"})
	})
}

// totalTokens of a run or of one visit of an agent were `max_tokens`, which a model has for one answer.
func (x *finder) totalTokens() {
	x.policies(func(p *yamlnode.Node) { x.rename(p, "max_tokens", "max_total_tokens") })
}

// promptInput was declared under `with`, under which nodes give values.
func (x *finder) promptInput() { x.rename(x.root, "with", "in") }
