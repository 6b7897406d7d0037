package temporal

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// RespondUpdate is the name of the update, and of the signal, that answers a question; its argument is an Answer.
// QuestionsQuery is the query for the open questions.
const (
	RespondUpdate  = "respond"
	QuestionsQuery = "questions"
)

// Answer answers the question of a key.
type Answer struct {
	Key    string `json:"key"`
	Answer string `json:"answer"`
}

// question is one that waits for its answer.
type question struct {
	runtime.Question
	output   []byte                       // JSON of the answer; nil: none yet
	accepted func(string) ([]byte, error) // makes output of an answer
}

// listen opens the ways by which people see questions and answer them, and those by which calls ask what came before them.
func (e *execution) listen(ctx workflow.Context) (signals workflow.ReceiveChannel, err error) {
	check := func(_ workflow.Context, a Answer) error {
		q, err := e.asked(a)
		if err == nil {
			_, err = q.accepted(a.Answer)
		}
		return refused(err)
	}
	take := func(_ workflow.Context, a Answer) error { return e.take(a) }
	questions := func() ([]runtime.Question, error) {
		out := []runtime.Question{}
		for _, key := range workflow.DeterministicKeys(e.open) {
			if q := e.open[key]; q.output == nil {
				out = append(out, q.Question)
			}
		}
		return out, nil
	}
	return workflow.GetSignalChannel(ctx, RespondUpdate), errors.Join(
		workflow.SetUpdateHandlerWithOptions(ctx, RespondUpdate, take, workflow.UpdateHandlerOptions{Validator: check}),
		workflow.SetQueryHandler(ctx, QuestionsQuery, questions),
		workflow.SetQueryHandler(ctx, beforeQuery, e.before),
		workflow.SetQueryHandler(ctx, lastQuery, e.last))
}

// hear takes the answers that came as signals.
func (e *execution) hear(signals workflow.ReceiveChannel) {
	for {
		var a Answer
		if !signals.ReceiveAsync(&a) {
			return
		}
		_ = e.take(a) // a signal cannot be refused: what does not fit is dropped
	}
}

// asked is the open question that an answer is for.
func (e *execution) asked(a Answer) (*question, error) {
	q := e.open[a.Key]
	if q == nil || q.output != nil {
		return nil, e.unknown(a.Key)
	}
	return q, nil
}

func (e *execution) take(a Answer) error {
	q, err := e.asked(a)
	if err == nil {
		q.output, err = q.accepted(a.Answer)
	}
	return refused(err)
}

// refused makes an error of a handler one that Temporal hands to the caller.
func refused(err error) error {
	if err == nil {
		return nil
	}
	return temporal.NewNonRetryableApplicationError(strings.TrimPrefix(err.Error(), string(value.ValidationError)+": "), "refused", nil)
}

func (e *execution) unknown(key string) error {
	keys := workflow.DeterministicKeys(e.open)
	if len(keys) == 0 {
		return fmt.Errorf("unknown question %q: the run has no open question", key)
	}
	return fmt.Errorf("unknown question %q; open questions: %s", key, strings.Join(keys, ", "))
}

// ask waits for the answer to the question of a human node.
func (e *execution) ask(r *flow.Run, op engine.Op) error {
	h := op.Head()
	b, err := op.EncodeIn(nil)
	if err != nil {
		return value.Invalid("input: %v", err)
	}
	q := &question{}
	if err := json.Unmarshal(b, &q.Question); err != nil {
		return value.Invalid("input: %v", err)
	}
	q.Key, q.accepted = h.Key(), func(a string) ([]byte, error) { return q.JSON(a) }
	out, err := e.answered(r, h, q)
	if err != nil {
		return err
	}
	return op.(engine.Portable).Land(&engine.Landed{Ran: true, Out: out})
}

// answered waits until a question has its answer.
func (e *execution) answered(r *flow.Run, h *engine.Head, q *question) ([]byte, error) {
	e.open[q.Key] = q
	defer delete(e.open, q.Key)
	r.Asking(h, &q.Question)
	ctx := within(r.Context()).Context
	ready := func() bool { return q.output != nil }
	var err error
	if h.Node.Timeout > 0 && h.Tool == engine.HumanTool {
		limit := r.Limit(h)
		left := limit.Left
		if h.Since != nil { // asked in an earlier history
			left -= r.Now().Sub(*h.Since)
		}
		_, err = workflow.AwaitWithTimeout(ctx, max(left, time.Millisecond), ready)
		if err == nil && !ready() {
			return nil, limit.Over()
		}
	} else {
		err = workflow.Await(ctx, ready)
	}
	if err != nil {
		if c := r.Cancelled(); c != nil {
			return nil, c
		}
		return nil, err
	}
	return q.output, nil
}

const again = "again"

var errCancelled = errors.New("cancelled")

// askInDoubt asks what became of a call whose worker was lost, for in_doubt: ask.
func (e *execution) askInDoubt(r *flow.Run, h *engine.Head, p engine.Portable) error {
	key := h.Key() + "/in_doubt"
	q := &question{Question: runtime.Question{Key: key, Type: "string", Text: "Call " + h.Key() + " of tool " + h.Tool +
		" started on a lost worker. Did it happen? Answer with its output as JSON, or `" + again + "` to repeat it."}}
	q.accepted = func(a string) ([]byte, error) {
		a = strings.TrimSpace(a)
		if a != again && !json.Valid([]byte(a)) {
			return nil, fmt.Errorf("expected the call's output as JSON, or %q", again)
		}
		return []byte(a), nil
	}
	out, err := e.answered(r, h, q)
	switch {
	case err != nil:
		return err
	case string(out) == again:
		return e.Do(r, p)
	}
	return p.Land(&engine.Landed{Ran: true, Out: out})
}
