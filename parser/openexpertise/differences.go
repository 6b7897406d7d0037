package openexpertise

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// Differences are the places where the project's page and its engine differ, or where flowgen and the engine do.
var Differences = []dialect.Difference{
	dialect.Differ("a node without `on_error`", "a failure ends the run (fail_run)", "a note on the first such node, where others could run after its failure", "the node is skipped"),
	dialect.Differ("`_state`", "the entire state, whatever `reads` says", "with --compat upstream, a note on the first node that reads some fields and not all", "the fields of `reads` only"),
	dialect.Differ("a tool that returns an object without `state_delta`", "it fails", "", "it writes nothing"),
	dialect.Differ("the item of a `for_each`", "`_item` and `_item_index`, and the engine's `$item` and `$index`", "", "`$item` and `$index` only"),
	dialect.Differ("placeholders of prompts other than `{{ name }}`", "paths, `$item`, `$index` and `| length` are substituted, as the examples mean them", "a note on each", "the model reads them as written"),
	dialect.Differ("state of earlier runs", "every run begins without values", "", "values stay in .openexpertise/state.sqlite until they are reset; --compat upstream begins without values, too"),
	dialect.Differ("parallel nodes (`concurrency` above 1)", "they see the state as it was when the first of them began, and write in the order of the file", "", "they see what has been written so far, and lists grow in the order in which nodes end; --compat upstream keeps the order of the file"),
	dialect.Differ("`for_each` with `concurrency` above 1", "results are written in the order of the list", "", "in the order in which items end; --compat upstream keeps the order of the list"),
	dialect.Differ("the status of a run", "success; partial when some nodes failed; failed when none did well", "", "with `concurrency` above 1 one failure is failed and one skip is partial"),
	dialect.Differ("a dataset of the kind `http` or `mcp-resource` that is not an array", "it becomes the one item of an array", "", "an error"),
	dialect.Differ("`on_error: retry` without `attempts`", "three attempts", "", "not known"),
	dialect.Differ("`--args` of a run", "nothing can read them: an experience has no inputs, and tools read the environment", "", "the same"),
	dialect.Differ("`metrics` of what a tool returns", "`tokens_in`, `tokens_out` and `cost_usd` are part of the usage and the cost of the call, which budgets count when it has ended; other fields are ignored, and all of what a tool of flowgen.bindings.yaml returns", "", "shown with the node"),
	dialect.Differ("`phase`", "changes nothing about a run", "", "groups nodes on the screen"),
	dialect.Differ("nodes of `pipelines` and `loops`", "they run there only", "", "not known"),
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
