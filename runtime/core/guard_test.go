package core_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// counting returns a tool that counts how often it runs.
func counting(ran *atomic.Int64, e flow.Effects, o ...flow.ToolOption) *flow.Tool[pair, pair] {
	return flow.Bind("t.count@1", e, func(_ context.Context, in pair) (pair, error) {
		ran.Add(1)
		return in, nil
	}, o...)
}

// many calls a tool n times at the same time and returns how many calls failed, all of which must be denied.
func many(t *testing.T, r *flow.Run, n int, tool *flow.Tool[pair, pair]) (denied int) {
	t.Helper()
	m := node("many")
	m.Limit = n
	items := make([]int, n)
	kept, err := flow.MapKeep(r, m, items, func(r *flow.Run, _ int) (pair, error) {
		return flow.Call(r, node("call"), tool, pair{})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kept {
		if k.Error == nil {
			continue
		}
		denied++
		if k.Error.Code != value.PolicyDenied {
			t.Fatalf("error %v", k.Error)
		}
	}
	return denied
}

// P15: caps hold exactly under parallelism. CAPROUNDS sets how often; the release form is 100,000 (make caps).
func TestCapsHoldExactly(t *testing.T) {
	rounds := 300
	if os.Getenv("CI") != "" {
		rounds = 2_000
	}
	if n, err := strconv.Atoi(os.Getenv("CAPROUNDS")); err == nil {
		rounds = n
	}
	var ran atomic.Int64
	tool := counting(&ran, flow.Reads, flow.CostUSD("0.01"))
	tests := []struct {
		name   string
		policy runtime.Policy
		want   int64
	}{
		{"calls", runtime.Policy{MaxToolCalls: 25}, 25},
		{"budget", runtime.Policy{MaxCostUSD: "0.25"}, 25},
		{"budget with a rest", runtime.Policy{MaxCostUSD: "0.259999999"}, 25},
		{"tool", runtime.Policy{MaxPerTool: map[string]int64{"t.count@1": 25}, MaxToolCalls: 60}, 25},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rt, err := flow.New(&flow.Info{Name: "w", Policy: &tt.policy})
			if err != nil {
				t.Fatal(err)
			}
			for range rounds {
				ran.Store(0)
				denied := many(t, rt.Start(t.Context()), 64, tool)
				if ran.Load() != tt.want || denied != 64-int(tt.want) {
					t.Fatalf("%d of 64 calls ran and %d were denied, the cap is %d", ran.Load(), denied, tt.want)
				}
			}
		})
	}
	t.Logf("%d rounds of 64 calls", rounds)
}

