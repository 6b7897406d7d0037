package diag

// The shape of the native language.
const (
	UnknownKey    Code = "FG0101"
	MissingKey    Code = "FG0102"
	WrongShape    Code = "FG0103"
	UnknownWord   Code = "FG0104"
	BadLiteral    Code = "FG0105"
	BadName       Code = "FG0106"
	DuplicateName Code = "FG0107"
	NotOneVerb    Code = "FG0108"
	BadEdgeForm   Code = "FG0109"
	BadType       Code = "FG0110"
	UnknownType   Code = "FG0111"
	RecursiveType Code = "FG0112"
	BadConstraint Code = "FG0113"
	NotConstant   Code = "FG0114"
	NotText       Code = "FG0115"
	NotExpression Code = "FG0116"
	BadVersion    Code = "FG0117"
	NestedBraces  Code = "FG0118"
	OldSpelling   Code = "FG0119"
)

var nativeCodes = []Entry{
	{
		Code:  UnknownKey,
		Title: "an unknown key",
		Cause: "A mapping has a key that the language does not know here, so it would be ignored. The message names the cause: a misspelled key, which `check --fix` corrects if it is unambiguous; a key of another language, with its equivalent; a misplaced key, with its correct place; or else the list of allowed keys.",
		Wrong: `flowgen: 1
name: greet
input: {who: {type: string, defualt: you}}
nodes:
  hello: {let: {text: "Hello {{ input.who }}"}}
output: {text: $hello.text}
`,
		Right: `flowgen: 1
name: greet
input: {who: {type: string, default: you}}
nodes:
  hello: {let: {text: "Hello {{ input.who }}"}}
output: {text: $hello.text}
`,
		Cases: []Case{
			{"flowgen: 1\nname: greet\nnodes:\n  hello: {let: {text: Hello}, timeuot: 1s}\noutput: {text: $hello.text}\n",
				"misspelled key `timeuot` in a `let` node", "replace with `timeout`"},
			{"flowgen: 1\nname: greet\nnodes:\n  hello: {if: true, let: {text: Hello}}\noutput: {text: $hello.text}\n",
				"flowgen has no key `if`", "write `when:`"},
			{"flowgen: 1\nname: greet\nmodels: {m: \"ollama:x\"}\nnodes:\n  hello: {llm: m, prompt: Hello, temperature: 0.5}\noutput: {text: $hello}\n",
				"misplaced key `temperature` in an `llm` node", "it is of the model: write it under `models:`"},
			{"flowgen: 1\nname: greet\nnodes:\n  hello: {let: {text: Hello}, max_items: 5}\noutput: {text: $hello.text}\n",
				"misplaced key `max_items` in a `let` node", "`max_items` goes with `map`"},
			{"flowgen: 1\nname: greet\nnodes:\n  hello: {let: {text: Hello}}\nedges:\n  - {from: start, to: hello, colour: red}\noutput: {text: $hello.text}\n",
				"unknown key `colour` in an edge", "the keys of an edge are `from`, `to` and `when`"},
		},
	},
	{
		Code:  MissingKey,
		Title: "a missing key or value",
		Cause: "A mapping lacks a required key, or a key has no value. Add it; remove empty keys.",
		Wrong: `flowgen: 1
name: again
nodes:
  twice:
    loop: {until: twice.n > 3}
    do: {let: {n: 4}}
`,
		Right: `flowgen: 1
name: again
nodes:
  twice:
    loop: {until: twice.n > 3, max: 5}
    do: {let: {n: 4}}
`,
	},
	{
		Code:  WrongShape,
		Title: "a mapping, list or text where another is expected",
		Cause: "YAML has mappings, lists and text, and each key expects one of them. Often there is an extra dash, or a colon is missing.",
		Wrong: `flowgen: 1
name: greet
nodes:
  - hello: {let: {text: Hello}}
`,
		Right: `flowgen: 1
name: greet
nodes:
  hello: {let: {text: Hello}}
output: {text: $hello.text}
`,
	},
	{
		Code:  UnknownWord,
		Title: "an unknown word",
		Cause: "Some keys take one of a few words, such as `fail` or `skip` for `on_error`. The help names them.",
		Wrong: `flowgen: 1
name: greet
nodes:
  hello: {human: "Ready?", on_timeout: ignore}
`,
		Right: `flowgen: 1
name: greet
nodes:
  hello: {human: "Ready?", on_timeout: skip}
`,
	},
	{
		Code:  BadLiteral,
		Title: "a number, duration, size, amount or reference that cannot be read",
		Cause: "Durations have a unit (30s, 1h30m, 2d), sizes may have one (2MiB), counts are integers from 1, money is a decimal, a Go function is its import path, a dot and its name.",
		Wrong: `flowgen: 1
name: greet
tools:
  today: {command: [date], out: string, effects: reads}
nodes:
  date: {tool: today, timeout: 30}
`,
		Right: `flowgen: 1
name: greet
tools:
  today: {command: [date], out: string, effects: reads}
nodes:
  date: {tool: today, timeout: 30s}
output: {date: $date}
`,
	},
	{
		Code:  BadName,
		Title: "a name that cannot be used",
		Cause: "Ids are lower-case letters, digits and underscores and start with a letter; types start with a capital. A few names mean something already and cannot be ids: input, state, end, error, index, in, true, false, null.",
		Wrong: `flowgen: 1
name: greet
nodes:
  SayHello: {let: {text: Hello}}
`,
		Right: `flowgen: 1
name: greet
nodes:
  say_hello: {let: {text: Hello}}
output: {text: $say_hello.text}
`,
	},
	{
		Code:  DuplicateName,
		Title: "a duplicate name",
		Cause: "Two things of the same sort have the same name: nodes of a workflow (those inside `do:` included), tools with the same name and version, values of an enum, or declarations of included files. Rename one of them.",
		Wrong: `flowgen: 1
name: again
nodes:
  step:
    loop: {until: step > 3, max: 5}
    do: {nodes: {step: {let: {n: 4}}}, result: $step.n}
`,
		Right: `flowgen: 1
name: again
nodes:
  step:
    loop: {until: step > 3, max: 5}
    do: {nodes: {inner: {let: {n: 4}}}, result: $inner.n}
`,
	},
	{
		Code:  NotOneVerb,
		Title: "a missing or ambiguous verb or binding",
		Cause: "A node has exactly one verb, a tool exactly one binding, a server a command or an address, and `auth` is one way to authenticate. Split it in two, or add the missing key.",
		Wrong: `flowgen: 1
name: greet
tools:
  today: {command: [date], out: string, effects: reads}
nodes:
  date: {timeout: 3s}
`,
		Right: `flowgen: 1
name: greet
tools:
  today: {command: [date], out: string, effects: reads}
nodes:
  date: {tool: today, timeout: 3s}
output: {date: $date}
`,
	},
	{
		Code:  BadEdgeForm,
		Title: "an edge that cannot be read",
		Cause: "An edge in text is a chain of node ids with `->` between them; commas fork and join: `a, b -> c -> d, e`. Nothing comes after `end`. Conditions and switches are written as mappings.",
		Wrong: `flowgen: 1
name: greet
nodes:
  hello: {let: {text: Hello}}
  bye: {let: {text: Bye}}
edges:
  - hello => bye
`,
		Right: `flowgen: 1
name: greet
nodes:
  hello: {let: {text: Hello}}
  bye: {let: {text: Bye}}
edges:
  - hello -> bye
output: {hello: $hello.text, bye: $bye.text}
`,
	},
	{
		Code:  BadType,
		Title: "a type that cannot be read",
		Cause: "A type is a name, or a name with its parameter: `list<T>`, `map<T>`, `opt<T>`, `enum<a|b>`, `go:import/path.Type`, or a mapping of fields.",
		Wrong: `flowgen: 1
name: greet
input: {names: {type: "string[]", default: []}}
nodes:
  hello: {let: {n: $size(input.names)}}
`,
		Right: `flowgen: 1
name: greet
input: {names: {type: list<string>, default: []}}
nodes:
  hello: {let: {n: $size(input.names)}}
output: {n: $hello.n}
`,
	},
	{
		Code:  UnknownType,
		Title: "an undefined type",
		Cause: "The name is neither built in nor declared under `types:`, here or in an included file.",
		Wrong: `flowgen: 1
name: greet
types: {Person: {name: string}}
input: {who: Persn}
nodes:
  hello: {let: {text: "Hello {{ input.who.name }}"}}
`,
		Right: `flowgen: 1
name: greet
types: {Person: {name: string}}
input: {who: Person}
nodes:
  hello: {let: {text: "Hello {{ input.who.name }}"}}
output: {text: $hello.text}
`,
	},
	{
		Code:  RecursiveType,
		Title: "a recursive type",
		Cause: "Values of a workflow have a depth that is known, so a type cannot contain itself, not even in a list or an optional. Use `any` for the part whose depth is not known.",
		Wrong: `flowgen: 1
name: trees
types: {Tree: {value: int, children: list<Tree>}}
nodes:
  hello: {let: {text: Hello}}
`,
		Right: `flowgen: 1
name: trees
types: {Tree: {value: int, children: list<any>}}
nodes:
  hello: {let: {text: Hello}}
output: {text: $hello.text}
`,
	},
	{
		Code:  BadConstraint,
		Title: "a bound or a pattern that does not fit",
		Cause: "`min` and `max` bound numbers and the lengths of text, bytes, lists and maps; `pattern` is a regular expression in RE2 syntax for text.",
		Wrong: `flowgen: 1
name: greet
input: {loud: {type: bool, default: false, min: 1}}
nodes:
  hello: {let: {loud: $input.loud}}
`,
		Right: `flowgen: 1
name: greet
input: {loud: {type: bool, default: false}}
nodes:
  hello: {let: {loud: $input.loud}}
output: {loud: $hello.loud}
`,
	},
	{
		Code:  NotConstant,
		Title: "an expression where a constant is expected",
		Cause: "Defaults, names, files and settings are read when the workflow is compiled, so they cannot depend on a run; and values cannot be inserted into a shell script. A text that starts with a dollar is written with two: `$$5`.",
		Wrong: `flowgen: 1
name: greet
input: {name: {type: string, default: $input.who}}
nodes:
  hello: {let: {text: "Hello {{ input.name }}"}}
`,
		Right: `flowgen: 1
name: greet
input: {name: {type: string, default: you}}
nodes:
  hello: {let: {text: "Hello {{ input.name }}"}}
output: {text: $hello.text}
`,
	},
	{
		Code:  NotText,
		Title: "an expression where text is expected",
		Cause: "Arguments of commands, their input and variables, headers and prompts are text. A value is inserted with braces: `\"{{ n }}\"`.",
		Wrong: `flowgen: 1
name: history
tools:
  log: {command: [git, log, -n, $n], in: {n: int}, out: lines, effects: reads}
nodes:
  lines: {tool: log, with: {n: 3}}
`,
		Right: `flowgen: 1
name: history
tools:
  log: {command: [git, log, -n, "{{ n }}"], in: {n: int}, out: lines, effects: reads}
nodes:
  lines: {tool: log, with: {n: 3}}
`,
	},
	{
		Code:  NotExpression,
		Title: "text where an expression is expected",
		Cause: "A map iterates over the value of an expression, or over a literal list. An expression starts with a dollar. Elsewhere text is text; that of a path without quotes that has a value, such as `input.name`, is a warning: write `$input.name`, or quote the text.",
		Wrong: `flowgen: 1
name: greet
input: {names: list<string>}
nodes:
  hello: {map: input.names, as: n, do: {let: {text: "Hello {{ n }}"}}}
`,
		Right: `flowgen: 1
name: greet
input: {names: list<string>}
nodes:
  hello: {map: $input.names, as: n, do: {let: {text: "Hello {{ n }}"}}}
output: {hello: $hello}
`,
	},
	{
		Code:  BadVersion,
		Title: "an unsupported version of the language",
		Cause: "The first key of a file says for which version of the language it is written. This compiler reads version 1.",
		Wrong: `flowgen: 2
name: greet
nodes:
  hello: {let: {text: Hello}}
`,
		Right: `flowgen: 1
name: greet
nodes:
  hello: {let: {text: Hello}}
output: {text: $hello.text}
`,
	},
	{
		Code:  NestedBraces,
		Title: "braces inside a text of an expression",
		Cause: "`{{ }}` puts values into a text of the file. A string inside an expression is literal: its braces stay braces. It is a warning, because that may be intended. Write the text outside an expression, or concatenate with `+`.",
		Wrong: `flowgen: 1
name: greet
input: {who: string}
nodes:
  hello: {let: {text: "$size(input.who) > 0 ? 'Hello {{ input.who }}' : 'Hello'"}}
output: {text: $hello.text}
`,
		Right: `flowgen: 1
name: greet
input: {who: string}
nodes:
  hello: {let: {text: "$size(input.who) > 0 ? 'Hello ' + input.who : 'Hello'"}}
output: {text: $hello.text}
`,
	},
	{
		Code:  OldSpelling,
		Title: "syntax of an earlier version",
		Cause: "A key or a word of the language has another name now. The help says which. `flowgen fmt --migrate` rewrites all files of a project.",
		Wrong: `flowgen: 1
name: disk
tools:
  usage: {command: [df, -h], effects: read}
nodes:
  used: {tool: usage}
output: {used: $used}
`,
		Right: `flowgen: 1
name: disk
tools:
  usage: {command: [df, -h], effects: reads}
nodes:
  used: {tool: usage}
output: {used: $used}
`,
	},
}
