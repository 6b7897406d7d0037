package core_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/sim"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestCacheHit(t *testing.T) {
	var ran atomic.Int64
	bound := flow.Bind("t.cached@1", flow.Reads, func(ctx context.Context, in pair) (pair, error) {
		ran.Add(1)
		return in, tool.Attach(ctx, tool.Attachment{Kind: "table", URL: "https://example.com/t"})
	}, flow.CacheForever(), flow.CostUSD("1"))
	c := runtime.NewMemoryCache(1 << 20)
	rec := journal.NewRecorder()
	rt, err := flow.New(&flow.Info{Name: "w"}, runtime.WithCache(c), runtime.WithEngine(rec), runtime.WithPolicy(&runtime.Policy{MaxToolCalls: 3, MaxCostUSD: "2"}))
	if err != nil {
		t.Fatal(err)
	}
	r, a := rt.Start(t.Context()), node("a")
	for range 3 { // a hit counts as a call, and not as cost
		if out, err := flow.Call(r, a, bound, pair{Count: 7}); err != nil || out.Count != 7 {
			t.Fatal(out, err)
		}
	}
	if _, err = flow.Call(r, a, bound, pair{Count: 7}); codeOf(err) != value.PolicyDenied {
		t.Errorf("a fourth call: %v", err)
	}
	env := rec.Envelopes()
	for i, want := range []bool{false, true, true} {
		if env[i].Cached != want || len(env[i].Attachments) != 1 {
			t.Errorf("envelope %d: cached %v, attachments %v", i, env[i].Cached, env[i].Attachments)
		}
	}
	if recs := rec.Journal().Records(); recs[0].CostUSD != 1e9 || recs[1].CostUSD != 0 || !recs[1].Cached {
		t.Errorf("records %+v", recs)
	}
	if ran.Load() != 1 {
		t.Errorf("the tool ran %d times", ran.Load())
	}
}

// What another call must not be given: everything the key depends on is different.
func TestCacheMiss(t *testing.T) {
	var ran atomic.Int64
	f := func(_ context.Context, in pair) (pair, error) {
		ran.Add(1)
		return in, nil
	}
	secret := "number one"
	lookup := runtime.WithSecrets(func(string) (string, bool) { return secret, true })
	bind := func(name string, o ...flow.ToolOption) *flow.Tool[pair, pair] {
		return flow.Bind(name, flow.Reads, f, append(o, flow.CacheForever())...)
	}
	auth := flow.Secrets("KEY")
	c := runtime.NewMemoryCache(1 << 20)
	call := func(bound *flow.Tool[pair, pair], in pair, o ...runtime.Option) bool {
		before := ran.Load()
		if _, err := flow.Call(start(t, t.Context(), append(o, runtime.WithCache(c), lookup)...), node("a"), bound, in); err != nil {
			t.Fatal(err)
		}
		return ran.Load() == before
	}
	in := pair{1, "x"}
	steps := []struct {
		name string
		tool *flow.Tool[pair, pair]
		in   pair
		opts []runtime.Option
		hit  bool
	}{
		{"first", bind("t.a@1"), in, nil, false},
		{"same", bind("t.a@1"), in, nil, true},
		{"another version", bind("t.a@2"), in, nil, false},
		{"another tool", bind("t.b@1"), in, nil, false},
		{"another input", bind("t.a@1"), pair{2, "x"}, nil, false},
		{"another tenant", bind("t.a@1"), in, []runtime.Option{runtime.WithTenant("acme")}, false},
		{"the same other tenant", bind("t.a@1"), in, []runtime.Option{runtime.WithTenant("acme")}, true},
		{"with a secret", bind("t.a@1", auth), in, nil, false},
		{"with the same secret", bind("t.a@1", auth), in, nil, true},
		{"under another name", bind("t.a@1", flow.Secrets("KEY2")), in, nil, false},
	}
	for _, s := range steps {
		if hit := call(s.tool, s.in, s.opts...); hit != s.hit {
			t.Errorf("%s: hit %v, want %v", s.name, hit, s.hit)
		}
	}
	secret = "number two"
	if call(bind("t.a@1", auth), in) {
		t.Error("a result made with another secret")
	}
	secret = ""
	if _, err := flow.Call(start(t, t.Context(), runtime.WithCache(c), lookup), node("a"), bind("t.a@1", auth), in); codeOf(err) != value.AuthRequired {
		t.Errorf("without the secret: %v", err)
	}
}

