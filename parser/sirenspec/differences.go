package sirenspec

import "github.com/flowgen-dev/flowgen/parser/dialect"

// Differences are the places where the project's page and its engine differ, or where flowgen and the engine do.
var Differences = []dialect.Difference{
	dialect.Differ("`writes: working.X` on a node X", "the pages say nothing: as the engine", "the text is replaced by `{'output': text}`, which is what the next agent is told", "a note"),
	dialect.Differ("a key that is not known", "the pages say nothing: as the engine", "it is dropped", "a warning"),
	dialect.Differ("a workflow without `version`", "blocks of the pages have none", "the file is refused", "a note"),
	dialect.Differ("`{{ working.x }}` of a name that is no node's", "what stands at working.x", "an error when the node runs, or the filter's text", "a note"),
	dialect.Differ("`{{ working.x }}` of a node", "refused", "refused in what models are told; in tools an error when they run", "an error, or a warning in tools"),
	dialect.Differ("`default('')`", "a default", "no filter at all: an error when the node runs", "a note"),
	dialect.Differ("a placeholder for something that nothing writes", "an error when the node runs", "the same; its linter looks at systems only, and its warnings are dropped", "a warning, in tools, too"),
	dialect.Differ("`_budget.x` in `when`", "the budget", "never holds", "a note"),
	dialect.Differ("`working._budget` on the edges of an agent", "what the agent took is counted", "what it took is not counted yet", ""),
	dialect.Differ("`max_chars` and `mode` of the guardrail length", "the most characters, and whether a longer answer is cut or refused", "ignored: answers are cut after 4000 characters", "a note"),
	dialect.Differ("`max_delay` of a retry policy that has none", "60 seconds", "30 seconds", "a note, when waits get that long"),
	dialect.Differ("a status as a number in `on` of a retry policy", "as the pages write it", "the file is refused", "a note"),
	dialect.Differ("a `fallback_node` that no edge leads to", "it runs when the node fails, after it", "it always runs, and as a fallback only when it comes later", "a note"),
	dialect.Differ("an index out of range, a division by zero and the like in `when`", "the condition does not hold", "the run fails", ""),
	dialect.Differ("a variable of the environment in what a server sends back", "the pages say nothing", "it stays; here those whose names say that they are secret (KEY, TOKEN, PASSWORD, ...) are taken out", ""),
	dialect.Differ("a variable of the environment in what a model is told", "the pages say nothing", "its value stands in traces as `***`; here records hold a mark in its place", ""),
	dialect.Differ("a redirect to another host", "the pages say nothing", "all headers are sent on; here the author's are not, and there is none from https to http", ""),
	dialect.Differ("an address that is not public", "the pages say nothing", "it is asked; here it is when the file or a variable of the environment names the host, and not when data does", ""),
	dialect.Differ("`for_each` with a filter on what a node gave", "the filter's text stands for a value that is missing, empty or no JSON, as in the page's example", "for a value that is missing, and for no other", "a note"),
	dialect.Differ("`{{ item.name }}`", "the pages say nothing: as the engine", "the whole item: what follows `item`, `index` or `total` is ignored", "a warning"),
	dialect.Differ("`ref` of a workflow node", "a file beside the one that names it, or else one in the folder that flowgen runs in", "a file in the folder that the engine runs in, and only when the name begins with `.` or `/`; --compat upstream looks there first", "a note, when it stands beside"),
	dialect.Differ("`ref` of a workflow that runs itself", "an error of the file", "an error at `max_depth`, when the node runs", "an error"),
	dialect.Differ("a workflow that a node runs and that fails", "the pages say nothing: as the engine", "the node succeeds with what the workflow wrote below `output` until then", ""),
	dialect.Differ("the message of a workflow that a node runs", "the pages say nothing", "not known; here `message` of `inputs`, else the workflow's own, else the message of the workflow that runs it", ""),
	dialect.Differ("`on_timeout: skip` of a human node", "the pages say nothing", "not known; here nothing is written, and the nodes after it run", ""),
	dialect.Differ("`backend: sqlite` of a memory", "a database", "the file memory.db; here a folder of files, as with `backend: file`, which knows nothing of the engine's values", "a note"),
	dialect.Differ("`writes: memory.x` without `memory`", "the pages say nothing", "not known; here the value is there until the run ends", "a warning"),
	dialect.Differ("`item` of a factory with `swarm_size`", "the pages say nothing", "not known; here it is the index", ""),
	dialect.Differ("an agent that fails in a swrm with `on_failure: continue`", "the pages say nothing", "not known; here it says \"\", as an instance of a factory does", ""),
	dialect.Differ("`timeout_per_instance` of a factory with a `swrm`", "seconds of an instance", "the same; here of each question in it", ""),
	dialect.Differ("`{{ inputs.x }}` of a workflow", "what a workflow that runs it gives", "the same; here also what the command line gives, as `--input x=...`", ""),
	dialect.Differ("a module of Python", "found in sys.path of the process", "the same; here it is looked for beside the workflow first, and becomes part of the program", "a warning when it is not found"),
}
