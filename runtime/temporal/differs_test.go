package temporal

import (
	"errors"
	"testing"
)

// What the SDK says about a history of another program is told by node, with what to do.
func TestDiffers(t *testing.T) {
	const scheduled = "history event is ActivityTaskScheduled: (ActivityId:first@AbCd_-12, ActivityType:(Name:w.send@1), TaskQueue:(Name:q))"
	for text, want := range map[string]string{
		"[TMPRL1100] nondeterministic workflow: " + scheduled + ", replay command is ScheduleActivityTask: (ActivityId:first@zzzzzzzz, ActivityType:(Name:w.send@1))":              "node first differs, or had another input, when the run was recorded",
		"[TMPRL1100] nondeterministic workflow: " + scheduled + ", replay command is ScheduleActivityTask: (ActivityId:each[3]/send~2@zzzzzzzz)":                                   "this program reaches attempt 2 of node each[3]/send where the history has the call of node first",
		"[TMPRL1100] nondeterministic workflow: " + scheduled + ", replay command is StartTimer: (TimerId:5)":                                                                      "this program reaches a wait where the history has the call of node first",
		"[TMPRL1100] nondeterministic workflow: missing replay command for ActivityTaskScheduled: (ActivityId:first@AbCd_-12)":                                                     "the history has the call of node first, which this program does not make here",
		"[TMPRL1100] nondeterministic workflow: extra replay command for ScheduleActivityTask: (ActivityId:first@AbCd_-12)":                                                        "this program reaches the call of node first where the history has nothing: it is new or now comes earlier",
		"[TMPRL1100] nondeterministic workflow: " + scheduled + ", replay command is CompleteWorkflowExecution: (Result:..)":                                                       "this program reaches the end of the run where the history has the call of node first",
		"[TMPRL1100] During replay, a matching Activity command was expected in history event position talk[0]/model~2@AbCd_-12. However, the replayed code did not produce that.": "the history has the call of node talk[0]/model, but this program makes another call or passes another input",
		"[TMPRL1100] lookup failed for scheduledEventID": "the run was recorded by another program: [TMPRL1100] lookup failed for scheduledEventID",
	} {
		got := line("Workflow panic", []any{"WorkflowType", "w", "WorkflowID", "r1", "Error", errors.New(text), "StackTrace", "long"})
		if full := "run r1 does not continue with this program: " + want + "; " + anew; got != full {
			t.Errorf("%s\nwant %s", got, full)
		}
	}
	if got := line("Poll failed", []any{"Error", errors.New("no server")}); got != "Poll failed Error=no server" {
		t.Error(got)
	}
}
