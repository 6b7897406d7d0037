package yamlgraph

import (
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

import "github.com/flowgen-dev/flowgen/ir/source"

// Differences are the places where the project's page and its engine differ, or where flowgen and the engine do.
var Differences = []dialect.Difference{
	dialect.Differ("a tool_call node without `state_key`", "its result goes into the field of the node's own name", "it goes into the field `result`", "a note on the first such node"),
	dialect.Differ("a map right after a map", "each item of its list is looked at once", "once for each item of the map before; --compat upstream looks once, too", ""),
	dialect.Differ("parallel nodes", "they run, as in newer engines", "an error: both write `current_step`. --compat upstream runs them, too", ""),
	dialect.Differ("`over` without braces, `state.items`", "a path", "text, which is no list: an error", "a note on each"),
	dialect.Differ("names in the message of an interrupt node that have no value", "`{name}` stays as it is", "an error when the node runs", "a warning where the state has no such field"),
	dialect.Differ("the error of a tool that raises", "`FileNotFoundError: ...`", "the text of the exception alone", ""),
	dialect.Differ("`args` that are no mapping", "the result says so in `error`", "the tool is called without arguments", ""),
	dialect.Differ("a python tool whose module or function does not exist", "a mistake of the file", "a warning in a log; calls say `Unknown tool`. --compat upstream reports the mistake, too", ""),
	dialect.Differ("text with references inside, `x {state.a} y`", "they are replaced, as in newer engines; one without a value stays as it is", "it stays as it is", "a note on each"),
	dialect.Differ("`args` as a mapping with references", "they are replaced, as in newer engines", "they stay text", "a note on each"),
	dialect.Differ("calculations: more than one operator, `[1, 2]`, `[{...}]`, `[]`", "all of it is calculated; the items of a list", "what follows the first operator is one operand; what is between brackets is one text", "a note on each"),
	dialect.Differ("the condition of an edge that enters or leaves a map", "it is looked at, as in newer engines", "it is not read", "a note on each"),
	dialect.Differ("a value in `variables` that is no text", "it is taken as it is written", "the same; newer engines refuse the graph", ""),
	dialect.Differ("`current_step` after a map", "the node that ran before it", "the map's inner node; in newer engines a name of its own, `_map_NODE_join`", ""),
	dialect.Differ("a map some of whose items fail", "failures are among the results, unless `failures` or `min_success` is written", "the same; newer engines put them into `<collect>_failures` and end the run unless `min_success` is below 1", ""),
	dialect.Differ("a map in parallel with other nodes", "it is one step", "two steps; in newer engines four, so that what comes after it may run later than here", ""),
	dialect.Differ("messages of errors of JSON", "those of flowgen", "those of Python", ""),
	dialect.Differ("keys that the engine does not know", "a warning", "ignored; newer engines refuse the graph", "a warning"),
	dialect.Differ("`outputs` of a passthrough node", "it is what `output` is, as other pages say", "not read; it does nothing", ""),
	dialect.Differ("a node without `on_error` that asks a model in vain", "the error goes into `errors`, and the run goes on", "the same; newer engines end the run", ""),
	dialect.Differ("`and` and `or` inside of a text in a condition", "they are part of the text", "the graph is refused", ""),
	dialect.Differ("functions with `async`", "they are awaited", "`graph run` drops what they would return", ""),
	dialect.Differ("`skip_if_exists`", "nothing is asked when the field has a value that is true in Python, as in newer engines", "when it has any value but null: 0, false and \"\", too", ""),
	dialect.Differ("an empty list in a map", "what comes after the map runs, as in newer engines", "nothing after the map runs", ""),
	dialect.Differ("keys of a map besides those of the page: `max_items`, `timeout`, `failures`, `min_success`, `flatten_output`, `on_error: fail`", "more than `max_items` items are an error, or with `on_overflow: truncate` the first of them are looked at; failures go to `failures`, with `min_success` to `<collect>_failures`; fewer than `min_success` (a number, or a part of them) that do well are an error; lists are added item by item. `over` can be a list", "newer engines only; --compat upstream reads them, too, but for `on_error`, and cuts long lists", "a note on `on_error: fail`"),
	dialect.Differ("the errors of nodes with `on_error: skip`", "one entry in `errors` for each error", "all earlier entries appear there twice; --compat upstream writes one", ""),
	dialect.Differ("`interrupt_output_mapping`", "the fields are taken over when the other graph has ended, if it asks a user at all", "when it asks", ""),
	dialect.Differ("all fields of a subgraph: `auto`, `\"*\"`, `mode: direct`", "lists that nodes add to grow by what the other graph has added", "by all that it has", ""),
	dialect.Differ("`resume_key` and `state_key` of an interrupt node that `state` does not have", "they are fields of the state", "the answer may be dropped", ""),
	dialect.Differ("interrupt nodes without `state_key`, when `state` has no field `interrupt_message`", "each asks its own question", "so in the engine of the page; newer ones ask nothing", ""),
	dialect.Differ("`variables` of a graph, and `max_concurrency` of `config`", "values that the state begins with, unless the run gives others; so many items of a map in parallel", "newer engines only; --compat upstream reads them, too", ""),
	dialect.Differ("`timeout` of `config`, `cache` of nodes, `observability`", "they have no effect", "newer engines end a run after so many seconds and write logs; their command line has no cache either", "a note on each"),
	dialect.Differ("a graph with cycles", "1000 steps at most, or `recursion_limit` of `config`", "25, 50 or 10,007 steps at most, by the versions of the engine and of LangGraph, in graphs without cycles, too; --compat upstream takes 1000", ""),
	dialect.Differ("conditions over `state.field`", "it is the field, as in newer engines", "a field named `state` is looked for, so that the value is null", "a note on each; a warning with --compat upstream"),
	dialect.Differ("limits of python, tool and passthrough nodes", "their runs are counted, as in newer engines", "only the runs of nodes that ask a model are counted", "a note on each entry of `loop_limits`; a warning with --compat upstream"),
	dialect.Differ("`variables` of a python node", "the function sees them together with the fields of the state, as in newer engines", "they are not read", "a note on the key; a warning with --compat upstream"),
	dialect.Differ("races: `candidates` of race and router nodes", "they are asked one after the other until one answers, so that a run can be repeated", "all are asked at once, and the first answer is taken; newer engines only", "a note on the key"),
	dialect.Differ("`on_error: fail` of a tool_call node", "a call that fails ends the run, as in newer engines", "it is not read", "a note on the key; a warning with --compat upstream"),
	dialect.Differ("a router with `route_field`", "its field holds the label, as in newer engines", "the key is not read; --compat upstream reads it, too", ""),
	dialect.Differ("`guards`, `verify`, `loop_exits`, graph tools, manifests, slots, and nodes of the types `pipeline`, `interactive_tool` and `copilot`", "as newer engines have them", "newer engines only; --compat upstream reads them, too", ""),
	dialect.Differ("`model` of a node or of `defaults`", "it is asked, as in newer engines", "it is not read: the model of the provider is asked", "a note on the first of each; a warning with --compat upstream"),
	dialect.Differ("`provider` and `temperature` of an agent node, and of an interrupt node with a `prompt`", "they count, as for other nodes", "they are not read", "a warning with --compat upstream"),
	dialect.Differ("`model`, `temperature` and `max_tokens` of a prompt file", "the page is silent: they are not read, as in the engine", "they are not read", "a warning"),
	dialect.Differ("`template` of a prompt file without `user`", "it is what `user` is, as other pages say", "an error when the node runs", "a note"),
	dialect.Differ("variables of a prompt that have no value", "only those count that the text cannot do without: not those that `if`, `is defined` or `default` look at", "a search for names, so that all of them count; the node fails", "an error where nothing gives the variable"),
	dialect.Differ("types of a prompt's schema such as `list`, `dict`, `string` or `list[dict]`", "they are what they seem to be", "an error when the node runs", "a warning"),
	dialect.Differ("an answer with a schema, as text in a later prompt", "a dict of Python: `{'score': 0.5}`", "a model of Pydantic: `score=0.5`", ""),
	dialect.Differ("the texts of an agent's prompt", "Jinja, or words of the state; a word without a value stays as it is", "words in `user` only, and no Jinja; newer engines render both, and fail at a word without a value", ""),
	dialect.Differ("the `messages` of agents", "what is new is added", "all messages are added again", ""),
	dialect.Differ("an error in `errors`", "`type` is a code of flowgen, such as VALIDATION_ERROR", "`type` is a word of the engine, such as unknown_error, and there are a time and details", ""),
	dialect.Differ("a graph without an edge from START", "it begins at the nodes that no edge leads to, as that of the page does", "a mistake", "a note on `edges`"),
	dialect.Differ("`exports`", "the output of a run has the fields; no files are written", "`graph run --export` writes them below outputs/", "a note on the key; a warning on fields that the state does not have"),
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
