package flowtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
)

// call is an attempt that the run made.
type call struct {
	journal.Record
	began, ended int // places among all beginnings and ends of the run
}

// log keeps what the calls of a run were. It is safe for concurrent use.
type log struct {
	answers map[string]answer

	mu     sync.Mutex
	moment int
	calls  []call
	failed []string // calls that the cassette cannot answer
	asked  map[string]bool
}

type answer struct {
	text   string
	nobody bool
}

// answerTo is what the case says about the question that an attempt is; ok is false when it is none, or nothing is said.
func (l *log) answerTo(h *engine.Head) (answer, bool) {
	if h.Tool != engine.HumanTool {
		return answer{}, false
	}
	a, where, ok := l.find(h.Key())
	if ok {
		l.mu.Lock()
		l.asked[where] = true
		l.mu.Unlock()
	}
	return a, ok
}

// do runs an attempt with next and keeps what it was.
func (l *log) do(op engine.Op, next func() error) error {
	l.mu.Lock()
	l.moment++
	began := l.moment
	l.mu.Unlock()
	err := next()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.moment++
	var re *runtime.RunError
	if errors.As(err, &re) && re.Kind != runtime.Cancelled {
		l.failed = append(l.failed, unanswered(op, re))
		return err
	}
	h := op.Head()
	if h.Err == nil {
		h.Err = err
	}
	if r := journal.RecordOf(op, true); r.Done && r.Cancelled == "" {
		l.calls = append(l.calls, call{Record: r, began: began, ended: l.moment})
	}
	return err
}

// unanswered says which call a cassette cannot answer.
func unanswered(op engine.Op, re *runtime.RunError) string {
	h := op.Head()
	why := strings.TrimPrefix(re.Message, "call "+h.Key()+": ")
	if strings.Contains(why, "has no call") || strings.Contains(why, "ends before") {
		in, err := op.EncodeIn(nil)
		if err != nil {
			in = []byte(err.Error())
		}
		why = "the cassette has no such call; its input is " + clip(string(in))
	}
	attempt := ""
	if h.Attempt > 1 {
		attempt = fmt.Sprintf(", attempt %d", h.Attempt)
	}
	return fmt.Sprintf("node %s (%s), call %s%s of %s: %s", h.Node.ID, h.Node.Pos, h.Key(), attempt, h.Tool, why)
}

func clip(s string) string {
	if r := []rune(s); len(r) > shortest {
		return string(r[:shortest]) + "…"
	}
	return s
}

// waits reports whether an attempt is a wait, or the beginning of undos: cassettes have none, and a replay passes over it.
func waits(op engine.Op) bool {
	tool := op.Head().Tool
	return tool == engine.WaitTool || tool == engine.UndoTool
}

// replayed is the engine that answers from a cassette, and questions from the case.
type replayed struct {
	*journal.Replayer
	log *log
}

// Do implements engine.Engine.
func (e replayed) Do(r *flow.Run, op engine.Op) error {
	if waits(op) {
		return op.Exec(r.Context())
	}
	return e.log.do(op, func() error {
		if a, ok := e.log.answerTo(op.Head()); ok {
			return a.exec(r, op)
		}
		return e.Replayer.Do(r, op)
	})
}

// recorded is the engine that runs the real thing and records it, but for questions that the case answers.
type recorded struct {
	*journal.Recorder
	log *log
}

// Do implements engine.Engine.
func (e recorded) Do(r *flow.Run, op engine.Op) error {
	if waits(op) {
		return op.Exec(r.Context())
	}
	return e.log.do(op, func() error {
		if a, ok := e.log.answerTo(op.Head()); ok {
			return a.exec(r, op)
		}
		return e.Recorder.Do(r, op)
	})
}

// exec asks the question, which ask answers.
func (a answer) exec(r *flow.Run, op engine.Op) error {
	return op.Exec(context.WithValue(r.CallContext(op.Head().Effects), answerKey{}, a))
}

type answerKey struct{}

// ask answers a question as the case says.
func ask(ctx context.Context, q runtime.Question) (string, error) {
	a, ok := ctx.Value(answerKey{}).(answer)
	if !ok || a.nobody {
		return "", runtime.Nobody("the case has no answer to " + strconv.Quote(clip(q.Text)))
	}
	return a.text, nil
}

func newLog(c *Case) *log {
	l := &log{answers: map[string]answer{}, asked: map[string]bool{}}
	for key, a := range c.Answers {
		var text *string
		if json.Unmarshal(a, &text) != nil || text == nil {
			l.answers[key] = answer{nobody: true}
			continue
		}
		l.answers[key] = answer{text: *text}
	}
	return l
}

// find is what the case says to the question of a call, and where; an exact key goes before one with `*`.
func (l *log) find(key string) (a answer, where string, ok bool) {
	if a, ok = l.answers[key]; ok {
		return a, key, true
	}
	for _, pattern := range slices.Sorted(maps.Keys(l.answers)) {
		if matchesKey(pattern, key) {
			return l.answers[pattern], pattern, true
		}
	}
	return answer{}, "", false
}

// unasked are the answers that nobody has asked for.
func (l *log) unasked() []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(l.answers)) {
		if !l.asked[key] {
			out = append(out, key)
		}
	}
	return out
}
