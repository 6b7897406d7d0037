package parser

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/native"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// A dialect is a language that workflows are written in.
type dialect struct {
	name  string
	is    func(root *yamlnode.Node) bool // whether a tree has the shape of the dialect
	parse func(root *yamlnode.Node, f *source.File, load native.Loader, sink *diag.Sink) *ir.Workflow
}

// dialects in the order in which they are tried. A dialect is a folder and a line here.
var dialects = []dialect{
	{"native", func(root *yamlnode.Node) bool { return root.Entry("flowgen") != nil }, native.Parse},
}

// detect finds the dialect of a file by its keys; nil when none fits.
func detect(root *yamlnode.Node) *dialect {
	for i := range dialects {
		if dialects[i].is(root) {
			return &dialects[i]
		}
	}
	return nil
}
