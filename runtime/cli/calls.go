package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// callList are calls of a run, in some order. Those of a long journal are made one by one: all of them would not fit into little memory.
type callList struct {
	order []int32
	slim  func(i int32) inspectedCall // of an error the code alone, without stack, logs, attachments and sandbox
	whole func(i int32) inspectedCall
}

func listOf(calls []inspectedCall) callList {
	l := callList{order: make([]int32, len(calls))}
	for i := range calls {
		l.order[i] = int32(i)
	}
	l.slim = func(i int32) inspectedCall { return calls[i] }
	l.whole = l.slim
	return l
}

// all are the calls as lists need them, with their places.
func (l callList) all() iter.Seq2[int, inspectedCall] {
	return func(yield func(int, inspectedCall) bool) {
		for n, i := range l.order {
			if !yield(n, l.slim(i)) {
				return
			}
		}
	}
}

func (l callList) len() int { return len(l.order) }

// at is the n-th call, whole.
func (l callList) at(n int) *inspectedCall {
	c := l.whole(l.order[n])
	return &c
}

// only leaves the calls for which keep holds.
func (l callList) only(keep func(c *inspectedCall) bool) callList {
	l.order = slices.DeleteFunc(slices.Clone(l.order), func(i int32) bool {
		c := l.slim(i)
		return !keep(&c)
	})
	return l
}

