package studio

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Bounds of what is sent at once.
const (
	maxColumns = 20_000   // calls
	preview    = 64 << 10 // bytes of a value
	maxValue   = 4 << 20  // bytes of a value that is asked for
)

// columns are calls, a list for each field: the page has many of them. At are their numbers.
type columns struct {
	At      []int           `json:"at"`
	Key     []string        `json:"key"`
	Attempt []int           `json:"attempt"`
	Tool    []int           `json:"tool"` // of Tools
	Tools   []string        `json:"tools"`
	State   []journal.State `json:"state"`
	Start   []float64       `json:"start"` // milliseconds since the run's beginning
	End     []float64       `json:"end"`
	Tokens  []int64         `json:"tokens"`
	Cost    []usage.USD     `json:"cost"`
	Code    []string        `json:"code"`
	Flags   []int           `json:"flags"` // 1 cached, 2 denied, 4 of a model, 8 made again, 16 a question
	Total   int             `json:"total"`

	tools map[string]int // indexes of Tools
}

func columnsOf(r *runs.Reader, at []int) *columns {
	c := newColumns(len(r.Calls()))
	for _, i := range at {
		one := &r.Calls()[i]
		flags := flagsOf(one.Cached, one.Denied, one.Metered, one.Again, one.Tool == engine.HumanTool)
		c.add(i, one.Key, one.Attempt, one.Tool, r.State(one), one.Start, one.End, one.Code, flags)
		c.Tokens, c.Cost = append(c.Tokens, one.Tokens), append(c.Cost, one.CostUSD)
	}
	return c
}

func newColumns(total int) *columns {
	return &columns{At: []int{}, Tools: []string{}, Total: total, tools: map[string]int{}}
}

// add appends to all columns but Tokens and Cost.
func (c *columns) add(i int, key string, attempt int, tool string, state journal.State, start, end time.Duration, code string, flags int) {
	n, known := c.tools[tool]
	if !known {
		n = len(c.Tools)
		c.tools[tool], c.Tools = n, append(c.Tools, tool)
	}
	c.At, c.Key, c.Attempt, c.Tool, c.State = append(c.At, i), append(c.Key, key), append(c.Attempt, attempt), append(c.Tool, n), append(c.State, state)
	c.Start, c.End = append(c.Start, float64(start)/1e6), append(c.End, float64(end)/1e6)
	c.Code, c.Flags = append(c.Code, code), append(c.Flags, flags)
}

// flagsOf are Flags of a call.
func flagsOf(on ...bool) int {
	flags := 0
	for bit, set := range on {
		if set {
			flags |= 1 << bit
		}
	}
	return flags
}

