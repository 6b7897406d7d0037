package temporal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"

	"github.com/flowgen-dev/flowgen/runtime"
)

const (
	lastQuery = "flowgen.last"
	// mostPast bounds how many runs are asked for one question about earlier runs, and patience how long each may take.
	mostPast = 100
	patience = 10 * time.Second
)

// last is the query for what a tool gave to an agent of the run.
func (e *execution) last(q runtime.LastCall) ([]byte, error) {
	if q.Workflow != e.info.Name || q.Tenant != e.setup.Tenant {
		return nil, nil
	}
	return e.recorded().Last(q), nil
}

// past knows what came of earlier runs: it asks them. A worker of the program that ran them replays them for that.
type past struct{}

// Last implements runtime.Past, in an activity. It asks the latest runs of the workflow that have ended, at most 100. Runs that no worker
// can replay are passed over.
func (past) Last(ctx context.Context, q runtime.LastCall) ([]byte, error) {
	cl := activity.GetClient(ctx)
	list, err := cl.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{PageSize: mostPast,
		Query: fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus != 'Running' AND ExecutionStatus != 'ContinuedAsNew'", q.Workflow)})
	if err != nil {
		return nil, err
	}
	without := map[string]bool{} // versions that no worker has
	for _, x := range list.GetExecutions() {
		version := x.GetVersioningInfo().GetDeploymentVersion().GetBuildId()
		if without[version] {
			continue
		}
		out, err := ask(ctx, cl, x, q)
		var none *serviceerror.WorkflowNotReady
		var gone *serviceerror.NotFound
		var fails *serviceerror.QueryFailed
		switch {
		case len(out) > 0:
			return out, nil
		case err == nil, errors.As(err, &gone), errors.As(err, &fails), errors.As(err, &none):
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case late(err):
			without[version] = true
		default:
			return nil, err
		}
	}
	return nil, nil
}

func ask(ctx context.Context, cl client.Client, x *workflow.WorkflowExecutionInfo, q runtime.LastCall) (out []byte, err error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	r, err := cl.QueryWorkflowWithOptions(ctx, &client.QueryWorkflowWithOptionsRequest{WorkflowID: x.GetExecution().GetWorkflowId(), RunID: x.GetExecution().GetRunId(),
		QueryType: lastQuery, Args: []any{q}, QueryRejectCondition: enums.QUERY_REJECT_CONDITION_NONE})
	if err != nil {
		return nil, err
	}
	return out, r.QueryResult.Get(&out)
}

// late reports whether no worker has answered.
func late(err error) bool {
	var deadline *serviceerror.DeadlineExceeded
	var nobody *serviceerror.FailedPrecondition
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &deadline) || errors.As(err, &nobody)
}
