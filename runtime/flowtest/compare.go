package flowtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// compare lists what a run did otherwise than the case says.
func (c *Case) compare(o *outcome) []Failure {
	var out []Failure
	out = append(out, c.ending(o)...)
	if o.err == nil {
		out = append(out, fields("output", c.Output, o.output)...)
	}
	out = append(out, fields("state", c.State, o.state)...)
	for i := range c.Calls {
		out = append(out, c.Calls[i].compare(o.log)...)
	}
	if c.Cost != nil {
		out = append(out, c.Cost.compare(o.log)...)
	}
	for _, key := range o.log.unasked() {
		out = append(out, Failure{Pos: c.Pos, Path: []string{"answers", key}, Message: "nobody was asked " + key})
	}
	return out
}

// ending compares how the run ended.
func (c *Case) ending(o *outcome) []Failure {
	switch {
	case c.Error == nil && o.err == nil:
		return nil
	case c.Error == nil:
		return []Failure{{Pos: c.Pos, Path: []string{"error"}, Message: "the run failed: " + o.err.Error(), Got: errorJSON(o.err)}}
	case o.err == nil:
		return []Failure{{Pos: c.Error.Pos, Path: []string{"error"}, Message: "the run succeeded, want an error"}}
	}
	var ne *runtime.NodeError
	var te *value.ToolError
	node := ""
	if errors.As(o.err, &ne) {
		node = ne.Node.ID
	}
	if !errors.As(o.err, &te) {
		return []Failure{{Pos: c.Error.Pos, Path: []string{"error"}, Message: "the run failed: " + o.err.Error()}}
	}
	if d := c.Error.differs(te, node); d != "" {
		return []Failure{{Pos: c.Error.Pos, Path: []string{"error"}, Message: "error: " + d, Got: errorJSON(o.err)}}
	}
	return nil
}

// differs says what is wrong with an error; node is "" where it does not matter.
func (e *ErrorExpect) differs(te *value.ToolError, node string) string {
	switch {
	case e.Code != "" && e.Code != te.Code:
		return fmt.Sprintf("code is %s, want %s (%s)", te.Code, e.Code, te.Message)
	case e.Node != "" && e.Node != node:
		return fmt.Sprintf("node is %q, want %q (%s)", node, e.Node, te.Message)
	case e.Message != nil:
		return match("message", parsed(e.Message), value.String(te.Message))
	}
	return ""
}

// errorJSON is an error as a case can expect it.
func errorJSON(err error) json.RawMessage {
	var te *value.ToolError
	if !errors.As(err, &te) {
		return nil
	}
	e := struct {
		Code value.Code `json:"code"`
		Node string     `json:"node,omitempty"`
	}{Code: te.Code}
	var ne *runtime.NodeError
	if errors.As(err, &ne) {
		e.Node = ne.Node.ID
	}
	b, _ := json.Marshal(e) // two texts
	return b
}

// fields compares the fields of an object that something is expected of.
func fields(what string, list []Expect, object json.RawMessage) []Failure {
	if len(list) == 0 {
		return nil
	}
	got, err := value.Parse(object)
	if err != nil {
		return []Failure{{Pos: list[0].Pos, Path: []string{what}, Message: what + ": " + err.Error()}}
	}
	var out []Failure
	for _, e := range list {
		v, _ := got.Get(e.Field)
		if d := match(e.Field, e.Want, v); d != "" {
			out = append(out, Failure{Pos: e.Pos, Path: []string{what, e.Field}, Message: what + ": " + d, Got: valueJSON(v)})
		}
	}
	return out
}

func valueJSON(v value.Value) json.RawMessage {
	b, err := v.MarshalJSON()
	if err != nil {
		return nil
	}
	return b
}

// attempts are the attempts of one call, in their order.
type attempts []call

func (a attempts) last() *call { return &a[len(a)-1] }

// matching are the calls with a key, in the order in which they ended.
func (l *log) matching(pattern string) []attempts {
	var out []attempts
	at := map[string]int{}
	for _, c := range l.calls {
		if !matchesKey(pattern, c.Key) {
			continue
		}
		i, seen := at[c.Key]
		if !seen {
			i = len(out)
			at[c.Key] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], c)
	}
	return out
}

