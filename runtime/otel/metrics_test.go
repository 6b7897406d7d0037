package otel_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	collector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	pb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/otel"
)

// measured collects metrics as OTLP over HTTP: a line for each point, without what depends on time.
type measured struct {
	*httptest.Server
	requests []*collector.ExportMetricsServiceRequest
	raw      []byte
}

func collectMetrics(t *testing.T) *measured {
	m := &measured{}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			body = z
		}
		data, err := io.ReadAll(body)
		req := new(collector.ExportMetricsServiceRequest)
		if err == nil {
			err = proto.Unmarshal(data, req)
		}
		if err != nil || r.URL.Path != "/v1/metrics" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%s %s: %v", r.URL.Path, r.Header.Get("Content-Type"), err)
		}
		m.requests, m.raw = append(m.requests, req), append(m.raw, data...)
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(m.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", m.URL)
	return m
}

func labels(list []*common.KeyValue) string {
	var out []string
	for _, kv := range list {
		out = append(out, kv.Key+"="+text(kv.Value))
	}
	slices.Sort(out)
	return "{" + strings.Join(out, " ") + "}"
}

// points are the points of the last request: sums with their value, histograms with count, and sum but for times.
func (m *measured) points(t *testing.T) (out []string, buckets map[string][]float64) {
	t.Helper()
	buckets = map[string][]float64{}
	if len(m.requests) == 0 {
		t.Fatal("nothing was sent")
	}
	last := m.requests[len(m.requests)-1]
	for _, rm := range last.ResourceMetrics {
		for _, sm := range rm.ScopeMetrics {
			for _, x := range sm.Metrics {
				name := x.Name + " " + x.Unit + " "
				switch d := x.Data.(type) {
				case *pb.Metric_Sum:
					for _, p := range d.Sum.DataPoints {
						v := fmt.Sprint(p.GetAsInt())
						if _, float := p.Value.(*pb.NumberDataPoint_AsDouble); float {
							v = fmt.Sprintf("%.6f", p.GetAsDouble())
						}
						out = append(out, name+labels(p.Attributes)+" "+v)
					}
				case *pb.Metric_Histogram:
					for _, p := range d.Histogram.DataPoints {
						buckets[x.Name] = p.ExplicitBounds
						v := fmt.Sprint("n=", p.Count)
						if x.Unit != "s" {
							v += fmt.Sprint(" sum=", p.GetSum())
						}
						out = append(out, name+labels(p.Attributes)+" "+v)
					}
				default:
					t.Errorf("%s is %T", x.Name, d)
				}
			}
		}
	}
	slices.Sort(out)
	return out, buckets
}

