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
	list, err := s.opts.Runs.List()
	if err != nil {
		return nil, err
	}
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
		reader, err := s.opts.Runs.Follow(one.ID)
		if err != nil || reader.All() != nil {
			unread++
			continue
		}
		read++
		addRun(sums, group, reader)
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

// addRun adds the calls of a run to the sums of their groups.
func addRun(sums map[string]*sum, group string, r *runs.Reader) {
	for n := range r.Calls() {
		c := &r.Calls()[n]
		name, counts := groupOf(group, r, c)
		if !counts {
			continue
		}
		if sums[name] == nil {
			sums[name] = &sum{Name: name}
		}
		at := sums[name]
		if at.last != r.ID() {
			at.last = r.ID()
			at.Runs++
		}
		at.Attempts++
		at.Tokens += c.Tokens
		at.CostUSD += c.CostUSD
		at.Busy += c.End - c.Start
		at.took = append(at.took, c.End-c.Start)
		if c.Cached {
			at.Cached++
		}
		if r.State(c) == journal.CallFailed {
			at.Failed++
		}
		if c.Metered && c.CostUSD == 0 && c.Tokens > 0 && !c.Cached {
			at.Unpriced++
		}
	}
}

// groupOf is the name of the group that a call belongs to.
func groupOf(group string, r *runs.Reader, c *runs.Call) (name string, counts bool) {
	h := r.Header()
	switch group {
	case "workflow":
		return h.Workflow, true
	case "node":
		return h.Workflow + ": " + journal.NodePath(c.Key), true
	case "tenant":
		return h.Tenant, true
	case "day":
		return h.Begin.UTC().Format(time.DateOnly), true
	case "model":
		return c.Tool, c.Metered
	}
	return c.Tool, true
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
