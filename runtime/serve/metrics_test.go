package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/eventually"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/serve"
)

// sample is a line with a value of Prometheus' text format.
var sample = regexp.MustCompile(`^([a-z_]+)(\{[a-z_]+="(?:[^"\\]|\\[\\"n])*"(?:,[a-z_]+="(?:[^"\\]|\\[\\"n])*")*\})? ([0-9.e+-]+)$`)

// scrape reads /metrics as Prometheus does: metric with labels, value.
func scrape(t *testing.T, admin string) map[string]float64 {
	t.Helper()
	resp, err := http.Get(admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(resp.Body); err != nil {
		t.Fatal(err)
	}
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || !strings.HasPrefix(kind, "text/plain; version=0.0.4") {
		t.Errorf("%d %s", resp.StatusCode, kind)
	}
	all := map[string]float64{}
	for line := range strings.Lines(body.String()) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "# ") {
			continue
		}
		m := sample.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("no line of the format: %q", line)
		}
		v, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := all[m[1]+m[2]]; twice {
			t.Errorf("twice: %s", line)
		}
		all[m[1]+m[2]] = v
	}
	return all
}

func sum(all map[string]float64, metric string) (n float64) {
	for name, v := range all {
		if strings.HasPrefix(name, metric+"{") {
			n += v
		}
	}
	return n
}

// called calls a tool that is named by its input.
type called struct {
	rt   *flow.Runtime
	info *flow.Info
}

func (w *called) Run(ctx context.Context, in payInput) (out payOutput, err error) {
	run := flow.Start(ctx, w.rt, in)
	defer flow.End(run, &out, &err)
	any := flow.Bind(in.To, flow.Reads, func(context.Context, payInput) (string, error) { return "", nil })
	out.Paid, err = flow.Some(flow.Call(run, w.info.Nodes[0], any, in))
	return out, err
}

// Many workflows, tools and tenants with names that were chosen to break the format, and requests for anything: the samples of a
// scrape are bounded, each line is one of the format, nothing that a request has named is in it, and what is counted adds up.
func TestManySeries(t *testing.T) {
	const workflows, each = 60, 8
	var served []*serve.Workflow
	var names []string
	for i := range workflows {
		info := &flow.Info{Name: fmt.Sprintf("w%d\"} 1\nx{a=\"\\\xff%s", i, strings.Repeat("é", 100*(i%2))), Source: "w.flowgen.yaml", Nodes: []*flow.Node{{ID: "n", Pos: "w.flowgen.yaml:3:3"}},
			Input: payInfo.Input}
		names = append(names, info.Name)
		served = append(served, serve.Of(info, func(o ...runtime.Option) (*called, error) {
			rt, err := flow.New(info, o...)
			return &called{rt, info}, err
		}))
	}
	auth := func(r *http.Request) (serve.Principal, error) {
		return serve.Principal{Name: r.Header.Get("Who"), Tenant: r.Header.Get("Who")}, nil
	}
	s, err := serve.Handler(serve.Options{Runs: runs.Open(t.TempDir(), runs.Options{Sync: runs.Off}), Auth: auth}, served...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Shutdown(context.Background()) }() // nothing runs
	admin := httptest.NewServer(s.Admin())
	defer admin.Close()
	defer http.DefaultClient.CloseIdleConnections()
	ask := func(method, path, who, body string) int {
		w, r := httptest.NewRecorder(), httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header = http.Header{"Content-Type": {"application/json"}, "Prefer": {"wait=30"}, "Who": {who}}
		s.ServeHTTP(w, r)
		return w.Code
	}
	for i, name := range names {
		for j := range each {
			tool := fmt.Sprintf("t%d_%d\"\n\\.do@1", i, j)
			body, err := json.Marshal(payInput{To: tool, Euros: 1, Note: "n"})
			if err != nil {
				t.Fatal(err)
			}
			if code := ask("POST", "/v1/workflows/"+url.PathEscape(name)+"/runs", fmt.Sprintf("tenant%d-%d", i, j), string(body)); code != 201 {
				t.Fatalf("%q: %d", name, code)
			}
		}
	}
	for i := range 300 {
		ask([]string{"GET", "PUT", "BREW"}[i%3], fmt.Sprintf("/v1/runs/sentinel%d/output/%d", i, i), "sentinel", "")
		ask("GET", fmt.Sprintf("/v1/runs/sentinel%d", i), "sentinel", "")
	}
	all := scrape(t, admin.URL)
	if len(all) > 1000 {
		t.Errorf("%d samples", len(all))
	}
	for name := range all {
		if strings.Contains(name, "tenant") || strings.Contains(name, "sentinel") || len(name) > 600 {
			t.Errorf("%s", name)
		}
	}
	if n := sum(all, "flowgen_runs_total"); n != workflows*each {
		t.Errorf("%v runs", n)
	}
	if n := sum(all, "flowgen_calls_total"); n != workflows*each {
		t.Errorf("%v calls", n)
	}
	if n := sum(all, "flowgen_run_duration_seconds_count"); n != workflows*each {
		t.Errorf("%v durations", n)
	}
	if all[`flowgen_runs_total{workflow="_other",outcome="_other"}`] == 0 || all["flowgen_series_dropped_total"] == 0 {
		t.Error("nothing was counted together, so that the bound was not reached")
	}
}

