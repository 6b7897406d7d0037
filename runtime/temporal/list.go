package temporal

import (
	"context"
	"encoding/json"
	"flag"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/flowgen-dev/flowgen/runtime/cli"
)

// listed is a run as list prints it.
type listed struct {
	ID       string    `json:"id"`
	Workflow string    `json:"workflow"`
	Status   string    `json:"status"` // as describe has it
	Started  time.Time `json:"started"`
	Closed   time.Time `json:"closed,omitzero"`
}

// maxListed bounds how many runs are listed.
const maxListed = 500

func statusWord(s enums.WorkflowExecutionStatus) string {
	return snake(strings.ToLower(strings.TrimPrefix(enums.WorkflowExecutionStatus_name[int32(s)], "WORKFLOW_EXECUTION_STATUS_")))
}

func (m *commands) list(c *cli.Call) int {
	args, code, ok := c.Flags(func(*flag.FlagSet) {})
	switch {
	case !ok:
		return code
	case len(args) > 0:
		return c.Fail(cli.ExitUsage, "list takes no arguments", "")
	}
	return m.connected(c, func(ctx context.Context, cl client.Client) int {
		all := []listed{}
		seen := map[string]bool{}
		q := &workflowservice.ListWorkflowExecutionsRequest{Query: "WorkflowType = '" + strings.ReplaceAll(m.info.Name, "'", "''") + "'", PageSize: 100}
		for len(all) < maxListed {
			r, err := cl.ListWorkflow(ctx, q)
			if err != nil {
				return m.failed(c, "", err)
			}
			for _, x := range r.GetExecutions() {
				one := listed{ID: x.GetExecution().GetWorkflowId(), Workflow: m.info.Name, Status: statusWord(x.GetStatus()), Started: x.GetStartTime().AsTime()}
				if t := x.GetCloseTime(); t != nil {
					one.Closed = t.AsTime()
				}
				if !seen[one.ID] { // the newest history of a run that went on in others
					seen[one.ID] = true
					all = append(all, one)
				}
			}
			if q.NextPageToken = r.GetNextPageToken(); len(q.NextPageToken) == 0 {
				break
			}
		}
		b, err := json.Marshal(all)
		if err != nil {
			return c.Fail(cli.ExitFault, err.Error(), "")
		}
		return c.Print(indented(b))
	})
}
