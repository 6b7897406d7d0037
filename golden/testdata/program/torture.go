package main

import (
	"context"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/torture"
)

// A torment is a campaign against one case.
type torment struct {
	Seed   uint64   `json:"seed"`
	Trials int      `json:"trials"`
	Real   []string `json:"real"`
	Random bool     `json:"random"`
}

func tortured(f *workflow, q request) report {
	o := torture.Options{Seed: q.Torture.Seed, Trials: q.Torture.Trials, Real: q.Torture.Real, Random: q.Torture.Random, Workers: 1, Together: true, Patience: 2 * time.Minute}
	for _, in := range q.Inputs {
		o.Inputs = append(o.Inputs, in)
	}
	r := torture.Run(context.Background(), f.torture, o)
	o.EveryCrash, o.Trials = true, 1+o.Trials/200
	every := torture.Run(context.Background(), f.torture, o)
	r.Counts.Add(every.Counts)
	r.Findings = append(r.Findings, every.Findings...)
	return report{Case: q.Case, Problems: []string{}, Torture: &r}
}