func TestPolicyCounts(t *testing.T) {
	budget := &runtime.Policy{MaxToolCalls: 3, MaxCostUSD: "0.03"}
	cost := flow.CostUSD("0.01")
	run := func(t *testing.T, o ...runtime.Option) *flow.Run {
		return start(t, t.Context(), append(o, runtime.WithPolicy(budget))...)
	}
	// left is how many calls there is still room for.
	left := func(t *testing.T, r *flow.Run) (n int) {
		var ran atomic.Int64
		tool := counting(&ran, flow.Reads, cost)
		for range 5 {
			if _, err := flow.Call(r, node("left"), tool, pair{}); err == nil {
				n++
			}
		}
		return n
	}
	t.Run("a failure counts and costs", func(t *testing.T) {
		r := run(t)
		tool := flow.Bind("t.fail@1", flow.Reads, func(context.Context, pair) (pair, error) { return pair{}, errors.New("no") }, cost)
		_, err := flow.Call(r, node("a"), tool, pair{})
		wantCode(t, err, value.Unknown)
		if n := left(t, r); n != 2 {
			t.Errorf("%d calls are left", n)
		}
	})
	t.Run("a panic counts and costs", func(t *testing.T) {
		r := run(t)
		tool := flow.Bind("t.fail@1", flow.Reads, func(context.Context, pair) (pair, error) { panic("no") }, cost)
		_, err := flow.Call(r, node("a"), tool, pair{})
		wantCode(t, err, value.Unknown)
		if n := left(t, r); n != 2 {
			t.Errorf("%d calls are left", n)
		}
	})
	t.Run("every attempt counts", func(t *testing.T) {
		r := run(t)
		n := node("a")
		n.Retry = &flow.Retry{Attempts: 9, Base: time.Microsecond}
		var ran atomic.Int64
		tool := flow.Bind("t.fail@1", flow.Reads, func(context.Context, pair) (pair, error) {
			ran.Add(1)
			return pair{}, value.Errorf(value.Timeout, "slow")
		})
		_, err := flow.Call(r, n, tool, pair{})
		wantCode(t, err, value.PolicyDenied)
		if ran.Load() != 3 {
			t.Errorf("%d attempts", ran.Load())
		}
	})
	t.Run("an input that does not fit counts and costs nothing", func(t *testing.T) {
		type bounded struct {
			N int64 `json:"n" flow:"max=1"`
		}
		tool := flow.Bind("t.bounded@1", flow.Reads, func(context.Context, bounded) (pair, error) { return pair{}, nil }, cost)
		r := start(t, t.Context(), runtime.WithPolicy(&runtime.Policy{MaxToolCalls: 2, MaxCostUSD: "0.01"}))
		_, err := flow.Call(r, node("a"), tool, bounded{2})
		wantCode(t, err, value.ValidationError)
		if _, err := flow.Call(r, node("a"), tool, bounded{1}); err != nil {
			t.Error(err)
		}
		_, err = flow.Call(r, node("a"), tool, bounded{1})
		wantCode(t, err, value.PolicyDenied)
	})
	t.Run("a missing secret counts and costs nothing", func(t *testing.T) {
		none := runtime.WithSecrets(func(string) (string, bool) { return "", false })
		r := start(t, t.Context(), none, runtime.WithPolicy(&runtime.Policy{MaxToolCalls: 2, MaxCostUSD: "0.01"}))
		_, err := flow.Call(r, node("a"), counting(new(atomic.Int64), flow.Reads, cost, flow.Secrets("KEY")), pair{})
		wantCode(t, err, value.AuthRequired)
		if n := left(t, r); n != 1 {
			t.Errorf("%d calls are left", n)
		}
	})
	t.Run("a denied call does not count", func(t *testing.T) {
		r := run(t)
		for range 5 {
			_, err := flow.Call(r, node("a"), counting(new(atomic.Int64), flow.Reads, cost, flow.Blocked()), pair{})
			wantCode(t, err, value.PolicyDenied)
		}
		if n := left(t, r); n != 3 {
			t.Errorf("%d calls are left", n)
		}
	})
	t.Run("a call cancelled before it begins does not count", func(t *testing.T) {
		r := run(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := flow.Call(r.Branch(ctx), node("a"), stepTool, pair{}); !runtime.IsCancelled(err) {
			t.Fatal(err)
		}
		if n := left(t, r); n != 3 {
			t.Errorf("%d calls are left", n)
		}
	})
}

func TestSubWorkflowPolicyNarrows(t *testing.T) {
	tests := []struct {
		name        string
		outer, own  runtime.Policy
		calls, want int // calls in the sub-workflow, and how many of them run
		after       int // calls that the outer workflow has left
	}{
		{"a smaller cap", runtime.Policy{MaxToolCalls: 10}, runtime.Policy{MaxToolCalls: 3}, 8, 3, 7},
		{"a larger cap", runtime.Policy{MaxToolCalls: 4}, runtime.Policy{MaxToolCalls: 100}, 8, 4, 0},
		{"a smaller budget", runtime.Policy{MaxCostUSD: "0.10"}, runtime.Policy{MaxCostUSD: "0.02"}, 8, 2, 8},
		{"a larger budget", runtime.Policy{MaxCostUSD: "0.03"}, runtime.Policy{MaxCostUSD: "100"}, 8, 3, 0},
		{"fewer effects", runtime.Policy{MaxToolCalls: 10}, runtime.Policy{Effects: []flow.Effects{flow.None}}, 8, 0, 10},
		{"more effects", runtime.Policy{Effects: []flow.Effects{flow.None}}, runtime.Policy{Effects: []flow.Effects{flow.Reads}}, 8, 0, 0},
		{"more grants", runtime.Policy{}, runtime.Policy{Grants: []string{"*"}}, 8, 0, 0},
		{"fewer grants", runtime.Policy{Grants: []string{"*"}, MaxToolCalls: 10}, runtime.Policy{}, 8, 0, 10},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var ran atomic.Int64
			tool := counting(&ran, flow.Reads, flow.CostUSD("0.01"), flow.Permissions("c"))
			for _, p := range []*runtime.Policy{&tt.outer, &tt.own} {
				if p.Grants == nil && !strings.HasSuffix(tt.name, "grants") {
					p.Grants = []string{"c"}
				}
			}
			w := node("sub")
			w.Policy = &tt.own
			r := start(t, t.Context(), runtime.WithPolicy(&tt.outer))
			many(t, r.In(w), tt.calls, tool)
			if ran.Load() != int64(tt.want) {
				t.Errorf("%d calls ran in the sub-workflow, want %d", ran.Load(), tt.want)
			}
			ran.Store(0)
			many(t, r, 20, tool)
			if want := int64(tt.after); ran.Load() != want {
				t.Errorf("%d calls ran afterwards, want %d", ran.Load(), want)
			}
		})
	}
}

