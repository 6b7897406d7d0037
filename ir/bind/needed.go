package bind

import "github.com/flowgen-dev/flowgen/ir"

// Needed reports whether wf or a workflow it runs refers to Go, so that Resolve reads Go packages.
func Needed(wf *ir.Workflow) bool { return len(collect(wf)) > 0 }
