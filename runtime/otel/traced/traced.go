// Package traced is the main of compiled workflows that trace and measure their runs: cli's, with OpenTelemetry (package otel)
// linked and set up by the standard environment variables. Programs that do not ask for it link nothing of that.
package traced

import (
	"context"
	"fmt"
	"os"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/cli"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/otel"
)

// Main is cli.Main with a trace and metrics of every run. The variables of docs/tracing.md say where they go.
func Main[W interface {
	Run(context.Context, In) (Out, error)
}, In, Out any](info *flow.Info, start func(...runtime.Option) (W, error)) {
	tracer, err := otel.New(context.Background())
	var metrics *otel.Metrics
	if err == nil {
		metrics, err = otel.NewMetrics(context.Background(), nil)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error: "+err.Error())
		os.Exit(2)
	}
	cli.Main(info, func(o ...runtime.Option) (W, error) {
		return start(append(o, runtime.WithObserver(tracer), runtime.WithObserver(metrics))...)
	})
}
