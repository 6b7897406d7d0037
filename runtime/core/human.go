package core

import (
	"context"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// HumanTool is the tool that questions of human nodes are recorded and reported as.
const HumanTool = "human@1"

// Question is the question of a human node, recorded as the input of its call.
type Question struct {
	Key     string   `json:"key,omitempty"` // by which it is answered; set for the Asker, and in Waiting
	Text    string   `json:"question"`
	Type    string   `json:"type"`              // of the answer: string, int, float or bool; Ask fills it in
	Choices []string `json:"choices,omitempty"` // the answers that there are; nil: any of the type
	Empty   bool     `json:"empty,omitempty"`   // an empty line is an answer, when the type is string
}

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 64 << 10

// Check says what is wrong with an answer, nil when it is one. Spaces around it do not count. Whoever asks can use it to
// ask again; what is handed to the workflow is checked in any case.
func (q *Question) Check(answer string) error {
	if _, te := q.decode(answer); te != nil {
		return te
	}
	return nil
}

// decode makes JSON of an answer.
func (q *Question) decode(answer string) ([]byte, *value.ToolError) {
	switch {
	case len(answer) > maxAnswer:
		return nil, value.Invalid("the answer has more than %d bytes", maxAnswer)
	case !utf8.ValidString(answer):
		return nil, value.Invalid("the answer is not valid UTF-8")
	}
	answer = strings.TrimSpace(answer)
	if q.Choices != nil && !slices.Contains(q.Choices, answer) {
		return nil, value.Invalid("%q is none of %s", value.Clip(answer, 100), strings.Join(q.Choices, ", "))
	}
	switch q.Type {
	case "int":
		if n, err := strconv.ParseInt(answer, 10, 64); err == nil {
			return strconv.AppendInt(nil, n, 10), nil
		}
		return nil, value.Invalid("%q is not an integer", value.Clip(answer, 100))
	case "float":
		if x, err := strconv.ParseFloat(answer, 64); err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) {
			b, _ := json.Marshal(x)
			return b, nil
		}
		return nil, value.Invalid("%q is not a number", value.Clip(answer, 100))
	case "bool":
		switch answer {
		case "yes", "true":
			return []byte("true"), nil
		case "no", "false":
			return []byte("false"), nil
		}
		return nil, value.Invalid("%q is neither yes nor no", value.Clip(answer, 100))
	}
	if answer == "" && !q.Empty {
		return nil, value.Invalid("the answer is empty")
	}
	b, err := json.Marshal(answer)
	if err != nil {
		return nil, value.Invalid("%v", err)
	}
	return b, nil
}

// Asker asks a user and waits for the answer. It returns the context's error when ctx is done, and is called
// concurrently; tool.Context has the key of the node. A *ToolError means that no user is available.
type Asker func(ctx context.Context, q Question) (answer string, err error)

// WithHuman sets the function that answers the questions of human nodes. Without it a recorded run stops with the error
// *Waiting, and is resumed with the answer; in other runs questions fail with TIMEOUT at once, or their on_timeout
// applies.
func WithHuman(a Asker) Option { return func(rt *Runtime) { rt.asker = a } }

// Nobody is the error of a question that nobody is there to answer. Its code is TIMEOUT, because it is the same to a
// workflow whether nobody was there or nobody answered in time.
func Nobody(why string) *value.ToolError {
	return value.Errorf(value.Timeout, "no user is available to answer: %s", why)
}

// Answer is the set of types that an answer can have.
type Answer interface {
	~string | ~int64 | ~float64 | ~bool
}

// Ask asks a user for node n. The question is a call like any other: recorded, replayed, retried and bounded by the
// node's timeout. Its effects are reads, so a resumed run repeats unanswered questions. The error is a *NodeError.
func Ask[T Answer](r *Run, n *Node, q Question) (T, error) {
	q.Type = kindOf[T]()
	return Call(r, n, Bind(HumanTool, Reads, func(ctx context.Context, q Question) (T, error) { return ask[T](ctx, r, n, q) }, Timeout(0), Cancellable()), q)
}

// AskOr is Ask with on_timeout: {default: def}. When nobody answers it returns def; other errors come back.
func AskOr[T Answer](r *Run, n *Node, q Question, def T) (T, error) {
	out, err := Ask[T](r, n, q)
	if unanswered(err) {
		return def, nil
	}
	return out, err
}

// AskOrSkip is Ask with on_timeout: skip. When nobody answers it returns nil and no error.
func AskOrSkip[T Answer](r *Run, n *Node, q Question) (*T, error) {
	out, err := Ask[T](r, n, q)
	if unanswered(err) {
		return nil, nil
	}
	return Some(out, err)
}

func unanswered(err error) bool {
	te := value.ToolErrorOf(err)
	return te != nil && te.Code == value.Timeout
}

func ask[T Answer](ctx context.Context, r *Run, n *Node, q Question) (out T, err error) {
	answer, err := r.answer(ctx, n, q)
	if err != nil {
		return out, err
	}
	b, te := q.decode(answer)
	if te != nil {
		te.Message = "answer: " + te.Message
		return out, te
	}
	return out, value.Decode(b, &out)
}

// answer is what a user says: what is written in the journal, what the asker returns, or none yet.
func (r *Run) answer(ctx context.Context, n *Node, q Question) (string, error) {
	rt, w := r.state.rt, r.state.waits
	journal, _ := r.eng.(Waiter)
	if rt.asker == nil && w == nil {
		return "", Nobody("this program asks no users")
	}
	q.Text, q.Key = rt.redactor.Load().Text(q.Text), r.scope.path()+n.ID
	c := callOf(ctx)
	if c != nil {
		q.Key = c.Head().Key()
	}
	r.emit(Event{Kind: Asking, Key: q.Key, Node: n, Tool: HumanTool, Time: r.Now(), Message: q.Text})
	if journal != nil {
		if answer, ok := journal.Answered(q.Key); ok {
			return answer, nil
		}
	}
	if rt.asker != nil {
		return rt.asker(ctx, q)
	}
	return "", w.wait(ctx, r, c.Head(), q)
}

func kindOf[T Answer]() string {
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Int64:
		return "int"
	case reflect.Float64:
		return "float"
	case reflect.Bool:
		return "bool"
	}
	return "string"
}