// MarshalJSON is the list of whole calls.
func (l callList) MarshalJSON() ([]byte, error) {
	calls := make([]inspectedCall, l.len())
	for n := range calls {
		calls[n] = *l.at(n)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(calls)
	return b.Bytes(), err
}

// recorded is a run that is inspected: a journal that was read, or a Reader of a long one.
type recorded struct {
	id string
	j  *journal.Journal
	r  *runs.Reader
}

func (in recorded) inspection() *inspection {
	if in.r != nil {
		return inspectionThrough(in.r)
	}
	return inspectionOf(in.id, in.j)
}

// keys are those of all calls.
func (in recorded) keys() (keys []string) {
	if in.r == nil {
		for _, r := range in.j.Records() {
			keys = append(keys, r.Key)
		}
		return keys
	}
	for i := range in.r.Calls() {
		keys = append(keys, in.r.Calls()[i].Key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func (in recorded) answer(key string) (string, bool) {
	if in.r != nil {
		return in.r.Answer(key)
	}
	return in.j.Answer(key)
}

// named are the attempts of the calls with a name, whole, and what is told of each. Attempts in whose place another one was made come
// first.
func (in recorded) named(name string) (found []journal.Record, told []inspectedCall, err error) {
	if in.r == nil {
		earlier := callsNamed(in.j.Earlier(), name)
		found = append(slices.Clone(earlier), callsNamed(in.j.Records(), name)...)
		for n := range found {
			c := new(inspection).state(in.j, &found[n])
			if n < len(earlier) {
				c, _ = earlierCall(in.j, &found[n])
			}
			told = append(told, c)
		}
		return found, told, nil
	}
	calls := in.r.Calls()
	var byKey, byID []int
	for i := range calls {
		if calls[i].Key == name {
			byKey = append(byKey, i)
		}
		if len(name) >= leastCallID && strings.HasPrefix(calls[i].CallID, name) {
			byID = append(byID, i)
		}
	}
	for _, again := range []bool{true, false} { // a name of either kind: a key goes before an id
		list := slices.DeleteFunc(slices.Clone(byKey), func(i int) bool { return calls[i].Again != again })
		if list == nil {
			list = slices.DeleteFunc(slices.Clone(byID), func(i int) bool { return calls[i].Again != again })
		}
		if !again { // the others stay in the order in which they were made
			slices.SortStableFunc(list, func(a, b int) int {
				return cmp.Or(strings.Compare(calls[a].Key, calls[b].Key), cmp.Compare(calls[a].Attempt, calls[b].Attempt))
			})
		}
		for _, i := range list {
			r, err := in.r.Record(i)
			if err == nil {
				err = in.r.Inline(&r)
			}
			if err != nil {
				return nil, nil, err
			}
			c := slimCall(in.r, i)
			c.fill(&r)
			found, told = append(found, r), append(told, c)
		}
	}
	return found, told, nil
}

// slimCall is what lists need of a call of a Reader.
func slimCall(r *runs.Reader, i int) inspectedCall {
	k := &r.Calls()[i]
	c := inspectedCall{Key: k.Key, Attempt: k.Attempt, State: string(r.State(k)), Tool: k.Tool, Effects: k.Effects, CallID: k.CallID, Start: k.Start, End: k.End,
		Cached: k.Cached, Denied: k.Denied, Tokens: k.Tokens, CostUSD: k.CostUSD, Cancelled: k.CancelledBy(), Again: k.Again}
	if k.Metered {
		c.Effects = "asks" // journals say external
	}
	if k.Code != "" {
		c.Error = &value.ToolError{Code: value.Code(k.Code)}
	}
	if !k.Ended() || c.State == callWaiting { // what an intent says is the most that it can take
		c.End, c.Tokens, c.CostUSD = c.Start, 0, 0
	}
	return c
}

// fill adds what a slim call lacks.
func (c *inspectedCall) fill(r *journal.Record) {
	c.Truncated, c.Attachments, c.Abandoned, c.Sandbox, c.Error, c.Stack, c.Logs, c.Node = r.Truncated, r.Attachments, r.Abandoned, r.Sandbox, r.Error, r.Stack, r.Logs, r.Node
}

// inspectionThrough is inspectionOf of a journal that is not in memory.
func inspectionThrough(r *runs.Reader) *inspection {
	i := inspectionHead(r.ID(), r.Header(), r.Finish())
	calls := r.Calls()
	whole := func(n int32) inspectedCall {
		c := slimCall(r, int(n))
		if !calls[n].More() {
			return c
		}
		rec, err := r.Record(int(n))
		if err != nil { // somebody changes the file
			rec = journal.Record{Error: &value.ToolError{Code: value.Code(calls[n].Code), Message: err.Error()}}
		}
		c.fill(&rec)
		return c
	}
	list := callList{order: make([]int32, 0, len(calls)), whole: whole, slim: func(n int32) inspectedCall { return slimCall(r, int(n)) }}
	keys := make(map[string]bool, len(calls))
	var undone []int
	for n := range calls {
		k := &calls[n]
		result := k.Ended() && k.CancelledBy() != runtime.ByRun
		if k.Again && k.Tool == engine.HumanTool && !result { // the question has waited all the time
			continue
		}
		list.order = append(list.order, int32(n))
		c := slimCall(r, n)
		i.Totals.add(&c)
		if k.Again {
			continue
		}
		keys[k.Key] = true
		i.Took = max(i.Took, c.End)
		switch c.State {
		case callWaiting:
			rec, err := r.Record(n)
			if err == nil {
				err = r.Inline(&rec)
			}
			if err != nil {
				rec = journal.Record{Key: k.Key}
			}
			i.Waiting = append(i.Waiting, questionOf(&rec))
		case callInDoubt:
			i.InDoubt = append(i.InDoubt, doubtful{k.Key, k.Attempt, k.Tool, k.CallID})
		}
		if _, undoes := journal.UndoOf(k.Key); undoes && k.Ended() && k.CancelledBy() == "" {
			undone = append(undone, n)
		}
	}
	i.Totals.Calls = len(keys)
	slices.SortStableFunc(i.Waiting, func(a, b openQuestion) int { return strings.Compare(a.Key, b.Key) })
	slices.SortStableFunc(i.InDoubt, func(a, b doubtful) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), cmp.Compare(a.Attempt, b.Attempt))
	})
	slices.SortStableFunc(list.order, func(a, b int32) int {
		a1, b1 := &calls[a], &calls[b]
		if d := cmp.Compare(a1.Start, b1.Start); d != 0 {
			return d
		}
		return cmp.Or(strings.Compare(a1.Key, b1.Key), cmp.Compare(a1.Attempt, b1.Attempt), againFirst(a1.Again, b1.Again))
	})
	ends := map[string]*value.ToolError{} // the error of the last attempt
	slices.SortStableFunc(undone, func(a, b int) int { return cmp.Compare(calls[a].Attempt, calls[b].Attempt) })
	for _, n := range undone {
		ends[calls[n].Key] = whole(int32(n)).Error
	}
	i.Calls = list
	i.undos(ends)
	return i
}
