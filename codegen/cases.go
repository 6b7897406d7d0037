package codegen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A suite is what runtime/flowtest reads: the cases of one file without any YAML.
type suite struct {
	File     string      `json:"file"`
	Workflow string      `json:"workflow"`
	Dir      string      `json:"dir,omitempty"`
	Cases    []suiteCase `json:"cases"`
}

type suiteCase struct {
	Name     string                     `json:"name"`
	Pos      string                     `json:"pos"`
	Cassette string                     `json:"cassette"`
	Input    rawObject                  `json:"input,omitempty"`
	Answers  map[string]json.RawMessage `json:"answers,omitempty"`
	Output   []expectation              `json:"output,omitempty"`
	State    []expectation              `json:"state,omitempty"`
	Calls    []suiteCall                `json:"calls,omitempty"`
	Order    []expectation              `json:"order,omitempty"`
	Cost     *suiteCost                 `json:"cost,omitempty"`
	Error    *suiteError                `json:"error,omitempty"`
}

type expectation struct {
	Field string          `json:"field"`
	Pos   string          `json:"pos"`
	Want  json.RawMessage `json:"want,omitempty"`
}

type suiteCall struct {
	Key      string          `json:"key"`
	Pos      string          `json:"pos"`
	Input    json.RawMessage `json:"input,omitempty"`
	Output   json.RawMessage `json:"output,omitempty"`
	Error    *suiteError     `json:"error,omitempty"`
	Cached   *bool           `json:"cached,omitempty"`
	Attempts *int            `json:"attempts,omitempty"`
	Times    *int            `json:"times,omitempty"`
}

type suiteCost struct {
	Pos       string `json:"pos"`
	USD       string `json:"usd,omitempty"`
	MaxUSD    string `json:"max_usd,omitempty"`
	Tokens    *int64 `json:"tokens,omitempty"`
	MaxTokens *int64 `json:"max_tokens,omitempty"`
	Calls     *int64 `json:"calls,omitempty"`
	MaxCalls  *int64 `json:"max_calls,omitempty"`
}

type suiteError struct {
	Pos     string          `json:"pos"`
	Code    string          `json:"code,omitempty"`
	Node    string          `json:"node,omitempty"`
	Message json.RawMessage `json:"message,omitempty"`
}

// rawObject is a JSON object that keeps the order of its members.
type rawObject []rawMember

type rawMember struct {
	name  string
	value string
}

// MarshalJSON implements json.Marshaler.
func (o rawObject) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.WriteString(m.value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Suite writes test cases as the JSON that runtime/flowtest reads. dir is the slash-separated way from where they run to the
// folder of their file, "" when that is the same.
func Suite(c *check.Cases, dir string) ([]byte, error) {
	s := suite{File: path.Base(c.IR.File.Name), Workflow: c.Program.WF.Name.Name, Dir: dir, Cases: []suiteCase{}}
	for _, x := range c.IR.Cases {
		s.Cases = append(s.Cases, caseOf(c, x))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return nil, fmt.Errorf("cases of %s: %w", c.IR.File.Name, err)
	}
	return inLines(b.Bytes()), nil
}

// openLevels is how deep JSON is written with a line for each member: down to the expectations of a case.
const openLevels = 4

// inLines writes compact JSON in lines, so that a change of one expectation is a change of one line.
func inLines(compact []byte) []byte {
	var b bytes.Buffer
	depth, quoted := 0, false
	line := func() {
		b.WriteByte('\n')
		b.WriteString(strings.Repeat("  ", depth))
	}
	for i, c := range compact {
		if quoted {
			b.WriteByte(c)
			quoted = c != '"' || escaped(compact[:i])
			continue
		}
		switch c {
		case '"':
			quoted = true
			b.WriteByte(c)
		case '{', '[':
			depth++
			b.WriteByte(c)
			if depth <= openLevels && compact[i+1] != c+2 { // the bracket that closes it
				line()
			}
		case '}', ']':
			depth--
			if depth < openLevels && compact[i-1] != c-2 {
				line()
			}
			b.WriteByte(c)
		case ',':
			b.WriteByte(c)
			if depth <= openLevels {
				line()
			} else {
				b.WriteByte(' ')
			}
		case ':':
			b.WriteString(": ")
		default:
			b.WriteByte(c)
		}
	}
	return b.Bytes()
}

// escaped reports whether what follows a text in quotes is escaped.
func escaped(before []byte) bool {
	n := 0
	for n < len(before) && before[len(before)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

func caseOf(c *check.Cases, x *ir.TestCase) suiteCase {
	w := &x.Want
	out := suiteCase{Name: x.Name.Name, Pos: linePos(x.Name.Span), Cassette: x.Cassette.Name, Cost: costOf(w.Cost), Error: errorOf(c, w.Error)}
	for _, e := range x.Input {
		out.Input = append(out.Input, rawMember{e.Key.Name, c.JSON(e.Value)})
	}
	for _, e := range x.Answers {
		if out.Answers == nil {
			out.Answers = map[string]json.RawMessage{}
		}
		out.Answers[e.Key.Name] = json.RawMessage(c.JSON(e.Value))
	}
	for _, e := range w.Output {
		out.Output = append(out.Output, expectation{e.Key.Name, linePos(e.Key.Span), json.RawMessage(c.JSON(e.Value))})
	}
	for _, e := range w.State {
		out.State = append(out.State, expectation{e.Key.Name, linePos(e.Key.Span), json.RawMessage(c.JSON(e.Value))})
	}
	for _, id := range w.Order {
		out.Order = append(out.Order, expectation{Field: id.Name, Pos: linePos(id.Span)})
	}
	for _, call := range w.Calls {
		s := suiteCall{Key: call.Key.Name, Pos: linePos(call.Key.Span), Error: errorOf(c, call.Error), Cached: call.Cached, Attempts: call.Attempts, Times: call.Times}
		if call.Input != nil {
			s.Input = json.RawMessage(c.JSON(call.Input))
		}
		if call.Output != nil {
			s.Output = json.RawMessage(c.JSON(call.Output))
		}
		out.Calls = append(out.Calls, s)
	}
	return out
}

func costOf(w *ir.WantCost) *suiteCost {
	if w == nil {
		return nil
	}
	return &suiteCost{Pos: linePos(w.Span), USD: w.USD, MaxUSD: w.MaxUSD, Tokens: w.Tokens, MaxTokens: w.MaxTokens, Calls: w.Calls, MaxCalls: w.MaxCalls}
}

func errorOf(c *check.Cases, w *ir.WantError) *suiteError {
	if w == nil {
		return nil
	}
	e := &suiteError{Pos: linePos(w.Span), Code: w.Code.Name, Node: w.Node.Name}
	if w.Message != nil {
		e.Message = json.RawMessage(c.JSON(w.Message))
	}
	return e
}

// linePos is the place of a span as line:column.
func linePos(s source.Span) string {
	at := s.Start()
	return fmt.Sprintf("%d:%d", at.Line, at.Col)
}
