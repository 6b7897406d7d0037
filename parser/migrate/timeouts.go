package migrate

import (
	"slices"
	"strconv"

	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// timeouts bounded each attempt, and each question of an agent. They bound the node now, and those of `retry` an attempt: the same
// where there is one. A file in which a `retry` has one is of today.
func (x *finder) timeouts() {
	defaults := x.root.Get("defaults")
	today := defaults.Get("retry").Get("timeout") != nil
	rest := false // nodes that are repeated have the timeout of the defaults
	var moved []*yamlnode.Node
	x.nodes(func(n *yamlnode.Node) {
		today = today || n.Get("retry").Get("timeout") != nil
		if !slices.ContainsFunc([]string{"tool", "tool_call", "llm", "agent"}, func(verb string) bool { return n.Get(verb) != nil }) {
			return
		}
		care := n
		if n.Get("retry") == nil {
			care = defaults
		}
		if attempts(care) <= 1 && n.Get("agent") == nil && n.Get("reask") == nil {
			return
		}
		if n.Get("timeout") == nil {
			rest = true
		} else {
			moved = append(moved, n)
		}
	})
	if today {
		return
	}
	if rest && defaults.Get("timeout") != nil {
		moved = append(moved, defaults)
	}
	for _, n := range moved {
		x.ofAttempt(n)
	}
}

// attempts is how often a node, or the defaults, let calls be made.
func attempts(n *yamlnode.Node) int {
	a := n.Get("retry").Get("attempts")
	if a == nil {
		return 0
	}
	count, err := strconv.Atoi(a.Text.Value)
	if err != nil {
		return 2 // whatever it is
	}
	return count
}

// ofAttempt moves a timeout into the retry next to it.
func (x *finder) ofAttempt(n *yamlnode.Node) {
	e, retry := n.Entry("timeout"), n.Get("retry")
	at := e.Value.Place()
	text := x.file.Text[at.Lo:at.Hi]
	switch {
	case retry == nil:
		x.replace(source.Span{Lo: e.Key.Span.Lo, Hi: at.Hi}, "retry: {timeout: "+text+"}")
	case len(retry.Entries) > 0:
		x.remove(n, e)
		x.add(retry, &retry.Entries[len(retry.Entries)-1], "timeout", text)
	}
}
