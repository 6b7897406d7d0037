package otel_test

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	spanpb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/agent"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/otel"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestMain(m *testing.M) { leaks.Main(m) }

const canary = "s3cret-canary-0001"

// sink is an OTLP/HTTP collector.
type sink struct {
	*httptest.Server
	mu       sync.Mutex
	raw      []byte
	header   http.Header
	resource map[string]string
	spans    []*spanpb.Span
}

func collect(t *testing.T) *sink {
	s := &sink{resource: map[string]string{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
		var req collector.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(data, &req)
		}
		if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%s %s: %v", r.URL.Path, r.Header.Get("Content-Type"), err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.raw, s.header = append(s.raw, data...), r.Header
		for _, rs := range req.ResourceSpans {
			for _, kv := range rs.Resource.Attributes {
				s.resource[kv.Key] = text(kv.Value)
			}
			for _, ss := range rs.ScopeSpans {
				s.spans = append(s.spans, ss.Spans...)
			}
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
		_, _ = w.Write(nil)
	}))
	t.Cleanup(s.Close)
	return s
}

func text(v *common.AnyValue) string {
	switch x := v.GetValue().(type) {
	case *common.AnyValue_StringValue:
		return x.StringValue
	case *common.AnyValue_IntValue:
		return fmt.Sprint(x.IntValue)
	case *common.AnyValue_BoolValue:
		return fmt.Sprint(x.BoolValue)
	case *common.AnyValue_DoubleValue:
		return fmt.Sprint(x.DoubleValue)
	}
	return fmt.Sprint(v)
}

// attributes are those of a span but for the id of its run, see runOf.
func attributes(s *spanpb.Span) map[string]string {
	out := map[string]string{}
	for _, kv := range s.Attributes {
		out[kv.Key] = text(kv.Value)
	}
	delete(out, "flowgen.run.id")
	return out
}

// runOf is the id of the run that a span is of.
func runOf(s *spanpb.Span) string {
	for _, kv := range s.Attributes {
		if kv.Key == "flowgen.run.id" {
			return text(kv.Value)
		}
	}
	return ""
}

// tree is the spans as indented lines, those of one parent in the order of their start.
func (s *sink) tree() string {
	kids := map[string][]*spanpb.Span{}
	for _, x := range s.spans {
		kids[string(x.ParentSpanId)] = append(kids[string(x.ParentSpanId)], x)
	}
	var b strings.Builder
	var walk func(parent, indent string)
	walk = func(parent, indent string) {
		list := kids[parent]
		slices.SortStableFunc(list, func(a, b *spanpb.Span) int {
			if a.StartTimeUnixNano != b.StartTimeUnixNano {
				return int(int64(a.StartTimeUnixNano) - int64(b.StartTimeUnixNano))
			}
			return strings.Compare(a.Name, b.Name)
		})
		for _, x := range list {
			mark := ""
			if x.Status.GetCode() == spanpb.Status_STATUS_CODE_ERROR {
				mark = " ! " + attributes(x)["error.type"]
			}
			b.WriteString(indent + x.Name + mark + "\n")
			walk(string(x.SpanId), indent+"  ")
		}
	}
	walk("", "")
	return b.String()
}

func (s *sink) find(t *testing.T, name string) *spanpb.Span {
	t.Helper()
	for _, x := range s.spans {
		if x.Name == name {
			return x
		}
	}
	t.Fatalf("no span %q in\n%s", name, s.tree())
	return nil
}

type query struct {
	Q string `json:"q"`
}

type found struct {
	Hits string `json:"hits"`
}

var (
	fetchNode  = flow.Node{ID: "fetch", Pos: "w.flowgen.yaml:3:3", Index: 0, Retry: &flow.Retry{Attempts: 2, Base: time.Millisecond}}
	eachNode   = flow.Node{ID: "each", Pos: "w.flowgen.yaml:4:3", Index: 1, Limit: 1}
	itemNode   = flow.Node{ID: "item", Pos: "w.flowgen.yaml:5:3", Index: 2}
	planNode   = flow.Node{ID: "plan", Pos: "w.flowgen.yaml:6:3", Index: 3}
	reviewNode = flow.Node{ID: "review", Pos: "w.flowgen.yaml:7:3", Index: 4}
	writeNode  = flow.Node{ID: "write", Pos: "w.flowgen.yaml:8:3", Index: 5}
	info       = &flow.Info{Name: "w", Secrets: []string{"TOKEN"}, Policy: &runtime.Policy{Effects: []flow.Effects{flow.None, flow.Reads, flow.External}},
		Nodes: []*flow.Node{&fetchNode, &eachNode, &itemNode, &planNode, &reviewNode, &writeNode}}
)

// provider says what a script of turns says, with the canary in it.
type provider struct{}

func (provider) Complete(_ context.Context, req *llm.Request) (*llm.Reply, error) {
	r := &llm.Reply{Model: "m-1", Stop: llm.End, Usage: llm.Usage{Input: 1000, Cached: 400, Output: 20}}
	r.Message = llm.Message{Role: llm.Assistant, Text: "done " + canary}
	if last := req.Conv.Messages[len(req.Conv.Messages)-1]; len(req.Conv.Tools) > 0 && last.Role == llm.User {
		r.Stop = llm.CallStop
		r.Message = llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "c1", Name: "search", Args: `{"q":"inner"}`}}}
	}
	return r, nil
}

