package diag

// The public dialects.
const (
	DialectDiffers   Code = "FG0120"
	NotSupported     Code = "FG0121"
	AmbiguousDialect Code = "FG0122"
	IgnoredKey       Code = "FG0123"
	NotConverted     Code = "FG0124"
)

var dialectCodes = []Entry{
	{
		Code:  DialectDiffers,
		Title: "a place where the page of a dialect and its engine differ",
		Cause: "The workflow depends on a point that the documentation of its dialect describes in one way and the dialect's engine does in another. What is documented holds, unless --compat upstream is given. Write out what you mean where that is possible.",
		Wrong: `name: two
version: 0.1.0
state:
  schema: {rows: {type: array}, more: {type: array}}
graph:
  nodes:
    - {id: load, kind: dataset, source: {kind: file, uri: rows.json, format: json}, writes: [rows]}
    - {id: again, kind: dataset, source: {kind: file, uri: more.json, format: json}, writes: [more]}
  edges: []
`,
		Right: `name: two
version: 0.1.0
state:
  schema: {rows: {type: array}, more: {type: array}}
graph:
  nodes:
    - {id: load, kind: dataset, source: {kind: file, uri: rows.json, format: json}, writes: [rows], on_error: skip}
    - {id: again, kind: dataset, source: {kind: file, uri: more.json, format: json}, writes: [more], on_error: skip}
  edges: []
`,
	},
	{
		Code:  NotSupported,
		Title: "a part of a dialect that is not compiled",
		Cause: "The dialect has this part, and flowgen does not compile it: it would do something else than the engine. The workflow is refused, so that nothing is left out silently.",
		Wrong: `state: {rows: list}
nodes:
  fix: {type: map, over: "{state.rows}", as: row, node: {type: interrupt}, collect: done}
edges:
  - {from: START, to: fix}
  - {from: fix, to: END}
`,
		Right: `state: {rows: list}
nodes:
  fix: {type: map, over: "{state.rows}", as: row, node: {type: passthrough, output: {message: fixed}}, collect: done}
edges:
  - {from: START, to: fix}
  - {from: fix, to: END}
`,
	},
	{
		Code:  AmbiguousDialect,
		Title: "a file that could be of two dialects",
		Cause: "Dialects are told apart by their keys, and this file has keys of more than one. Say which it is with --dialect, or remove the keys that do not belong.",
		Wrong: `flowgen: 1
name: both
nodes:
  hello: {let: {text: hi}}
graph: {nodes: []}
output: {text: $hello.text}
`,
		Right: `flowgen: 1
name: both
nodes:
  hello: {let: {text: hi}}
output: {text: $hello.text}
`,
	},
	{
		Code:  IgnoredKey,
		Title: "something that the engine of a dialect does not look at",
		Cause: "The dialect's engine takes the file as it is and ignores this part, so that it has no effect here either. It is often a misspelling. Correct or remove it.",
		Wrong: `name: sheet
version: 0.1.0
state:
  schema: {rows: {type: array}}
graph:
  nodes:
    - {id: load, kind: dataset, source: {kind: file, uri: rows.csv, format: csv}, writes: [rows], onerror: skip}
  edges: []
`,
		Right: `name: sheet
version: 0.1.0
state:
  schema: {rows: {type: array}}
graph:
  nodes:
    - {id: load, kind: dataset, source: {kind: file, uri: rows.csv, format: csv}, writes: [rows], on_error: skip}
  edges: []
`,
	},
	{
		Code:  NotConverted,
		Title: "a part of a dialect that the native language does not say",
		Cause: "`flowgen convert` writes a native workflow that does the same, or none. This part has no counterpart there, or one that would do something else. A note with this code tells what is spelt otherwise in the file that is written.",
		Wrong: `id: greeting
state: {Name: {type: str, default: World}}
nodes:
  greet: {kind: template, template: "Hello {Name}", out: text}
routes: {greet: done}
`,
		Right: `id: greeting
state: {name: {type: str, default: World}}
nodes:
  greet: {kind: template, template: "Hello {name}", out: text}
routes: {greet: done}
`,
	},
}
