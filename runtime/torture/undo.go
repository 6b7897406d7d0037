package torture

import (
	"errors"
	"slices"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
)

// afterCancel is why nothing but undos may be done any more.
const afterCancel = "after the run was cancelled"

// canUndo reports whether the workflow has an undo for a node: it is behind it in the node table.
func (t *trial) canUndo(n *flow.Node) bool {
	table := t.campaign.workflow.Info.Nodes
	return n.Index >= 0 && n.Index+1 < len(table) && table[n.Index] == n && table[n.Index+1].ID == n.ID+engine.UndoSuffix
}

// undone checks that a run that failed has undone each success that can be undone, or says that it could not, and that nothing was undone
// that did not happen. That no undo is executed twice is checked where calls are.
func (t *trial) undone(l *life) {
	if l.journal == nil || t.cut.Load() {
		return
	}
	happened, gone := map[string]bool{}, map[string]bool{}
	for _, r := range l.journal.Records() {
		if r.Done && r.Error == nil && r.Cancelled == "" && r.Broken == "" {
			happened[r.Key] = true
			if of, ok := journal.UndoOf(r.Key); ok {
				gone[of] = true
			}
		}
	}
	for _, key := range sorted(gone) {
		if !happened[key] {
			t.problem("undo", "", "%s has undone %s, which did not happen", l.what, key)
		}
	}
	said, over := reported(l.err)
	if !over {
		return
	}
	for _, key := range sorted(happened) {
		if t.undoable[key] && !gone[key] && !slices.Contains(said, key) {
			t.problem("undo", "", "%s failed, and has neither undone %s nor said so: %v", l.what, key, l.err)
		}
	}
}

// reported are the keys of the calls that a run could not undo. over is false for a run that did not fail, or that can go on.
func reported(err error) (keys []string, over bool) {
	var re *runtime.RunError
	if err == nil || errors.As(err, &re) && re.Kind != runtime.Cancelled {
		return nil, false
	}
	if of, ok := journal.UndoOf(keyOf(err)); ok { // its arguments could not be made
		keys = append(keys, of)
	}
	var undo *runtime.UndoError
	if !errors.As(err, &undo) {
		return keys, true
	}
	for _, f := range undo.Failed {
		if errors.As(f, &re) && re.Kind != runtime.Cancelled {
			return nil, false
		}
		if of, ok := journal.UndoOf(keyOf(f)); ok {
			keys = append(keys, of)
		}
	}
	return keys, true
}
