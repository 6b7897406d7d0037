package temporal

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/journal"
)

// A history has bounds: 51,200 events and 50 MB. A run that comes near them goes on in a new history, as a resumed run does: it begins
// anew, and the journal that it takes along answers the calls that were made. Before that no new call begins until those in flight
// have ended, so that none is in doubt.

const (
	mostEvents = 51_200 // of the server; it terminates what has more
	mostBytes  = 20 << 20
	// largestJournal bounds what a run is given: a start is not trusted.
	largestJournal = 1 << 30
	// atOnce is how many calls are answered before others have their turn: a workflow task that does not yield counts as stuck.
	atOnce = 200
)

// Setup is the second argument of the workflow, which may be left out.
type Setup struct {
	Tenant string    `json:"tenant,omitempty"`
	Begin  time.Time `json:"begin,omitzero"` // of a run that goes on in a new history
	From   string    `json:"from,omitempty"` // of a run that begins with the results of another one, in its journal: which one

	wrong error // it is none
}

// full reports whether the run should go on in a new history.
func (e *execution) full() bool {
	i := workflow.GetInfo(e.root)
	return i.GetCurrentHistoryLength() >= e.most || i.GetCurrentHistorySize() >= mostBytes && !e.stays
}

// hold keeps a call from beginning while the run waits to go on in a new history.
func (e *execution) hold(ctx workflow.Context) error {
	free := func() bool { return !e.full() || e.root.Err() != nil } // what is left of a cancelled run is done here
	if free() {
		return nil
	}
	e.held++
	defer func() { e.held-- }()
	return workflow.Await(ctx, free)
}

// renews reports whether nothing is in flight, so that the run can go on in a new history.
func (e *execution) renews() bool {
	if e.held == 0 || e.busy > 0 || e.root.Err() != nil || !e.full() || workflow.GetSignalChannel(e.root, RespondUpdate).Len() > 0 {
		return false
	}
	for _, q := range e.open { // whether one holds does not depend on the order
		if q.output != nil {
			return false
		}
	}
	return true
}

// renew is the error that lets the server begin the new history. ok is false when the run has to go on in this one.
func (e *execution) renew(in json.RawMessage) (err error, ok bool) {
	b, err := packed(e.recorded())
	if err != nil {
		return err, true
	}
	if e.tooLarge(len(b)) {
		if !e.stays {
			e.stays, e.most = true, mostEvents-6*1024
			return nil, false
		}
		return temporal.NewNonRetryableApplicationError(fmt.Sprintf("the run is too long for one history, and its journal of %d bytes is too large to be taken into another: %s",
			len(b), storeHelp), string(runtime.JournalUnavailable), nil), true
	}
	setup := e.setup
	setup.Begin = e.begin
	return workflow.NewContinueAsNewError(e.root, e.info.Name, in, setup, b), true
}

// goOn takes the journal of the histories before this one.
func (e *execution) goOn(past []byte) error {
	if len(past) == 0 {
		return nil
	}
	text, err := unpacked(past)
	if err == nil {
		e.old, err = journal.Parse(text)
	}
	if err != nil {
		return temporal.NewNonRetryableApplicationError("the journal of the run cannot be read: "+err.Error(), string(runtime.JournalUnavailable), err)
	}
	if e.setup.From == "" {
		e.past = journal.NewPast(e.old, nil, nil, nil)
		return nil
	}
	old := e.old // calls of nodes that are others now are not kept: the journal that the run takes along is of this program
	e.old = old.Without(func(r journal.Record) bool { return old.Changed(r, e.hashed.Nodes) != "" })
	e.past = journal.NewPast(e.old, e.hashed.Nodes, func(journal.Record) bool { return true }, nil)
	return nil
}

func packed(j *journal.Journal) ([]byte, error) {
	text, err := j.MarshalText()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err = z.Write(text)
	if cerr := z.Close(); err != nil || cerr != nil {
		return nil, fmt.Errorf("the journal cannot be packed: %w", errors.Join(err, cerr))
	}
	return b.Bytes(), nil
}

func unpacked(b []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(z, largestJournal+1))
	if err == nil && len(text) > largestJournal {
		err = fmt.Errorf("it has more than %d bytes", largestJournal)
	}
	return text, err
}

// settle lets all calls be answered that have a record before the first other one begins: one of them may cancel it.
func (e *execution) settle() {
	if e.past == nil {
		return
	}
	calm, _ := workflow.NewDisconnectedContext(e.root)
	workflow.GoNamed(calm, "settle", func(ctx workflow.Context) {
		e.settled = workflow.Sleep(ctx, time.Millisecond) == nil // in a later task: until then all branches have come as far as they can
	})
}

// rest gives other branches their turn after some answers.
func (e *execution) rest(ctx workflow.Context) {
	if e.answers++; e.answers%atOnce != 0 {
		return
	}
	looked := false
	calm, _ := workflow.NewDisconnectedContext(ctx)
	_ = workflow.Await(calm, func() bool { was := looked; looked = true; return was }) // a context that is never cancelled
}
