package runs

import (
	"context"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/journal"
)

// maxPast bounds how many runs are read for one question about earlier runs.
const maxPast = 100

// Last implements runtime.Past: it looks through the latest runs of the workflow that have ended, at most 100. Runs whose
// journal cannot be read are passed over.
func (f *Folder) Last(ctx context.Context, q runtime.LastCall) ([]byte, error) {
	ids, err := f.ids()
	if err != nil {
		return nil, err
	}
	ids = f.of(q.Workflow, ids)
	for _, id := range ids[:min(len(ids), maxPast)] {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		j, err := f.read(id)
		if err != nil {
			continue
		}
		if h := j.Header(); h.Workflow != q.Workflow || h.Tenant != q.Tenant || j.Finish().Outcome == journal.Open || j.Finish().Outcome == journal.Waiting {
			continue
		}
		if out := lastOf(j, q); out != nil {
			return out, nil
		}
	}
	return nil, nil
}

// lastOf is the output of the last successful call that q asks for, in the order in which calls ended.
func lastOf(j *journal.Journal, q runtime.LastCall) []byte {
	var found *journal.Record
	for _, r := range j.Records() {
		rest, ok := strings.CutPrefix(r.Key, q.Node)
		if !ok || rest == "" || rest[0] != '[' && rest[0] != '#' || strings.Count(rest, "/") != 1 {
			continue // not a call that this agent made
		}
		if r.Tool != q.Tool || !r.Result() || r.Error != nil || r.Cancelled != "" || r.Output == nil {
			continue
		}
		if found == nil || r.End >= found.End {
			found = &r
		}
	}
	if found == nil {
		return nil
	}
	return found.Output
}
