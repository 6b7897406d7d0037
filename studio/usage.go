package studio

import (
	"cmp"
	"encoding/csv"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/usage"
)

// maxUsage bounds how many runs are added up.
const maxUsage = 2000

// sum is what the calls of one group add up to.
type sum struct {
	Name     string        `json:"name"`
	Runs     int           `json:"runs"`
	Attempts int           `json:"attempts"`
	Failed   int           `json:"failed"`
	Cached   int           `json:"cached"`
	Tokens   int64         `json:"tokens"`
	CostUSD  usage.USD     `json:"cost_usd"`
	Unpriced int           `json:"unpriced"` // model calls without a price: the cost is at least what is said
	Busy     time.Duration `json:"busy_ns"`
	Median   time.Duration `json:"median_ns"`
	P95      time.Duration `json:"p95_ns"`
	took     []time.Duration
	last     string
}

// usage adds up calls by workflow, node, tool, model, tenant or day.
func (s *Server) usage(w http.ResponseWriter, r *http.Request) (any, error) {
	q := r.URL.Query()
	group := cmp.Or(q.Get("group"), "workflow")
	if !slices.Contains([]string{"workflow", "node", "tool", "model", "tenant", "day"}, group) {
		return nil, problemf(http.StatusBadRequest, "group is workflow, node, tool, model, tenant or day", "")
	}
	since, err := timeOf(q.Get("since"))
	if err != nil {
		return nil, problemf(http.StatusBadRequest, "since is a time", err.Error())
	}
	list, err := s.opts.Runs.ListStamped()
	if err != nil {
		return nil, err
	}
	s.forget(list)
	sums, read, unread := map[string]*sum{}, 0, 0
	for i := range list {
		one := &list[i]
		if q.Get("workflow") != "" && one.Workflow != q.Get("workflow") || !since.IsZero() && one.Begin.Before(since) || read == maxUsage {
			continue
		}
		if one.Workflow == "" { // damaged
			unread++
			continue
		}
		u, err := s.usedIn(one)
		if err != nil {
			unread++
			continue
		}
		read++
		u.add(sums, group, one)
	}
	rows := []*sum{}
	for _, one := range sums {
		slices.Sort(one.took)
		one.Median, one.P95 = one.took[len(one.took)/2], one.took[min(len(one.took)*95/100, len(one.took)-1)]
		rows = append(rows, one)
	}
	slices.SortFunc(rows, func(a, b *sum) int { return cmp.Or(cmp.Compare(b.CostUSD, a.CostUSD), cmp.Compare(a.Name, b.Name)) })
	if q.Get("format") == "csv" {
		return nil, writeCSV(w, group, rows)
	}
	return map[string]any{"group": group, "rows": rows, "runs": read, "unread": unread, "more": read == maxUsage}, nil
}

// used is what the calls of a run add up to, by node and tool.
type used struct {
	tenant string
	calls  []usedCalls
	of     runs.Stamp // of the journal
}

// usedCalls are the calls that a node has made to a tool.
type usedCalls struct {
	node, tool string
	metered    bool
	sum
}

// maxUsed bounds how many calls a run can have whose sums are kept: all of their durations are.
const maxUsed = 10_000

// usedIn adds up the calls of a run, unless that was done and its journal has not changed since.
func (s *Server) usedIn(one *runs.Stamped) (used, error) {
	s.mu.Lock()
	before, ok := s.used[one.ID]
	s.mu.Unlock()
	if ok && one.Sure && before.of == one.Stamp {
		return before, nil
	}
	r, err := s.opts.Runs.Follow(one.ID)
	if err == nil {
		err = r.All()
	}
	if err != nil {
		return used{}, err
	}
	u := used{tenant: r.Header().Tenant, calls: usedBy(r), of: one.Stamp}
	if one.Sure && len(r.Calls()) <= maxUsed {
		s.mu.Lock()
		s.used[one.ID] = u
		s.mu.Unlock()
	}
	return u, nil
}

func usedBy(r *runs.Reader) []usedCalls {
	type kind struct {
		node, tool string
		metered    bool
	}
	var list []usedCalls
	at := map[kind]int{}
	for n := range r.Calls() {
		c := &r.Calls()[n]
		k := kind{journal.NodePath(c.Key), c.Tool, c.Metered}
		i, ok := at[k]
		if !ok {
			i = len(list)
			at[k] = i
			list = append(list, usedCalls{node: k.node, tool: k.tool, metered: k.metered})
		}
		of := &list[i].sum
		of.Attempts++
		of.Tokens += c.Tokens
		of.CostUSD += c.CostUSD
		of.Busy += c.End - c.Start
		of.took = append(of.took, c.End-c.Start)
		if c.Cached {
			of.Cached++
		}
		if r.State(c) == journal.CallFailed {
			of.Failed++
		}
		if c.Metered && c.CostUSD == 0 && c.Tokens > 0 && !c.Cached {
			of.Unpriced++
		}
	}
	return list
}

// add adds a run to the sums of its groups.
func (u *used) add(sums map[string]*sum, group string, run *runs.Stamped) {
	for i := range u.calls {
		c := &u.calls[i]
		var name string
		switch group {
		case "workflow":
			name = run.Workflow
		case "node":
			name = run.Workflow + ": " + c.node
		case "tenant":
			name = u.tenant
		case "day":
			name = run.Begin.UTC().Format(time.DateOnly)
		case "model":
			if !c.metered {
				continue
			}
			name = c.tool
		default:
			name = c.tool
		}
		if sums[name] == nil {
			sums[name] = &sum{Name: name}
		}
		at := sums[name]
		if at.last != run.ID {
			at.last = run.ID
			at.Runs++
		}
		at.Attempts += c.Attempts
		at.Failed += c.Failed
		at.Cached += c.Cached
		at.Tokens += c.Tokens
		at.CostUSD += c.CostUSD
		at.Unpriced += c.Unpriced
		at.Busy += c.Busy
		at.took = append(at.took, c.took...)
	}
}

func writeCSV(w http.ResponseWriter, group string, rows []*sum) error {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", "attachment; filename=usage.csv")
	out := csv.NewWriter(w)
	_ = out.Write([]string{group, "runs", "attempts", "failed", "cached", "tokens", "cost_usd", "unpriced", "busy_s", "median_s", "p95_s"})
	n := strconv.Itoa
	seconds := func(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }
	for _, r := range rows {
		name := r.Name
		if name != "" && slices.Contains([]byte("=+-@\t\r"), name[0]) { // a spreadsheet would take it as a formula
			name = "'" + name
		}
		_ = out.Write([]string{name, n(r.Runs), n(r.Attempts), n(r.Failed), n(r.Cached), strconv.FormatInt(r.Tokens, 10), r.CostUSD.String(), n(r.Unpriced), seconds(r.Busy), seconds(r.Median), seconds(r.P95)})
	}
	out.Flush()
	return out.Error()
}
