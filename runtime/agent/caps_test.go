package agent_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/agent"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// capRounds is how often a cap is tried: n times, or as the variable CAPROUNDS says (`make caps`).
func capRounds(n int) int {
	if all, err := strconv.Atoi(os.Getenv("CAPROUNDS")); err == nil {
		return all
	}
	return n
}

const (
	racers  = 50
	allowed = 25 // of them a cap allows
)

// metered is a model that says what its calls took, and looks at what all of them together were allowed to take.
type metered struct {
	t           *testing.T
	most, limit int64 // of one call, of all: tokens
	less        bool  // calls take less than they may, or fail
	taken       atomic.Int64
	made        atomic.Int64
}

const mostOutput = 50

func (m *metered) Complete(context.Context, *llm.Request) (*llm.Reply, error) {
	m.made.Add(1)
	if all := m.taken.Add(m.most); all > m.limit {
		m.t.Errorf("%d tokens are allowed, and calls that are under way and have been made can take %d", m.limit, all)
	}
	took := m.most
	if m.less {
		took -= rand.Int64N(m.most)
		m.taken.Add(took - m.most)
	}
	return &llm.Reply{Model: "m", Stop: llm.End, Message: llm.Message{Role: llm.Assistant, Text: "done"},
		Usage: llm.Usage{Input: max(took-mostOutput, 0), Output: min(took, mostOutput)}}, nil
}

var canTake = regexp.MustCompile(`can take (\d+) tokens`)

// most is what a call of an agent's model can take, as the refusal of one says.
func most(t *testing.T, model *llm.Model) int64 {
	t.Helper()
	r := start(t, runtime.WithPolicy(&runtime.Policy{MaxTokens: 1}))
	_, err := agent.Run(r, node, &agent.Spec{Model: model, Tools: tools()}, llm.Prompt{Text: "Go"})
	m := canTake.FindStringSubmatch(fmt.Sprint(err))
	if m == nil {
		t.Fatal(err)
	}
	n, _ := strconv.ParseInt(m[1], 10, 64)
	return n
}

// Of 50 agents that ask at the same time, under a cap that has room for 25 questions, exactly 25 are asked, never 26, where
// each takes what it may; and where they take less, what is taken and what is under way never comes to more than the cap.
// So it is with a cap of tokens, with one in dollars, with both, and with the agent's own.
func TestModelCapsUnderRace(t *testing.T) {
	// Input and output cost the same, a millionth of a dollar, so that a call costs its tokens.
	price := llm.Priced(llm.Price{Input: "1", Output: "1"})
	provider := &metered{t: t}
	model := llm.NewModel("test:metered", "m", provider, price, llm.With(llm.Params{MaxTokens: flow.Ptr(int64(mostOutput))}))
	provider.most = most(t, model)
	provider.limit = allowed*provider.most + provider.most - 1
	dollars := usage.USD(provider.limit * 1000).String()
	spec := &agent.Spec{Model: model, Tools: tools()}
	for name, policy := range map[string]*runtime.Policy{
		"max_tokens":   {MaxTokens: provider.limit},
		"max_cost_usd": {MaxCostUSD: dollars},
		"both":         {MaxTokens: provider.limit, MaxCostUSD: dollars},
	} {
		for _, less := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/less=%v", name, less), func(t *testing.T) {
				provider.t, provider.less = t, less
				for i := range capRounds(1200) / 6 {
					provider.taken.Store(0)
					provider.made.Store(0)
					refused := race(t, policy, spec)
					made := provider.made.Load()
					if made+refused != racers || !less && made != allowed || made < allowed {
						t.Fatalf("round %d: %d calls, %d refused", i, made, refused)
					}
					if t.Failed() {
						return
					}
				}
			})
		}
	}
}

