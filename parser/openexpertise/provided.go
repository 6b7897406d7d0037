package openexpertise

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// provided is what converted workflows name.
var provided = ir.Provided{Functions: []*ir.GoBinding{
	dialect.ProvideIn("openexpertise", "Records", "RecordsFile", schema.ListOf(schema.AnyType),
		&schema.Field{Name: "uri", GoName: "URI", Type: schema.StringType},
		&schema.Field{Name: "format", GoName: "Format", Type: &schema.Type{Kind: schema.Enum, Values: []string{"json", "jsonl", "csv"}, Go: &schema.Go{Name: "string"}}}),
}}
