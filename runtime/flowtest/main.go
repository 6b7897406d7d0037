package flowtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// Request is what the program of `flowgen test` reads from standard input: what to run.
type Request struct {
	Suite  json.RawMessage `json:"suite"`  // as ParseSuite reads it
	Cases  []string        `json:"cases"`  // names; empty: all
	Record bool            `json:"record"` // run the real thing and write the cassettes
	Prune  bool            `json:"prune"`  // take out of the cassettes what the cases do not ask for
}

// Main is the main of the program that `flowgen test` builds: it runs the cases of a Request and writes a Result for each,
// one line of JSON, to standard output.
func Main[W interface {
	Run(context.Context, In) (Out, error)
}, In, Out any](info *flow.Info, start func(...runtime.Option) (W, error)) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	results := os.Stdout
	os.Stdout = os.Stderr // what tools print is not a result
	err := serve(ctx, os.Stdin, results, bind(info, start))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "flowgen test:", err)
		os.Exit(3)
	}
}

func serve(ctx context.Context, in io.Reader, out io.Writer, w *workflow) error {
	var req Request
	dec := json.NewDecoder(in)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&req); err != nil {
		return fmt.Errorf("this program is started by `flowgen test`: %w", err)
	}
	suite, err := ParseSuite(req.Suite)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(out)
	for i := range suite.Cases {
		c := &suite.Cases[i]
		if len(req.Cases) > 0 && !slices.Contains(req.Cases, c.Name) {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		res := w.execute(ctx, filepath.FromSlash(suite.Dir), c, mode{req.Record, req.Prune})
		if err := enc.Encode(res); err != nil {
			return err
		}
	}
	return nil
}
