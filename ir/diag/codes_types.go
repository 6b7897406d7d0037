package diag

// Values that do not fit.
const (
	TypeMismatch Code = "FG0401"
	OptionalUse  Code = "FG0402"
	NoTextForm   Code = "FG0403"
	UntypedValue Code = "FG0404"
	MissingField Code = "FG0405"
	BadVariant   Code = "FG0406"
	UnionUse     Code = "FG0407"
)

var typeCodes = []Entry{
	{
		Code:  TypeMismatch,
		Title: "a value of the wrong type",
		Cause: "A value is used where another type is expected. Nothing is converted silently: an int is not a float, a list is not text. Change the value, or the expected type.",
		Wrong: `flowgen: 1
name: sample
input: {n: int}
nodes:
  pick: {let: {x: $input.n + 1}}
output: {x: {type: string, value: $pick.x}}
`,
		Right: `flowgen: 1
name: sample
input: {n: int}
nodes:
  pick: {let: {x: $input.n + 1}}
output: {x: {type: int, value: $pick.x}}
`,
	},
	{
		Code:  OptionalUse,
		Title: "an optional value used without a check",
		Cause: "The value may be absent: it is optional, or it is the result of a node that may not have run. Test it first (`x != null && ...`, `x == null ? ... : ...`, or a `when` before it), read fields through `?.`, or provide a default: `default(x, value)`, `first(a, b)`. The message explains why it may be absent, and the help how to handle it.",
		Wrong: `flowgen: 1
name: sample
input: {tag: opt<string>}
nodes:
  pick:
    let:
      x: $size(input.tag) > 3
output: {x: $pick.x}
`,
		Right: `flowgen: 1
name: sample
input: {tag: opt<string>}
nodes:
  pick:
    let:
      x: $size(default(input.tag, "")) > 3
output: {x: $pick.x}
`,
		Cases: []Case{
			{"flowgen: 1\nname: sample\ninput: {t: opt<string>}\ntools:\n  get: {command: [echo, \"{{ x }}\"], in: {x: string}, out: string, effects: reads}\nnodes:\n  b: {tool: get, with: {x: $input.t}}\noutput: {x: $b}\n",
				"input.t may be absent: it is declared optional",
				"test it first: `input.t != null && ...`, or give it a default: `default(input.t, ...)`"},
			{"flowgen: 1\nname: sample\ninput: {n: int}\ntools:\n  get: {command: [echo, \"{{ x }}\"], in: {x: string}, out: string, effects: reads}\nnodes:\n  a: {when: input.n > 3, tool: get, with: {x: a}}\n  b: {tool: get, with: {x: $a}}\noutput: {x: $b}\n",
				"a may not have run here: its `when` is true only when input.n > 3 (7:13)",
				"add `when: a != null` to this node, or give it a default: `default(a, ...)`"},
			{"flowgen: 1\nname: sample\ninput: {n: int}\ntools:\n  get: {command: [echo, \"{{ x }}\"], in: {x: string}, out: string, effects: reads}\nnodes:\n  a: {tool: get, with: {x: a}}\n  b: {tool: get, with: {x: $a}}\nedges:\n  - {from: start, to: a, when: input.n > 3}\n  - a -> b\n  - start -> b\noutput: {x: $b}\n",
				"a may not have run here: the edge `start -> a` is active only when input.n > 3 (10:32)",
				"add `when: a != null` to this node, or give it a default: `default(a, ...)`"},
			{"flowgen: 1\nname: sample\ninput: {n: int}\ntools:\n  get: {command: [echo, \"{{ x }}\"], in: {x: string}, out: string, effects: reads}\nnodes:\n  a: {tool: get, with: {x: a}, on_error: skip}\n  b: {tool: get, with: {x: $a}}\noutput: {x: $b}\n",
				"a may have failed and been skipped (on_error: skip)",
				"write `on_error: {default: ...}` on a, or add `when: a != null` to this node, or give it a default: `default(a, ...)`"},
			{"flowgen: 1\nname: sample\ninput: {n: int}\ntools:\n  get: {command: [echo, \"{{ x }}\"], in: {x: string}, out: string, effects: reads}\nnodes:\n  a: {tool: get, with: {x: a}, catch: {any: h}}\n  h: {let: 1}\n  b: {tool: get, with: {x: $a}}\nedges:\n  - a -> b\n  - h -> b\noutput: {x: $b}\n",
				"a may have failed here: its errors are caught",
				"read it where no handler leads, or add `when: a != null` to this node, or give it a default: `default(a, ...)`"},
			{"flowgen: 1\nname: sample\ninput: {xs: list<string>}\ntools:\n  get: {command: [echo, \"{{ x }}\"], in: {x: string}, out: string, effects: reads}\nnodes:\n  b: {tool: get, with: {x: \"$input.xs[0]\"}}\noutput: {x: $b}\n",
				"input.xs[0] may be absent: the list may have no item 0",
				"an index out of range is absent: test `input.xs[0] != null && ...`, or give it a default: `default(input.xs[0], ...)`"},
			{"flowgen: 1\nname: sample\ninput: {ts: [{u: opt<string>}]}\ntools:\n  get: {command: [echo, \"{{ x }}\"], in: {x: string}, out: string, effects: reads}\nnodes:\n  b: {let: \"$input.ts.map(t, size(t.u))\"}\noutput: {x: $b}\n",
				"t.u may be absent: it is declared optional",
				"keep the items that have it, with `.filter(t, t.u != null)` on the list, or give it a default: `default(t.u, ...)`"},
		},
	},
	{
		Code:  NoTextForm,
		Title: "a value that has no text form",
		Cause: "Between `{{` and `}}` are allowed: strings, numbers, bools, enums, times, durations and bytes. Lists, maps and structs are written with a filter: `| json`, and for lists of text `| lines` or `| join(\", \")`.",
		Wrong: `flowgen: 1
name: sample
input: {names: list<string>}
nodes:
  pick:
    let:
      x: "{{ input.names }}"
output: {x: $pick.x}
`,
		Right: `flowgen: 1
name: sample
input: {names: list<string>}
nodes:
  pick:
    let:
      x: "{{ input.names | lines }}"
output: {x: $pick.x}
`,
	},
	{
		Code:  UntypedValue,
		Title: "a value whose type cannot be inferred",
		Cause: "An empty list or `null` has no type of its own. It can be used where a type is expected, as in the input of a tool, but not where the type is inferred from the value, as in a `let` node. Give the field a type, or use a value that has one.",
		Wrong: `flowgen: 1
name: sample
nodes:
  pick: {let: {tags: []}}
output: {n: $size(pick.tags)}
`,
		Right: `flowgen: 1
name: sample
nodes:
  pick: {let: {tags: [none]}}
output: {n: $size(pick.tags)}
`,
	},
	{
		Code:  MissingField,
		Title: "a missing required value",
		Cause: "A field without a default has no value in this call or struct. Add it; if it is optional, declare a default or make it `opt<...>`.",
		Wrong: `flowgen: 1
name: sample
tools:
  log: {command: [git, log, "-n{{ n }}", "{{ ref }}"], in: {n: int, ref: string}, out: lines, effects: reads}
nodes:
  commits: {tool: log, with: {n: 3}}
output: {commits: $commits}
`,
		Right: `flowgen: 1
name: sample
tools:
  log: {command: [git, log, "-n{{ n }}", "{{ ref }}"], in: {n: int, ref: string}, out: lines, effects: reads}
nodes:
  commits: {tool: log, with: {n: 3, ref: main}}
output: {commits: $commits}
`,
	},
	{
		Code:  BadVariant,
		Title: "a variant that a union cannot tell apart",
		Cause: "The variants of a union are structs under `types:`. Each has the field that `by` names, an enum with one value: its tag under `oneof`.",
		Wrong: `flowgen: 1
name: sample
types:
  Push: {ref: string}
  Issue: {kind: enum<issue>, title: string}
  Event: {oneof: {push: Push, issue: Issue}, by: kind}
input: {event: Event}
nodes:
  kind: {let: $input.event.kind}
output: {kind: $kind}
`,
		Right: `flowgen: 1
name: sample
types:
  Push: {kind: enum<push>, ref: string}
  Issue: {kind: enum<issue>, title: string}
  Event: {oneof: {push: Push, issue: Issue}, by: kind}
input: {event: Event}
nodes:
  kind: {let: $input.event.kind}
output: {kind: $kind}
`,
	},
	{
		Code:  UnionUse,
		Title: "a field of a variant read without knowing the variant",
		Cause: "The value is one of several structs, and only its tag can be read until the variant is known. After a case of a switch over the value, or a comparison of the tag, it is that struct.",
		Wrong: `flowgen: 1
name: sample
types:
  Push: {kind: enum<push>, ref: string}
  Issue: {kind: enum<issue>, title: string}
  Event: {oneof: {push: Push, issue: Issue}, by: kind}
input: {event: Event}
nodes:
  text: {let: $input.event.ref}
output: {text: $text}
`,
		Right: `flowgen: 1
name: sample
types:
  Push: {kind: enum<push>, ref: string}
  Issue: {kind: enum<issue>, title: string}
  Event: {oneof: {push: Push, issue: Issue}, by: kind}
input: {event: Event}
nodes:
  pushed: {let: $input.event.ref}
  opened: {let: $input.event.title}
edges:
  - {from: start, switch: input.event, cases: {push: pushed, issue: opened}}
output: {text: "$first(pushed, opened)"}
`,
	},
}
