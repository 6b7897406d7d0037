package yamlgraph

import (
	"slices"
)

// The engine brings one class of answers along, GenericReport.
var genericNames = []string{"GenericReport", "yamlgraph.models.GenericReport", "yamlgraph.models.schemas.GenericReport"}

const genericReport = `{"type":"object","title":"GenericReport","properties":{"title":{"type":"string","description":"The title"},` +
	`"summary":{"type":"string","description":"What matters most"},` +
	`"sections":{"type":"object","additionalProperties":{},"description":"Parts by name, with any content","default":{}},` +
	`"findings":{"type":"array","items":{"type":"string"},"description":"What was found","default":[]},` +
	`"recommendations":{"type":"array","items":{"type":"string"},"description":"What should be done","default":[]},` +
	`"metadata":{"type":"object","additionalProperties":{},"description":"More data by name","default":{}}},` +
	`"required":["title","summary"],"additionalProperties":false}`

// builtIn is the schema of a class that the engine brings along; empty for other classes.
func builtIn(name string) string {
	if slices.Contains(genericNames, name) {
		return genericReport
	}
	return ""
}
