package scripted

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A Script is a list of answers. For each call the first one that fits is given; none that fits is a VALIDATION_ERROR.
// A script is read-only and safe for concurrent use.
type Script struct {
	Answers []Answer `json:"answers"`

	file string // that the answers are in; "" for a script that is none
}

// An Answer is what is said, and when. All conditions that are given have to hold.
type Answer struct {
	Turn   *int   `json:"turn,omitempty"`   // the conversation has had as many answers
	Model  string `json:"model,omitempty"`  // the model is asked under this name
	System string `json:"system,omitempty"` // the system's text contains this
	Prompt string `json:"prompt,omitempty"` // the first text of the user contains this
	User   string `json:"user,omitempty"`   // the last text of the user contains this
	Tool   string `json:"tool,omitempty"`   // this tool's result is among those that the model goes on from
	Result string `json:"result,omitempty"` // a result among them, of Tool if that is given, contains this

	Text    string          `json:"text,omitempty"`
	JSON    json.RawMessage `json:"json,omitempty"` // instead of Text: a structured answer
	Calls   []Call          `json:"calls,omitempty"`
	Stop    llm.Stop        `json:"stop,omitempty"` // empty: "calls" when there are calls, else "end"
	Usage   *llm.Usage      `json:"usage,omitempty"`
	DelayMS int             `json:"delay_ms,omitempty"` // before the answer; the pieces of a stream come at once
	Error   *Error          `json:"error,omitempty"`    // instead of an answer
}

// A Call is a tool call of an answer.
type Call struct {
	ID   string          `json:"id,omitempty"` // empty: call_TURN_INDEX
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"` // a JSON string is what the model wrote, however broken; empty: {}
}

// An Error is a failure of the provider. Times is how many attempts of one turn fail; 0 is all of them.
type Error struct {
	Code        value.Code `json:"code"`
	Message     string     `json:"message,omitempty"`
	RetryAfterS *float64   `json:"retry_after_s,omitempty"`
	Times       int        `json:"times,omitempty"`
}

var codes = []value.Code{value.ValidationError, value.Timeout, value.RateLimit, value.PolicyDenied, value.AuthRequired,
	value.ProviderError, value.NetworkError, value.SandboxError, value.Unknown}

// Parse reads a script from JSON, {"answers": [...]}. Fields that are not known are errors.
func Parse(data []byte) (*Script, error) {
	var s Script
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	if d.More() {
		return nil, fmt.Errorf("script: there is something after the end of the object")
	}
	for i := range s.Answers {
		if err := s.Answers[i].check(); err != nil {
			return nil, fmt.Errorf("script: answer %d: %w", i, err)
		}
	}
	return &s, nil
}

// MustParse is Parse for scripts that are part of the program. It panics on errors.
func MustParse(data []byte) *Script {
	s, err := Parse(data)
	if err != nil {
		panic(err)
	}
	return s
}

// Provider returns the provider that answers from the script in data, which was made of a file of answers. Generated code
// calls it. It panics when data is none.
func Provider(file, data string) llm.Provider {
	s := MustParse([]byte(data))
	s.file = file
	return s.Provider()
}

func (a *Answer) check() error {
	if a.Text != "" && a.JSON != nil {
		return fmt.Errorf("text and json are both given: keep one of them")
	}
	if a.Error != nil && !slices.Contains(codes, a.Error.Code) {
		return fmt.Errorf("%q is none of the nine codes of errors", a.Error.Code)
	}
	switch a.Stop {
	case "", llm.End, llm.CallStop, llm.Length, llm.Refusal:
	default:
		return fmt.Errorf("unknown stop reason %q: expected end, calls, length or refusal", a.Stop)
	}
	for _, c := range a.Calls {
		if c.Name == "" {
			return fmt.Errorf("a call has no name")
		}
	}
	return nil
}

// Provider returns the provider that answers from the script.
func (s *Script) Provider() llm.Provider { return (*player)(s) }

type player Script

// attempts counts, in Conversation.Memo, the attempts of one turn.
type attempts struct{ turn, n int }

// Complete implements llm.Provider.
func (p *player) Complete(ctx context.Context, req *llm.Request) (*llm.Reply, error) {
	turn := Turn(req.Conv)
	tries, ok := req.Conv.Memo.(*attempts)
	if !ok || tries.turn != turn {
		tries = &attempts{turn: turn}
		req.Conv.Memo = tries
	}
	tries.n++
	for i := range p.Answers {
		a := &p.Answers[i]
		if !a.fits(req, turn) {
			continue
		}
		if err := sleep(ctx, time.Duration(a.DelayMS)*time.Millisecond); err != nil {
			return nil, err
		}
		if e := a.Error; e != nil && (e.Times == 0 || tries.n <= e.Times) {
			return nil, e.tool()
		} else if e != nil && !a.says() {
			continue
		}
		return provider(func(*llm.Request) (*llm.Reply, error) { return a.reply(), nil }).Complete(ctx, req)
	}
	name, model := "the script", " of "+req.Model
	if p.file != "" {
		name, model = p.file, ""
	}
	return nil, value.Invalid("%s has no answer for turn %d%s, after %q", name, turn, model, short(last(req.Conv)))
}

func (a *Answer) fits(req *llm.Request, turn int) bool {
	c := req.Conv
	if a.Turn != nil && *a.Turn != turn || a.Model != "" && a.Model != req.Model || !strings.Contains(c.System, a.System) ||
		!strings.Contains(firstUser(c), a.Prompt) || !strings.Contains(lastUser(c), a.User) {
		return false
	}
	if a.Tool == "" && a.Result == "" {
		return true
	}
	return slices.ContainsFunc(lastResults(c), func(r llm.Result) bool {
		return (a.Tool == "" || r.Name == a.Tool) && strings.Contains(r.Text, a.Result)
	})
}

// says reports whether there is more than an error.
func (a *Answer) says() bool {
	return a.Text != "" || a.JSON != nil || len(a.Calls) > 0 || a.Stop != ""
}

func (a *Answer) reply() *llm.Reply {
	r := &llm.Reply{Message: llm.Message{Text: a.Text}, Stop: a.Stop}
	if a.JSON != nil {
		r.Message.Text = string(a.JSON)
	}
	for _, c := range a.Calls {
		args := string(c.Args)
		var broken string
		if json.Unmarshal(c.Args, &broken) == nil {
			args = broken
		}
		r.Message.Calls = append(r.Message.Calls, llm.Call{ID: c.ID, Name: c.Name, Args: args})
	}
	if a.Usage != nil {
		r.Usage = *a.Usage
	}
	return r
}

func (e *Error) tool() *value.ToolError {
	message := e.Message
	if message == "" {
		message = "the script has this error here"
	}
	return &value.ToolError{Code: e.Code, Message: message, RetryAfterS: e.RetryAfterS}
}

// last is what an answer is asked for.
func last(c *llm.Conversation) string {
	if results := lastResults(c); len(results) > 0 {
		return strconv.Itoa(len(results)) + " tool results, the last: " + results[len(results)-1].Text
	}
	return lastUser(c)
}
