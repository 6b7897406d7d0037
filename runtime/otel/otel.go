// Package otel makes OpenTelemetry traces (Tracer) and metrics (Metrics) of runs (Agent Tools 6.4), with the semantic
// conventions for generative AI, and sends them to a collector as OTLP over HTTP. A trace is
//
//	invoke_workflow triage
//	  call plan                     the executor: all attempts of one call and what is between them
//	    policy                      what the policy decided
//	    chat gpt-4o-mini            one attempt of a model
//	  invoke_agent review
//	    call model
//	      chat gpt-4o-mini
//	    call search
//	      policy
//	      execute_tool search       one attempt of a tool
//
// Inputs and outputs are in no span unless Content is given, and secrets in none at all. A program that does not import
// this package links nothing of OpenTelemetry.
//
//	tracer, err := otel.New(ctx)
//	...
//	w, err := triage.New(runtime.WithObserver(tracer))
package otel

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
)

const scope = "github.com/flowgen-dev/flowgen/runtime/otel"

// Tracer is a runtime.Tracer that makes spans. It is safe for concurrent use, by any number of runs.
type Tracer struct {
	tracer   trace.Tracer
	template string
	content  bool
	close    func(context.Context) error
	closing  sync.Once
	closed   error

	mu   sync.Mutex
	runs map[*flow.Run]*spans
}

type config struct {
	provider trace.TracerProvider
	template string
	content  bool
}

// Option configures New.
type Option func(*config)

// Provider makes spans with a provider that the program has already. Whoever made it closes it.
func Provider(p trace.TracerProvider) Option { return func(c *config) { c.provider = p } }

// TracesURL says where people look at traces: {trace_id} and {span_id} in it are replaced. It becomes the traces_url of
// agents (Agent Tools 3.1). Without it the variable FLOWGEN_TRACES_URL says so.
func TracesURL(template string) Option { return func(c *config) { c.template = template } }

// Content puts inputs and outputs of calls into the spans, without secrets. They may hold whatever people have typed.
func Content() Option { return func(c *config) { c.content = true } }

// New returns a Tracer. Without Provider it sends to the collector that the standard variables name
// (OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS, OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER, OTEL_BSP_... and their
// like), http://localhost:4318 without them; OTEL_SDK_DISABLED=true and OTEL_TRACES_EXPORTER=none turn it off. The end
// of the program, runtime.Exit, closes it.
func New(ctx context.Context, o ...Option) (*Tracer, error) {
	c := config{template: os.Getenv("FLOWGEN_TRACES_URL")}
	for _, opt := range o {
		opt(&c)
	}
	if err := checkTemplate(c.template); err != nil {
		return nil, err
	}
	t := &Tracer{template: c.template, content: c.content, runs: map[*flow.Run]*spans{}, close: func(context.Context) error { return nil }}
	if c.provider == nil {
		p, err := exporting(ctx)
		if err != nil {
			return nil, err
		}
		if p == nil {
			c.provider = noop.NewTracerProvider()
		} else {
			c.provider, t.close = p, p.Shutdown
			atExit(t.Close)
		}
	}
	t.tracer = c.provider.Tracer(scope)
	return t, nil
}

// atExit closes an exporter at the end of the program.
func atExit(close func(context.Context) error) {
	runtime.AtExit(func() {
		ctx, cancel := context.WithTimeout(context.Background(), longestClose)
		defer cancel()
		_ = close(ctx) // a trace is no reason to fail
	})
}

// longestClose is how long the end of a program waits for its collector.
const longestClose = 5 * time.Second

// Close sends what is left and ends the exporter, when New made it. Later spans are lost.
func (t *Tracer) Close(ctx context.Context) error {
	t.closing.Do(func() { t.closed = t.close(ctx) })
	return t.closed
}

// exporting is a provider by the standard variables, nil when they turn it off.
func exporting(ctx context.Context) (*sdk.TracerProvider, error) {
	if sends, err := exports("TRACES"); !sends {
		return nil, err
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("otel: %w", err)
	}
	about, err := about(ctx)
	if err != nil {
		return nil, err
	}
	return sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about)), nil
}

// exports reports whether the standard variables let a signal, TRACES or METRICS, be sent.
func exports(signal string) (bool, error) {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
		return false, nil
	}
	name := "OTEL_" + signal + "_EXPORTER"
	switch e := os.Getenv(name); e {
	case "", "otlp":
	case "none":
		return false, nil
	default:
		return false, fmt.Errorf("otel: %s is %q; this program knows otlp and none", name, e)
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_" + signal + "_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if p := os.Getenv(name); p != "" {
			if p != "http/protobuf" {
				return false, fmt.Errorf("otel: %s is %q; this program speaks http/protobuf", name, p)
			}
			break
		}
	}
	return true, nil
}

// about is what the variables say of the program. A detector that finds less than it looked for is no reason to fail.
func about(ctx context.Context) (*resource.Resource, error) {
	r, err := resource.New(ctx, resource.WithFromEnv(), resource.WithTelemetrySDK())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("otel: %w", err)
	}
	return r, nil
}

func checkTemplate(text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(strings.NewReplacer("{trace_id}", "0", "{span_id}", "0").Replace(text))
	switch {
	case err != nil:
		return fmt.Errorf("otel: the trace URL: %w", err)
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return fmt.Errorf("otel: the trace URL %q is not an http or https URL", text)
	case !strings.Contains(text, "{trace_id}"):
		return fmt.Errorf("otel: the trace URL %q lacks {trace_id}", text)
	}
	return nil
}
