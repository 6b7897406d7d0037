package openexpertise

import "github.com/flowgen-dev/flowgen/ir/diag"

// examples show codes of dialects.
var examples = []diag.Example{
	{Code: diag.DialectDiffers, Wrong: `name: two
version: 0.1.0
state:
  schema: {rows: {type: array}, more: {type: array}}
graph:
  nodes:
    - {id: load, kind: dataset, source: {kind: file, uri: rows.json, format: json}, writes: [rows]}
    - {id: again, kind: dataset, source: {kind: file, uri: more.json, format: json}, writes: [more]}
  edges: []
`, Right: `name: two
version: 0.1.0
state:
  schema: {rows: {type: array}, more: {type: array}}
graph:
  nodes:
    - {id: load, kind: dataset, source: {kind: file, uri: rows.json, format: json}, writes: [rows], on_error: skip}
    - {id: again, kind: dataset, source: {kind: file, uri: more.json, format: json}, writes: [more], on_error: skip}
  edges: []
`},
	{Code: diag.AmbiguousDialect, Wrong: `flowgen: 1
name: both
nodes:
  hello: {let: {text: hi}}
graph: {nodes: []}
output: {text: $hello.text}
`, Right: `flowgen: 1
name: both
nodes:
  hello: {let: {text: hi}}
output: {text: $hello.text}
`},
	{Code: diag.IgnoredKey, Wrong: `name: sheet
version: 0.1.0
state:
  schema: {rows: {type: array}}
graph:
  nodes:
    - {id: load, kind: dataset, source: {kind: file, uri: rows.csv, format: csv}, writes: [rows], onerror: skip}
  edges: []
`, Right: `name: sheet
version: 0.1.0
state:
  schema: {rows: {type: array}}
graph:
  nodes:
    - {id: load, kind: dataset, source: {kind: file, uri: rows.csv, format: csv}, writes: [rows], on_error: skip}
  edges: []
`},
}
