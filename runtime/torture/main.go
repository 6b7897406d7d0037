package torture

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// Main is the main of the program that `flowgen torture` makes of a workflow, and ends the process: with exit code 1 when
// there are findings, with 2 when an input cannot be used.
func Main[W interface {
	Run(context.Context, In) (Out, error)
}, In, Out any](info *flow.Info, start func(...runtime.Option) (W, error)) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	out := os.Stdout
	os.Stdout = os.Stderr // what tools print is not a result
	code := command(ctx, os.Args[1:], out, os.Stderr, Of(info, start))
	stop()
	os.Exit(code)
}

// command is the program: it returns its exit code.
func command(ctx context.Context, args []string, stdout, stderr io.Writer, w *Workflow) int {
	var o Options
	var again string
	var inputs []string
	f := flag.NewFlagSet("torture", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Uint64Var(&o.Seed, "seed", 0, "seed of the first trial")
	f.IntVar(&o.Trials, "trials", 0, "how many trials")
	f.DurationVar(&o.Time, "time", 0, "how long")
	f.BoolVar(&o.EveryCrash, "every-crash", false, "crash at every moment")
	f.StringVar(&again, "again", "torture", "how this is started")
	f.Func("real", "tools that run, with commas between them", func(list string) error {
		if list != "" {
			o.Real = strings.Split(list, ",")
		}
		return nil
	})
	f.Func("gives", "schemas of what nodes are given, an object", func(text string) error { return json.Unmarshal([]byte(text), &o.Gives) })
	f.Func("input", "a file with an input", func(name string) error { inputs = append(inputs, name); return nil })
	if f.Parse(args) != nil {
		return 2
	}
	more := ""
	for _, name := range inputs {
		text, err := os.ReadFile(name)
		if err == nil {
			text = withDefaults(text, w.Info, func(given bool) bool { return !given })
			err = w.decodes(text)
		}
		if err != nil {
			fmt.Fprintf(stderr, "error: input %s: %v\n", name, err)
			return 2
		}
		o.Inputs = append(o.Inputs, text)
		more += " --input-json " + name
	}
	if o.EveryCrash {
		more += " --every-crash"
	}
	r := Run(ctx, w, o)
	for _, x := range r.Findings {
		fmt.Fprintf(stderr, "%s\n  again: %s --seed %d --trials 1%s\n", x, again, x.Seed, more)
	}
	found := fmt.Sprint(len(r.Findings), " findings")
	switch len(r.Findings) {
	case 0:
		found = "nothing was found"
	case 1:
		found = "1 finding"
	}
	fmt.Fprintf(stdout, "seed %d: %s%s\n", o.Seed, r.Text(), found)
	return min(len(r.Findings), 1)
}
