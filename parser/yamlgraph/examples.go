package yamlgraph

import (
	"github.com/flowgen-dev/flowgen/ir/diag"
)

// examples show codes of dialects.
var examples = []diag.Example{
	{Code: diag.NotSupported, Wrong: `state: {rows: list}
nodes:
  fix: {type: map, over: "{state.rows}", as: row, node: {type: interrupt}, collect: done}
edges:
  - {from: START, to: fix}
  - {from: fix, to: END}
`, Right: `state: {rows: list}
nodes:
  fix: {type: map, over: "{state.rows}", as: row, node: {type: passthrough, output: {message: fixed}}, collect: done}
edges:
  - {from: START, to: fix}
  - {from: fix, to: END}
`},
}
