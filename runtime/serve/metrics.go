package serve

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// metrics counts for Prometheus. Labels are of the compiled programs, never of requests; but a program may have many workflows and
// tools, and servers of tools name theirs as they like. So the series are bounded.
type metrics struct {
	mu       sync.Mutex
	left     int // samples that new series may have
	dropped  float64
	requests family
	runs     family
	outcomes family
	calls    family
	cost     family
	tokens   family // of models
	asked    family // models
	key      []byte // of the series that is looked for: kept, as each run has some
}

const (
	// maxSamples bounds the lines with a value of one scrape.
	maxSamples = 1000
	// maxRequests bounds those of requests: their statuses depend on who sends what, and leave room for the others.
	maxRequests = 320
	fixed       = 8 // gauges, and dropped
	other       = "_other"
	maxLabel    = 100 // bytes
)

// The boundaries of buckets: of requests and runs in seconds, and those that the conventions give for models.
var (
	buckets      = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600}
	tokenBuckets = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	askedBuckets = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
)

// family is one metric with all its series. Observations of series beyond the bound are counted together.
type family struct {
	name, help string
	labels     []string
	bounds     []float64 // of buckets; nil: a counter
	most       int       // samples; 0: as many as there are left
	used       int
	series     map[string]*histogram
}

// histogram is a series. That of a counter has a sum only.
type histogram struct {
	counts []float64
	sum    float64
	n      float64
}

func (m *metrics) init() {
	m.requests = family{name: "http_server_request_duration_seconds", help: "Requests, by route and status.", bounds: buckets, most: maxRequests,
		labels: []string{"http_request_method", "http_route", "http_response_status_code"}}
	m.runs = family{name: "flowgen_run_duration_seconds", help: "Runs, by workflow.", bounds: buckets, labels: []string{"workflow"}}
	m.outcomes = family{name: "flowgen_runs_total", help: "Finished runs, by outcome.", labels: []string{"workflow", "outcome"}}
	m.calls = family{name: "flowgen_calls_total", help: "Call attempts, by tool and code.", labels: []string{"tool", "code"}}
	m.cost = family{name: "flowgen_cost_usd_total", help: "Cost of calls.", labels: []string{"workflow", "tool", "model"}}
	model := []string{"gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model"}
	m.asked = family{name: "gen_ai_client_operation_duration_seconds", help: "Calls of models.", bounds: askedBuckets, labels: model}
	m.tokens = family{name: "gen_ai_client_token_usage", help: "Tokens of model calls.", bounds: tokenBuckets, labels: append(model[:3:3], "gen_ai_token_type")}
	m.left = maxSamples - fixed
	for _, f := range m.all() {
		f.series = map[string]*histogram{}
		m.left -= f.samples() // room for the series of all others
	}
}

func (m *metrics) all() []*family {
	return []*family{&m.outcomes, &m.calls, &m.cost, &m.requests, &m.runs, &m.tokens, &m.asked}
}

// samples is how many lines a series has.
func (f *family) samples() int {
	if f.bounds == nil {
		return 1
	}
	return len(f.bounds) + 3
}

// labeled appends the labels of a series.
func (f *family) labeled(b []byte, values []string) []byte {
	for i, name := range f.labels {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, name...), `="`...)
		b = append(append(b, labelText.Replace(value.Clip(strings.ToValidUTF8(values[i], "\ufffd"), maxLabel))...), '"')
	}
	return b
}

var labelText = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// of returns a series by the values of its labels.
func (m *metrics) of(f *family, values ...string) *histogram {
	m.key = f.labeled(m.key[:0], values)
	h := f.series[string(m.key)]
	if h != nil {
		return h
	}
	n := f.samples()
	if m.left < n || f.most > 0 && f.used+n > f.most {
		m.dropped++
		m.key = f.labeled(m.key[:0], slices.Repeat([]string{other}, len(f.labels)))
		if h = f.series[string(m.key)]; h != nil {
			return h
		}
	} else {
		m.left -= n
		f.used += n
	}
	h = &histogram{counts: make([]float64, len(f.bounds))}
	f.series[string(m.key)] = h
	return h
}

