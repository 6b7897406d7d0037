package parser

import (
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/native"
	"github.com/flowgen-dev/flowgen/parser/yamlfmt"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// Format returns a file of flowgen's own language in canonical layout (package yamlfmt says what that is). It means the
// same as before. ok is false when the file is not YAML or not in this language, which goes to sink; a file with
// mistakes of other kinds can be formatted. An error is a fault of the formatter: the file has to stay as it is.
func Format(f *source.File, sink *diag.Sink) (text string, ok bool, err error) {
	root, problems := yamlnode.Parse(f)
	for _, p := range problems {
		sink.Report(yamlDiagnostic(p))
	}
	if root == nil || len(problems) > 0 {
		return "", false, nil
	}
	if fit := detect(root); len(fit) != 1 || fit[0].name != "native" || root.Kind != yamlnode.Mapping {
		(&loader{sink: sink}).unknown(&tree{file: f, root: root})
		return "", false, nil
	}
	text, err = yamlfmt.Format(f, root, yamlfmt.Rules{Order: native.TopKeys(), Spell: native.Spellings(root)})
	return text, err == nil, err
}