// work is a workflow with all that a trace shows.
func work(t *testing.T, ctx context.Context, o ...runtime.Option) (url *string) {
	t.Helper()
	rt, err := flow.New(info, append(o, runtime.WithSecrets(func(string) (string, bool) { return canary, true }), runtime.WithTenant("acme"))...)
	if err != nil {
		t.Fatal(err)
	}
	tries := 0
	fetch := flow.Bind("w.fetch@2", flow.Reads, func(_ context.Context, in query) (found, error) {
		if tries++; tries == 1 {
			return found{}, value.Errorf(value.NetworkError, "refused with %s", canary)
		}
		return found{in.Q + canary}, nil
	}, flow.Secrets("TOKEN"), flow.CostUSD("0.002"))
	search := flow.Bind("w.search@1", flow.Reads, func(_ context.Context, in query) (found, error) { return found{in.Q}, nil })
	write := flow.Bind("w.write@1", flow.Writes, func(context.Context, query) (found, error) {
		t.Error("the policy does not hold")
		return found{}, nil
	})
	model := llm.NewModel("openai:gpt-4o-mini", "gpt-4o-mini", provider{}, llm.Key("TOKEN"))
	r := rt.Start(ctx)
	defer r.End(&err)
	if _, err := flow.Call(r, &fetchNode, fetch, query{"typed by somebody " + canary}); err != nil {
		t.Error(err)
	}
	if _, err := flow.Map(r, &eachNode, []string{"a", "b"}, func(r *flow.Run, q string) (found, error) {
		return flow.Call(r, &itemNode, search, query{q})
	}); err != nil {
		t.Error(err)
	}
	if _, err := llm.Ask[string](r, &planNode, model, llm.Prompt{System: "system " + canary, Text: "prompt " + canary}, llm.Format{}); err != nil {
		t.Error(err)
	}
	args := func(a *value.Args) query { return query{value.Arg(a, "q", value.AsString[string])} }
	spec := &agent.Spec{Model: model, Tools: []agent.Tool{agent.Use("search", "", search, args, `{"type":"object"}`)}}
	out, err := agent.Run(r, &reviewNode, spec, llm.Prompt{Text: "review " + canary})
	if err != nil {
		t.Error(err)
	}
	if _, err := flow.CallOrSkip(r, &writeNode, write, query{"w"}); err != nil {
		t.Error(err)
	}
	return out.TracesURL
}

const wanted = `invoke_workflow w
  call fetch
    policy
    execute_tool w.fetch ! NETWORK_ERROR
    policy
    execute_tool w.fetch
  map each
    call item
      policy
      execute_tool w.search
    call item
      policy
      execute_tool w.search
  call plan
    policy
    chat gpt-4o-mini
  invoke_agent review
    call model
      policy
      chat gpt-4o-mini
    call search
      policy
      execute_tool w.search
    call model
      policy
      chat gpt-4o-mini
  call write ! POLICY_DENIED
    policy ! POLICY_DENIED
`

