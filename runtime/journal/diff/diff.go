// Package diff compares two recorded runs: what was different about the program and its input, which calls went another
// way because of that, and what came out in the end.
//
// Times do not count, nor do names of runs and what they drew at random: two runs of the same program on the same input
// whose calls gave the same are equal.
package diff

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Report says in what two runs, A and B, differ.
type Report struct {
	A     Side     `json:"a"`
	B     Side     `json:"b"`
	Run   []Change `json:"run"`   // of the runs as a whole: versions, input, outcome, output
	Nodes []Node   `json:"nodes"` // those that do not say the same, by path
	Calls []Call   `json:"calls"` // in the order in which they began
}

// Side is one of the runs.
type Side struct {
	ID       string          `json:"id"`
	Workflow string          `json:"workflow"`
	Outcome  journal.Outcome `json:"outcome"`
	Calls    int             `json:"calls"`
	Attempts int             `json:"attempts"`
	Tokens   int64           `json:"tokens"`
	CostUSD  usage.USD       `json:"cost_usd"`
}

// Change is one thing that is not the same. A side that does not have it has no value.
type Change struct {
	What string          `json:"what"`           // workflow, graph, input, output, error, tool, cost_usd, ...
	Path string          `json:"path,omitempty"` // the field inside: tasks[2].name
	Old  json.RawMessage `json:"a,omitempty"`
	New  json.RawMessage `json:"b,omitempty"`
}

// Node is a node that does not say the same in both programs.
type Node struct {
	Path string   `json:"path"`
	Kind string   `json:"kind"` // changed, added or removed
	What []string `json:"what"` // what of it has changed, as far as its calls show: "prompt", "argument q"
}

// Why a call is not the same.
const (
	NodeChanged = "node_changed" // its node says something else
	InputOther  = "input"        // its node is unchanged, but its input has changed
	Varied      = "varied"       // node and input are the same: what it called gave something else
	OnlyA       = "only_a"
	OnlyB       = "only_b"
)

// Call is a call that is not the same in both runs.
type Call struct {
	Key     string   `json:"key"`
	Tool    string   `json:"tool"`
	Why     string   `json:"why"`
	From    []string `json:"from"` // where the other input came from, as far as values show: "plan", "input.pr"
	Changes []Change `json:"changes"`
	More    int      `json:"more,omitempty"` // changes that are left out
}

// Equal reports whether there is no difference.
func (r *Report) Equal() bool { return len(r.Run)+len(r.Nodes)+len(r.Calls) == 0 }

// Runs compares two runs; nameA and nameB are what they are called.
func Runs(nameA string, a *journal.Journal, nameB string, b *journal.Journal) *Report {
	c := &comparison{a: sideOf(a), b: sideOf(b)}
	r := &Report{A: c.a.side, B: c.b.side, Run: []Change{}, Calls: []Call{}}
	r.A.ID, r.B.ID = nameA, nameB
	r.Nodes = c.nodes()
	r.Calls = c.calls()
	c.explain(r)
	r.Run = c.whole()
	return r
}

// side is what is known of a run, ordered for comparing.
type side struct {
	side   Side
	header journal.Header
	finish journal.Finish
	calls  map[string]*call // by key
}

// call is a call with all of its attempts.
type call struct {
	last     journal.Record // the attempt that decided
	waits    bool           // for an answer
	start    time.Duration  // of the first
	end      time.Duration
	attempts int
	tokens   int64
	cost     usage.USD
	node     string // path of its node, "" when the program does not tell
	hash     string // of its node when it ran
}

func sideOf(j *journal.Journal) *side {
	s := &side{header: j.Header(), finish: j.Finish(), calls: map[string]*call{}}
	h := journal.Hashes{Nodes: s.header.Nodes}
	for _, r := range j.Records() { // attempts of a call in their order
		k := s.calls[r.Key]
		if k == nil {
			k = &call{start: r.Start, node: h.PathOf(r.Key)}
			s.calls[r.Key] = k
		}
		k.last, k.waits, k.end, k.attempts = r, j.Waits(&r), r.End, k.attempts+1
		k.hash = cmp.Or(r.Node, s.header.Nodes[k.node])
		if r.Done {
			k.tokens, k.cost = k.tokens+r.Tokens, k.cost+r.CostUSD
			s.side.Tokens, s.side.CostUSD = s.side.Tokens+r.Tokens, s.side.CostUSD+r.CostUSD
		}
		s.side.Attempts++
	}
	s.side.Workflow, s.side.Outcome, s.side.Calls = s.header.Workflow, s.finish.Outcome, len(s.calls)
	return s
}

type comparison struct {
	a, b *side

	inputs []Change // of the runs
	givers []giver  // calls with another output, the latest first
}

// whole compares what is not about one call.
func (c *comparison) whole() []Change {
	list := []Change{}
	text := func(what, a, b string) {
		if a != b {
			list = append(list, Change{What: what, Old: quoted(a), New: quoted(b)})
		}
	}
	a, b := c.a.header, c.b.header
	text("workflow", a.Workflow, b.Workflow)
	text("graph", a.Graph, b.Graph)
	text("program", a.Program, b.Program)
	text("lock", a.Lock, b.Lock)
	text("tenant", a.Tenant, b.Tenant)
	list = append(list, fields("input", a.Input, b.Input)...)
	text("outcome", string(c.a.finish.Outcome), string(c.b.finish.Outcome))
	text("failure", c.a.finish.Failure, c.b.finish.Failure)
	return append(list, fields("output", c.a.finish.Output, c.b.finish.Output)...)
}

