package native

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// Library reads a file that can be included, f with the tree root, into wf, a workflow of another dialect, whose names its
// tools have.
func Library(root *yamlnode.Node, f *source.File, wf *ir.Workflow, load Loader, sink *diag.Sink) {
	p := &parser{sink: sink, before: sink.Errors(), load: load, file: f, wf: wf, decls: map[string]*declaration{}, names: map[string]source.Span{}, included: map[*source.File]bool{f: true}}
	wf.Includes = append(wf.Includes, f)
	p.includeFile(root, f)
	p.resolveTypes()
	p.tools()
	p.pendingAgents()
}