func TestTrace(t *testing.T) {
	s := collect(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=blue")
	t.Setenv("OTEL_SERVICE_NAME", "triage-service")
	tracer, err := otel.New(t.Context(), otel.TracesURL("https://traces.example.com/t/{trace_id}?span={span_id}"))
	if err != nil {
		t.Fatal(err)
	}
	url := work(t, t.Context(), runtime.WithObserver(tracer))
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wanted, s.tree()); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	if s.header.Get("x-team") != "blue" || s.resource["service.name"] != "triage-service" {
		t.Errorf("the standard variables: header %q, resource %v", s.header.Get("x-team"), s.resource)
	}
	for _, x := range s.spans {
		if x.TraceId == nil || string(x.TraceId) != string(s.spans[0].TraceId) {
			t.Errorf("span %s is in another trace", x.Name)
		}
		if id := runOf(x); id == "" || id != runOf(s.spans[0]) {
			t.Errorf("span %s is of run %q", x.Name, id)
		}
		if x.EndTimeUnixNano < x.StartTimeUnixNano {
			t.Errorf("span %s ends before it begins", x.Name)
		}
	}
	agentSpan := s.find(t, "invoke_agent review")
	want := "https://traces.example.com/t/" + hex.EncodeToString(agentSpan.TraceId) + "?span=" + hex.EncodeToString(agentSpan.SpanId)
	if url == nil || *url != want {
		t.Errorf("traces_url %v, want %s", url, want)
	}
	for name, want := range map[string]map[string]string{
		"invoke_workflow w": {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "w", "flowgen.tenant": "acme"},
		"chat gpt-4o-mini": {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-4o-mini", "gen_ai.response.model": "m-1", "gen_ai.usage.input_tokens": "1000",
			"gen_ai.usage.output_tokens": "20", "gen_ai.usage.cache_read.input_tokens": "400", "flowgen.cost_usd": "0.000132", "flowgen.attempt": "1", "flowgen.effects": "external"},
		"invoke_agent review": {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "review", "flowgen.node.key": "review", "flowgen.node.position": "w.flowgen.yaml:7:3"},
		"policy":              {"flowgen.policy.verdict": "allowed", "flowgen.effects": "reads"},
	} {
		got := attributes(s.find(t, name))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	tool := attributes(s.find(t, "execute_tool w.fetch"))
	id := tool["gen_ai.tool.call.id"]
	delete(tool, "gen_ai.tool.call.id")
	if diff := cmp.Diff(map[string]string{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "w.fetch", "gen_ai.tool.type": "function", "flowgen.tool.version": "2",
		"flowgen.attempt": "1", "flowgen.effects": "reads", "flowgen.cost_usd": "0.002", "error.type": "NETWORK_ERROR"}, tool); diff != "" || len(id) != 64 {
		t.Errorf("execute_tool w.fetch, call %q (-want +got):\n%s", id, diff)
	}
	inner := engine.CallID("w.search@1", []byte(`{"q":"inner"}`), "review[0]/search") // as in the agent's tools_by_id
	if !slices.ContainsFunc(s.spans, func(x *spanpb.Span) bool { return attributes(x)["gen_ai.tool.call.id"] == inner }) {
		t.Errorf("no span of call %s", inner)
	}
	for _, never := range []string{canary, "typed by somebody", "prompt ", "system "} {
		if strings.Contains(string(s.raw), never) {
			t.Errorf("%q was sent", never)
		}
	}
}

// With Content inputs and outputs are there, and secrets still are not.
func TestContent(t *testing.T) {
	s := collect(t)
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", s.URL+"/v1/traces")
	tracer, err := otel.New(t.Context(), otel.Content())
	if err != nil {
		t.Fatal(err)
	}
	if url := work(t, t.Context(), runtime.WithObserver(tracer)); url != nil {
		t.Errorf("traces_url %q without a template", *url)
	}
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"typed by somebody", "prompt ", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "flowgen.model.output"} {
		if !strings.Contains(string(s.raw), want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(string(s.raw), canary) {
		t.Error("a secret was sent")
	}
}

// Two runs of one program at the same time are two traces; a run inside a trace of its caller is in that one.
func TestRunsApart(t *testing.T) {
	s := collect(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
	tracer, err := otel.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	id, _ := trace.TraceIDFromHex("0123456789abcdef0123456789abcdef")
	span, _ := trace.SpanIDFromHex("0123456789abcdef")
	outer := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: span, TraceFlags: trace.FlagsSampled, Remote: true}))
	var wg sync.WaitGroup
	for _, ctx := range []context.Context{t.Context(), t.Context(), outer} {
		wg.Go(func() { work(t, ctx, runtime.WithObserver(tracer)) })
	}
	wg.Wait()
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, x := range s.spans {
		count[string(x.TraceId)]++
	}
	lines := strings.Count(wanted, "\n")
	if len(count) != 3 || count[string(id[:])] != lines {
		t.Errorf("%d traces, %d spans in that of the caller, want 3 and %d", len(count), count[string(id[:])], lines)
	}
	for _, n := range count {
		if n != lines {
			t.Errorf("a trace of %d spans, want %d", n, lines)
		}
	}
}

func TestTurnedOff(t *testing.T) {
	s := collect(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
	for _, v := range []struct{ name, value string }{{"OTEL_SDK_DISABLED", "true"}, {"OTEL_TRACES_EXPORTER", "none"}} {
		t.Run(v.name, func(t *testing.T) {
			t.Setenv(v.name, v.value)
			tracer, err := otel.New(t.Context(), otel.TracesURL("https://x.example/{trace_id}"))
			if err != nil {
				t.Fatal(err)
			}
			if url := work(t, t.Context(), runtime.WithObserver(tracer)); url != nil {
				t.Errorf("traces_url %q of a trace that is nowhere", *url)
			}
			if err := tracer.Close(t.Context()); err != nil || len(s.raw) > 0 {
				t.Errorf("%v, %d bytes sent", err, len(s.raw))
			}
		})
	}
}

func TestWrongSettings(t *testing.T) {
	for _, tt := range []struct{ name, value, want string }{
		{"OTEL_TRACES_EXPORTER", "zipkin", `otel: OTEL_TRACES_EXPORTER is "zipkin"; this program knows otlp and none`},
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", `otel: OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"; this program speaks http/protobuf`},
		{"FLOWGEN_TRACES_URL", "javascript:alert(1)//{trace_id}", `otel: the trace URL "javascript:alert(1)//{trace_id}" is not an http or https URL`},
		{"FLOWGEN_TRACES_URL", "https://x.example/", `otel: the trace URL "https://x.example/" lacks {trace_id}`},
	} {
		t.Run(tt.value, func(t *testing.T) {
			t.Setenv(tt.name, tt.value)
			if _, err := otel.New(t.Context()); err == nil || err.Error() != tt.want {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}
