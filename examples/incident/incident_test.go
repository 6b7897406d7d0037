package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/examples/incident/services"
	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/journal"
)

const logText = `ERROR cart: connection to db-1 refused
INFO web: started
ERROR cart: connection to db-1 refused
WARN web: slow answer of 2300 ms
ERROR mail: disk /var/spool is full
`

const want = `# Incident report

| score | service | message | times | owner | ticket |
|---|---|---|---|---|---|
| 7 | cart | connection to db-1 refused | 2 | team checkout | OPS-17 |
| 5 | mail | disk /var/spool is full | 1 | nobody | new |
| 2 | web | slow answer of 2300 ms | 1 | team storefront | new |

- cart: cart does not answer
- mail: ok
- web: Unknown tool: trace
`

// interpreters skips a test on a machine that lacks what runs the tools.
func interpreters(t *testing.T) {
	t.Helper()
	for _, name := range []string{"python3", "node", "sort"} {
		if _, err := exec.LookPath(name); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
}

func TestReport(t *testing.T) {
	interpreters(t)
	s, err := services.Start()
	if err != nil {
		t.Fatal(err)
	}
	in := Input{Log: logText, Port: int64(s.Port)}
	rec := journal.NewRecorder()
	w, err := New(runtime.WithEngine(rec))
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Report); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}

	// The same again, without the directory, and without a single process.
	t.Setenv("PATH", "")
	w, err = New(runtime.WithEngine(journal.Replay(rec.Journal())))
	if err != nil {
		t.Fatal(err)
	}
	again, err := w.Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if again.Report != got.Report {
		t.Errorf("replayed:\n%s", again.Report)
	}
}