// quoted is text as JSON, nothing when it is empty.
func quoted(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	b, err := value.String(s).MarshalJSON()
	if err != nil { // all text can be encoded
		return nil
	}
	return b
}

// nodes compares the programs: the innermost nodes that are not the same.
func (c *comparison) nodes() []Node {
	a, b := c.a.header.Nodes, c.b.header.Nodes
	kinds := map[string]string{}
	for path, hash := range b {
		was, ok := a[path]
		switch {
		case !ok:
			kinds[path] = "added"
		case was != hash:
			kinds[path] = "changed"
		}
	}
	for path := range a {
		if _, ok := b[path]; !ok {
			kinds[path] = "removed"
		}
	}
	list := []Node{}
	for path, kind := range kinds {
		if strings.HasSuffix(path, "/") { // what a container says itself: it stands for the container
			continue
		}
		if kind == "changed" && kinds[path+"/"] == "" && below(kinds, path) {
			continue // it is something in it that has changed
		}
		list = append(list, Node{Path: path, Kind: kind, What: []string{}})
	}
	slices.SortFunc(list, func(x, y Node) int { return strings.Compare(x.Path, y.Path) })
	return list
}

// below reports whether something inside a node has changed.
func below(kinds map[string]string, path string) bool {
	for p := range kinds {
		if strings.HasPrefix(p, path+"/") && p != path+"/" {
			return true
		}
	}
	return false
}

// calls compares the calls of the runs.
func (c *comparison) calls() []Call {
	list := []Call{}
	starts := map[string]time.Duration{}
	for key, now := range c.b.calls {
		starts[key] = now.start
		was := c.a.calls[key]
		if was == nil {
			list = append(list, Call{Key: key, Tool: now.last.Tool, Why: OnlyB, From: []string{}, Changes: []Change{}})
			continue
		}
		if d := compareCalls(key, was, now); d != nil {
			list = append(list, *d)
		}
	}
	for key, was := range c.a.calls {
		if c.b.calls[key] == nil {
			starts[key] = was.start
			list = append(list, Call{Key: key, Tool: was.last.Tool, Why: OnlyA, From: []string{}, Changes: []Change{}})
		}
	}
	slices.SortFunc(list, func(x, y Call) int {
		return cmp.Or(cmp.Compare(starts[x.Key], starts[y.Key]), strings.Compare(x.Key, y.Key))
	})
	return list
}

// most bounds the changes that are told about one call.
const most = 100

// compareCalls returns nil when the calls are the same.
func compareCalls(key string, a, b *call) *Call {
	d := &Call{Key: key, Tool: b.last.Tool, From: []string{}}
	add := func(list ...Change) { d.Changes = append(d.Changes, list...) }
	text := func(what, x, y string) {
		if x != y {
			add(Change{What: what, Old: quoted(x), New: quoted(y)})
		}
	}
	text("tool", a.last.Tool, b.last.Tool)
	text("effects", a.last.Effects, b.last.Effects)
	input := fields("input", a.last.Input, b.last.Input)
	add(input...)
	text("state", stateOf(a), stateOf(b))
	add(fields("output", a.last.Output, b.last.Output)...)
	add(fields("error", errorJSON(&a.last), errorJSON(&b.last))...)
	text("cached", strconv.FormatBool(a.last.Cached), strconv.FormatBool(b.last.Cached))
	text("sandbox", a.last.Sandbox, b.last.Sandbox)
	add(fields("attempts", []byte(strconv.Itoa(a.attempts)), []byte(strconv.Itoa(b.attempts)))...)
	add(fields("tokens", []byte(strconv.FormatInt(a.tokens, 10)), []byte(strconv.FormatInt(b.tokens, 10)))...)
	text("cost_usd", a.cost.String(), b.cost.String())
	if d.Changes == nil {
		return nil
	}
	switch {
	case a.hash != b.hash || a.node != b.node:
		d.Why = NodeChanged
	case len(input) > 0 || a.last.Tool != b.last.Tool:
		d.Why = InputOther
	default:
		d.Why = Varied
	}
	if len(d.Changes) > most {
		d.Changes, d.More = d.Changes[:most], len(d.Changes)-most
	}
	return d
}

// stateOf says what became of a call.
func stateOf(c *call) string {
	r := &c.last
	switch {
	case c.waits:
		return "waiting for an answer"
	case !r.Done:
		return "no result"
	case r.Cancelled != "":
		return "cancelled by " + r.Cancelled
	case r.Error != nil:
		return "failed"
	}
	return "done"
}

func errorJSON(r *journal.Record) json.RawMessage {
	if r.Error == nil {
		return nil
	}
	b, err := json.Marshal(r.Error)
	if err != nil { // details that cannot be encoded
		return quoted(r.Error.Error())
	}
	return b
}
