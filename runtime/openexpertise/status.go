package openexpertise

import (
	"sync"

	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// A tally knows how the nodes of a run ended, by their index. It is shared by branches.
type tally struct {
	mu    sync.Mutex
	nodes []status
	room  [32]status // of nodes, while that is enough
}

// add files how a node ended. A failure stays one, whatever further runs of the node do.
func (t *tally) add(n *flow.Node, s status) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.nodes == nil {
		t.nodes = t.room[:0]
	}
	for len(t.nodes) <= n.Index {
		t.nodes = append(t.nodes, skipped)
	}
	t.nodes[n.Index] = max(t.nodes[n.Index], s)
}

// count returns how many nodes did well, and how many failed.
func (t *tally) count() (ok, bad int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.nodes {
		switch s {
		case done:
			ok++
		case failed:
			bad++
		}
	}
	return ok, bad
}

// Status is how the run ended: failed with an error; else success, partial when some nodes failed, failed when no node did
// well. Skipped nodes do not count.
func (f *Flow) Status(err error) string {
	ok, bad := f.tally.count()
	switch {
	case err != nil:
		return "failed"
	case bad == 0:
		return "success"
	case ok == 0:
		return "failed"
	}
	return "partial"
}

// StatusOfWaves is the engine's rule for parallel nodes, of which there are so many: one failure is failed, one skip is
// partial.
func (f *Flow) StatusOfWaves(err error, nodes int) string {
	ok, bad := f.tally.count()
	switch {
	case err != nil || bad > 0:
		return "failed"
	case ok < nodes:
		return "partial"
	}
	return "success"
}
