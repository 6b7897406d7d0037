package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/redact"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Errors of answers. What is refused changes nothing, and the question can be answered again.
var (
	ErrNoQuestion  = errors.New("the run has no such question")
	ErrLate        = errors.New("the question is open no more") // it has an answer, its time is over, or the run has ended
	ErrWrongAnswer = errors.New("the answer does not fit the question")
)

// Respond writes down what a user answers to a question of a run that waits, by the key of the question: Question.Key
// of *runtime.Waiting. Nothing runs; Resume goes on with the run. The answer is on the disk when Respond returns.
//
// Errors: ErrNoRun, ErrNoQuestion, ErrLate, ErrWrongAnswer with a *value.ToolError that says what is wrong, and ErrBusy
// while a process is at the run.
func (f *Folder) Respond(ctx context.Context, id, question, answer string) error {
	return f.RespondAs(ctx, id, journal.Answer{Key: question, Answer: answer})
}

// RespondAs is Respond with the name of the user and a comment, which the journal keeps. When the answer is given is written by it.
func (f *Folder) RespondAs(ctx context.Context, id string, said journal.Answer) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if size, err := f.Size(id); err != nil || size == 0 { // opening would make the file
		return cmp.Or(err, noRecord(id))
	}
	log, j, err := f.openLazy(id)
	if err != nil {
		return err
	}
	a, err := f.answer(id, j, said.Key, said.Answer)
	if err == nil {
		a.By, a.Comment = said.By, said.Comment
		err = wrap(log.Append(journal.EncodeAnswer(a), f.opts.Sync != Off))
	}
	return errors.Join(err, log.Close())
}

// Questions are what a run asks people and has no answer to, in the order of their keys: what Respond takes answers for.
// There are none once the run has ended. An unknown run is ErrNoRun.
func (f *Folder) Questions(id string) ([]runtime.Question, error) {
	j, err := f.ReadLazy(id)
	if err != nil {
		return nil, err
	}
	switch j.Finish().Outcome {
	case journal.Succeeded, journal.Failed:
		return []runtime.Question{}, nil
	}
	all := []runtime.Question{}
	for _, r := range j.Questions() {
		q, err := questionOf(id, r)
		if err != nil {
			return nil, err
		}
		all = append(all, q)
	}
	slices.SortStableFunc(all, func(a, b runtime.Question) int { return strings.Compare(a.Key, b.Key) })
	return all, nil
}

// questionOf is the question of a record.
func questionOf(id string, r journal.Record) (q runtime.Question, err error) {
	if err := value.Decode(r.Input, &q); err != nil {
		return q, fmt.Errorf("run %s: the recorded question %s cannot be read: %w", id, r.Key, err)
	}
	q.Key = r.Key
	return q, nil
}

// answer holds an answer to the question that it is for.
func (f *Folder) answer(id string, j *journal.Journal, question, answer string) (a journal.Answer, err error) {
	now := f.opts.Now()
	open := j.Questions()
	at := slices.IndexFunc(open, func(r journal.Record) bool { return r.Key == question })
	switch outcome := j.Finish().Outcome; {
	case !j.Asked(question):
		return a, fmt.Errorf("%w: %s of run %s%s", ErrNoQuestion, value.Clip(question, 200), id, waitsFor(open))
	case at < 0:
		return a, fmt.Errorf("%w: %s of run %s has been answered, or nobody has in time", ErrLate, question, id)
	case outcome == journal.Succeeded || outcome == journal.Failed:
		return a, fmt.Errorf("%w: run %s has ended", ErrLate, id)
	}
	r := open[at]
	if r.Limit > 0 && now.Sub(j.Header().Begin.Add(r.Start)).Abs() > r.Limit {
		return a, fmt.Errorf("%w: %s of run %s was to be answered within %v", ErrLate, question, id, r.Limit)
	}
	q, err := questionOf(id, r)
	if err != nil {
		return a, err
	}
	if err := q.Check(answer); err != nil {
		return a, fmt.Errorf("%w %s: %w", ErrWrongAnswer, question, err)
	}
	return journal.Answer{Key: question, Answer: answer, At: now.UTC().Round(0)}, nil
}

func waitsFor(open []journal.Record) string {
	if len(open) == 0 {
		return ", which waits for no answer"
	}
	keys := make([]string, len(open))
	for i, r := range open {
		keys[i] = r.Key
	}
	return ", which waits for " + strings.Join(keys, ", ")
}

// Resume goes on with a run where it stopped, in this process or another: it waited and was answered, it crashed, or it was
// cancelled. run is the method Run of the workflow; it gets the input and the tenant of the recorded run, and what the
// journal has results for is not called again. A run that has ended returns what it returned.
//
// Errors besides those of run: ErrNoRun, ErrBusy, *EditedError when the workflow has changed since, and *runtime.Waiting
// when there is a question without an answer. The run is recorded in the folder whatever run's own engines say.
func Resume[In, Out any](ctx context.Context, f *Folder, id string, run func(context.Context, In) (Out, error)) (Out, error) {
	return ResumeWith(ctx, f, id, Continue{}, run)
}

// ResumeWith is Resume for a run that goes on in another way: a call in doubt is settled, a failed call is made once more, or
// the workflow has been edited.
func ResumeWith[In, Out any](ctx context.Context, f *Folder, id string, c Continue, run func(context.Context, In) (Out, error)) (Out, error) {
	var none Out
	j, err := f.ReadLazy(id)
	if err != nil {
		return none, err
	}
	h := j.Header()
	if strings.Contains(string(h.Input), redact.Redacted) {
		return none, fmt.Errorf("run %s: its input contained a secret, which its journal omits", id)
	}
	var in In
	if err := value.Decode(h.Input, &in); err != nil {
		return none, fmt.Errorf("run %s of %s: its input is none of this workflow: %w", id, h.Workflow, err)
	}
	if h.Tenant != "" {
		ctx = runtime.TenantContext(ctx, h.Tenant)
	}
	return run(engine.NewContext(ctx, func(info *flow.Info) (engine.Engine, error) {
		if h.Workflow != info.Name {
			return nil, fmt.Errorf("%w: %s is a run of %s, this is %s", ErrNoRun, id, h.Workflow, info.Name)
		}
		e, _, err := f.Resume(info, id, c)
		if err != nil {
			return nil, err
		}
		return e, nil
	}), in)
}