// What runs do is seen in a scrape while they do it.
func TestScrape(t *testing.T) {
	b := &bank{hold: make(chan struct{}), began: make(chan struct{}, 10)}
	s := start(t, t.TempDir(), b, serve.Options{MaxRuns: 1})
	admin := httptest.NewServer(s.Admin())
	t.Cleanup(admin.Close)
	s.want(t, 202, "POST", start10, `{"to": "ada", "euros": 300}`, "Prefer", "wait=30")
	first := s.want(t, 202, "POST", start10, `{"to": "a", "euros": 1}`)
	<-b.began
	second := s.want(t, 202, "POST", start10, `{"to": "nobody", "euros": 1}`)
	eventually.True(t, "a run that waits for its turn", func() bool { return scrape(t, admin.URL)["flowgen_queue_length"] == 1 })
	all := scrape(t, admin.URL)
	for name, want := range map[string]float64{`flowgen_runs{state="running"}`: 1, `flowgen_runs{state="queued"}`: 1, `flowgen_runs{state="waiting"}`: 1, `flowgen_runs{state="stopped"}`: 0, "flowgen_questions_open": 1, "flowgen_event_streams": 0} {
		if got, ok := all[name]; !ok || got != want {
			t.Errorf("%s is %v (%v), want %v", name, got, ok, want)
		}
	}
	close(b.hold)
	s.waitFor(t, first.ID, "succeeded")
	s.waitFor(t, second.ID, "failed")
	const begun = `http_server_request_duration_seconds_count{http_request_method="POST",http_route="/v1/workflows/{name}/runs",http_response_status_code="202"}`
	eventually.True(t, "all are counted", func() bool { // requests are when their answers are sent
		all = scrape(t, admin.URL)
		return all[`flowgen_run_duration_seconds_count{workflow="pay"}`] == 3 && all[begun] == 3
	})
	for name, want := range map[string]float64{
		`flowgen_runs_total{workflow="pay",outcome="succeeded"}`: 1, `flowgen_runs_total{workflow="pay",outcome="failed"}`: 1, `flowgen_runs_total{workflow="pay",outcome="waiting"}`: 1,
		`flowgen_calls_total{tool="bank.pay@1",code="OK"}`: 1, `flowgen_calls_total{tool="bank.pay@1",code="AUTH_REQUIRED"}`: 1,
		`flowgen_run_duration_seconds_bucket{workflow="pay",le="+Inf"}`: 3, `flowgen_run_duration_seconds_count{workflow="pay"}`: 3,
		"flowgen_series_dropped_total": 0,
	} {
		if got, ok := all[name]; !ok || got != want {
			t.Errorf("%s is %v (%v), want %v", name, got, ok, want)
		}
	}
}

