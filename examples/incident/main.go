// Command incident makes a report of a log, with a tool of every kind that flowgen knows.
package main

import (
	"context"
	"errors"

	"github.com/flowgen-dev/flowgen/examples/incident/services"
	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/cli"
)

//go:generate go run ../../cmd/flowgen generate incident.flowgen.yaml

func main() { cli.Main(Info, newIncident) }

// incident is the workflow with a service directory of its own when no other is named.
type incident struct{ *Workflow }

func newIncident(o ...runtime.Option) (incident, error) {
	w, err := New(o...)
	return incident{w}, err
}

func (i incident) Run(ctx context.Context, in Input) (out Output, err error) {
	if in.Port == 0 {
		s, err := services.Start()
		if err != nil {
			return out, err
		}
		defer func() { err = errors.Join(err, s.Stop()) }()
		in.Port = int64(s.Port)
	}
	return i.Workflow.Run(ctx, in)
}
