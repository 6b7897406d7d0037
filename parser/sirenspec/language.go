package sirenspec

import (
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// Language is SirenSpec.
var Language = dialect.Language{
	Name: Name, Root: "workflow.yaml", Needs: "python3", Merges: true,
	Is: Is, Parse: Parse, Schema: Schema, Functions: functionTable, Provided: &provided,
	Eras:        []dialect.Era{{Name: "0.1", Engine: "sirenspec 0.1.2", Upstream: true}},
	Codes:       []diag.Code{diag.DialectDiffers, diag.NotSupported, diag.IgnoredKey},
	Differences: Differences,
}