// race lets many agents of one run ask at the same time, and returns how many were refused.
func race(t *testing.T, policy *runtime.Policy, spec *agent.Spec) int64 {
	t.Helper()
	var refused atomic.Int64
	all := make([]func(*flow.Run) error, racers)
	for i := range all {
		all[i] = func(r *flow.Run) error {
			_, err := agent.Run(r, node, spec, llm.Prompt{Text: "Go"})
			if codeOf(err) == value.PolicyDenied {
				refused.Add(1)
				return nil
			}
			return err
		}
	}
	if err := flow.Parallel(start(t, runtime.WithPolicy(policy)), all...); err != nil {
		t.Fatal(err)
	}
	return refused.Load()
}

// An agent's own cap of tokens and dollars holds for its visit, however many visits there are at the same time.
func TestOwnModelCapsUnderRace(t *testing.T) {
	var made atomic.Int64
	s := script(func(turn int, c *llm.Conversation) (llm.Message, error) {
		made.Add(1)
		return ask(`echo {"q":"x"}`, `echo {"q":"y"}`), nil
	})
	// A call takes 110 tokens, and before it there has to be room for 100 of the answer and for the conversation.
	spec := &agent.Spec{Model: llm.NewModel("test:scripted", "m", s, llm.With(llm.Params{MaxTokens: flow.Ptr(int64(100))})), Tools: tools(),
		MaxIterations: agent.Unbounded, MaxToolCalls: agent.Unbounded, Policy: &runtime.Policy{MaxTokens: 2500}}
	_, err := run(t, spec)
	if codeOf(err) != value.PolicyDenied {
		t.Fatal(err)
	}
	alone := made.Load()
	if alone < 2 || alone*110 > 2500 {
		t.Fatalf("%d questions of 110 tokens under a cap of 2500", alone)
	}
	for i := range capRounds(600) / 8 {
		made.Store(0)
		all := make([]func(*flow.Run) error, 8)
		for i := range all {
			all[i] = func(r *flow.Run) error {
				if _, err := agent.Run(r, node, spec, llm.Prompt{System: "Be good.", Text: "Go"}); codeOf(err) != value.PolicyDenied {
					return fmt.Errorf("no refusal: %w", err)
				}
				return nil
			}
		}
		if err := flow.Parallel(start(t), all...); err != nil {
			t.Fatal(err)
		}
		if made.Load() != 8*alone {
			t.Fatalf("round %d: %d questions of 8 agents, %d of one", i, made.Load(), alone)
		}
	}
}

// What a failed question has not taken is there for the next one; what it may have taken is not.
func TestFailedQuestions(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want value.Code // of the node
	}{
		{"never sent", tool.Unspent(value.Errorf(value.NetworkError, "no connection")), ""},
		{"refused", tool.Unspent(value.Errorf(value.ProviderError, "503")), ""},
		{"too many requests", value.Errorf(value.RateLimit, "429"), ""},
		{"lost", value.Errorf(value.NetworkError, "no answer: the connection ended"), value.PolicyDenied},
		{"late", value.Errorf(value.Timeout, "no answer in time"), value.PolicyDenied},
		{"garbled", value.Errorf(value.ProviderError, "no JSON"), value.PolicyDenied},
		{"too large", value.Errorf(value.PolicyDenied, "more than 32 MB"), value.PolicyDenied},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tries := 0
			s := script(func(int, *llm.Conversation) (llm.Message, error) {
				if tries++; tries < 3 {
					return llm.Message{}, tt.err
				}
				return say("done"), nil
			})
			m := model(s, llm.With(llm.Params{MaxTokens: flow.Ptr(int64(1000))}))
			again := *node
			again.Retry = &flow.Retry{Attempts: 3, Base: 1, Codes: []value.Code{value.NetworkError, value.ProviderError, value.RateLimit, value.Timeout}}
			r := start(t, runtime.WithPolicy(&runtime.Policy{MaxTokens: 1500})) // room for one question
			_, err := agent.Run(r, &again, &agent.Spec{Model: m, Tools: tools()}, llm.Prompt{Text: "Go"})
			if codeOf(err) != tt.want {
				t.Errorf("%v after %d attempts, want %q", err, tries, tt.want)
			}
			if asked := map[bool]int{true: 3, false: 1}[tt.want == ""]; tries != asked {
				t.Errorf("asked %d times, want %d", tries, asked)
			}
		})
	}
}
