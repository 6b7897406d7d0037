package flowtest

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// Run runs the cases of a suite, as ParseSuite reads it, as subtests. start is the workflow's New. Generated tests call it.
func Run[W interface {
	Run(context.Context, In) (Out, error)
}, In, Out any](t *testing.T, info *flow.Info, start func(...runtime.Option) (W, error), suite string) {
	t.Helper()
	s, err := ParseSuite([]byte(suite))
	if err != nil {
		t.Fatal(err)
	}
	w := bind(info, start)
	for i := range s.Cases {
		c := &s.Cases[i]
		t.Run(c.Name, func(t *testing.T) {
			for _, f := range w.execute(t.Context(), filepath.FromSlash(s.Dir), c, mode{}).Failures {
				t.Errorf("%s:%s: %s", s.File, f.Pos, f.Message)
			}
		})
	}
}

// Record runs the cases of a suite as subtests for real, as `flowgen test --record` does, and writes their cassettes below
// dir instead of below the folder of their file. It is for workflows that need a server which a test starts, and for tests
// that cassettes are still what the real thing gives.
func Record[W interface {
	Run(context.Context, In) (Out, error)
}, In, Out any](t *testing.T, info *flow.Info, start func(...runtime.Option) (W, error), suite, dir string) {
	t.Helper()
	s, err := ParseSuite([]byte(suite))
	if err != nil {
		t.Fatal(err)
	}
	w := bind(info, start)
	for i := range s.Cases {
		c := &s.Cases[i]
		t.Run(c.Name, func(t *testing.T) {
			for _, f := range w.execute(t.Context(), dir, c, mode{record: true}).Failures {
				t.Errorf("%s:%s: %s", s.File, f.Pos, f.Message)
			}
		})
	}
}
