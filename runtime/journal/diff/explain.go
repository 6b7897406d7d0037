package diff

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
)

// explain says of each changed node what of it has changed, and of each call with another input where that came from, as
// far as the records show. It looks at values: that a text which is new in an input is new in an earlier output as well.
func (c *comparison) explain(r *Report) {
	c.inputs = fields("input", c.a.header.Input, c.b.header.Input)
	for i := range r.Calls {
		key := r.Calls[i].Key
		if c.a.calls[key] == nil || c.b.calls[key] == nil {
			continue
		}
		if outs := fields("output", c.a.calls[key].last.Output, c.b.calls[key].last.Output); outs != nil {
			c.givers = append(c.givers, giver{key, c.b.calls[key].end, outs})
		}
	}
	slices.SortFunc(c.givers, func(x, y giver) int { return cmp.Or(cmp.Compare(y.end, x.end), strings.Compare(x.key, y.key)) })
	for i := range r.Calls {
		d := &r.Calls[i]
		if d.Why == InputOther || d.Why == NodeChanged {
			d.From = c.sources(d)
		}
	}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if n.Kind == "changed" {
			n.What = c.said(n.Path, r.Calls)
		}
	}
}

// giver is a call with another output.
type giver struct {
	key  string
	end  time.Duration // in B
	outs []Change
}

// said lists what of a node has changed: the parts of its calls' inputs that have, unless they came from elsewhere.
func (c *comparison) said(path string, calls []Call) []string {
	what := []string{}
	for i := range calls {
		d := &calls[i]
		now := c.b.calls[d.Key]
		if d.Why != NodeChanged || now == nil || now.node != path {
			continue
		}
		model := isModel(&now.last)
		for _, ch := range d.Changes {
			part := ""
			switch {
			case ch.What == "tool" && model:
				part = "model"
			case ch.What == "tool" || ch.What == "effects":
				part = ch.What
			case ch.What == "input" && !c.came(&ch, d.Key):
				part = partOf(ch.Path, model, now.last.Tool == engine.HumanTool)
			}
			if part != "" && !slices.Contains(what, part) {
				what = append(what, part)
			}
		}
		if len(what) > 0 { // what the first call shows, later ones of an agent or a loop follow from
			return what
		}
	}
	return what
}

// isModel tells calls of models by what they are given (llm.Turn).
func isModel(r *journal.Record) bool {
	var turn struct {
		Model    string            `json:"model"`
		Messages []json.RawMessage `json:"messages"`
	}
	return r.Effects == flow.External.String() && json.Unmarshal(r.Input, &turn) == nil && turn.Messages != nil && r.Tool == turn.Model+"@1"
}

// partOf names a field of an input as an author knows it.
func partOf(path string, model, human bool) string {
	first, _, _ := strings.Cut(path, ".")
	first, _, _ = strings.Cut(first, "[")
	switch {
	case human:
		return first
	case !model && first == "":
		return "argument"
	case !model:
		return "argument " + first
	}
	switch first {
	case "system":
		return "system prompt"
	case "messages":
		return "prompt"
	case "schema":
		return "type of the answer"
	case "params":
		_, param, _ := strings.Cut(path, ".")
		if param, _, _ = strings.Cut(param, "["); param != "" {
			return param
		}
		return "parameters"
	}
	return first // model, tools
}

// sources are where the changes of a call's input came from: fields of the run's input, and calls that ended before it
// began.
func (c *comparison) sources(d *Call) []string {
	from := []string{}
	for i := range d.Changes {
		if d.Changes[i].What != "input" {
			continue
		}
		c.shared(&d.Changes[i], d.Key, func(name string, _ *Change) { from = append(from, name) })
	}
	slices.Sort(from)
	return slices.Compact(from)
}

// came reports whether a change of an input came from elsewhere, and from there alone: with what is new there in the
// place of what was, the old input is the new one.
func (c *comparison) came(ch *Change, key string) bool {
	old, now := plainText(ch.Old), plainText(ch.New)
	found := false
	c.shared(ch, key, func(_ string, by *Change) {
		found = true
		if before := plainText(by.Old); before != "" && strings.Contains(old, before) {
			old = strings.ReplaceAll(old, before, plainText(by.New))
		} else {
			old = now // only a part of what was given has come
		}
	})
	return found && old == now
}

// nearby bounds how many earlier calls are looked at for one change.
const nearby = 500

// shared calls yield for the fields of the run's input that a change may come from, and for the latest call before that it
// may come from.
func (c *comparison) shared(ch *Change, key string, yield func(name string, by *Change)) {
	to := c.b.calls[key]
	if to == nil {
		return
	}
	for i := range c.inputs {
		if in := &c.inputs[i]; shares(ch, in) {
			yield(strings.TrimSuffix("input."+in.Path, "."), in)
		}
	}
	first, _ := slices.BinarySearchFunc(c.givers, to.start, func(g giver, start time.Duration) int { return cmp.Compare(start, g.end) })
	for _, g := range c.givers[first:min(first+nearby, len(c.givers))] {
		if g.key == key {
			continue
		}
		found := false
		for i := range g.outs {
			if shares(ch, &g.outs[i]) {
				found = true
				yield(g.key, &g.outs[i])
			}
		}
		if found {
			return
		}
	}
}

// leastShared is how much two changes must have in common, old and new together, to be taken for the same although they
// are not equal, in bytes.
const leastShared = 6

// shares reports whether two changes may be the same one: what is new in one is in what is new in the other, and so
// does what is old.
func shares(x, y *Change) bool {
	if string(x.Old) == string(y.Old) && string(x.New) == string(y.New) {
		return true
	}
	old, ok := within(x.Old, y.Old)
	now, too := within(x.New, y.New)
	return ok && too && old+now >= leastShared
}

// within reports whether one of two values is in the other, and how long it is.
func within(a, b json.RawMessage) (n int, ok bool) {
	s, t := plainText(a), plainText(b)
	if len(s) > len(t) {
		s, t = t, s
	}
	return len(s), strings.Contains(t, s) && (s != "" || t == "")
}

// plainText is the text of a string, and other JSON as it is.
func plainText(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}