// P32: ways around the capability gate. Nothing runs, and everything leaves a record.
func TestGuardCannotBeGotAround(t *testing.T) {
	claims := func(claim string, grants ...string) (string, *runtime.Policy, []flow.ToolOption) {
		return fmt.Sprintf("%q under %q", claim, grants), &runtime.Policy{Grants: grants}, []flow.ToolOption{flow.Permissions(claim)}
	}
	type attempt struct {
		name   string
		policy *runtime.Policy
		opts   []flow.ToolOption
	}
	var attempts []attempt
	add := func(name string, p *runtime.Policy, o []flow.ToolOption) {
		attempts = append(attempts, attempt{name, p, o})
	}
	for _, c := range []string{"tools:Search", "TOOLS:search", "tools:search ", " tools:search", "tools:searc", "tools:search\u200b", "tools:s\u0435arch",
		"tools:search\x00", "tools", "", "tools:*", "*", "tools:searchs", "tools:search*", "tools:search/..", "tools:sear\u0063\u0327h", "tools:caf\u00e9"} {
		add(claims(c, "tools:search", "tools:cafe\u0301"))
	}
	for _, g := range []string{"", "t*ols:search", "*:search", "tools:?earch", "tools:[s]earch", "tools:search**", "tools:search.*", "tools:s*h", "tools:searching*", "Tools:*"} {
		add(claims("tools:search", g))
	}
	add(claims("tools:search"))
	add("two claims, one granted", &runtime.Policy{Grants: []string{"a"}}, []flow.ToolOption{flow.Permissions("a", "b")})
	add("two options", &runtime.Policy{Grants: []string{"a"}}, []flow.ToolOption{flow.Permissions("a"), flow.Permissions("b")})
	add("an empty policy", &runtime.Policy{}, []flow.ToolOption{flow.Permissions("a")})
	add("effects", &runtime.Policy{Effects: []flow.Effects{flow.None}}, nil)
	add("no effects at all", &runtime.Policy{Effects: []flow.Effects{}}, nil)
	for _, allowed := range []string{"t.count@01", "t.count@2", "T.count@1", "t.coun", "t.count@", "count@1", "count", "t.count@1 ", "t.count\u200b@1", ""} {
		add("tools "+allowed, &runtime.Policy{Tools: []string{allowed}}, nil)
	}
	add("no tools", &runtime.Policy{Tools: []string{}}, nil)
	add("blocked", nil, []flow.ToolOption{flow.Blocked()})
	add("blocked and granted", &runtime.Policy{Grants: []string{"*"}}, []flow.ToolOption{flow.Blocked()})
	add("blocked and deprecated", nil, []flow.ToolOption{flow.Deprecated(), flow.Blocked()})

	ways := map[string]func(r *flow.Run, tool *flow.Tool[pair, pair]) error{
		"node": func(r *flow.Run, tool *flow.Tool[pair, pair]) error {
			_, err := flow.Call(r, node("a"), tool, pair{})
			return err
		},
		"map": func(r *flow.Run, tool *flow.Tool[pair, pair]) error {
			_, err := flow.Map(r, node("m"), []int{1, 2}, func(r *flow.Run, _ int) (pair, error) {
				return flow.Call(r, node("a"), tool, pair{})
			})
			return err
		},
		"sub-workflow": func(r *flow.Run, tool *flow.Tool[pair, pair]) error {
			w := node("sub")
			w.Policy = &runtime.Policy{Grants: []string{"*"}, Tools: []string{"t.count@1"}}
			_, err := flow.Call(r.In(w), node("a"), tool, pair{})
			return err
		},
		"retry": func(r *flow.Run, tool *flow.Tool[pair, pair]) error {
			n := node("a")
			n.Retry = &flow.Retry{Attempts: 3, Codes: []value.Code{value.PolicyDenied}}
			_, err := flow.Call(r, n, tool, pair{})
			return err
		},
		"loop": func(r *flow.Run, tool *flow.Tool[pair, pair]) (err error) {
			for i := range 3 {
				_, err = flow.Call(r.At(node("l"), i), node("a"), tool, pair{})
			}
			return err
		},
	}
	n := 0
	for _, a := range attempts {
		for way, call := range ways {
			var ran atomic.Int64
			tool := counting(&ran, flow.Reads, a.opts...)
			rec := journal.NewRecorder()
			r := start(t, t.Context(), runtime.WithPolicy(a.policy), runtime.WithEngine(rec))
			err := call(r, tool)
			if codeOf(err) != value.PolicyDenied || ran.Load() != 0 {
				t.Errorf("%s, %s: error %v, ran %d times", a.name, way, err, ran.Load())
			}
			env := rec.Envelopes()
			if len(env) == 0 || env[0].Error == nil || env[0].Error.Code != value.PolicyDenied {
				t.Errorf("%s, %s: envelopes %v", a.name, way, env)
			}
			n++
		}
	}
	t.Logf("%d attempts", n)
}

