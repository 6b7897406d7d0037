package yamlgraph

import "github.com/flowgen-dev/flowgen/parser/dialect"

import "github.com/flowgen-dev/flowgen/ir/source"

// Differences are the places where the project's page and its engine differ, or where flowgen and the engine do.
var Differences = []dialect.Difference{
	dialect.Differ("a tool_call node without `state_key`", "its result goes into the field of the node's own name", "it goes into the field `result`", "a note on the first such node"),
	dialect.Differ("the error of a tool that raises", "`FileNotFoundError: ...`", "the text of the exception alone", ""),
	dialect.Differ("`args` that are no mapping", "the result says so in `error`", "the tool is called without arguments", ""),
	dialect.Differ("a python tool whose module or function does not exist", "a mistake of the file", "a warning in a log; calls say `Unknown tool`. --compat upstream reports the mistake, too", ""),
	dialect.Differ("text with references inside, `x {state.a} y`", "they are replaced, as in newer engines; one without a value stays as it is", "it stays as it is", "a note on each"),
	dialect.Differ("`args` as a mapping with references", "they are replaced, as in newer engines", "they stay text", "a note on each"),
	dialect.Differ("calculations: more than one operator, `[1, 2]`, `[{...}]`", "all of it is calculated; the items of a list", "what follows the first operator is one operand; what is between brackets is one text", "a note on each"),
	dialect.Differ("an empty list in a map", "the page is silent: nothing after the map runs, as in the engine", "nothing after the map runs", ""),
	dialect.Differ("keys of a map besides those of the page: `max_items`, `timeout`, `failures`, `min_success`, `flatten_output`, `on_error: fail`", "the first `max_items` items are looked at; failures go to `failures`; fewer than `min_success` that do well are an error; lists are added item by item", "newer engines only; --compat upstream reads them, too, but for `on_error`", "a note on `on_error: fail`"),
	dialect.Differ("the errors of nodes with `on_error: skip`", "one entry in `errors` for each error", "all earlier entries stand there twice; --compat upstream writes one", ""),
	dialect.Differ("a graph with cycles", "25 steps at most, as in the engine", "25 steps at most, in graphs without cycles, too", ""),
	dialect.Differ("`checkpointer`", "flowgen keeps journals of its own", "the engine's checkpoints", "a note on the key"),
	dialect.Differ("inputs on the command line", "of the type that `state` declares", "always text", ""),
}

// keyDiffers notes where the result of a tool_call node goes that does not say so.
func (p *parser) keyDiffers(at source.Span, name string) {
	if p.told {
		return
	}
	p.told = true
	if p.opts.Upstream {
		p.Differs(at, "write `state_key`", "the result goes into the field `result`, as in the engine; the page says into `%s`", at.Text())
		return
	}
	p.Differs(at, "write `state_key: "+name+"`", "the result goes into the field `%s`, as the page says; the engine would put it into `result`", name)
}
