// Command hand is a workflow that is written by hand with Temporal's SDK, and its worker: what golden/temporal measures generated ones
// beside. `hand worker [local]` carries out runs, `hand start ID ITEMS PARALLEL` starts one and waits for it.
package main

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"strconv"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// build is the id of this version, as long as git shows commits: runs are pinned, as those of generated workers are.
const build = "3f0c2a9be81d"

type input struct {
	Items    []int `json:"items"`
	Parallel int   `json:"parallel"`
}

type output struct {
	Doubles []int `json:"doubles"`
}

type call struct {
	N int `json:"n"`
}

func double(_ context.Context, in call) (int, error) { return 2 * in.N, nil }

type hand struct{ local bool }

// run makes a call for each item, as many at a time as it is told.
func (h hand) run(ctx workflow.Context, in input) (output, error) {
	out := output{Doubles: make([]int, len(in.Items))}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute, HeartbeatTimeout: 10 * time.Second})
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: time.Minute})
	workers, next := min(in.Parallel, len(in.Items)), 0
	wg := workflow.NewWaitGroup(ctx)
	var failed error
	for range workers {
		wg.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer wg.Done()
			for next < len(in.Items) && failed == nil {
				i := next
				next++
				var f workflow.Future
				if h.local {
					f = workflow.ExecuteLocalActivity(ctx, double, call{in.Items[i]})
				} else {
					f = workflow.ExecuteActivity(ctx, double, call{in.Items[i]})
				}
				if err := f.Get(ctx, &out.Doubles[i]); err != nil {
					failed = err
				}
			}
		})
	}
	wg.Wait(ctx)
	return out, failed
}

func main() {
	o, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		log.Fatal(err)
	}
	o.Logger = sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	c, err := client.Dial(o)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	if len(os.Args) > 4 && os.Args[1] == "start" {
		err = start(c, os.Args[2], os.Args[3], os.Args[4])
	} else {
		err = work(c, len(os.Args) > 2 && os.Args[2] == "local")
	}
	if err != nil {
		log.Fatal(err)
	}
}

func work(c client.Client, local bool) error {
	version := worker.WorkerDeploymentVersion{DeploymentName: "hand", BuildID: build}
	w := worker.New(c, "hand", worker.Options{DeploymentOptions: worker.DeploymentOptions{UseVersioning: true, Version: version,
		DefaultVersioningBehavior: workflow.VersioningBehaviorPinned}})
	w.RegisterWorkflowWithOptions(hand{local}.run, workflow.RegisterOptions{Name: "hand"})
	w.RegisterActivity(double)
	if err := w.Start(); err != nil {
		return err
	}
	for {
		_, err := c.WorkerDeploymentClient().GetHandle("hand").SetCurrentVersion(context.Background(),
			client.WorkerDeploymentSetCurrentVersionOptions{BuildID: build, IgnoreMissingTaskQueues: true})
		if err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond) // the server does not know it yet
	}
	fmt.Fprintln(os.Stderr, "worker of hand")
	select {}
}

func start(c client.Client, id, items, parallel string) error {
	n, err := strconv.Atoi(items)
	if err != nil {
		return err
	}
	in := input{Items: make([]int, n)}
	for i := range in.Items {
		in.Items[i] = i
	}
	if in.Parallel, err = strconv.Atoi(parallel); err != nil {
		return err
	}
	r, err := c.ExecuteWorkflow(context.Background(), client.StartWorkflowOptions{ID: id, TaskQueue: "hand"}, "hand", in)
	if err != nil {
		return err
	}
	var out output
	return r.Get(context.Background(), &out)
}
