package bind

import "github.com/flowgen-dev/flowgen/ir"

// provided is what the runtime has for workflows in any language, nil when the parser has not said.
func provided(wf *ir.Workflow) *ir.Provided {
	if wf.Provided != nil {
		return wf.Provided
	}
	for _, f := range wf.Flows {
		if f != nil && f.Provided != nil {
			return f.Provided
		}
	}
	return nil
}

// bindKnown binds a reference to a function of the runtime without the go command, and reports whether it is one. A test of
// package parser holds these functions to the source.
func (r *resolver) bindKnown(f *ref) bool {
	b := provided(r.wf).Function(f.id.Name)
	if b == nil || f.fn == nil || f.use == useReducer {
		return false
	}
	own := *b
	f.fn.Bind = &own
	if f.tool != nil {
		r.fillTool(f, &own)
	}
	return true
}