// A journal from before a capability was revoked does not give its results back.
func TestRevokedCapabilityIsNotReplayed(t *testing.T) {
	var ran atomic.Int64
	tool := counting(&ran, flow.Reads, flow.Permissions("c"))
	rec := journal.NewRecorder()
	if _, err := flow.Call(start(t, t.Context(), runtime.WithEngine(rec)), node("a"), tool, pair{}); err != nil {
		t.Fatal(err)
	}
	for name, eng := range map[string]engine.Engine{"replay": journal.Replay(rec.Journal()), "resume": journal.Resume(rec.Journal())} {
		r := start(t, t.Context(), runtime.WithEngine(eng), runtime.WithPolicy(&runtime.Policy{}))
		_, err := flow.Call(r, node("a"), tool, pair{})
		if wantCode(t, err, value.PolicyDenied); ran.Load() != 1 {
			t.Errorf("%s: ran again", name)
		}
	}
}

// Which of several calls a cap refuses is a matter of timing: a replay refuses the same, in whatever order they come.
func TestCapsAreReplayed(t *testing.T) {
	var ran atomic.Int64
	tool := counting(&ran, flow.Reads, flow.CostUSD("0.5"))
	cap5 := runtime.WithPolicy(&runtime.Policy{MaxToolCalls: 5, MaxCostUSD: "2.5"})
	body := func(r *flow.Run) []bool {
		kept, err := flow.MapKeep(r, node("m"), make([]int, 20), func(r *flow.Run, _ int) (pair, error) {
			return flow.Call(r, node("a"), tool, pair{})
		})
		if err != nil {
			t.Fatal(err)
		}
		ok := make([]bool, len(kept))
		for i, k := range kept {
			ok[i] = k.Error == nil
		}
		return ok
	}
	for range 20 {
		rec := journal.NewRecorder()
		ran.Store(0)
		want := body(start(t, t.Context(), runtime.WithEngine(rec), cap5))
		if ran.Load() != 5 {
			t.Fatalf("%d calls ran", ran.Load())
		}
		text, err := rec.Journal().MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		j, err := journal.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := body(start(t, t.Context(), runtime.WithEngine(journal.Replay(j)), cap5)); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("replayed %v, recorded %v", got, want)
		}
		if ran.Load() != 5 {
			t.Fatal("a replay ran a tool")
		}
	}
}