// A server whose requests cannot go on does not live; afterwards it does.
func TestStalled(t *testing.T) {
	defer serve.Watch(time.Millisecond, time.Second/4)()
	s := start(t, t.TempDir(), &bank{}, serve.Options{})
	admin := httptest.NewServer(s.Admin())
	t.Cleanup(admin.Close)
	probes := &service{s.Server, admin.URL}
	release := sync.OnceFunc(s.Jam())
	t.Cleanup(release)
	var a *answer
	eventually.True(t, "the probe sees it", func() bool {
		a = probes.do(t, "GET", "/livez?verbose", "")
		return a.status == 503
	})
	if a.text != "[-] scheduler: no progress for 250ms\n" {
		t.Errorf("%s", a.text)
	}
	release()
	eventually.True(t, "it goes on", func() bool { return probes.do(t, "GET", "/livez", "").status == 200 })
}

// lines is a log that is read while it is written.
type lines struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// The lines about a run have the trace of the request that began it, in the form of W3C Trace Context or not at all.
func TestTrace(t *testing.T) {
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	for header, want := range map[string]string{
		"00-" + trace + "-00f067aa0ba902b7-01":      trace,
		"01-" + trace + "-00f067aa0ba902b7-01-more": trace,
		"": "",
		"00-" + trace + "-00f067aa0ba902b7-01-more":                     "",
		"ff-" + trace + "-00f067aa0ba902b7-01":                          "",
		"00-" + strings.ToUpper(trace) + "-00f067aa0ba902b7-01":         "",
		"00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01":        "",
		"00-" + trace + "-0000000000000000-01":                          "",
		"00-" + trace:                                                   "",
		"00-<script>alert(1)</script>012345-00f067aa0ba902b7-01":        "",
		"00-" + trace + "-00f067aa0ba902b7-" + strings.Repeat("1", 900): "",
	} {
		log := &lines{}
		s := start(t, t.TempDir(), &bank{}, serve.Options{Log: slog.New(slog.NewJSONHandler(log, nil))})
		a := s.want(t, 201, "POST", start10, `{"to": "ada", "euros": 3}`, "Prefer", "wait=30", "Traceparent", header)
		seen := map[string]int{}
		for line := range strings.Lines(log.String()) {
			var v struct{ Msg, Run, Trace string }
			if err := json.Unmarshal([]byte(line), &v); err != nil || v.Run != a.ID || v.Trace != want {
				t.Errorf("%q: %v %s", header, err, line)
			}
			seen[v.Msg]++
		}
		if seen["run begun"] != 1 || seen["run over"] != 1 {
			t.Errorf("%q: %v", header, seen)
		}
	}
}

// So do the lines about a run that goes on, of the request that has it go on.
func TestTraceOfResumed(t *testing.T) {
	log := &lines{}
	s := start(t, t.TempDir(), &bank{}, serve.Options{Log: slog.New(slog.NewJSONHandler(log, nil))})
	traced := func(n int) string { return fmt.Sprintf("%032x", n) }
	header := func(n int) string { return "00-" + traced(n) + "-00f067aa0ba902b7-01" }
	begin := func(n int) string {
		return s.want(t, 202, "POST", start10, `{"to": "ada", "euros": 1000}`, "Prefer", "wait=60", "Traceparent", header(n)).ID
	}
	one, two := begin(1), begin(2)
	s.want(t, 200, "PUT", "/v1/runs/"+one+"/questions/ask", `{"answer": "yes"}`, "Prefer", "wait=60", "Traceparent", header(3))
	s.want(t, 202, "POST", "/v1/runs/"+two+"/cancel", "", "Prefer", "wait=60", "Traceparent", header(4))
	got := map[string][]string{}
	for line := range strings.Lines(log.String()) {
		var v struct{ Msg, Run, Trace, Outcome string }
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		got[v.Run] = append(got[v.Run], v.Msg+" "+v.Outcome+" "+v.Trace[min(31, len(v.Trace)):])
	}
	slices.Sort(got[one]) // an answer is told while the run goes on
	slices.Sort(got[two])
	if want := []string{"question answered  3", "run begun  1", "run over succeeded 3", "run over waiting 1"}; !slices.Equal(got[one], want) {
		t.Errorf("%q", got[one])
	}
	if want := []string{"run begun  2", "run cancelled  4", "run over cancelled 4", "run over waiting 2"}; !slices.Equal(got[two], want) {
		t.Errorf("%q", got[two])
	}
}
