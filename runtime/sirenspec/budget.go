package sirenspec

import (
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A Budget bounds a run. It is looked at when a node has ended that may have asked a model.
type Budget struct {
	Tokens   int64         // 0: no bound
	USD      usage.USD     // 0: no bound
	Duration time.Duration // 0: no bound
	Exceeded Exceeded
	Declared bool // the run says how much was spent
}

// Exceeded is what becomes of a run that has spent more than its budget.
type Exceeded uint8

// It ends, goes on, or goes on without the nodes that are left.
const (
	Abort Exceeded = iota
	Warn
	SkipRemaining
)

var exceededNames = [...]string{"abort", "warn", "skip_remaining"}

// spent is what a run has taken.
type spent struct {
	tokens     atomic.Int64
	usd        usage.USD
	priced     bool // of usd: some model had a price
	begin      time.Time
	budgets    []Budget
	violations []string
	skip       bool
}

// Limit gives the run its budgets, in the order in which they are looked at.
func (f *Flow) Limit(r *flow.Run, budgets ...Budget) {
	f.spent.begin, f.spent.budgets = r.Now(), budgets
}

// spend counts an answer.
func (f *Flow) spend(reply *llm.Reply) {
	s := &f.spent
	f.count(reply)
	if reply.CostUSD != nil {
		s.usd += *reply.CostUSD
		s.priced = true
	}
}

// count counts the tokens of an answer, also in nodes in parallel.
func (f *Flow) count(reply *llm.Reply) {
	if f != nil {
		f.spent.tokens.Add(reply.Usage.Input + reply.Usage.Output)
	}
}

// Within ends the run when it has spent more than a budget that aborts. The others are noted.
func (f *Flow) Within(r *flow.Run, n *flow.Node) error {
	s := &f.spent
	for i := range s.budgets {
		b := &s.budgets[i]
		what := s.over(r, b)
		if what == "" {
			continue
		}
		if b.Declared && !slices.Contains(s.violations, what) {
			s.violations = append(s.violations, what)
		}
		switch b.Exceeded {
		case Abort:
			return r.Fail(n, value.Errorf(value.PolicyDenied, "%s", what))
		case SkipRemaining:
			s.skip = true
		}
	}
	return nil
}

// over says which bound is passed; empty: none.
func (s *spent) over(r *flow.Run, b *Budget) string {
	if n := s.tokens.Load(); b.Tokens > 0 && n > b.Tokens {
		return fmt.Sprintf("Token ceiling exceeded: %d tokens used, limit is %d", n, b.Tokens)
	}
	if b.USD > 0 && s.priced && s.usd > b.USD {
		return fmt.Sprintf("USD ceiling exceeded: $%s spent, limit is $%s", dollars(s.usd), dollars(b.USD))
	}
	if b.Duration > 0 {
		if d := r.Now().Sub(s.begin); d > b.Duration {
			return fmt.Sprintf("Duration ceiling exceeded: %.2fs elapsed, limit is %.2fs", d.Seconds(), b.Duration.Seconds())
		}
	}
	return ""
}

// dollars is an amount with six digits behind the point.
func dollars(u usage.USD) string {
	n := (int64(u) + 500) / 1000
	return strconv.FormatInt(n/1e6, 10) + fmt.Sprintf(".%06d", n%1e6)
}

// Over reports whether the nodes that are left are skipped.
func (f *Flow) Over() bool { return f.spent.skip }

// Totals are what working._budget holds.
func (f *Flow) Totals() dynamic.Field {
	return dynamic.Object(dynamic.Put("total_tokens", dynamic.Whole(f.spent.tokens.Load())), dynamic.Put("estimated_usd", f.spent.cost()))
}

func (s *spent) cost() dynamic.Field {
	if !s.priced {
		return dynamic.Null()
	}
	return dynamic.Number(float64(s.usd) / 1e9)
}

// Spent is what a run with a budget says about it at its end.
func (f *Flow) Spent() dynamic.Field {
	s := &f.spent
	var declared Budget
	for _, b := range s.budgets {
		if b.Declared {
			declared = b
		}
	}
	bound := func(set bool, v dynamic.Field) dynamic.Field {
		if !set {
			return dynamic.Null()
		}
		return v
	}
	violations := make([]dynamic.Field, len(s.violations))
	for i, v := range s.violations {
		violations[i] = dynamic.Text(v)
	}
	return dynamic.Object(
		dynamic.Put("max_tokens", bound(declared.Tokens > 0, dynamic.Whole(declared.Tokens))),
		dynamic.Put("max_cost_usd", bound(declared.USD > 0, dynamic.Number(float64(declared.USD)/1e9))),
		dynamic.Put("max_duration_s", bound(declared.Duration > 0, dynamic.Number(declared.Duration.Seconds()))),
		dynamic.Put("on_exceeded", dynamic.Text(exceededNames[declared.Exceeded])),
		dynamic.Put("tokens_used", dynamic.Whole(s.tokens.Load())),
		dynamic.Put("estimated_usd", s.cost()),
		dynamic.Put("exceeded", dynamic.Flag(len(s.violations) > 0)),
		dynamic.Put("violations", dynamic.List(violations...)),
		dynamic.Put("skipped_remaining", dynamic.Flag(s.skip)),
	)
}
