// Package workload holds what is measured: each workload once as a compiled workflow and once as a person would write it
// in Go without flowgen. The tests in this package are the gates on allocations and growth; the program in ../cmd takes
// the times and writes docs/benchmarks.md.
package workload

import (
	"context"
	"fmt"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// A Case is one way to do a workload.
type Case struct {
	Name string
	Per  int               // units in one operation: nodes, items, iterations
	Run  func(n int) error // does n operations
}

// A Comparison is a workload with its cases, the first of which is written by hand and the others are compared with it.
type Comparison struct {
	ID, Title string
	Unit      string // of which times and allocations are told
	Goals     map[string]float64
	Peers     string // the address that other libraries call in this workload, "-" if none; "" where they do not do it
	Own       int    // how many of the cases run in this process, whose allocations are seen; 0 if all
	Cases     []Case
	Close     func() // frees what the cases share; may be nil
}

// All returns the workloads. Each call starts what they need anew.
func All() ([]Comparison, error) {
	var all []Comparison
	for _, make := range []func() (Comparison, error){Chain, Fanout, Busy, Prompt, Router, Fetch, FetchMany, Agent} {
		c, err := make()
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// repeat makes a Case's Run of one operation.
func repeat(f func() error) func(int) error {
	return func(n int) error {
		for range n {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	}
}

// begin starts a run of a compiled workflow whose body is then called many times: what is measured is the body.
func begin(ctx context.Context, info *flow.Info, o ...runtime.Option) (*flow.Run, error) {
	rt, err := flow.New(info, o...)
	if err != nil {
		return nil, err
	}
	return rt.Start(ctx), nil
}

func wrong(got any) error { return fmt.Errorf("the result is wrong: %v", got) }
