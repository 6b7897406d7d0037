package stargraph

import (
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// Language is Stargraph.
var Language = dialect.Language{
	Name: Name, Root: "graph.yaml", Needs: "python3", Merges: true,
	Is: Is, Parse: Parse, Schema: Schema, Modules: []string{"stargraph/store"}, Provided: &provided,
	Eras:        []dialect.Era{{Name: "0.8", Engine: "stargraph 0.8.0", Upstream: true}},
	Codes:       []diag.Code{diag.DialectDiffers, diag.NotSupported, diag.IgnoredKey, diag.UnknownTool, diag.UnknownName, diag.DuplicateName, diag.OpenSlot},
	Differences: Differences,
	Examples:    examples,
}
