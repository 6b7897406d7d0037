package parser

import "github.com/flowgen-dev/flowgen/parser/native"

// JSONSchema is the shape of workflow files of flowgen's own language as a JSON Schema of draft 7, for editors. The
// bytes are always the same.
func JSONSchema() []byte { return native.JSONSchema() }
