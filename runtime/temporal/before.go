package temporal

import (
	"context"
	"fmt"

	"go.temporal.io/sdk/activity"

	"github.com/flowgen-dev/flowgen/runtime/engine"
)

// A turn of an agent goes on from those before it. Its activity is given what is new, and asks the workflow for the rest, which no
// history keeps a second time: what an agent adds to a history grows with its turns, not with their square.

const (
	beforeQuery = "flowgen.before"
	// atATime is less than what goes to the store of large payloads.
	atATime = 96 << 10
)

// continued is a call in flight that goes on from earlier ones.
type continued struct {
	op     engine.Portable
	before []byte // encoded when it is asked for
}

// part asks for bytes of what came before a call.
type part struct {
	ID   string `json:"id"` // of the activity
	From int    `json:"from"`
}

// before is the query for what came before a call in flight. A part that is shorter than it may be is the last.
func (e *execution) before(p part) ([]byte, error) {
	c := e.continuing[p.ID]
	if c == nil {
		return nil, fmt.Errorf("no running call has the id %s", p.ID)
	}
	if c.before == nil {
		var err error
		if c.before, err = c.op.Before(); err != nil {
			return nil, err
		}
	}
	if p.From < 0 || p.From > len(c.before) {
		return nil, fmt.Errorf("what came before call %s has %d bytes", p.ID, len(c.before))
	}
	return c.before[p.From:min(len(c.before), p.From+atATime)], nil
}

// beforeOf asks the workflow of an activity.
func beforeOf(ctx context.Context) (all []byte, err error) {
	i, cl := activity.GetInfo(ctx), activity.GetClient(ctx)
	for {
		v, err := cl.QueryWorkflow(ctx, i.WorkflowExecution.ID, i.WorkflowExecution.RunID, beforeQuery, part{i.ActivityID, len(all)})
		if err != nil {
			return nil, fmt.Errorf("what came before call %s: %w", i.ActivityID, err)
		}
		var b []byte
		if err := v.Get(&b); err != nil {
			return nil, fmt.Errorf("what came before call %s: %w", i.ActivityID, err)
		}
		if all = append(all, b...); len(b) < atATime {
			return all, nil
		}
	}
}
