// Package random is the world of the random workflows of codegen's differential test: tools whose results and failures
// follow from their input alone, and the program that runs compiled workflows under every engine.
package random

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Route is what workflows switch over.
type Route string

// The routes.
const (
	Red   Route = "red"
	Green Route = "green"
	Blue  Route = "blue"
)

var (
	routes = []Route{Red, Green, Blue}
	codes  = []value.Code{value.ValidationError, value.Timeout, value.RateLimit, value.PolicyDenied, value.AuthRequired,
		value.ProviderError, value.NetworkError, value.SandboxError, value.Unknown}
)

// In is the input of every tool. Fail is the chance in percent that an input fails; Flaky is how many attempts fail
// before one succeeds.
type In struct {
	ID    string `json:"id"`
	A     int64  `json:"a"`
	B     int64  `json:"b"`
	S     string `json:"s"`
	Fail  int64  `json:"fail"`
	Flaky int64  `json:"flaky"`
}

// Out is the result of most tools.
type Out struct {
	V     int64   `json:"v"`
	Few   int64   `json:"few"`
	Ok    bool    `json:"ok"`
	Route Route   `json:"route"`
	Items []int64 `json:"items"`
}

// Bare is a result that nothing has to check.
type Bare struct {
	V   int64 `json:"v"`
	Few int64 `json:"few"`
	Ok  bool  `json:"ok"`
}

// Compute is what a tool does with an input: its result, or the code it fails with.
func Compute(in In) (Out, value.Code) {
	f := fnv.New64a()
	fmt.Fprint(f, in.ID, "|", in.A, "|", in.B, "|", in.S)
	h := f.Sum64()
	h = (h ^ h>>29) * 0xbf58476d1ce4e5b9
	h ^= h >> 32
	if int64(h%100) < in.Fail {
		return Out{}, codes[h/100%uint64(len(codes))]
	}
	out := Out{V: int64(h / 7 % 1000), Few: int64(h / 11 % 4), Ok: h/13%2 == 0, Route: routes[h/17%3], Items: []int64{}}
	for i := range int64(h / 19 % 4) {
		out.Items = append(out.Items, out.V+i)
	}
	return out, ""
}

// Fold is a reducer whose result depends on the order.
func Fold(old, next int64) int64 { return (old*31 + next) % 10007 }

// Mix is a pure function.
func Mix(a, b int64) int64 { return (a*7 + b + 3) % 1009 }

// MixOdd is a pure function that refuses some arguments.
func MixOdd(a, b int64) (int64, error) {
	if Mix(a, b)%11 == 0 {
		return 0, value.Errorf(value.ValidationError, "%d and %d do not mix", a, b)
	}
	return Mix(a, b), nil
}

// trace is what the tools of one run share, in its context.
type trace struct {
	slow bool

	mu       sync.Mutex
	calls    map[string]int // attempts that were not cancelled, by input
	attempts map[string]int64
}

type traceKey struct{}

// Line is how a call is written in a trace.
func Line(in In) string { return fmt.Sprint(in.ID, " ", in.A, " ", in.B, " ", in.S) }

func call(ctx context.Context, in In) (Out, error) {
	t := ctx.Value(traceKey{}).(*trace)
	if t.slow {
		select {
		case <-time.After(time.Duration(rand.IntN(60)) * time.Microsecond):
		case <-ctx.Done():
			return Out{}, ctx.Err()
		}
	}
	t.mu.Lock()
	key := Line(in)
	t.calls[key]++
	t.attempts[key]++
	flaky := t.attempts[key] <= in.Flaky
	if !flaky {
		t.attempts[key] = 0
	}
	t.mu.Unlock()
	if flaky {
		return Out{}, value.Errorf(value.NetworkError, "flaky %s", in.ID)
	}
	out, code := Compute(in)
	if code == value.Unknown {
		return Out{}, fmt.Errorf("boom %s", in.ID)
	}
	if code != "" {
		return Out{}, value.Errorf(code, "boom %s", in.ID)
	}
	return out, nil
}

// Calc is a pure tool.
func Calc(ctx context.Context, in In) (Out, error) { return call(ctx, in) }

// Look reads.
func Look(ctx context.Context, in In) (Out, error) { return call(ctx, in) }

// Save writes.
func Save(ctx context.Context, in In) (Out, error) { return call(ctx, in) }

// Plain returns what needs no check.
func Plain(ctx context.Context, in In) (Bare, error) {
	out, err := call(ctx, in)
	return Bare{V: out.V, Few: out.Few, Ok: out.Ok}, err
}

// Note returns nothing.
func Note(ctx context.Context, in In) error {
	_, err := call(ctx, in)
	return err
}

// Maybe returns nothing for some inputs.
func Maybe(ctx context.Context, in In) (*Bare, error) {
	out, err := call(ctx, in)
	if err != nil || out.Few == 0 {
		return nil, err
	}
	return &Bare{V: out.V, Few: out.Few, Ok: out.Ok}, nil
}