// A resumed run is charged with its journal before anything runs.
func TestResumeIsChargedWithItsJournal(t *testing.T) {
	var ran atomic.Int64
	tool := counting(&ran, flow.Reads, flow.CostUSD("0.10"))
	policy := runtime.WithPolicy(&runtime.Policy{MaxToolCalls: 5, MaxCostUSD: "0.50"})
	w := node("sub")
	w.Policy = &runtime.Policy{MaxToolCalls: 4}
	rec := journal.NewRecorder()
	r := start(t, t.Context(), runtime.WithEngine(rec), policy)
	many(t, r.In(w), 3, tool)
	j := rec.Journal()
	lost := j.Records()[2]
	if lost.CostUSD != 100_000_000 {
		t.Fatalf("recorded cost %v", lost.CostUSD)
	}

	t.Run("finished calls", func(t *testing.T) {
		ran.Store(0)
		r := start(t, t.Context(), runtime.WithEngine(journal.Resume(j)), policy)
		sub := r.In(w)
		many(t, r, 10, tool) // before the sub-workflow asks for its records
		if ran.Load() != 2 {
			t.Errorf("%d further calls ran, want 2", ran.Load())
		}
		if denied := many(t, sub, 3, tool); denied != 0 {
			t.Errorf("%d recorded calls were denied", denied)
		}
		if ran.Load() != 2 {
			t.Error("a recorded call ran again")
		}
	})
	t.Run("a call in doubt has cost and counts again", func(t *testing.T) {
		lost.Done, lost.Output, lost.End = false, nil, 0
		j.Put(lost)
		ran.Store(0)
		r := start(t, t.Context(), runtime.WithEngine(journal.Resume(j)), policy)
		if denied := many(t, r.In(w), 3, tool); denied != 0 {
			t.Errorf("%d calls were denied", denied)
		}
		many(t, r, 10, tool)
		if ran.Load() != 2 { // calls: 2 recorded, 3 left; dollars: 3 spent, 2 left
			t.Errorf("%d calls ran, want 2: the one in doubt and one more", ran.Load())
		}
	})
}

func TestBadPolicies(t *testing.T) {
	for _, p := range []*runtime.Policy{{MaxCostUSD: "1e3"}, {MaxCostUSD: "-1"}, {MaxCostUSD: "0.0000000001"}, {MaxToolCalls: -1}, {MaxPerTool: map[string]int64{"a": -1}}} {
		w := node("sub")
		w.Policy, w.Index = p, 0
		if _, err := flow.New(&flow.Info{Name: "w"}, runtime.WithPolicy(p)); err == nil {
			t.Errorf("%+v is accepted", p)
		}
		if _, err := flow.New(&flow.Info{Name: "w", Nodes: []*flow.Node{w}}); err == nil {
			t.Errorf("%+v of a sub-workflow is accepted", p)
		}
	}
}

func TestUSD(t *testing.T) {
	for in, want := range map[string]string{"0": "0", "0.002": "0.002", "12": "12", "1.50": "1.5", "0.000000001": "0.000000001", "999999999999.9": "9223372036.854775807"} {
		u, err := usage.ParseUSD(in)
		if err != nil || u.String() != want {
			t.Errorf("%s: %v, %v; want %s", in, u, err, want)
		}
	}
	for _, in := range []string{"", ".5", "5.", "1,5", "+1", "-1", "1e3", "0.0000000001", "1234567890123", "١"} {
		if u, err := usage.ParseUSD(in); err == nil {
			t.Errorf("%q is %v", in, u)
		}
	}
}

func TestDeprecatedToolWarnsOnce(t *testing.T) {
	var warnings []string
	r := start(t, t.Context(), runtime.WithObserver(runtime.ObserverFunc(func(e runtime.Event) {
		if e.Kind == runtime.Warning {
			b, err := e.MarshalJSON()
			if err != nil {
				t.Error(err)
			}
			warnings = append(warnings, string(b))
		}
	})))
	tool := counting(new(atomic.Int64), flow.Reads, flow.Deprecated())
	for range 3 {
		if _, err := flow.Call(r, node("a"), tool, pair{}); err != nil {
			t.Fatal(err)
		}
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], `"message":"tool t.count@1 is deprecated"`) {
		t.Errorf("warnings %v", warnings)
	}
}
