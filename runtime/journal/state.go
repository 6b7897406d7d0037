package journal

import "github.com/flowgen-dev/flowgen/runtime"

// State is what became of an attempt.
type State string

// The states of attempts.
const (
	CallDone      State = "done"
	CallFailed    State = "failed"
	CallCancelled State = "cancelled"
	CallOpen      State = "open"     // it runs, or ran when the program was stopped
	CallInDoubt   State = "in_doubt" // as open, and it may have changed something
	CallWaiting   State = "waiting"  // for a person

	CallInterrupted State = "interrupted" // the program was stopped during it, and the run has gone on
)

// StateOf is the state of an attempt; waits says that it is a question without an answer, see Journal.Waits.
func StateOf(r *Record, waits bool) State {
	switch {
	case waits:
		return CallWaiting
	case r.Cancelled == runtime.ByScope, r.Cancelled == runtime.ByRun && !r.InDoubt():
		return CallCancelled
	case r.Done && r.Error != nil:
		return CallFailed
	case r.Done && r.Cancelled == "":
		return CallDone
	case r.InDoubt():
		return CallInDoubt
	}
	return CallOpen
}

// Earlier is the state of an attempt in whose place another one was made.
func (s State) Earlier() State {
	switch s {
	case CallOpen, CallInDoubt, CallWaiting:
		return CallInterrupted
	}
	return s
}
