package core

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// TestWait: the pause after a failed attempt.
func TestWait(t *testing.T) {
	after := func(s float64) *float64 { return &s }
	for _, tt := range []struct {
		name    string
		retry   Retry
		attempt int
		after   *float64
		random  float64
		want    time.Duration
	}{
		{"the first", Retry{Base: time.Second}, 1, nil, 0, time.Second},
		{"the third doubles twice", Retry{Base: time.Second}, 3, nil, 0, 4 * time.Second},
		{"constant", Retry{Base: time.Second, Constant: true}, 3, nil, 0, time.Second},
		{"bounded", Retry{Base: time.Second, Cap: 3 * time.Second}, 3, nil, 0, 3 * time.Second},
		{"below the bound", Retry{Base: time.Second, Cap: 5 * time.Second}, 3, nil, 0, 4 * time.Second},
		{"half of it at random", Retry{Base: time.Second, Jitter: 0.5}, 1, nil, 0.5, 750 * time.Millisecond},
		{"all of it at random", Retry{Base: time.Second, Jitter: 2}, 1, nil, 0.25, 750 * time.Millisecond},
		{"no jitter", Retry{Base: time.Second}, 1, nil, 0.5, time.Second},
		{"asked for more", Retry{Base: time.Second}, 1, after(10), 0, 10 * time.Second},
		{"asked for more than the bound", Retry{Base: time.Second, Cap: 2 * time.Second}, 1, after(10), 0, 10 * time.Second},
		{"asked for less", Retry{Base: time.Second}, 1, after(0.5), 0, time.Second},
		{"asked for nothing", Retry{Base: time.Second}, 1, after(0), 0, time.Second},
		{"asked for the past", Retry{Base: time.Second}, 1, after(-5), 0, time.Second},
		{"asked for no number", Retry{Base: time.Second}, 1, after(math.NaN()), 0, time.Second},
		{"asked for ever", Retry{Base: time.Second}, 1, after(math.Inf(1)), 0, 24 * time.Hour},
		{"grown for ever", Retry{Base: time.Second}, 2000, nil, 0, 24 * time.Hour},
	} {
		if got := tt.retry.wait(tt.attempt, tt.after, func() float64 { return tt.random }); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	for code, want := range map[value.Code]bool{value.RateLimit: true, value.Timeout: true, value.NetworkError: true, value.ProviderError: true, value.Unknown: false, value.ValidationError: false} {
		if got := (&Retry{}).covers(code); got != want {
			t.Errorf("%s is tried again: %v", code, got)
		}
		if got := (&Retry{Codes: []value.Code{value.Unknown}}).covers(code); got != (code == value.Unknown) {
			t.Errorf("%s is tried again where only UNKNOWN is: %v", code, got)
		}
	}
}

// TestNewRate: what would remember more than 4,096 calls is kept in shorter periods, which is stricter.
func TestNewRate(t *testing.T) {
	for _, tt := range []struct {
		n      int
		period time.Duration
		wantN  int
		want   time.Duration
	}{
		{1, time.Second, 1, time.Second},
		{4096, time.Second, 4096, time.Second},
		{4097, time.Second, 2048, time.Second / 2},
		{8192, time.Second, 4096, time.Second / 2},
		{3 * 4096, 10, 4096, 4}, // rounded up
		{3 * 4096, 3, 4096, 1},
		{3 * 4096, 2, 3 * 4096, 2}, // there is no shorter period
	} {
		if got := newRate(tt.n, tt.period); got.n != tt.wantN || got.period != tt.want {
			t.Errorf("%d in %v: %d in %v, want %d in %v", tt.n, tt.period, got.n, got.period, tt.wantN, tt.want)
		}
	}
}

// TestReserve: the turns of a rate of two in ten seconds.
func TestReserve(t *testing.T) {
	begin := time.Unix(1000, 0)
	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
	l := newRate(2, 10*time.Second)
	for i, tt := range []struct {
		now, deadline int // deadline 0: none
		wait          int
		ok            bool
	}{
		{100, 0, 0, true},
		{101, 0, 0, true},
		{102, 109, 8, false}, // its turn is at 110
		{102, 110, 8, true},
		{103, 0, 8, true},     // at 111
		{104, 119, 16, false}, // at 120
		{130, 129, 0, true},   // what need not wait is not late
		{125, 0, 5, true},     // turns are in order: at 130
		{126, 0, 14, true},    // at 140
		{131, 0, 9, true},     // at 140, behind that of 130
		{131, 0, 19, true},
	} {
		var deadline time.Time
		if tt.deadline != 0 {
			deadline = at(tt.deadline)
		}
		wait, ok := l.reserve(at(tt.now), deadline)
		if wait != time.Duration(tt.wait)*time.Second || ok != tt.ok {
			t.Fatalf("call %d: waits %v, %v; want %ds, %v", i, wait, ok, tt.wait, tt.ok)
		}
	}
	if f := l.fresh(); f.n != 2 || f.period != 10*time.Second || len(f.ring) != 0 {
		t.Errorf("the fresh one: %+v", f)
	}
}

func TestGranted(t *testing.T) {
	for _, tt := range []struct {
		grants, claim string
		want          bool
	}{
		{"tools:search", "tools:search", true},
		{"tools:search", "tools:searc", false},
		{"tools:search", "tools:search2", false},
		{"tools:*", "tools:search", true},
		{"tools:*", "tools:", true},
		{"tools:*", "tool", false},
		{"*", "", true},
		{"a b* c", "c", true},
		{"a b* c", "bx", true},
		{"a b* c", "d", false},
		{"", "a", false},
		{"a*b", "axb", false},
	} {
		if got := Granted(strings.Fields(tt.grants), tt.claim); got != tt.want {
			t.Errorf("%q grants %q: %v", tt.grants, tt.claim, got)
		}
	}
}

// TestPolicyDenies: what a policy refuses whatever has happened before.
func TestPolicyDenies(t *testing.T) {
	tool := &toolOptions{claims: []string{"a", "b"}}
	model := &toolOptions{meter: 1}
	for _, tt := range []struct {
		name   string
		policy Policy
		o      *toolOptions
		want   string
	}{
		{"nothing is granted", Policy{}, tool, `tool t@1 needs the capability "a", which the policy does not grant`},
		{"one is granted", Policy{Grants: []string{"a"}}, tool, `tool t@1 needs the capability "b", which the policy does not grant`},
		{"both are", Policy{Grants: []string{"b", "a"}}, tool, ""},
		{"no claims", Policy{}, &toolOptions{}, ""},
		{"other effects", Policy{Effects: []Effects{Reads}, Grants: []string{"*"}}, tool, "tool t@1 has effects writes, which the policy does not allow"},
		{"no effects", Policy{Effects: []Effects{}, Grants: []string{"*"}}, tool, "tool t@1 has effects writes, which the policy does not allow"},
		{"its effects", Policy{Effects: []Effects{Reads, Writes}, Grants: []string{"*"}}, tool, ""},
		{"other tools", Policy{Tools: []string{"u", "t@2"}, Grants: []string{"*"}}, tool, "tool t@1 is not among those that the policy allows"},
		{"no tools", Policy{Tools: []string{}, Grants: []string{"*"}}, tool, "tool t@1 is not among those that the policy allows"},
		{"all versions", Policy{Tools: []string{"t"}, Grants: []string{"*"}}, tool, ""},
		{"its version", Policy{Tools: []string{"t@1"}, Grants: []string{"*"}}, tool, ""},
		{"a model is no tool", Policy{Tools: []string{}}, model, ""},
	} {
		got := ""
		if te := tt.policy.denies(&Head{Tool: "t@1", Effects: Writes}, tt.o); te != nil {
			got = te.Message
			if te.Code != value.PolicyDenied {
				t.Errorf("%s: %s", tt.name, te.Code)
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	for _, p := range []Policy{{MaxTokens: -1}, {MaxToolCalls: -1}, {MaxPerTool: map[string]int64{"t": -1}}, {MaxCostUSD: "x"}} {
		if p.check() == nil {
			t.Errorf("%+v is accepted", p)
		}
	}
	if err := (&Policy{MaxPerTool: map[string]int64{"t": 0}, MaxCostUSD: "0"}).check(); err != nil {
		t.Errorf("nothing is allowed at all: %v", err)
	}
}

// TestGuardBounds: of every bound exactly as much is given out as there is, by all guards of a chain or by none.
func TestGuardBounds(t *testing.T) {
	for _, tt := range []struct {
		name   string
		policy Policy
		most   usage.Spend
		calls  int64
		fit    int // how many times it fits
		want   string
	}{
		{"calls", Policy{MaxToolCalls: 3}, usage.Spend{}, 1, 3, "the run has made 3 tool calls, the maximum of the policy"},
		{"calls of models are none", Policy{MaxToolCalls: 1}, usage.Spend{}, 0, 5, ""},
		{"calls of the tool", Policy{MaxPerTool: map[string]int64{"t@1": 2, "u@1": 0}}, usage.Spend{}, 1, 2, "tool t@1 was called 2 times, the maximum of the policy"},
		{"no calls of the tool", Policy{MaxPerTool: map[string]int64{"t@1": 0}}, usage.Spend{}, 1, 0, "tool t@1 was called 0 times, the maximum of the policy"},
		{"calls of another", Policy{MaxPerTool: map[string]int64{"u@1": 0}}, usage.Spend{}, 1, 5, ""},
		{"models do not count for the tool", Policy{MaxPerTool: map[string]int64{"t@1": 0}}, usage.Spend{}, 0, 5, ""},
		{"dollars", Policy{MaxCostUSD: "0.03"}, usage.Spend{Cost: 10_000_000}, 1, 3, "a call of t@1 can cost 0.01 dollars, but of the policy's 0.03 only 0 are left"},
		{"no dollars", Policy{MaxCostUSD: "0"}, usage.Spend{Cost: 1}, 1, 0, "a call of t@1 can cost 0.000000001 dollars, but of the policy's 0 only 0 are left"},
		{"what is free", Policy{MaxCostUSD: "0"}, usage.Spend{}, 1, 5, ""},
		{"dollars without a bound", Policy{}, usage.Spend{Cost: math.MaxInt64}, 1, 5, ""},
		{"tokens", Policy{MaxTokens: 25}, usage.Spend{Tokens: 10}, 0, 2, "a call of t@1 can take 10 tokens, but of the policy's 25 only 5 are left"},
		{"the last token", Policy{MaxTokens: 20}, usage.Spend{Tokens: 10}, 0, 2, "a call of t@1 can take 10 tokens, but of the policy's 20 only 0 are left"},
		{"tokens without a bound", Policy{}, usage.Spend{Tokens: 10}, 0, 5, ""},
	} {
		for _, where := range []string{"alone", "outside", "inside"} {
			g := newGuard(&tt.policy, nil)
			other := &Policy{MaxToolCalls: 100, MaxPerTool: map[string]int64{"t@1": 100}, MaxCostUSD: "9", MaxTokens: 1000}
			free := tt.most.Cost < 1e9 // a dollar
			switch {
			case where == "outside" && free:
				g = newGuard(other, g)
			case where == "inside" && free:
				g = newGuard(&tt.policy, newGuard(other, nil))
			}
			try := func() (n int, te *value.ToolError) {
				for ; n < 5; n++ {
					if te = g.reserve("t@1", tt.most, tt.calls); te != nil {
						return n, te
					}
				}
				return n, nil
			}
			n, te := try()
			if got := fmt.Sprint(te); n != tt.fit || te == nil != (tt.want == "") || te != nil && !strings.HasSuffix(got, tt.want) {
				t.Errorf("%s, %s: %d fit, %s; want %d, %s", tt.name, where, n, got, tt.fit, tt.want)
			}
			if n == 0 || tt.want == "" {
				continue
			}
			g.refund("t@1", tt.most, tt.calls)
			if n, _ := try(); n != 1 {
				t.Errorf("%s, %s: of one that is given back there are %d", tt.name, where, n)
			}
			for x := g.outer; x != nil; x = x.outer { // what was refused is counted by none
				if x.calls != g.calls {
					t.Errorf("%s, %s: %d and %d calls", tt.name, where, g.calls, x.calls)
				}
			}
		}
	}
}

// TestCharge: what a journal holds counts, and takes no more than there is.
func TestCharge(t *testing.T) {
	g := newGuard(&Policy{MaxToolCalls: 5, MaxPerTool: map[string]int64{"t@1": 4}, MaxCostUSD: "0.03", MaxTokens: 25}, nil)
	g.charge("t@1", 2, usage.Spend{Cost: 10_000_000, Tokens: 10})
	if g.calls != 2 || g.tools["t@1"] != 2 || g.budget != 20_000_000 || g.tokens != 15 {
		t.Errorf("charged once: %+v", g)
	}
	g.charge("t@1", 1, usage.Spend{Cost: 50_000_000, Tokens: 50})
	if g.calls != 3 || g.tools["t@1"] != 3 || g.budget != 0 || g.tokens != 0 {
		t.Errorf("charged with more than there is: %+v", g)
	}
	free := newGuard(&Policy{}, nil)
	free.charge("t@1", 1, usage.Spend{Cost: 5, Tokens: 5})
	if free.budget != unbounded || free.calls != 1 {
		t.Errorf("charged without a bound: %+v", free)
	}
	chain := newGuard(&Policy{MinSandbox: GVisor}, newGuard(&Policy{MinSandbox: Native}, newGuard(&Policy{MinSandbox: Process}, nil)))
	if got := chain.minSandbox(); got != GVisor {
		t.Errorf("the least tier is %s", got)
	}
	if got := chain.outer.minSandbox(); got != Process {
		t.Errorf("the least tier outside is %s", got)
	}
}

// TestMostOutput: an output of exactly as many bytes as there may be is one.
func TestMostOutput(t *testing.T) {
	for most, want := range map[int]bool{4: false, 5: true, 6: true, 0: true} {
		rt, err := New(&Info{Name: "w"})
		if err != nil {
			t.Fatal(err)
		}
		tool := Bind("t.list@1", None, func(context.Context, int) ([]string, error) { return []string{"a"}, nil }, MaxOutput(most))
		out, err := Call(rt.Start(t.Context()), &Node{ID: "n"}, tool, 1)
		if (err == nil) != want || want && out[0] != "a" {
			t.Errorf("at most %d bytes: %q, %v", most, out, err)
		}
	}
}

// TestEncodeOut: outputs are appended.
func TestEncodeOut(t *testing.T) {
	o := &op[int, int]{out: 12}
	for before, want := range map[string]string{"": "12", "x": "x12"} {
		var room []byte
		if before != "" {
			room = []byte(before)
		}
		if got, err := o.EncodeOut(room); string(got) != want || err != nil {
			t.Errorf("behind %q: %q, %v", before, got, err)
		}
	}
}

// memoryBlobs counts what is kept.
type memoryBlobs struct{ kept int }

func (m *memoryBlobs) Create(context.Context, string, string) (Blob, error) {
	return &memoryBlob{m: m}, nil
}

type memoryBlob struct {
	bytes.Buffer
	m *memoryBlobs
}

func (b *memoryBlob) Commit() (string, error) { b.m.kept++; return "blob:1", nil }
func (b *memoryBlob) Abort()                  {}

// TestFit: an output is cut only when its reader has no room for it. Of a text what counts is the text, or its JSON.
func TestFit(t *testing.T) {
	for _, tt := range []struct {
		room int
		want string
		kept int
	}{
		{100, "abcdefghijklmnopqrstuvwxyz", 0},
		{28, "abcdefghijklmnopqrstuvwxyz", 0},
		{26, "abcdefghijklmnopqrstuvwxyz", 0}, // without its quotes it fits
		{25, "", 1},
		{0, "abcdefghijklmnopqrstuvwxyz", 0}, // there is no bound
		{-1, "abcdefghijklmnopqrstuvwxyz", 0},
	} {
		kept := &memoryBlobs{}
		rt, err := New(&Info{Name: "w"}, WithBlobs(kept))
		if err != nil {
			t.Fatal(err)
		}
		n := &Node{ID: "n"}
		o := &op[int, string]{call: call{head: Head{Node: n}, run: rt.Start(t.Context())}, out: tt.want, tool: &Tool[int, string]{}}
		o.out = "abcdefghijklmnopqrstuvwxyz"
		if err := o.fit(t.Context(), o, tt.room); err != nil || kept.kept != tt.kept {
			t.Errorf("room for %d: %v, %d kept", tt.room, err, kept.kept)
		}
		if tt.want == "" != (o.out != "abcdefghijklmnopqrstuvwxyz") || len(o.out) > 26 {
			t.Errorf("room for %d: %q", tt.room, o.out)
		}
		v := &op[int, value.Value]{call: call{head: Head{Node: n}, run: rt.Start(t.Context())}, out: value.String("abc"), tool: &Tool[int, value.Value]{}}
		before := kept.kept
		if err := v.fit(t.Context(), v, 5); err != nil || kept.kept != before {
			t.Errorf("a value that fits exactly: %v, %d kept", err, kept.kept-before)
		}
		if err := v.fit(t.Context(), v, 4); err != nil || kept.kept != before+1 {
			t.Errorf("a value that does not fit: %v, %d kept", err, kept.kept-before)
		}
	}
}

// TestCheckOut: what a journal or a person gives is held to the rules of its type.
func TestCheckOut(t *testing.T) {
	type out struct {
		N int64 `json:"n" flow:"max=1"`
	}
	tool := Bind("t.out@1", None, func(context.Context, int) (out, error) { return out{}, nil })
	for n, want := range map[int64]bool{1: true, 2: false} {
		if err := (&op[int, out]{tool: tool, out: out{n}}).CheckOut(); (err == nil) != want {
			t.Errorf("%d: %v", n, err)
		}
	}
	free := Bind("t.free@1", None, func(context.Context, int) (int, error) { return 0, nil })
	if err := (&op[int, int]{tool: free, out: 2}).CheckOut(); err != nil {
		t.Error(err)
	}
}

// TestModelsAreNoTools: a policy of an agent's turns says nothing of the model that is asked.
func TestModelsAreNoTools(t *testing.T) {
	inner := newGuard(&Policy{Effects: []Effects{Reads}}, newGuard(&Policy{Effects: []Effects{Reads, External}}, nil))
	inner.turns = true
	h := &Head{Tool: "m@1", Effects: External}
	if te := inner.denies(h, &toolOptions{meter: 1}); te != nil {
		t.Errorf("a model: %v", te)
	}
	if te := inner.denies(h, &toolOptions{}); te == nil {
		t.Error("a tool is not denied")
	}
	inner.outer.policy.NoModels = true
	if te := inner.denies(h, &toolOptions{meter: 1}); te == nil {
		t.Error("a model that the policy of the run denies is not denied")
	}
}

// TestRetryingEvent: observers hear how long the attempt took, and what is waited.
func TestRetryingEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []Event
		rt, err := New(&Info{Name: "w"}, WithObserver(ObserverFunc(func(e Event) {
			if e.Kind == Retrying {
				seen = append(seen, e)
			}
		})), WithEngine(&timed{begin: time.Now().Add(-time.Hour)}))
		if err != nil {
			t.Fatal(err)
		}
		n := &Node{ID: "n", Retry: &Retry{Attempts: 2, Base: 8 * time.Second, Jitter: 1}}
		calls := 0
		tool := Bind("t.flaky@1", None, func(context.Context, int) (int, error) {
			time.Sleep(3 * time.Second)
			if calls++; calls == 1 {
				return 0, value.Errorf(value.Timeout, "late")
			}
			return 7, nil
		})
		if out, err := Call(rt.Start(t.Context()), n, tool, 1); out != 7 || err != nil {
			t.Fatal(out, err)
		}
		if len(seen) != 1 || seen[0].Duration != 3*time.Second || seen[0].Attempt != 1 || seen[0].Wait <= 0 || seen[0].Wait > 8*time.Second {
			t.Errorf("%+v", seen)
		}
	})
}

// timed is an engine that fills in when attempts begin and end.
type timed struct {
	Goroutines
	begin time.Time
}

func (e *timed) Do(r *Run, op Op) error {
	h := op.Head()
	h.Start = time.Since(e.begin)
	err := e.Goroutines.Do(r, op)
	h.End, h.Err = time.Since(e.begin), err
	return err
}

// TestGoFunctionsAreNotIsolated: a policy's least tier is about tools that run the code of others.
func TestGoFunctionsAreNotIsolated(t *testing.T) {
	rt, err := New(&Info{Name: "w"}, WithPolicy(&Policy{MinSandbox: Process}))
	if err != nil {
		t.Fatal(err)
	}
	tool := Bind("t.go@1", None, func(context.Context, int) (int, error) { return 7, nil })
	if out, err := Call(rt.Start(t.Context()), &Node{ID: "n"}, tool, 1); out != 7 || err != nil {
		t.Error(out, err)
	}
}

// TestJitterOfAnAttempt: in a scope it depends on the attempt alone, so that a run that goes on waits as long.
func TestJitterOfAnAttempt(t *testing.T) {
	rt, err := New(&Info{Name: "w"}, WithEngine(&timed{begin: time.Now()}))
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Start(t.Context()).At(&Node{ID: "m"}, 1)
	h := &Head{Node: &Node{ID: "n"}, Scope: r.scope, Attempt: 1}
	if a, b := r.jitter(h), r.jitter(h); a != b {
		t.Errorf("%d and %d", a, b)
	}
}

// TestMetered: a model's call gives back what it did not take, and is not a call of a tool.
func TestMetered(t *testing.T) {
	rt, err := New(&Info{Name: "w"}, WithPolicy(&Policy{MaxTokens: 20, MaxToolCalls: 1}))
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Start(t.Context())
	model := Bind("m@1", External, func(context.Context, int) (int, error) { return 5, nil },
		Metered(func(*int) usage.Spend { return usage.Spend{Tokens: 15} }, func(_, out *int) usage.Spend { return usage.Spend{Tokens: int64(*out)} }))
	tool := Bind("t@1", None, func(context.Context, int) (int, error) { return 0, nil })
	for i, tt := range []struct {
		tool *Tool[int, int]
		want string
	}{
		{model, ""}, {tool, ""}, {tool, "the maximum of the policy"}, {model, ""}, {model, "of the policy's 20 only 10 are left"},
	} {
		_, err := Call(r, &Node{ID: "n"}, tt.tool, 1)
		if err == nil != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("call %d: %v, want %q", i, err, tt.want)
		}
	}
}

// TestRoom: who wants the receipt of a call has room for so much of its output.
func TestRoom(t *testing.T) {
	for room, want := range map[int]int{30: 0, 20: 1} {
		kept := &memoryBlobs{}
		rt, err := New(&Info{Name: "w"}, WithBlobs(kept))
		if err != nil {
			t.Fatal(err)
		}
		n := &Node{ID: "n"}
		tool := Bind("t@1", None, func(context.Context, int) (string, error) { return "abcdefghijklmnopqrstuvwxyz", nil })
		out, err := Call(rt.Start(t.Context()).Visit(n, 1, room, func(Receipt) {}), n, tool, 1)
		if err != nil || kept.kept != want || len(out) < 26 != (want == 1) {
			t.Errorf("room for %d: %q, %v, %d kept", room, out, err, kept.kept)
		}
	}
}
