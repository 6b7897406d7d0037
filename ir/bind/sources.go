package bind

import (
	"path"
	"path/filepath"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/bind/jssource"
	"github.com/flowgen-dev/flowgen/ir/bind/mcplock"
	"github.com/flowgen-dev/flowgen/ir/bind/openapisource"
	"github.com/flowgen-dev/flowgen/ir/bind/pysource"
	"github.com/flowgen-dev/flowgen/ir/bind/sqlsource"
	"github.com/flowgen-dev/flowgen/ir/bind/starsource"
	"github.com/flowgen-dev/flowgen/ir/bind/wasmsource"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// foreign resolves the tools in other languages than Go, each kind at once.
func (r *resolver) foreign() {
	tools := allTools(r.wf)
	files := &foreign.Files{Overlay: r.opts.Overlay, Seen: r.opts.Seen}
	folder := func(f *source.File) foreign.Folder {
		typed := path.Dir(r.wf.File.Name)
		if f != nil {
			typed = path.Dir(f.Name)
		}
		disk := r.folderOf(f)
		if abs, err := filepath.Abs(disk); err == nil {
			disk = abs
		}
		return foreign.Folder{Disk: disk, Typed: typed, Above: r.opts.Above}
	}
	pysource.Resolve(tools, pysource.Options{Files: files, Folder: folder, Provided: provided(r.wf)}, r.sink)
	documents := mcplock.Resolve(r.wf, r.sink)
	jssource.Resolve(tools, jssource.Options{Files: files, Folder: folder, Home: r.opts.Dir}, r.sink)
	starsource.Resolve(tools, starsource.Options{Files: files, Folder: folder}, r.sink)
	openapisource.Resolve(tools, openapisource.Options{Files: files, Folder: folder, Locked: documents}, r.sink)
	sqlsource.Resolve(tools, sqlsource.Options{Files: files, Folder: folder, Locked: documents}, r.sink)
	wasmsource.Resolve(tools, wasmsource.Options{Files: files, Folder: folder}, r.sink)
}

// allTools are the tools of a workflow and its sub-workflows, each once.
func allTools(wf *ir.Workflow) []*ir.Tool {
	var out []*ir.Tool
	seen := map[any]bool{}
	var visit func(wf *ir.Workflow)
	visit = func(wf *ir.Workflow) {
		if wf == nil || seen[wf] {
			return
		}
		seen[wf] = true
		for _, t := range wf.Tools {
			if !seen[t] {
				seen[t] = true
				out = append(out, t)
			}
		}
		for _, sub := range wf.Flows {
			visit(sub)
		}
	}
	visit(wf)
	return out
}
