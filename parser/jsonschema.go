package parser

import "github.com/flowgen-dev/flowgen/parser/native"

// JSONSchemaOf is the JSON Schema of a dialect; nil when there is none of the name.
func JSONSchemaOf(dialect string) []byte {
	for _, d := range dialects {
		if d.name == dialect && d.schema != nil {
			return d.schema()
		}
	}
	return nil
}

// SchemaDialects are the dialects that have one.
func SchemaDialects() []string {
	var names []string
	for _, d := range dialects {
		if d.schema != nil {
			names = append(names, d.name)
		}
	}
	return names
}

// JSONSchema is the shape of workflow files of flowgen's own language as a JSON Schema of draft 7, for editors. The
// bytes are always the same.
func JSONSchema() []byte { return native.JSONSchema() }
