package openexpertise

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// Differences are the places where the project's page and its engine differ, or where flowgen and the engine do.
var Differences = []dialect.Difference{
	dialect.Differ("a node without `on_error`", "a failure fails the run (`fail_run`)", "a note on the first such node, if others could run after its failure", "the node is skipped"),
	dialect.Differ("`_state`", "the entire state, regardless of `reads`", "with --compat upstream, a note on the first node that reads only some fields", "the fields of `reads` only"),
	dialect.Differ("a tool that returns an object without `state_delta`", "fails", "", "writes nothing"),
	dialect.Differ("the item of a `for_each`", "`_item` and `_item_index`, and the engine's `$item` and `$index`", "", "`$item` and `$index` only"),
	dialect.Differ("placeholders of prompts other than `{{ name }}`", "paths, `$item`, `$index` and `| length` are replaced, as the examples intend", "a note on each", "not replaced"),
	dialect.Differ("state of earlier runs", "every run starts with an empty state", "", "kept in .openexpertise/state.sqlite until reset; --compat upstream: as documented"),
	dialect.Differ("parallel nodes (`concurrency` above 1)", "they see the state from before the first of them started, and their writes are applied in file order", "", "they see all writes so far, and lists grow in order of completion; --compat upstream keeps file order"),
	dialect.Differ("`for_each` with `concurrency` above 1", "results are written in list order", "", "in order of completion; --compat upstream keeps list order"),
	dialect.Differ("the status of a run", "success; partial if some nodes failed; failed if none succeeded", "", "with `concurrency` above 1 a single failure makes it failed, a single skip partial"),
	dialect.Differ("a dataset of the kind `http` or `mcp-resource` that is not an array", "becomes the only item of an array", "", "an error"),
	dialect.Differ("`on_error: retry` without `attempts`", "three attempts", "", "unknown"),
	dialect.Differ("`--args` of a run", "no effect: an experience has no inputs, and tools read the environment", "", "the same"),
	dialect.Differ("`metrics` in a tool's result", "`tokens_in`, `tokens_out` and `cost_usd` count as usage and cost of the call, and towards budgets once it has ended; other fields are ignored, as are all metrics of tools in flowgen.bindings.yaml", "", "shown with the node"),
	dialect.Differ("`phase`", "no effect on a run", "", "groups nodes on the screen"),
	dialect.Differ("nodes of `pipelines` and `loops`", "run only there", "", "unknown"),
}

// differences notes where this file depends on one of them.
func (p *parser) differences() {
	nodes := p.tree.Nodes
	if p.Sink.HasErrors() {
		return // what is wrong comes first
	}
	for _, n := range nodes {
		e := p.errorPolicy(n)
		if e && len(nodes) > 1 {
			p.Differs(n.ID.Span, "write `on_error: fail_run` or `on_error: skip`", "%s", map[bool]string{
				false: "a failure of \"" + n.ID.Name + "\" ends the run, as the page says; the engine would skip the node and go on",
				true:  "a failure of \"" + n.ID.Name + "\" skips the node, as the engine does; the page says that it ends the run",
			}[p.opts.Upstream])
			break
		}
	}
	for _, n := range nodes {
		if _, tool := n.Verb.(*ir.ToolCall); tool && len(n.Reads) > 0 && len(n.Reads) < len(p.wf.State) && p.opts.Upstream {
			p.Differs(n.Reads[0].Span, "", "\"%s\" sees only what it reads, as in the engine; the page says that it sees the entire state", n.ID.Name)
			break
		}
	}
}

// errorPolicy reports whether a node leaves its policy to the default.
func (p *parser) errorPolicy(n *Node) bool { return !p.written[n] }