func (w *CallExpect) compare(l *log) []Failure {
	found := l.matching(w.Key)
	failure := func(part, message string, got json.RawMessage) Failure {
		return Failure{Pos: w.Pos, Path: []string{"calls", w.Key, part}, Message: message, Got: got}
	}
	if w.Times != nil && len(found) != *w.Times {
		return []Failure{failure("times", fmt.Sprintf("%s was called %s, want %s", w.Key, times(len(found)), times(*w.Times)), json.RawMessage(fmt.Sprint(len(found))))}
	}
	if w.Times == nil && len(found) == 0 {
		return []Failure{failure("times", fmt.Sprintf("%s was not called; the calls were %s", w.Key, l.keys()), json.RawMessage("0"))}
	}
	var out []Failure
	for _, a := range found {
		c := a.last()
		if w.Input != nil {
			if d := match("", parsed(w.Input), parsed(c.Input)); d != "" {
				out = append(out, failure("input", c.Key+": input "+d, c.Input))
			}
		}
		switch {
		case w.Output != nil && c.Error != nil:
			out = append(out, failure("output", c.Key+" failed: "+c.Error.Error(), nil))
		case w.Output != nil:
			if d := match("", parsed(w.Output), parsed(c.Output)); d != "" {
				out = append(out, failure("output", c.Key+": output "+d, c.Output))
			}
		case w.Error != nil && c.Error == nil:
			out = append(out, failure("error", c.Key+" succeeded, want an error", nil))
		case w.Error != nil:
			if d := w.Error.differs(c.Error, ""); d != "" {
				out = append(out, failure("error", c.Key+": error "+d, json.RawMessage(`"`+string(c.Error.Code)+`"`)))
			}
		}
		if w.Cached != nil && c.Cached != *w.Cached {
			out = append(out, failure("cached", fmt.Sprintf("%s: cached is %t, want %t", c.Key, c.Cached, *w.Cached), json.RawMessage(fmt.Sprint(c.Cached))))
		}
		if w.Attempts != nil && len(a) != *w.Attempts {
			out = append(out, failure("attempts", fmt.Sprintf("%s was tried %s, want %s", c.Key, times(len(a)), times(*w.Attempts)), json.RawMessage(fmt.Sprint(len(a)))))
		}
	}
	return out
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

func parsed(b json.RawMessage) value.Value {
	v, err := value.Parse(b)
	if err != nil {
		return value.Null()
	}
	return v
}

// keys are the calls of the run, for messages.
func (l *log) keys() string {
	var out []string
	seen := map[string]bool{}
	for _, c := range l.calls {
		if !seen[c.Key] {
			seen[c.Key] = true
			out = append(out, c.Key)
		}
	}
	if len(out) == 0 {
		return "none"
	}
	return clip(strings.Join(out, ", "))
}

func (w *CostExpect) compare(l *log) []Failure {
	var usd usage.USD
	var tokens, calls int64
	for _, c := range l.calls {
		usd += c.CostUSD
		tokens += c.Tokens
		calls++
	}
	var out []Failure
	add := func(wrong bool, part, message string, got any) {
		if wrong {
			b, _ := json.Marshal(got) // a number or a text
			out = append(out, Failure{Pos: w.Pos, Path: []string{"cost", part}, Message: "cost: " + message, Got: b})
		}
	}
	if w.USD != nil {
		add(usd != *w.USD, "usd", fmt.Sprintf("the calls took $%v, want $%v", usd, *w.USD), usd)
	}
	if w.MaxUSD != nil {
		add(usd > *w.MaxUSD, "max_usd", fmt.Sprintf("the calls took $%v, want $%v at most", usd, *w.MaxUSD), usd)
	}
	for _, n := range []struct {
		part, what string
		got        int64
		want       *int64
		most       bool
	}{
		{"tokens", "tokens were taken", tokens, w.Tokens, false}, {"max_tokens", "tokens were taken", tokens, w.MaxTokens, true},
		{"calls", "calls were made", calls, w.Calls, false}, {"max_calls", "calls were made", calls, w.MaxCalls, true},
	} {
		if n.want == nil {
			continue
		}
		wrong, bound := n.got != *n.want, ""
		if n.most {
			wrong, bound = n.got > *n.want, " at most"
		}
		add(wrong, n.part, fmt.Sprintf("%d %s, want %d%s", n.got, n.what, *n.want, bound), n.got)
	}
	return out
}
