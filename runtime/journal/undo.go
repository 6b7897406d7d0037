package journal

import (
	"encoding/json"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
)

// UndoOf returns the key of the call that a call undoes; ok is false for all other calls.
func UndoOf(key string) (of string, ok bool) {
	id, visit := key, ""
	if i := strings.LastIndexByte(key, '#'); i > strings.LastIndexByte(key, '/') {
		id, visit = key[:i], key[i:]
	}
	if id, ok = strings.CutSuffix(id, engine.UndoSuffix); !ok || id == "" || strings.HasSuffix(id, "/") || isBeginning(key) {
		return "", false
	}
	return id + visit, true
}

// isBeginning reports the record that a body is being undone.
func isBeginning(key string) bool { return key[strings.LastIndexByte(key, '/')+1:] == engine.UndoNode }

// IsUndo reports a call that is part of undoing a body.
func IsUndo(key string) bool {
	_, undoes := UndoOf(key)
	return undoes || isBeginning(key)
}

// Undone has the keys of all calls whose undo has begun, and of these undos: what a run that begins with this one must not take over.
func (j *Journal) Undone() map[string]bool {
	out := map[string]bool{}
	for _, key := range j.Keys() {
		if of, ok := UndoOf(key); ok {
			out[of] = true
		}
		if IsUndo(key) {
			out[key] = true
		}
	}
	return out
}

// undone says why bodies failed that are being undone, by what the keys inside begin with.
func (j *Journal) undone() map[string]string {
	var out map[string]string
	for _, r := range j.recordsOf(func(e *kept) bool { return isBeginning(e.key) && e.result() && e.kind.tool == engine.UndoTool }) {
		why := ""
		_ = json.Unmarshal(r.Output, &why) // matches has it when the call is answered
		if out == nil {
			out = map[string]string{}
		}
		out[strings.TrimSuffix(r.Key, engine.UndoNode)] = why
	}
	return out
}

// ended is the error of a call in a body that is being undone, nil for undos and other calls. What has a result has it all the same.
func (p *Past) ended(key string) error {
	if len(p.undone) == 0 || IsUndo(key) {
		return nil
	}
	for prefix, why := range p.undone {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		if why == "" {
			why = "it has failed, and is being undone"
		}
		return &runtime.RunError{Kind: runtime.Cancelled, By: runtime.ByRun, Message: "the run was stopped: " + why}
	}
	return nil
}
