package otel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
)

// Metrics measures runs and calls: gen_ai.client.token.usage and gen_ai.client.operation.duration of models, as the semantic
// conventions for generative AI say, and flowgen.runs, flowgen.run.duration, flowgen.calls, flowgen.call.duration and
// flowgen.cost. Calls that a policy refused or a journal answered are not counted. It is safe for concurrent use, by any
// number of runs.
//
//	metrics, err := otel.NewMetrics(ctx, nil)
//	...
//	w, err := triage.New(runtime.WithObserver(metrics))
type Metrics struct {
	tokens  metric.Int64Histogram
	asked   metric.Float64Histogram
	runs    metric.Int64Counter
	ran     metric.Float64Histogram
	calls   metric.Int64Counter
	called  metric.Float64Histogram
	cost    metric.Float64Counter
	close   func(context.Context) error
	closing sync.Once
	closed  error
}

// The boundaries of buckets that the conventions give for models, and those of runs and calls, in seconds.
var (
	tokenBuckets = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	askedBuckets = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	callBuckets  = []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300}
	runBuckets   = []float64{0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 1800, 3600}
)

// NewMetrics returns a Metrics that uses the program's own provider, which its maker closes. With nil it sends to the
// collector that the standard variables name (OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_METRIC_EXPORT_INTERVAL and their like), as
// New does; OTEL_SDK_DISABLED=true and OTEL_METRICS_EXPORTER=none turn it off. The end of the program closes it then.
func NewMetrics(ctx context.Context, p metric.MeterProvider) (*Metrics, error) {
	m := &Metrics{close: func(context.Context) error { return nil }}
	if p == nil {
		sends, err := exports("METRICS")
		if err != nil {
			return nil, err
		}
		if p = noop.NewMeterProvider(); sends {
			made, err := measuring(ctx)
			if err != nil {
				return nil, err
			}
			p, m.close = made, made.Shutdown
			atExit(m.Close)
		}
	}
	if err := m.instruments(p.Meter(scope)); err != nil {
		return nil, fmt.Errorf("otel: %w", err)
	}
	return m, nil
}

func measuring(ctx context.Context) (*sdkmetric.MeterProvider, error) {
	exporter, err := otlpmetrichttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("otel: %w", err)
	}
	about, err := about(ctx)
	if err != nil {
		return nil, err
	}
	return sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(exporter)), sdkmetric.WithResource(about)), nil
}

func (m *Metrics) instruments(made metric.Meter) error {
	var errs [7]error
	m.tokens, errs[0] = made.Int64Histogram("gen_ai.client.token.usage", metric.WithUnit("{token}"),
		metric.WithDescription("Number of input and output tokens used."), metric.WithExplicitBucketBoundaries(tokenBuckets...))
	m.asked, errs[1] = made.Float64Histogram("gen_ai.client.operation.duration", metric.WithUnit("s"),
		metric.WithDescription("GenAI operation duration."), metric.WithExplicitBucketBoundaries(askedBuckets...))
	m.runs, errs[2] = made.Int64Counter("flowgen.runs", metric.WithUnit("{run}"), metric.WithDescription("Runs that have ended, by outcome."))
	m.ran, errs[3] = made.Float64Histogram("flowgen.run.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of runs, from their start or resumption."), metric.WithExplicitBucketBoundaries(runBuckets...))
	m.calls, errs[4] = made.Int64Counter("flowgen.calls", metric.WithUnit("{call}"), metric.WithDescription("Attempts of calls, by tool and error code."))
	m.called, errs[5] = made.Float64Histogram("flowgen.call.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of attempts of calls."), metric.WithExplicitBucketBoundaries(callBuckets...))
	m.cost, errs[6] = made.Float64Counter("flowgen.cost", metric.WithUnit("USD"), metric.WithDescription("Cost of calls."))
	return errors.Join(errs[:]...)
}

// Close sends what is left and ends the exporter, when NewMetrics made it.
func (m *Metrics) Close(ctx context.Context) error {
	m.closing.Do(func() { m.closed = m.close(ctx) })
	return m.closed
}

// Observe implements runtime.Observer.
func (m *Metrics) Observe(e runtime.Event) {
	if e.Kind != runtime.RunEnd {
		return
	}
	kv := []attribute.KeyValue{workflowName.String(e.Run.Info().Name), outcome.String(outcomeOf(e.Err))}
	if id := e.Run.Tenant(); id != "" {
		kv = append(kv, tenant.String(id))
	}
	set := metric.WithAttributeSet(attribute.NewSet(kv...))
	ctx := e.Run.Context()
	m.runs.Add(ctx, 1, set)
	m.ran.Record(ctx, e.Duration.Seconds(), set)
}

func outcomeOf(err error) string {
	var waits *runtime.Waiting
	switch {
	case err == nil:
		return "succeeded"
	case errors.As(err, &waits):
		return "waiting"
	case runtime.IsCancelled(err):
		return "cancelled"
	}
	return "failed"
}

// Attempted implements runtime.Tracer.
func (m *Metrics) Attempted(a *runtime.Attempt) {
	if a.Denied || a.Replayed {
		return
	}
	name, _ := engine.SplitTool(a.Tool)
	ctx, took := a.Run.Context(), a.End.Sub(a.Admitted)
	kv := []attribute.KeyValue{workflowName.String(a.Run.Info().Name), toolName.String(name)}
	if a.Tenant != "" {
		kv = append(kv, tenant.String(a.Tenant))
	}
	if cost := costOf(a); cost != 0 {
		m.cost.Add(ctx, cost, metric.WithAttributeSet(attribute.NewSet(kv...)))
	}
	if a.Cached {
		kv = append(kv, cached.Bool(true))
	}
	failed := errorOf(a.Err)
	if failed != "" {
		kv = append(kv, errorType.String(failed))
	}
	set := metric.WithAttributeSet(attribute.NewSet(kv...))
	m.calls.Add(ctx, 1, set)
	m.called.Record(ctx, took.Seconds(), set)
	if provider, model, isModel := strings.Cut(name, ":"); isModel && !a.Cached {
		m.model(ctx, a, provider, model, failed, took)
	}
}

// model measures as the conventions say.
func (m *Metrics) model(ctx context.Context, a *runtime.Attempt, provider, model, failed string, took time.Duration) {
	kv := []attribute.KeyValue{operationName.String(opChat), providerName.String(conventional(provider)), requestModel.String(model)}
	if a.Model != "" {
		kv = append(kv, responseModel.String(a.Model))
	}
	if u := a.Usage; u != nil {
		for _, t := range []struct {
			kind string
			n    int64
		}{{"input", u.InputTokens}, {"output", u.OutputTokens}} {
			m.tokens.Record(ctx, t.n, metric.WithAttributes(append(kv[:len(kv):len(kv)], tokenType.String(t.kind))...))
		}
	}
	if failed != "" {
		kv = append(kv, errorType.String(failed))
	}
	m.asked.Record(ctx, took.Seconds(), metric.WithAttributes(kv...))
}

// costOf is in dollars.
func costOf(a *runtime.Attempt) float64 {
	cost := a.Cost
	if u := a.Usage; u != nil && u.CostUSD != nil {
		cost = *u.CostUSD
	}
	return float64(cost) / 1e9 // it is in billionths
}

var _ runtime.Tracer = (*Metrics)(nil)
