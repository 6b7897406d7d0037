package agent_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/agent"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/llm"
)

// slow is a model that takes its time for each answer.
type slow struct {
	script
	answer time.Duration
	asked  int
}

func (s *slow) Complete(ctx context.Context, req *llm.Request) (*llm.Reply, error) {
	s.asked++
	select {
	case <-time.After(s.answer):
		return s.script.Complete(ctx, req)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TestTimeouts: the timeout of an agent bounds all that it does, that of its retry each question to its model. A replay ends as the
// run did.
func TestTimeouts(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		name          string
		answer, call  time.Duration // how long they take
		all, question time.Duration // bounds
		asked         int
		end           time.Duration
		want          string
	}{
		{"in time", 2 * s, s, time.Minute, 5 * s, 4, 11 * s, ""},
		{"in a question", 4 * s, s, 12 * s, 0, 3, 12 * s, "TIMEOUT: review has no result after 12s"},
		{"in a call", s, 4 * s, 8 * s, 0, 2, 8 * s, "TIMEOUT: review has no result after 8s"},
		{"of a question", 4 * s, s, time.Minute, 3 * s, 1, 3 * s, "TIMEOUT: no result after 3s in one attempt"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := *node
				n.Timeout = tt.all
				if tt.question > 0 {
					n.Retry = &flow.Retry{Timeout: tt.question}
				}
				m := &slow{plays(ask(`wait {"q":"a"}`), ask(`wait {"q":"b"}`), ask(`wait {"q":"c"}`)), tt.answer, 0}
				wait := flow.Bind("t.wait@1", flow.Reads, func(ctx context.Context, in query) (string, error) {
					select {
					case <-time.After(tt.call):
						return in.Q, nil
					case <-ctx.Done():
						return "", ctx.Err()
					}
				})
				spec := &agent.Spec{Model: llm.NewModel("test:slow", "slow", m), Tools: []agent.Tool{agent.Use("wait", "", wait, queryArgs, querySchema)}}
				check := func(how string, end time.Duration, o ...runtime.Option) {
					t.Helper()
					began := time.Now()
					_, err := agent.Run(start(t, o...), &n, spec, llm.Prompt{Text: "Go"})
					got := ""
					if err != nil {
						_, got, _ = strings.Cut(err.Error(), "TIMEOUT: ")
						got = "TIMEOUT: " + got
					}
					if took := time.Since(began); got != tt.want || took != end {
						t.Errorf("%s: after %v: %v", how, took, err)
					}
				}
				check("plain", tt.end)
				m.asked = 0
				rec := journal.NewRecorder()
				check("recorded", tt.end, runtime.WithEngine(rec))
				check("replayed", 0, runtime.WithEngine(journal.Replay(rec.Journal())))
				if m.asked != tt.asked {
					t.Errorf("asked %d times", m.asked)
				}
			})
		})
	}
}
