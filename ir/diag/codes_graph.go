package diag

// Edges, order, loops, state under concurrency.
const (
	Cycle          Code = "FG0501"
	BadEdge        Code = "FG0502"
	Unconnected    Code = "FG0503"
	Unreachable    Code = "FG0504"
	NotBefore      Code = "FG0505"
	NeverRan       Code = "FG0506"
	MissingCase    Code = "FG0507"
	UnknownCase    Code = "FG0508"
	BadLoop        Code = "FG0509"
	BackAndExit    Code = "FG0510"
	StateRace      Code = "FG0511"
	StateUnset     Code = "FG0512"
	NotCaught      Code = "FG0513"
	DuplicateCase  Code = "FG0514"
	BadMerge       Code = "FG0515"
	Misplaced      Code = "FG0516"
	UselessDefault Code = "FG0517"
	SilentHandler  Code = "FG0518"
	BusyLoop       Code = "FG0519"
	UselessUndo    Code = "FG0520"

	ConstantCondition Code = "FG0521"
)

var graphCodes = []Entry{
	{
		Code:  Cycle,
		Title: "a cycle of nodes",
		Cause: "A node runs once all nodes on its incoming edges have ended, so nodes on a circle of edges would wait for ever. Where nothing is written under `edges`, a node comes after those it reads, which can close a circle as well. To repeat nodes, use a `loop` node, or give the edge that leads back a `max`.",
		Wrong: `flowgen: 1
name: circle
nodes:
  ping: {let: {n: $pong.n + 1}}
  pong: {let: {n: $ping.n + 1}}
output: {n: $pong.n}
`,
		Right: `flowgen: 1
name: circle
nodes:
  ping: {let: {n: 1}}
  pong: {let: {n: $ping.n + 1}}
output: {n: $pong.n}
`,
	},
	{
		Code:  BadEdge,
		Title: "conflicting edges",
		Cause: "An edge without a condition is active whenever its node has run. A second edge between the same two nodes has no effect, so its condition or case is never evaluated. Remove one of them. An edge also cannot leave `end`, and an edge with `max` leads back to one node.",
		Wrong: `flowgen: 1
name: twice
input: {n: int}
nodes:
  first: {let: {n: $input.n}}
  second: {let: {n: $first.n + 1}}
edges:
  - first -> second
  - {from: first, to: second, when: first.n > 3}
output: {n: $second.n}
`,
		Right: `flowgen: 1
name: twice
input: {n: int}
nodes:
  first: {let: {n: $input.n}}
  second: {let: {n: $first.n + 1}}
edges:
  - {from: first, to: second, when: first.n > 3}
output: {n: "$default(second.n, 0)"}
`,
	},
	{
		Code:  Unconnected,
		Title: "a node without edges",
		Cause: "Write all edges or none. If `edges` exists, it defines the entire order, so a node without edges would start immediately, in parallel with all others. Add the node to an edge, or remove it.",
		Wrong: `flowgen: 1
name: lost
nodes:
  first: {let: {n: 1}}
  second: {let: {n: $first.n + 1}}
  third: {let: {n: 3}}
edges:
  - first -> second
output: {n: $second.n, m: $third.n}
`,
		Right: `flowgen: 1
name: lost
nodes:
  first: {let: {n: 1}}
  second: {let: {n: $first.n + 1}}
  third: {let: {n: 3}}
edges:
  - first -> second
  - first -> third
output: {n: $second.n, m: $third.n}
`,
	},
	{
		Code:  Unreachable,
		Title: "an unreachable node",
		Cause: "No path of edges leads to the node: its edges leave unreachable nodes, or exclude each other, or a back edge takes precedence whenever its condition is true. Change the condition, or remove the node.",
		Wrong: `flowgen: 1
name: dead
nodes:
  draft: {let: {n: 1}}
  check: {let: {n: 2}}
  log: {let: {n: 3}}
edges:
  - draft -> check
  - {from: check, to: draft, when: check.n > 1, max: 3}
  - {from: check, to: log, when: check.n > 1}
output: {n: $draft.n, m: $log.n}
`,
		Right: `flowgen: 1
name: dead
nodes:
  draft: {let: {n: 1}}
  check: {let: {n: 2}}
  log: {let: {n: 3}}
edges:
  - draft -> check
  - {from: check, to: draft, when: check.n > 1, max: 3, exhausted: log}
  - {from: check, to: end, when: check.n <= 1}
output: {n: "$log?.n", m: $draft.n}
`,
	},
	{
		Code:  NotBefore,
		Title: "a result that is read before its node runs",
		Cause: "An expression can read the results of nodes that have certainly ended before: its predecessors in the graph. The result of a later node, of a parallel one, or of the node itself is not available. Add an edge, or read another node; what a node needs from its own earlier run goes through `state`.",
		Wrong: `flowgen: 1
name: early
nodes:
  first: {let: {n: 1}}
  left: {let: {n: $first.n + 1}}
  right: {let: {n: $left.n + 1}}
edges:
  - first -> left, right
output: {n: $left.n, m: $right.n}
`,
		Right: `flowgen: 1
name: early
nodes:
  first: {let: {n: 1}}
  left: {let: {n: $first.n + 1}}
  right: {let: {n: $left.n + 1}}
edges:
  - first -> left -> right
output: {n: $left.n, m: $right.n}
`,
	},
	{
		Code:  NeverRan,
		Title: "a result that is always absent where it is read",
		Cause: "Whenever the reader runs, the node has not run or has failed: they are in different cases of one decision, or the reader runs after the node's `catch`. Read the node that did run; after a catch, read `node.error`.",
		Wrong: `flowgen: 1
name: never
tools:
  today: {command: [date], out: string, effects: reads}
nodes:
  date: {tool: today, catch: {any: note}}
  note: {let: {text: "{{ date }}"}}
output: {text: "$default(note.text, \"\")"}
`,
		Right: `flowgen: 1
name: never
tools:
  today: {command: [date], out: string, effects: reads}
nodes:
  date: {tool: today, catch: {any: note}}
  note: {let: {text: "{{ date.error.message }}"}}
output: {text: "$default(note.text, \"\")"}
`,
	},
	{
		Code:  MissingCase,
		Title: "a switch that does not cover every value",
		Cause: "The value is an enum or a bool, all of whose values are known, and one of them has no case and there is no `default`: the workflow would stop there. Add the case, or write `default: end` to do nothing.",
		Wrong: `flowgen: 1
name: cover
input: {route: enum<left|right|back>}
nodes:
  choose: {let: {route: $input.route}}
  left: {let: {n: 1}}
  right: {let: {n: 2}}
edges:
  - {from: choose, switch: choose.route, cases: {left: left, right: right}}
output: {n: "$first(left?.n, right?.n)"}
`,
		Right: `flowgen: 1
name: cover
input: {route: enum<left|right|back>}
nodes:
  choose: {let: {route: $input.route}}
  left: {let: {n: 1}}
  right: {let: {n: 2}}
edges:
  - {from: choose, switch: choose.route, cases: {left: left, right: right}, default: end}
output: {n: "$first(left?.n, right?.n)"}
`,
	},
	{
		Code:  UnknownCase,
		Title: "an impossible case",
		Cause: "The value of the switch is an enum or a bool, and the case is not one of its values: it would never be taken. Correct the spelling, or remove the case.",
		Wrong: `flowgen: 1
name: misspelled
input: {route: enum<left|right>}
nodes:
  choose: {let: {route: $input.route}}
  left: {let: {n: 1}}
  right: {let: {n: 2}}
edges:
  - {from: choose, switch: choose.route, cases: {left: left, rihgt: right}}
output: {n: "$first(left?.n, right?.n)"}
`,
		Right: `flowgen: 1
name: misspelled
input: {route: enum<left|right>}
nodes:
  choose: {let: {route: $input.route}}
  left: {let: {n: 1}}
  right: {let: {n: 2}}
edges:
  - {from: choose, switch: choose.route, cases: {left: left, right: right}}
output: {n: "$first(left.n, right.n)"}
`,
	},
	{
		Code:  BadLoop,
		Title: "edges that form an invalid loop",
		Cause: "An edge with `max` leads back to a node that comes before, the head of the loop. All nodes between them belong to the loop. A loop is entered only through its head, and two loops are nested or disjoint. Move the edge, or use a `loop` node.",
		Wrong: `flowgen: 1
name: again
state: {n: {type: int, init: 0}}
nodes:
  draft: {let: {n: $state.n + 1}, set: {n: $draft.n}}
  judge: {let: {ok: $draft.n > 3}}
edges:
  - draft -> judge
  - {from: draft, to: judge, when: draft.n < 2, max: 5}
output: {ok: $judge.ok}
`,
		Right: `flowgen: 1
name: again
state: {n: {type: int, init: 0}}
nodes:
  draft: {let: {n: $state.n + 1}, set: {n: $draft.n}}
  judge: {let: {ok: $draft.n > 3}}
edges:
  - draft -> judge
  - {from: judge, to: draft, when: "!judge.ok", max: 5}
output: {ok: $judge.ok}
`,
	},
	{
		Code:  BackAndExit,
		Title: "an exit from a loop that may be active while the loop continues",
		Cause: "The back edge takes precedence: while its condition is true the loop continues, and the other edges apply only after the last iteration. If the exit's condition can be true at the same time, the file is ambiguous. Write the opposite condition on the exit.",
		Wrong: `flowgen: 1
name: again
state: {n: {type: int, init: 0}}
nodes:
  draft: {let: {n: $state.n + 1}, set: {n: $draft.n}}
  judge: {let: {ok: $draft.n > 3}}
  done: {let: {n: $draft.n}}
edges:
  - draft -> judge
  - {from: judge, to: draft, when: "!judge.ok", max: 5}
  - judge -> done
output: {n: $done.n}
`,
		Right: `flowgen: 1
name: again
state: {n: {type: int, init: 0}}
nodes:
  draft: {let: {n: $state.n + 1}, set: {n: $draft.n}}
  judge: {let: {ok: $draft.n > 3}}
  done: {let: {n: $draft.n}}
edges:
  - draft -> judge
  - {from: judge, to: draft, when: "!judge.ok", max: 5}
  - {from: judge, to: done, when: judge.ok}
output: {n: $done.n}
`,
	},
	{
		Code:  StateRace,
		Title: "concurrent access to state",
		Cause: "Nodes without edges between them run in parallel, and so do the items of a map. Whether one sees what another writes to a state field depends on timing. Put the nodes one after the other, keep the value in the node's result, or declare the field with `merge: append` or a Go reducer and only write it there: such writes are applied where the branches meet, in file order.",
		Wrong: `flowgen: 1
name: race
state: {n: {type: int, init: 0}}
nodes:
  first: {let: {n: 1}}
  left: {let: {n: $first.n + 1}, set: {n: $left.n}}
  right: {let: {n: $first.n + 2}, set: {n: $right.n}}
edges:
  - first -> left, right
output: {n: $state.n}
`,
		Right: `flowgen: 1
name: race
state: {seen: {type: list<int>, merge: append}}
nodes:
  first: {let: {n: 1}}
  left: {let: {n: $first.n + 1}, set: {seen: $left.n}}
  right: {let: {n: $first.n + 2}, set: {seen: $right.n}}
edges:
  - first -> left, right
output: {seen: $state.seen}
`,
	},
	{
		Code:  StateUnset,
		Title: "state that is read before it is written",
		Cause: "The field has no `init`, and on some path to the reader no node has set it, so it has no value. Give it an `init`, declare it as `opt<...>`, or set it on every path.",
		Wrong: `flowgen: 1
name: unset
state: {n: int}
nodes:
  next: {let: {n: $state.n + 1}, set: {n: $next.n}}
output: {n: $state.n}
`,
		Right: `flowgen: 1
name: unset
state: {n: {type: int, init: 0}}
nodes:
  next: {let: {n: $state.n + 1}, set: {n: $next.n}}
output: {n: $state.n}
`,
	},
	{
		Code:  NotCaught,
		Title: "an error that is read where nothing was caught",
		Cause: "A node's `.error` exists only after its `catch`: in the handler, and in nodes that run only after the handler. Everywhere else the node succeeded, or the workflow has ended. Add a `catch`, or read the error in its handler.",
		Wrong: `flowgen: 1
name: caught
tools:
  today: {command: [date], out: string, effects: reads}
nodes:
  date: {tool: today, on_error: {default: unknown}}
  note: {let: {text: "{{ date.error.message }}"}}
output: {text: $note.text}
`,
		Right: `flowgen: 1
name: caught
tools:
  today: {command: [date], out: string, effects: reads}
nodes:
  date: {tool: today, catch: {any: note}}
  note: {let: {text: "{{ date.error.message }}"}}
output: {text: "$default(note.text, \"\")"}
`,
	},
	{
		Code:  DuplicateCase,
		Title: "a duplicate case",
		Cause: "Two cases of a switch are the same value, in the same or in another spelling. The first is taken and the second never. Remove one; one case may lead to several nodes.",
		Wrong: `flowgen: 1
name: cases
input: {n: int}
nodes:
  choose: {let: {n: $input.n}}
  left: {let: {n: 1}}
  right: {let: {n: 2}}
edges:
  - {from: choose, switch: choose.n, cases: {16: left, 0x10: right}, default: end}
output: {n: "$first(left?.n, right?.n)"}
`,
		Right: `flowgen: 1
name: cases
input: {n: int}
nodes:
  choose: {let: {n: $input.n}}
  left: {let: {n: 1}}
  right: {let: {n: 2}}
edges:
  - {from: choose, switch: choose.n, cases: {16: left, 17: right}, default: end}
output: {n: "$first(left?.n, right?.n)"}
`,
	},
	{
		Code:  BadMerge,
		Title: "a merge rule that does not fit the field",
		Cause: "`merge: append` appends to a list, so the field must be a list. Declare it as `list<...>`, or use `last`, `set_once` or a Go function.",
		Wrong: `flowgen: 1
name: grow
state: {seen: {type: string, init: "", merge: append}}
nodes:
  one: {let: {word: hello}, set: {seen: $one.word}}
output: {seen: $state.seen}
`,
		Right: `flowgen: 1
name: grow
state: {seen: {type: list<string>, merge: append}}
nodes:
  one: {let: {word: hello}, set: {seen: $one.word}}
output: {seen: $state.seen}
`,
	},
	{
		Code:  Misplaced,
		Title: "a key without effect on this node",
		Cause: "Only calls are retried, time out and fail: a `let` or `go` node has nothing to catch, and the nodes inside a `map` or `loop` are retried individually. Move the key to the node that makes the call, or remove it.",
		Wrong: `flowgen: 1
name: pure
nodes:
  one: {let: {n: 1}, retry: {attempts: 3}}
output: {n: $one.n}
`,
		Right: `flowgen: 1
name: pure
tools:
  today: {command: [date], out: string, effects: reads}
nodes:
  one: {tool: today, retry: {attempts: 3}}
output: {date: $one}
`,
	},
	{
		Code:  UselessDefault,
		Title: "an unreachable default",
		Cause: "The value of the switch is an enum or a bool, and every value has its case. Without the default, the compiler reports missing cases when the enum grows. Remove it.",
		Wrong: `flowgen: 1
name: spare
input: {route: enum<left|right>}
nodes:
  choose: {let: {route: $input.route}}
  left: {let: {n: 1}}
  right: {let: {n: 2}}
edges:
  - {from: choose, switch: choose.route, cases: {left: left, right: right}, default: end}
output: {n: "$first(left.n, right.n)"}
`,
		Right: `flowgen: 1
name: spare
input: {route: enum<left|right>}
nodes:
  choose: {let: {route: $input.route}}
  left: {let: {n: 1}}
  right: {let: {n: 2}}
edges:
  - {from: choose, switch: choose.route, cases: {left: left, right: right}}
output: {n: "$first(left.n, right.n)"}
`,
	},
	{
		Code:  SilentHandler,
		Title: "a hidden failure",
		Cause: "A node's errors are caught, and the run then succeeds: no `fail` node follows the handler, and neither its results nor state show the caller what happened. An undo or an alert would make a failed run green. End the path with `fail`, which can carry the caught error, or read the handler's result in `output`. `catch: {any: end}` ignores failures on purpose and is accepted.",
		Wrong: `flowgen: 1
name: silent
tools:
  ship: {command: [touch, shipped], out: none, effects: writes}
  cancel: {command: [touch, cancelled], out: none, effects: writes}
nodes:
  sent: {tool: ship, catch: {any: undo}}
  undo: {tool: cancel}
`,
		Right: `flowgen: 1
name: silent
tools:
  ship: {command: [touch, shipped], out: none, effects: writes}
  cancel: {command: [touch, cancelled], out: none, effects: writes}
nodes:
  sent: {tool: ship, catch: {any: undo}}
  undo: {tool: cancel}
  lost: {fail: "not sent: {{ error.message }}", error: $error}
edges:
  - undo -> lost
`,
	},
	{
		Code:  BusyLoop,
		Title: "a loop without a pause",
		Cause: "A loop polls a tool with the same arguments without waiting in between, as fast as the service answers. Set a minimum interval with `every`, or add a `wait` node to its body. Loops whose arguments change between iterations are not reported.",
		Wrong: `flowgen: 1
name: busy
tools:
  status: {http: "GET https://api.example.com/export", out: {ready: bool}, effects: reads}
nodes:
  export: {loop: {until: export.ready, max: 60}, do: {tool: status}}
output: {ready: $export.ready}
`,
		Right: `flowgen: 1
name: busy
tools:
  status: {http: "GET https://api.example.com/export", out: {ready: bool}, effects: reads}
nodes:
  export: {loop: {until: export.ready, max: 60, every: 10s}, do: {tool: status}}
output: {ready: $export.ready}
`,
	},
	{
		Code:  UselessUndo,
		Title: "an undo of nothing",
		Cause: "A node has an `undo`, but its tool changes nothing, or the tool of the `undo` changes nothing: effects none and reads change nothing. One of the two declarations is wrong, or the `undo` is on the wrong node.",
		Wrong: `flowgen: 1
name: looked
tools:
  price: {http: "GET https://api.example.com/price", out: {usd: float}, effects: reads}
  cancel: {http: "DELETE https://api.example.com/hold", effects: writes}
nodes:
  quote: {tool: price, undo: {tool: cancel}}
output: {usd: $quote.usd}
`,
		Right: `flowgen: 1
name: held
tools:
  hold: {http: "POST https://api.example.com/hold", out: {usd: float}, effects: writes}
  cancel: {http: "DELETE https://api.example.com/hold", effects: writes}
nodes:
  quote: {tool: hold, undo: {tool: cancel}}
output: {usd: $quote.usd}
`,
	},
	{
		Code:  ConstantCondition,
		Title: "a condition that reads nothing",
		Cause: "The `when` of a node or of an edge has the same result in every run, because it reads no value: the node runs always, or never. Often it is left over from an experiment, or a name is in quotes by mistake.",
		Wrong: `flowgen: 1
name: report
tools:
  mail: {command: [sendmail, ops], out: none, effects: external}
nodes:
  told: {when: false, tool: mail}
`,
		Right: `flowgen: 1
name: report
input: {quiet: bool}
tools:
  mail: {command: [sendmail, ops], out: none, effects: external}
nodes:
  told: {when: "!input.quiet", tool: mail}
`,
	},
}