func TestOnlyGoodResultsAreCached(t *testing.T) {
	type bounded struct {
		N int64 `json:"n" flow:"max=1"`
	}
	var ran int
	fail := errors.New("no")
	tools := map[string]*flow.Tool[pair, bounded]{
		"failure": flow.Bind("t.a@1", flow.Reads, func(context.Context, pair) (bounded, error) { ran++; return bounded{1}, fail }, flow.CacheForever()),
		"invalid": flow.Bind("t.b@1", flow.Reads, func(context.Context, pair) (bounded, error) { ran++; return bounded{2}, nil }, flow.CacheForever()),
		"too big": flow.Bind("t.c@1", flow.Reads, func(context.Context, pair) (bounded, error) { ran++; return bounded{1}, nil }, flow.CacheForever(), flow.MaxOutput(2)),
		"panic":   flow.Bind("t.d@1", flow.Reads, func(context.Context, pair) (bounded, error) { ran++; panic("no") }, flow.CacheForever()),
	}
	for name, bound := range tools {
		ran = 0
		r := start(t, t.Context())
		for range 3 {
			if _, err := flow.Call(r, node("a"), bound, pair{}); err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		if ran != 3 {
			t.Errorf("%s: ran %d times", name, ran)
		}
	}
}

// fakeCache gives back whatever somebody has put where the results are.
type fakeCache struct {
	mu    sync.Mutex
	value []byte
	puts  int
}

func (f *fakeCache) Get(context.Context, string) ([]byte, bool) { return f.value, true }
func (f *fakeCache) Put(_ context.Context, key string, value []byte, _ time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.puts++; len(key) != 64 || strings.Trim(key, "0123456789abcdef") != "" {
		panic("key " + key)
	}
}

func TestDamagedEntriesAreMisses(t *testing.T) {
	type bounded struct {
		N int64 `json:"n" flow:"max=1"`
	}
	bound := flow.Bind("t.a@1", flow.Reads, func(context.Context, pair) (bounded, error) { return bounded{1}, nil }, flow.CacheForever())
	for _, value := range []string{"", "{", "null", "[]", "{}", `{"output":null}`, `{"output":"x"}`, `{"output":{"n":"1"}}`, `{"output":{"n":5}}`, `{"output":[1]}`,
		`{"expires":1,"output":{"n":0}}`, "\x00\x00", `{"expires":"x","output":{"n":0}}`} {
		c := &fakeCache{value: []byte(value)}
		rec := journal.NewRecorder()
		out, err := flow.Call(start(t, t.Context(), runtime.WithCache(c), runtime.WithEngine(rec)), node("a"), bound, pair{})
		if err != nil || out.N != 1 || rec.Envelopes()[0].Cached || c.puts != 1 {
			t.Errorf("%s: %v, %v, %d puts", value, out, err, c.puts)
		}
	}
}

func TestCacheExpiresInTheTimeOfTheRun(t *testing.T) {
	var ran atomic.Int64
	bound := counting(&ran, flow.Reads, flow.CacheFor(time.Minute))
	s := sim.New(1, sim.Options{Latency: func(string, int) time.Duration { return time.Second }})
	err := s.Drive(func() {
		r := start(t, t.Context(), runtime.WithEngine(s))
		for _, wait := range []time.Duration{0, 30 * time.Second, 50 * time.Second, 30 * time.Second} {
			if err := r.Sleep(wait); err != nil {
				t.Error(err)
			}
			if _, err := flow.Call(r, node("a"), bound, pair{}); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil || ran.Load() != 2 {
		t.Errorf("%v; the tool ran %d times in two minutes, want 2", err, ran.Load())
	}
}

// setClock is an engine whose clock shows what the test sets.
type setClock struct {
	engine.Goroutines
	now time.Time
}

func (c *setClock) Now(*flow.Run) time.Time { return c.now }

// A value that was kept when the clock was ahead must not live until the clock is there again.
func TestCacheOfAClockThatGoesBack(t *testing.T) {
	var ran atomic.Int64
	bound := counting(&ran, flow.Reads, flow.CacheFor(time.Minute))
	c := runtime.NewMemoryCache(1 << 20)
	begin := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, step := range []struct {
		at   time.Duration
		runs int64
	}{{0, 1}, {-30 * time.Second, 1}, {-time.Hour, 2}, {-time.Hour - 30*time.Second, 2}, {-1 << 62, 3}, {0, 4}, {59 * time.Second, 4}, {time.Minute, 5}} {
		clock := &setClock{now: begin.Add(step.at)}
		if _, err := flow.Call(start(t, t.Context(), runtime.WithCache(c), runtime.WithEngine(clock)), node("a"), bound, pair{}); err != nil {
			t.Fatal(err)
		}
		if n := ran.Load(); n != step.runs {
			t.Fatalf("at %v the tool has run %d times, want %d", step.at, n, step.runs)
		}
	}
}

func TestMemoryCacheIsBounded(t *testing.T) {
	c := runtime.NewMemoryCache(10_000)
	ctx := t.Context()
	value := make([]byte, 1000)
	for i := range 100 {
		c.Put(ctx, string(rune('a'+i)), value, 0)
		c.Get(ctx, "a") // stays because it is used
	}
	n := 0
	for i := range 100 {
		if _, ok := c.Get(ctx, string(rune('a'+i))); ok {
			n++
		}
	}
	if _, ok := c.Get(ctx, "a"); n != 7 || !ok {
		t.Errorf("%d values of 1000 bytes in 10,000, the one in use: %v", n, ok)
	}
	c.Put(ctx, "huge", make([]byte, 20_000), 0)
	if _, ok := c.Get(ctx, "huge"); ok {
		t.Error("a value larger than the cache is kept")
	}
	c.Put(ctx, "a", value, 0)
	c.Put(ctx, "a", []byte("b"), 0)
	if v, ok := c.Get(ctx, "a"); !ok || string(v) != "b" {
		t.Errorf("%q, %v", v, ok)
	}
}
