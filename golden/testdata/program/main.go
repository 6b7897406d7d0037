// Command program holds all goldens that run. It reads requests from standard input and answers with what the runs gave
// and with every rule of the runtime they broke: the same results with and without an engine, in a replay, and under
// every schedule in which the calls had the same outcomes; unique keys; no deadlock; no goroutine left.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	goruntime "runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/torture"
	"github.com/flowgen-dev/flowgen/runtime/value"
	"github.com/flowgen-dev/flowgen/runtime/worker"
)

type request struct {
	Case   string            `json:"case"`
	Seeds  int               `json:"seeds"`
	Inputs []json.RawMessage `json:"inputs"`

	Torture *torment `json:"torture"` // instead of all that
}

type report struct {
	Case     string      `json:"case"`
	Runs     []goldenRun `json:"runs"`
	Problems []string    `json:"problems"`

	Torture *torture.Report `json:"torture,omitempty"`
}

type goldenRun struct {
	Input  json.RawMessage `json:"input"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
	Calls  []string        `json:"calls"`
}

// A workflow is one without its types.
type workflow struct {
	info *flow.Info
	run  func(ctx context.Context, input []byte, o ...runtime.Option) outcome

	torture *torture.Workflow
}

// An outcome is what came of a run. At most one field is set.
type outcome struct{ result, err string }

var flows = map[string]*workflow{}

// add is called for every case.
func add[W interface {
	Run(context.Context, In) (Out, error)
}, In, Out any](name string, info *flow.Info, start func(...runtime.Option) (W, error)) {
	flows[name] = &workflow{info: info, torture: torture.Of(info, start), run: func(ctx context.Context, input []byte, o ...runtime.Option) outcome {
		var in In
		if err := value.Decode(input, &in); err != nil {
			return outcome{err: "input: " + err.Error()}
		}
		w, err := start(append(o, runtime.WithSecrets(secret), runtime.WithHuman(person))...)
		if err != nil {
			return outcome{err: "start: " + err.Error()}
		}
		out, err := w.Run(ctx, in)
		if err != nil {
			return outcome{err: withoutAddress(err.Error())}
		}
		var text strings.Builder
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(out); err != nil {
			return outcome{err: "output: " + err.Error()}
		}
		return outcome{result: withoutAddress(strings.TrimSpace(text.String()))}
	}}
}

func secret(name string) (string, bool) { return "value of " + name, true }

// person answers with what a question ends with: "Go on? [yes]". A question that ends with [] nobody answers.
func person(_ context.Context, q runtime.Question) (string, error) {
	at := strings.LastIndexByte(q.Text, '[')
	answer, ok := strings.CutSuffix(strings.TrimSuffix(q.Text[at+1:], `"}`), "]") // arguments of a call are JSON
	if at < 0 || !ok || answer == "" {
		return "", runtime.Nobody("the question has no answer in it")
	}
	return answer, nil
}

func main() {
	var requests []request
	if err := json.NewDecoder(os.Stdin).Decode(&requests); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	debug.SetGCPercent(400) // runs are short and many
	before := goruntime.NumGoroutine()
	stop := startModel()
	reports := make([]report, len(requests))
	var wg sync.WaitGroup
	slots := make(chan struct{}, goruntime.GOMAXPROCS(0))
	for i, q := range requests {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			reports[i] = answer(q)
		})
	}
	wg.Wait()
	worker.Shutdown()
	stop()
	for begin := time.Now(); goruntime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Since(begin) > time.Minute {
			left := fmt.Sprintf("%d goroutines are left by this case or another one", goruntime.NumGoroutine()-before)
			reports[0].Problems = append(reports[0].Problems, left)
			break
		}
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(reports); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// answer runs one case. A panic is a problem like others.
func answer(q request) (r report) {
	r = report{Case: q.Case, Problems: []string{}}
	f := flows[q.Case]
	if f == nil {
		r.Problems = append(r.Problems, "the case is not linked")
		return r
	}
	if q.Torture != nil {
		return tortured(f, q)
	}
	for i, input := range q.Inputs {
		t := &trial{flow: f, input: input, seeds: q.Seeds, byOutcome: map[string]outcome{}}
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.problem("panic: %v", p)
				}
			}()
			t.all()
		}()
		run := goldenRun{Input: input, Error: t.direct.err, Calls: t.calls}
		if t.direct.err == "" {
			run.Result = json.RawMessage(t.direct.result)
		}
		r.Runs = append(r.Runs, run)
		for _, p := range t.problems {
			r.Problems = append(r.Problems, fmt.Sprintf("run %d: %s", i+1, p))
		}
	}
	return r
}
