package random

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sort"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/sim"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A Job is one workflow with one input, to be run under every engine.
type Job struct {
	Flow  string          `json:"flow"`
	Input json.RawMessage `json:"input"`
	Seeds uint64          `json:"seeds"` // simulated schedules
}

// A Result is how a run ended: Output, or the code and the node of an error. Calls are the calls of a run that
// succeeded, each with its number.
type Result struct {
	Output json.RawMessage `json:"output,omitempty"`
	Node   string          `json:"node,omitempty"`
	Code   string          `json:"code,omitempty"`
	Other  string          `json:"other,omitempty"` // any other error, a panic, a replay that differs
	Calls  []string        `json:"calls,omitempty"`
	Mode   string          `json:"mode"`
}

// Workflow is what generated packages have.
type Workflow[In, Out any] interface {
	Run(ctx context.Context, in In) (Out, error)
}

type runner func(input []byte, t *trace, opts ...runtime.Option) Result

var runners = map[string]runner{}

// Add registers a generated package.
func Add[In, Out any, W Workflow[In, Out]](name string, make func(...runtime.Option) (W, error)) {
	runners[name] = func(input []byte, t *trace, opts ...runtime.Option) (res Result) {
		defer func() {
			if p := recover(); p != nil {
				res = Result{Other: fmt.Sprint("panic: ", p)}
			}
		}()
		var in In
		if err := json.Unmarshal(input, &in); err != nil {
			return Result{Other: err.Error()}
		}
		w, err := make(opts...)
		if err != nil {
			return Result{Other: err.Error()}
		}
		out, err := w.Run(context.WithValue(context.Background(), traceKey{}, t), in)
		if err != nil {
			return failed(err)
		}
		b, err := json.Marshal(out)
		if err != nil {
			return Result{Other: err.Error()}
		}
		res = Result{Output: b}
		for c, n := range t.calls {
			res.Calls = append(res.Calls, fmt.Sprint(c, " x", n))
		}
		sort.Strings(res.Calls)
		return res
	}
}

func failed(err error) Result {
	var ne *runtime.NodeError
	var te *value.ToolError
	if errors.As(err, &ne) && errors.As(err, &te) {
		return Result{Node: ne.Node.ID, Code: string(te.Code)}
	}
	return Result{Other: err.Error()}
}

// Main reads jobs from stdin and writes for each, on one line, the different results it had.
func Main() {
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	for {
		var j Job
		if err := in.Decode(&j); err != nil {
			return
		}
		stuck := time.AfterFunc(20*time.Second, func() { panic("stuck: " + j.Flow + " " + string(j.Input)) })
		if err := out.Encode(j.run()); err != nil {
			return
		}
		stuck.Stop()
	}
}

func (j Job) run() []Result {
	var all []Result
	add := func(mode string, r Result) {
		r.Mode = mode
		same := func(o Result) bool { return equal(o, r) }
		if !slices.ContainsFunc(all, same) {
			all = append(all, r)
		}
	}
	run := func(slow bool, opts ...runtime.Option) Result {
		t := &trace{slow: slow, calls: map[string]int{}, attempts: map[string]int64{}}
		return runners[j.Flow](j.Input, t, opts...)
	}
	add("direct", run(false))
	add("direct, slow", run(true))
	rec := journal.NewRecorder()
	recorded := run(true, runtime.WithEngine(rec))
	add("recorded", recorded)
	for _, r := range replays(run, rec.Journal(), recorded) {
		add("replay of a recorded run", r)
	}
	for seed := range j.Seeds {
		kept := journal.New(journal.Header{})
		e := sim.New(seed, sim.Options{Record: kept})
		var r Result
		if err := e.Drive(func() { r = run(false, runtime.WithEngine(e)) }); err != nil {
			r = Result{Other: err.Error()}
		}
		add(fmt.Sprint("simulated ", seed), r)
		if seed%5 == 0 {
			for _, r := range replays(run, kept, r) {
				add(fmt.Sprint("replay of simulated ", seed), r)
			}
		}
	}
	return all
}

// replays are the results of replays that differ from the recorded one.
func replays(run func(bool, ...runtime.Option) Result, j *journal.Journal, want Result) []Result {
	text, err := j.MarshalText()
	if err == nil {
		j, err = journal.Parse(text)
	}
	if err != nil {
		return []Result{{Other: err.Error()}}
	}
	var out []Result
	check := func(got Result) {
		if len(got.Calls) > 0 {
			out = append(out, Result{Other: "a replay ran tools"})
		}
		got.Calls, want.Calls = nil, nil
		if !equal(got, want) {
			out = append(out, Result{Other: fmt.Sprintf("replay gave %s %s %s %s, recorded %s %s %s %s\n%s",
				got.Output, got.Node, got.Code, got.Other, want.Output, want.Node, want.Code, want.Other, text)})
		}
	}
	check(run(false, runtime.WithEngine(journal.Replay(j))))
	e := sim.New(99, sim.Options{Replay: j})
	var r Result
	if err := e.Drive(func() { r = run(false, runtime.WithEngine(e)) }); err != nil {
		r = Result{Other: err.Error()}
	}
	check(r)
	return out
}

func equal(a, b Result) bool {
	return string(a.Output) == string(b.Output) && a.Node == b.Node && a.Code == b.Code && a.Other == b.Other && slices.Equal(a.Calls, b.Calls)
}
