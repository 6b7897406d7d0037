package otel_test

import (
	"context"
	"fmt"
	"sort"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/otel"
)

// greetFlow stands for a generated workflow.
type greetFlow struct{ rt *flow.Runtime }

type greetFlows struct{}

var (
	greet     greetFlows
	greetNode = flow.Node{ID: "greet", Pos: "greet.flowgen.yaml:7:5"}
	greetTool = flow.Bind("greet.say@1", flow.None, func(_ context.Context, who string) (string, error) { return "Hello " + who, nil })
)

func (greetFlows) New(o ...runtime.Option) (*greetFlow, error) {
	rt, err := flow.New(&flow.Info{Name: "greet", Nodes: []*flow.Node{&greetNode}}, o...)
	return &greetFlow{rt}, err
}

func (w *greetFlow) Run(ctx context.Context, who string) (out string, err error) {
	run := flow.Start(ctx, w.rt, who)
	defer flow.End(run, &out, &err)
	return flow.Call(run, &greetNode, greetTool, who)
}

// A service that has a provider of traces gives it to New. Without Provider the spans go to an OTLP collector.
func ExampleNew() {
	ctx := context.Background()
	spans := tracetest.NewInMemoryExporter()
	provider := trace.NewTracerProvider(trace.WithSyncer(spans))

	tracer, err := otel.New(ctx, otel.Provider(provider))
	if err != nil {
		panic(err)
	}
	w, err := greet.New(runtime.WithObserver(tracer))
	if err != nil {
		panic(err)
	}
	fmt.Println(w.Run(ctx, "Ada"))
	for _, s := range spans.GetSpans() { // in the order of their ends
		fmt.Println(s.Name)
	}
	// Output:
	// Hello Ada <nil>
	// execute_tool greet.say
	// call greet
	// invoke_workflow greet
}

// A service that has a provider of metrics gives it to NewMetrics. With nil they go to an OTLP collector.
func ExampleNewMetrics() {
	ctx := context.Background()
	reader := metric.NewManualReader()
	provider := metric.NewMeterProvider(metric.WithReader(reader))

	metrics, err := otel.NewMetrics(ctx, provider)
	if err != nil {
		panic(err)
	}
	w, err := greet.New(runtime.WithObserver(metrics))
	if err != nil {
		panic(err)
	}
	fmt.Println(w.Run(ctx, "Ada"))

	var all metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &all); err != nil {
		panic(err)
	}
	var names []string
	for _, m := range all.ScopeMetrics[0].Metrics {
		names = append(names, m.Name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Println(name)
	}
	// Output:
	// Hello Ada <nil>
	// flowgen.call.duration
	// flowgen.calls
	// flowgen.run.duration
	// flowgen.runs
}