// What models took is measured as the conventions say, runs, calls and cost under names of flowgen's own. What a policy refused
// is not a call, and no measure holds what was typed or a secret.
func TestMetrics(t *testing.T) {
	m := collectMetrics(t)
	metrics, err := otel.NewMetrics(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	work(t, t.Context(), runtime.WithObserver(metrics))
	if err := metrics.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, buckets := m.points(t)
	const (
		run  = "flowgen.tenant=acme"
		chat = "gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=gpt-4o-mini gen_ai.response.model=m-1"
	)
	want := []string{
		"flowgen.call.duration s {error.type=NETWORK_ERROR " + run + " gen_ai.tool.name=w.fetch gen_ai.workflow.name=w} n=1",
		"flowgen.call.duration s {" + run + " gen_ai.tool.name=openai:gpt-4o-mini gen_ai.workflow.name=w} n=3",
		"flowgen.call.duration s {" + run + " gen_ai.tool.name=w.fetch gen_ai.workflow.name=w} n=1",
		"flowgen.call.duration s {" + run + " gen_ai.tool.name=w.search gen_ai.workflow.name=w} n=3",
		"flowgen.calls {call} {error.type=NETWORK_ERROR " + run + " gen_ai.tool.name=w.fetch gen_ai.workflow.name=w} 1",
		"flowgen.calls {call} {" + run + " gen_ai.tool.name=openai:gpt-4o-mini gen_ai.workflow.name=w} 3",
		"flowgen.calls {call} {" + run + " gen_ai.tool.name=w.fetch gen_ai.workflow.name=w} 1",
		"flowgen.calls {call} {" + run + " gen_ai.tool.name=w.search gen_ai.workflow.name=w} 3",
		"flowgen.cost USD {" + run + " gen_ai.tool.name=openai:gpt-4o-mini gen_ai.workflow.name=w} 0.000396",
		"flowgen.cost USD {" + run + " gen_ai.tool.name=w.fetch gen_ai.workflow.name=w} 0.004000",
		"flowgen.run.duration s {flowgen.run.outcome=succeeded " + run + " gen_ai.workflow.name=w} n=1",
		"flowgen.runs {run} {flowgen.run.outcome=succeeded " + run + " gen_ai.workflow.name=w} 1",
		"gen_ai.client.operation.duration s {" + chat + "} n=3",
		"gen_ai.client.token.usage {token} {" + chat + " gen_ai.token.type=input} n=3 sum=3000",
		"gen_ai.client.token.usage {token} {" + chat + " gen_ai.token.type=output} n=3 sum=60",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
	wantBuckets := map[string][]float64{
		"gen_ai.client.token.usage":        {1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864},
		"gen_ai.client.operation.duration": {0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92},
	}
	for name, want := range wantBuckets {
		if diff := cmp.Diff(want, buckets[name]); diff != "" {
			t.Errorf("buckets of %s (-want +got):\n%s", name, diff)
		}
	}
	for _, never := range []string{canary, "typed by somebody", "prompt ", "system "} {
		if strings.Contains(string(m.raw), never) {
			t.Errorf("%q was sent", never)
		}
	}
}

// A replay is a run, and calls nothing.
func TestMetricsOfReplay(t *testing.T) {
	m := collectMetrics(t)
	metrics, err := otel.NewMetrics(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	tool := flow.Bind("w.get@1", flow.Reads, func(_ context.Context, in query) (found, error) { return found{in.Q}, nil })
	node := flow.Node{ID: "get", Pos: "w.flowgen.yaml:3:3", Index: -1}
	rec := journal.NewRecorder()
	run := func(e runtime.Option) {
		rt, err := flow.New(&flow.Info{Name: "w"}, e, runtime.WithObserver(metrics))
		if err != nil {
			t.Fatal(err)
		}
		r := rt.Start(t.Context())
		_, err = flow.Call(r, &node, tool, query{"a"})
		flow.End(r, new(struct{}), &err)
		if err != nil {
			t.Error(err)
		}
	}
	run(runtime.WithEngine(rec))
	run(runtime.WithEngine(journal.Replay(rec.Journal())))
	if err := metrics.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, _ := m.points(t)
	want := []string{
		"flowgen.call.duration s {gen_ai.tool.name=w.get gen_ai.workflow.name=w} n=1",
		"flowgen.calls {call} {gen_ai.tool.name=w.get gen_ai.workflow.name=w} 1",
		"flowgen.run.duration s {flowgen.run.outcome=succeeded gen_ai.workflow.name=w} n=2",
		"flowgen.runs {run} {flowgen.run.outcome=succeeded gen_ai.workflow.name=w} 2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
}

func TestMetricsTurnedOff(t *testing.T) {
	m := collectMetrics(t)
	for _, v := range []struct{ name, value string }{{"OTEL_SDK_DISABLED", "true"}, {"OTEL_METRICS_EXPORTER", "none"}} {
		t.Run(v.name, func(t *testing.T) {
			t.Setenv(v.name, v.value)
			metrics, err := otel.NewMetrics(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			work(t, t.Context(), runtime.WithObserver(metrics))
			if err := metrics.Close(t.Context()); err != nil || len(m.requests) > 0 {
				t.Errorf("%v, %d requests", err, len(m.requests))
			}
		})
	}
	t.Setenv("OTEL_METRICS_EXPORTER", "prometheus")
	if _, err := otel.NewMetrics(t.Context(), nil); err == nil || err.Error() != `otel: OTEL_METRICS_EXPORTER is "prometheus"; this program knows otlp and none` {
		t.Error(err)
	}
}