func (m *metrics) observe(f *family, v float64, values ...string) {
	h := m.of(f, values...)
	for i, b := range f.bounds {
		if v <= b {
			h.counts[i]++
		}
	}
	h.sum += v
	h.n++
}

func (m *metrics) request(pattern string, status int, d time.Duration) {
	method, route, _ := strings.Cut(pattern, " ")
	if route == "" {
		method, route = "_OTHER", "/"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.observe(&m.requests, d.Seconds(), method, route, strconv.Itoa(status))
}

func (m *metrics) run(workflow string, o journal.Outcome, d time.Duration) {
	if o == journal.Open {
		o = "stopped"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.observe(&m.outcomes, 1, workflow, string(o))
	m.observe(&m.runs, d.Seconds(), workflow)
}

// Used implements runtime.UsageSink.
func (m *metrics) Used(a *runtime.Attempt) {
	if a.Replayed {
		return
	}
	code := "OK"
	if a.Err != nil {
		code = codeOf(a.Err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.observe(&m.calls, 1, a.Tool, code)
	cost, model := a.Cost, ""
	name, _ := engine.SplitTool(a.Tool)
	if provider, requested, ok := strings.Cut(name, ":"); ok && !a.Denied { // the program's words: what a provider answers may be anything
		model = name
		m.observe(&m.asked, a.End.Sub(a.Start).Seconds(), "chat", provider, requested)
		if u := a.Usage; u != nil {
			m.observe(&m.tokens, float64(u.InputTokens), "chat", provider, requested, "input")
			m.observe(&m.tokens, float64(u.OutputTokens), "chat", provider, requested, "output")
			if u.CostUSD != nil {
				cost = *u.CostUSD
			}
		}
	}
	if cost != 0 {
		m.observe(&m.cost, dollars(cost), a.Run.Info().Name, a.Tool, model)
	}
}

func dollars(u usage.USD) float64 {
	n, _ := strconv.ParseFloat(u.String(), 64) // what USD writes
	return n
}

// text writes all that is counted.
func (s *Server) text(w io.Writer) {
	s.mu.Lock()
	active, waits, halted := len(s.active), len(s.waiting), len(s.stopped)
	s.mu.Unlock()
	queued := int(s.queued.Load())
	gauge := func(name, help string, values map[string]int) {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name)
		for _, k := range slices.Sorted(maps.Keys(values)) {
			fmt.Fprintf(w, "%s%s %d\n", name, k, values[k])
		}
	}
	gauge("flowgen_runs", "Runs by state.", map[string]int{`{state="running"}`: active - queued, `{state="queued"}`: queued, `{state="waiting"}`: waits, `{state="stopped"}`: halted})
	gauge("flowgen_queue_length", "Queued runs.", map[string]int{"": queued})
	gauge("flowgen_questions_open", "Runs that wait for an answer.", map[string]int{"": waits})
	gauge("flowgen_event_streams", "Open event streams.", map[string]int{"": int(s.streams.readers.Load())})
	m := &s.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range m.all() {
		f.write(w)
	}
	fmt.Fprintf(w, "# HELP flowgen_series_dropped_total Observations of series beyond the limit.\n# TYPE flowgen_series_dropped_total counter\nflowgen_series_dropped_total %v\n", m.dropped)
}

func (f *family) write(w io.Writer) {
	kind := "counter"
	if f.bounds != nil {
		kind = "histogram"
	}
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", f.name, f.help, f.name, kind)
	for _, k := range slices.Sorted(maps.Keys(f.series)) {
		h := f.series[k]
		if f.bounds == nil {
			fmt.Fprintf(w, "%s{%s} %v\n", f.name, k, h.sum)
			continue
		}
		for i, b := range f.bounds {
			fmt.Fprintf(w, "%s_bucket{%s,le=\"%v\"} %v\n", f.name, k, b, h.counts[i])
		}
		fmt.Fprintf(w, "%s_bucket{%s,le=\"+Inf\"} %v\n%s_sum{%s} %v\n%s_count{%s} %v\n", f.name, k, h.n, f.name, k, h.sum, f.name, k, h.n)
	}
}
