package serve

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
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
	forgotten float64
}

// maxSeries bounds the series of one metric. Those beyond it are counted together.
const maxSeries = 150

var buckets = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600}

type histogram struct {
	counts []float64
	sum    float64
	n      float64
}

func (m *metrics) init() {
	m.requests, m.runs = map[string]*histogram{}, map[string]*histogram{}
	m.outcomes, m.calls, m.cost = map[string]float64{}, map[string]float64{}, map[string]float64{}
}

func (m *metrics) observe(in map[string]*histogram, series string, d time.Duration) {
	h := in[series]
	if h == nil {
		if len(in) >= maxSeries {
			m.forgotten++
			return
		}
		h = &histogram{counts: make([]float64, len(buckets))}
		in[series] = h
	}
	for i, b := range buckets {
		if d.Seconds() <= b {
			h.counts[i]++
		}
	}
	h.sum += d.Seconds()
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
	m.observe(m.requests, fmt.Sprintf(`http_request_method=%q,http_route=%q,http_response_status_code="%d"`, method, route, status), d)
}

func (m *metrics) run(workflow string, o journal.Outcome, d time.Duration) {
	if o == journal.Open {
		o = "stopped"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.add(m.outcomes, fmt.Sprintf("workflow=%q,outcome=%q", workflow, o), 1)
	m.observe(m.runs, fmt.Sprintf("workflow=%q", workflow), d)
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
	if a.Cost != 0 {
		m.add(m.cost, fmt.Sprintf("tool=%q", a.Tool), dollars(a.Cost))
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
			for i, b := range buckets {
				fmt.Fprintf(w, "%s_bucket{%s,le=\"%v\"} %v\n", name, k, b, h.counts[i])
			}
			fmt.Fprintf(w, "%s_bucket{%s,le=\"+Inf\"} %v\n%s_sum{%s} %v\n%s_count{%s} %v\n", name, k, h.n, name, k, h.sum, name, k, h.n)
		}
	}
	series("http_server_request_duration_seconds", "Requests, by route and status.", m.requests)
	series("flowgen_run_duration_seconds", "Runs, by workflow.", m.runs)
}

// Admin answers probes and Prometheus: /livez, /readyz, /startupz and /metrics. It asks nobody for a name, so it belongs on an
// address of its own.
func (s *Server) Admin() http.Handler {
	mux := http.NewServeMux()
	probe := func(problem func() string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			if why := problem(); why != "" {
				w.WriteHeader(http.StatusServiceUnavailable)
				_, _ = io.WriteString(w, why+"\n")
				return
			}
			_, _ = io.WriteString(w, "ok\n")
		}
	}
	started := func() string {
		select {
		case <-s.found:
			return ""
		default:
			return "the runs of the last process are not known yet"
		}
	}
	mux.Handle("GET /livez", probe(func() string { return "" }))
	mux.Handle("GET /startupz", probe(started))
	mux.Handle("GET /readyz", probe(func() string {
		s.mu.Lock()
		draining, full := s.draining || s.leaving, len(s.active) >= s.o.MaxRuns+s.o.MaxQueue
		s.mu.Unlock()
		switch {
		case draining:
			return "the server stops"
		case full:
			return "the queue is full"
		}
		return started()
	}))
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		s.text(w)
	})
	return mux
}
