// Command api-report renders a report from a shop's HTTP API.
package main

import (
	"context"
	"errors"

	"github.com/flowgen-dev/flowgen/examples/api-report/shop"
	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/cli"
)

//go:generate go run ../../cmd/flowgen generate api_report.flowgen.yaml

func main() { cli.Main(Info, newReport) }

// report is the workflow with a shop of its own when no other is named.
type report struct{ *Workflow }

func newReport(o ...runtime.Option) (report, error) {
	w, err := New(o...)
	return report{w}, err
}

func (r report) Run(ctx context.Context, in Input) (out Output, err error) {
	if in.Port == 0 {
		s, err := shop.Start()
		if err != nil {
			return out, err
		}
		defer func() { err = errors.Join(err, s.Stop()) }()
		in.Port = int64(s.Port)
	}
	return r.Workflow.Run(ctx, in)
}
