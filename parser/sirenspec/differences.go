package sirenspec

// A Difference is a place where the project's pages and its engine differ, or where the pages are silent and the engine
// does something that surprises, or that this compiler does not. The table of docs/dialects.md is made from these.
type Difference struct {
	Point, Documented, Upstream string
	Told                        string // when a file is told; empty: never
}

// Differences lists them.
var Differences = []Difference{
	{"`writes: working.X` on a node X", "the pages say nothing: as the engine", "the text is replaced by `{'output': text}`, which is what the next agent is told", "a note"},
	{"a key that is not known", "the pages say nothing: as the engine", "it is dropped", "a warning"},
	{"`{{ working.x }}` and `{{ output.x }}`", "refused for nodes", "refused for nodes, and else an error when the node runs", "an error"},
	{"`default('')`", "a default", "no filter at all: an error when the node runs", "an error"},
	{"a placeholder for something that nothing writes", "an error when the node runs", "the same; its linter looks at systems only, and its warnings are dropped", "a warning, in tools, too"},
	{"`_budget.x` in `when`", "the budget", "never holds", "an error"},
	{"a value of the environment in what a server sends back", "the pages say nothing", "it stays; here it is taken out of results and errors, but for an address at the beginning of `url`", ""},
	{"a redirect to another host", "the pages say nothing", "all headers are sent on; here the author's are not, and there is none from https to http", ""},
	{"an address that is not public", "the pages say nothing", "it is asked; here it is when the file or a variable of the environment names the host, and not when data does", ""},
	{"the words of the injection guardrail", "the pages say nothing", "ten patterns; here ten for the same attempts", ""},
	{"a module of Python", "found in sys.path of the process", "the same; here it is looked for beside the workflow first, and becomes part of the program", "a warning when it is not found"},
}
