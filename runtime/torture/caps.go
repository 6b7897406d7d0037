package torture

import (
	"fmt"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/usage"
)

// capped runs the workflow under a policy that allows less than it does.
func (t *trial) capped(whole *life) {
	calls, per, cost := t.counted(whole)
	if calls == 0 {
		return
	}
	p := &runtime.Policy{Grants: []string{"*"}}
	switch t.rng.n(3) {
	case 0:
		names := sorted(per)
		tool := names[t.rng.n(len(names))]
		p.MaxPerTool = map[string]int64{tool: t.rng.int63(per[tool])}
	case 1:
		if cost > 0 {
			p.MaxCostUSD = usage.USD(1 + t.rng.int63(int64(cost))).String()
			break
		}
		fallthrough
	default:
		p.MaxToolCalls = 1 + t.rng.int63(calls)
	}
	l := t.run("a run under a cap", t.world.fresh(), plan{options: []runtime.Option{runtime.WithPolicy(p)}})
	t.counts.Capped++
	if t.over() {
		return
	}
	t.caps(l, p)
	t.compare(l)
	t.replay(l)
}

func (r *random) int63(n int64) int64 {
	if n <= 0 {
		return 0
	}
	return int64(r.next() % uint64(n))
}

// counted is what the calls of a run count as: those of tools, by tool, and what all cost.
func (t *trial) counted(l *life) (calls int64, per map[string]int64, cost usage.USD) {
	per = map[string]int64{}
	for _, r := range l.journal.Records() {
		cost += r.CostUSD
		if !r.Denied && r.Tool != engine.WaitTool && !journal.IsUndo(r.Key) && !l.world.models[r.Tool] && r.Cancelled == "" {
			calls++
			per[r.Tool]++
		}
	}
	return calls, per, cost
}

// caps checks that a policy let through what it allows: no more and, where it refused a call, no less.
func (t *trial) caps(l *life, p *runtime.Policy) {
	if p == nil {
		return
	}
	calls, per, cost := t.counted(l)
	bound := func(what string, made, most int64, denied bool) {
		switch {
		case made > most:
			t.problem("caps", "", "%s: %d calls %swere let through, the policy allows %d", l.what, made, what, most)
		case denied && made < most:
			t.problem("caps", "", "%s: a call was refused after %d calls %s, the policy allows %d", l.what, made, what, most)
		}
	}
	denied, exact := l.denied()
	if p.MaxToolCalls > 0 {
		bound("", calls, p.MaxToolCalls, exact && denied["the run has made"] > 0)
	}
	for tool, most := range p.MaxPerTool {
		bound("of "+tool+" ", per[tool], most, exact && denied["tool "+tool+" was called"] > 0)
	}
	if most, err := usage.ParseUSD(p.MaxCostUSD); err == nil && cost > most {
		t.problem("caps", "", "%s cost %s dollars, the policy allows %s", l.what, cost, most)
	}
}

// denied counts what a policy refused, by the beginning of what it said; exact says that no call was cancelled, of which
// nobody knows whether it counts.
func (l *life) denied() (n map[string]int, exact bool) {
	n, exact = map[string]int{}, true
	for _, r := range l.journal.Records() {
		exact = exact && r.Cancelled == ""
		if r.Denied && r.Error != nil {
			for _, begin := range []string{"the run has made", fmt.Sprintf("tool %s was called", r.Tool)} {
				if len(r.Error.Message) >= len(begin) && r.Error.Message[:len(begin)] == begin {
					n[begin]++
				}
			}
		}
	}
	return n, exact
}
