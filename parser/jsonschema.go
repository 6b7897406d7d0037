package parser

import "github.com/flowgen-dev/flowgen/parser/native"

// JSONSchemaOf is the JSON Schema of a dialect; nil when there is none of the name.
func JSONSchemaOf(dialect string) []byte {
	for _, d := range languages() {
		if d.name == dialect {
			return d.schema()
		}
	}
	return nil
}

// JSONSchema is the shape of workflow files of flowgen's own language as a JSON Schema of draft 7, for editors. The
// bytes are always the same.
func JSONSchema() []byte { return native.JSONSchema() }
