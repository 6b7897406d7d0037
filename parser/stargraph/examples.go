package stargraph

import "github.com/flowgen-dev/flowgen/ir/diag"

// examples show codes of dialects.
var examples = []diag.Example{
	{Code: diag.NotConverted, Wrong: `id: greeting
state: {Name: {type: str, default: World}}
nodes:
  greet: {kind: template, template: "Hello {Name}", out: text}
routes: {greet: done}
`, Right: `id: greeting
state: {name: {type: str, default: World}}
nodes:
  greet: {kind: template, template: "Hello {name}", out: text}
routes: {greet: done}
`},
	{Code: diag.OpenSlot, Wrong: `ir_version: "1.0.0"
id: fetching
state_schema: {url: str, title: str}
nodes:
  - {id: fetch, kind: "acme.nodes:FetchPage"}
`, Right: `ir_version: "1.0.0"
id: fetching
state_schema: {url: str, title: str}
nodes:
  - {id: fetch, kind: template, config: {template: "Page {url}", out: title}}
`},
}
