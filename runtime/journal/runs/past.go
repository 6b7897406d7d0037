package runs

import (
	"context"

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
		if out := j.Last(q); out != nil {
			return out, nil
		}
	}
	return nil, nil
}
