package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/flowgen-dev/flowgen/examples/api-report/shop"
	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/httptool"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestMain(m *testing.M) {
	code := m.Run()
	httptool.CloseIdleConnections()
	if code == 0 {
		if err := leaked(); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines are left:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// leaked waits for the goroutines of connections that are closed, and reports those that stay.
func leaked() (err error) {
	for begin := time.Now(); time.Since(begin) < time.Minute; {
		if err = goleak.Find(); err == nil {
			return nil
		}
	}
	return err
}

const want = `# Orders

| order | customer | amount |
|---|---|---|
| 1001 | Ada Lovelace | 19.99 € |
| 1002 | Tycho Brahe | 4.50 € |
| 1003 | Marie Curie | 120.00 € |
| 1004 | Ada Lovelace | 0.99 € |
| 1005 | (not shown) | 70.50 € |
| 1006 | Leonhard Euler | 31.41 € |
| 1007 | Marie Curie | 25.00 € |

7 orders, 272.39 € in all.
`

func start(t *testing.T) *shop.Server {
	t.Helper()
	s, err := shop.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		httptool.CloseIdleConnections()
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// retries collects what was tried again, and why.
type retries struct {
	mu   sync.Mutex
	list []string
	wait map[string]time.Duration
}

func (r *retries) Observe(e runtime.Event) {
	if e.Kind != runtime.Retrying {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var te *value.ToolError
	if errors.As(e.Err, &te) {
		key := e.Tool + " " + string(te.Code)
		r.list = append(r.list, key)
		r.wait[key] = e.Wait
	}
}

func TestReport(t *testing.T) {
	s := start(t)
	seen := &retries{wait: map[string]time.Duration{}}
	recorder := journal.NewRecorder()
	in := Input{Port: int64(s.Port), Title: "Orders"}
	w, err := New(runtime.WithObserver(seen), runtime.WithEngine(recorder))
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, out.Report); diff != "" || out.Orders != 7 {
		t.Errorf("%d orders, report (-want +got):\n%s", out.Orders, diff)
	}
	slices.Sort(seen.list)
	again := []string{
		"shop.customer@1 PROVIDER_ERROR", "shop.customer@1 PROVIDER_ERROR", "shop.orders@1 PROVIDER_ERROR", "shop.orders@1 RATE_LIMIT",
	}
	if diff := cmp.Diff(again, seen.list); diff != "" {
		t.Errorf("retries (-want +got):\n%s", diff)
	}
	if d := seen.wait["shop.orders@1 RATE_LIMIT"]; d != time.Second {
		t.Errorf("waited %v after Retry-After: 1", d)
	}
	hits := map[string]int{"orders/1": 1, "orders/2": 2, "orders/3": 2, "customers/ada": 2, "customers/curie": 3, "customers/euler": 2, "customers/darwin": 1}
	for what, n := range hits {
		if got := s.Hits(what); got != n {
			t.Errorf("the shop was asked %d times for %s, want %d", got, what, n)
		}
	}

	// The recorded run gives the same again without a shop.
	w, err = New(runtime.WithEngine(journal.Replay(recorder.Journal())))
	if err != nil {
		t.Fatal(err)
	}
	replayed, err := w.Run(t.Context(), in)
	if err != nil || replayed != out {
		t.Errorf("replayed: %v, %v", replayed, err)
	}
	for what, n := range hits {
		if got := s.Hits(what); got != n {
			t.Errorf("the replay asked for %s", what)
		}
	}
}

// Without a port the program has a shop of its own.
func TestOwnShop(t *testing.T) {
	t.Cleanup(httptool.CloseIdleConnections)
	r, err := newReport()
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.Run(t.Context(), Input{Title: "Orders"})
	if err != nil || out.Report != want {
		t.Errorf("%v, %v", out, err)
	}
}

// A shop that is closed is a network error, tried as often as the node says, at the node's line.
func TestClosedShop(t *testing.T) {
	s, err := shop.Start()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	seen := &retries{wait: map[string]time.Duration{}}
	w, err := New(runtime.WithObserver(seen))
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Run(t.Context(), Input{Port: int64(s.Port)})
	var ne *runtime.NodeError
	var te *value.ToolError
	if !errors.As(err, &ne) || ne.Node.ID != "batch" || !errors.As(err, &te) || te.Code != value.NetworkError || len(seen.list) != 3 {
		t.Errorf("got %v after %d retries", err, len(seen.list))
	}
}

func TestEuros(t *testing.T) {
	for want, cents := range map[string][]int64{"0.00 €": nil, "0.05 €": {5}, "1,234,567.89 €": {123456789}, "-1,000.01 €": {-100000, -1}, "999.99 €": {99999}} {
		if got := shop.Euros(cents); got != want {
			t.Errorf("Euros(%v) = %s, want %s", cents, got, want)
		}
	}
}