func (s *Server) calls(_ http.ResponseWriter, r *http.Request) (any, error) {
	reader, err := s.opts.Runs.Follow(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	after, err := number(r.URL.Query().Get("after"), 0)
	if err != nil {
		return nil, err
	}
	if err := reader.All(); err != nil && len(reader.Calls()) == 0 {
		return nil, err
	}
	at := []int{}
	for i := int(min(after, int64(len(reader.Calls())))); i < len(reader.Calls()) && len(at) < maxColumns; i++ {
		at = append(at, i)
	}
	return columnsOf(reader, at), nil
}

// aCall is all of a call.
type aCall struct {
	N           int               `json:"n"`
	Key         string            `json:"key"`
	Node        string            `json:"node"` // its path
	Attempt     int               `json:"attempt"`
	Tool        string            `json:"tool"`
	Effects     string            `json:"effects"`
	CallID      string            `json:"call_id"`
	State       journal.State     `json:"state"`
	Start       float64           `json:"start"`
	End         float64           `json:"end"`
	Tokens      int64             `json:"tokens"`
	CostUSD     usage.USD         `json:"cost_usd"`
	Cached      bool              `json:"cached,omitempty"`
	Truncated   bool              `json:"truncated,omitempty"`
	Denied      bool              `json:"denied,omitempty"`
	Sandbox     string            `json:"sandbox,omitempty"`
	Cancelled   string            `json:"cancelled,omitempty"`
	Error       *value.ToolError  `json:"error,omitempty"`
	Stack       string            `json:"stack,omitempty"`
	Logs        string            `json:"logs,omitempty"`
	Attachments []tool.Attachment `json:"attachments,omitempty"`
	Input       *aValue           `json:"input,omitempty"`
	Output      *aValue           `json:"output,omitempty"`
	Attempts    []int             `json:"attempts"`        // the numbers of all attempts of the call
	Lacks       string            `json:"lacks,omitempty"` // why input and output are missing
}

// aValue is an input or output, or its beginning.
type aValue struct {
	Text string `json:"text"`
	Size int64  `json:"size"`
	Cut  bool   `json:"cut,omitempty"`
}

func (s *Server) call(_ http.ResponseWriter, r *http.Request) (any, error) {
	reader, i, rec, err := s.record(r)
	if err != nil {
		return nil, err
	}
	out, err := callOf(reader, i, rec, preview)
	if err != nil {
		return nil, err
	}
	for n := range reader.Calls() {
		if reader.Calls()[n].Key == out.Key {
			out.Attempts = append(out.Attempts, n)
		}
	}
	return out, nil
}

// callOf is all of a call but its attempts, with at most so many bytes of each value.
func callOf(reader *runs.Reader, i int, rec journal.Record, most int64) (out *aCall, err error) {
	c := &reader.Calls()[i]
	out = &aCall{N: i, Key: c.Key, Node: journal.NodePath(c.Key), Attempt: c.Attempt, Tool: c.Tool, Effects: c.Effects, CallID: c.CallID, State: reader.State(c),
		Start: float64(c.Start) / 1e6, End: float64(c.End) / 1e6, Tokens: c.Tokens, CostUSD: c.CostUSD, Cached: c.Cached, Truncated: rec.Truncated, Denied: c.Denied,
		Sandbox: rec.Sandbox, Cancelled: rec.Cancelled, Error: rec.Error, Stack: rec.Stack, Logs: rec.Logs, Attachments: rec.Attachments}
	if out.Input, err = valueOf(reader, rec.Input, most); err == nil {
		out.Output, err = valueOf(reader, rec.Output, most)
	}
	return out, err
}

// record reads the call that a request names.
func (s *Server) record(r *http.Request) (*runs.Reader, int, journal.Record, error) {
	var none journal.Record
	reader, err := s.opts.Runs.Follow(r.PathValue("id"))
	if err != nil {
		return nil, 0, none, err
	}
	i, err := strconv.Atoi(r.PathValue("n"))
	if err != nil {
		return nil, 0, none, problemf(http.StatusBadRequest, "a call is a number", "")
	}
	if err := reader.All(); err != nil && i >= len(reader.Calls()) {
		return nil, 0, none, err
	}
	if i < 0 || i >= len(reader.Calls()) {
		return nil, 0, none, problemf(http.StatusNotFound, "no such call", "")
	}
	rec, err := reader.Record(i)
	return reader, i, rec, err
}

func valueOf(r *runs.Reader, v json.RawMessage, most int64) (*aValue, error) {
	if v == nil {
		return nil, nil
	}
	part, size, err := r.Value(v, 0, most)
	if err != nil {
		return nil, err
	}
	out := &aValue{Size: size, Cut: size > int64(len(part))}
	if out.Cut {
		for len(part) > 0 && !utf8.Valid(part[max(0, len(part)-utf8.UTFMax):]) && int64(len(part)) > most-utf8.UTFMax {
			part = part[:len(part)-1]
		}
		out.Text = string(part)
		return out, nil
	}
	var b bytes.Buffer
	if json.Indent(&b, part, "", "  ") != nil {
		out.Text = string(part)
	} else {
		out.Text = b.String()
	}
	return out, nil
}

// value answers with bytes of an input or output, as a file: nothing shows it as anything else.
func (s *Server) value(w http.ResponseWriter, r *http.Request) {
	reader, _, rec, err := s.record(r)
	if err != nil {
		problemOf(err).write(w)
		return
	}
	v := map[string]json.RawMessage{"input": rec.Input, "output": rec.Output}[r.PathValue("what")]
	from, err := number(r.URL.Query().Get("from"), 0)
	n, err2 := number(r.URL.Query().Get("n"), maxValue)
	switch {
	case v == nil:
		err = problemf(http.StatusNotFound, "no such value", "")
	case err == nil:
		err = err2
	}
	var part []byte
	if err == nil {
		part, _, err = reader.Value(v, from, min(n, maxValue))
	}
	if err != nil {
		problemOf(err).write(w)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", "attachment; filename=value.json")
	_, _ = w.Write(part)
}
