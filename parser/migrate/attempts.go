package migrate

import (
	"strings"

	"github.com/flowgen-dev/flowgen/parser/insert"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// attempts were bounded by `timeout`, each one; now it bounds the node with all of them, and `retry.timeout` one.
func (x *finder) attempts() {
	defaults := x.root.Get("defaults")
	all, again := defaults.Entry("timeout"), mapping(defaults.Get("retry"))
	x.nodes(func(n *yamlnode.Node) {
		if n.Get("human") != nil {
			return // a question has one attempt
		}
		own, retry := n.Entry("timeout"), mapping(n.Get("retry"))
		switch {
		case retry != nil && retry.Get("timeout") == nil && own != nil:
			x.timed(retry, own.Value)
			x.remove(n, own)
		case retry != nil && retry.Get("timeout") == nil && all != nil:
			x.timed(retry, all.Value)
		case retry == nil && own != nil && again != nil && again.Get("timeout") == nil && x.repeats(n):
			retry := insert.Same(again)
			x.replace(own.Key.Span, "retry")
			x.replace(own.Value.Place(), strings.TrimSuffix(retry, "}")+", timeout: "+own.Value.Text.Value+"}")
		}
	})
	if all != nil && again != nil && again.Get("timeout") == nil {
		x.timed(again, all.Value)
		x.remove(defaults, all)
	}
}

// timed gives a retry the time of one attempt.
func (x *finder) timed(retry, timeout *yamlnode.Node) {
	x.add(retry, &retry.Entries[len(retry.Entries)-1], "timeout", timeout.Text.Value)
}

// mapping is n when it is a mapping with entries.
func mapping(n *yamlnode.Node) *yamlnode.Node {
	if n == nil || n.Kind != yamlnode.Mapping || len(n.Entries) == 0 {
		return nil
	}
	return n
}

// repeats reports whether the retry under `defaults` is for the calls of a node: those that ask a model, compute or read.
func (x *finder) repeats(n *yamlnode.Node) bool {
	if n.Get("llm") != nil || n.Get("agent") != nil {
		return true
	}
	tool := n.Get("tool")
	if tool == nil {
		return false
	}
	switch effects := x.root.Get("tools").Get(tool.Text.Value).Get("effects"); {
	case effects == nil:
		return false
	default:
		return effects.Text.Value == "none" || effects.Text.Value == "reads"
	}
}
