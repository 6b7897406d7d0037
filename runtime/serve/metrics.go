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
)

// metrics counts for Prometheus. Labels are of the compiled programs, never of requests.
type metrics struct {
	mu        sync.Mutex
	requests  map[string]*histogram
	runs      map[string]*histogram
	outcomes  map[string]float64
	calls     map[string]float64
	cost      map[string]float64
	tokens    map[string]*histogram // of models
	asked     map[string]*histogram // models
	forgotten float64
}

// maxSeries bounds the series of one metric. Those beyond it are counted together.
const maxSeries = 100

// The boundaries of buckets: of requests and runs in seconds, and those that the conventions give for models.
var (
	buckets      = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600}
	tokenBuckets = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	askedBuckets = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
)

type histogram struct {
	bounds []float64
	counts []float64
	sum    float64
	n      float64
}

func (m *metrics) init() {
	m.requests, m.runs = map[string]*histogram{}, map[string]*histogram{}
	m.outcomes, m.calls, m.cost = map[string]float64{}, map[string]float64{}, map[string]float64{}
	m.tokens, m.asked = map[string]*histogram{}, map[string]*histogram{}
}

func (m *metrics) observe(in map[string]*histogram, series string, bounds []float64, v float64) {
	h := in[series]
	if h == nil {
		if len(in) >= maxSeries {
			m.forgotten++
			return
		}
		h = &histogram{bounds: bounds, counts: make([]float64, len(bounds))}
		in[series] = h
	}
	for i, b := range bounds {
		if v <= b {
			h.counts[i]++
		}
	}
	h.sum += v
	h.n++
}

func (m *metrics) add(to map[string]float64, series string, by float64) {
	if _, ok := to[series]; !ok && len(to) >= maxSeries {
		m.forgotten++
		return
	}
	to[series] += by
}

func (m *metrics) request(pattern string, status int, d time.Duration) {
	method, route, _ := strings.Cut(pattern, " ")
	if route == "" {
		method, route = "_OTHER", "/"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.observe(m.requests, fmt.Sprintf(`http_request_method=%q,http_route=%q,http_response_status_code="%d"`, method, route, status), buckets, d.Seconds())
}

func (m *metrics) run(workflow string, o journal.Outcome, d time.Duration) {
	if o == journal.Open {
		o = "stopped"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.add(m.outcomes, fmt.Sprintf("workflow=%q,outcome=%q", workflow, o), 1)
	m.observe(m.runs, fmt.Sprintf("workflow=%q", workflow), buckets, d.Seconds())
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
	m.add(m.calls, fmt.Sprintf("tool=%q,code=%q", a.Tool, code), 1)
	cost, model := a.Cost, ""
	name, _ := engine.SplitTool(a.Tool)
	if provider, requested, ok := strings.Cut(name, ":"); ok && !a.Denied { // the program's words: what a provider answers may be anything
		model = name
		labels := fmt.Sprintf(`gen_ai_operation_name="chat",gen_ai_provider_name=%q,gen_ai_request_model=%q`, provider, requested)
		m.observe(m.asked, labels, askedBuckets, a.End.Sub(a.Start).Seconds())
		if u := a.Usage; u != nil {
			m.observe(m.tokens, labels+`,gen_ai_token_type="input"`, tokenBuckets, float64(u.InputTokens))
			m.observe(m.tokens, labels+`,gen_ai_token_type="output"`, tokenBuckets, float64(u.OutputTokens))
			if u.CostUSD != nil {
				cost = *u.CostUSD
			}
		}
	}
	if cost != 0 {
		m.add(m.cost, fmt.Sprintf("workflow=%q,tool=%q,model=%q", a.Run.Info().Name, a.Tool, model), dollars(cost))
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
	gauge("flowgen_runs", "Runs by what they do.", map[string]int{`{state="running"}`: active - queued, `{state="queued"}`: queued, `{state="waiting"}`: waits, `{state="stopped"}`: halted})
	gauge("flowgen_queue_length", "Runs that wait for their turn.", map[string]int{"": queued})
	gauge("flowgen_questions_open", "Runs that wait for an answer.", map[string]int{"": waits})
	gauge("flowgen_event_streams", "Streams of events that are open.", map[string]int{"": int(s.streams.readers.Load())})
	m := &s.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	counter := func(name, help string, values map[string]float64) {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s counter\n", name, help, name)
		for _, k := range slices.Sorted(maps.Keys(values)) {
			fmt.Fprintf(w, "%s{%s} %v\n", name, k, values[k])
		}
	}
	counter("flowgen_runs_total", "Runs that are over, by outcome.", m.outcomes)
	counter("flowgen_calls_total", "Attempts of calls, by tool and code.", m.calls)
	counter("flowgen_cost_usd_total", "What calls have cost.", m.cost)
	fmt.Fprintf(w, "# HELP flowgen_series_dropped_total Observations of series beyond the bound.\n# TYPE flowgen_series_dropped_total counter\nflowgen_series_dropped_total %v\n", m.forgotten)
	series := func(name, help string, values map[string]*histogram) {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s histogram\n", name, help, name)
		for _, k := range slices.Sorted(maps.Keys(values)) {
			h := values[k]
			for i, b := range h.bounds {
				fmt.Fprintf(w, "%s_bucket{%s,le=\"%v\"} %v\n", name, k, b, h.counts[i])
			}
			fmt.Fprintf(w, "%s_bucket{%s,le=\"+Inf\"} %v\n%s_sum{%s} %v\n%s_count{%s} %v\n", name, k, h.n, name, k, h.sum, name, k, h.n)
		}
	}
	series("http_server_request_duration_seconds", "Requests, by route and status.", m.requests)
	series("flowgen_run_duration_seconds", "Runs, by workflow.", m.runs)
	series("gen_ai_client_token_usage", "Tokens of calls of models.", m.tokens)
	series("gen_ai_client_operation_duration_seconds", "Calls of models.", m.asked)
}
