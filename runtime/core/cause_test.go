package core_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

var errStock = errors.New("out of stock")

type shortage struct{ left int }

func (s *shortage) Error() string { return fmt.Sprintf("only %d left", s.left) }

// The error that a tool returned is found in the error of the run, whatever wraps it.
func TestCause(t *testing.T) {
	both(t, func(t *testing.T, r *flow.Run) {
		call := func(cause error) error {
			t.Helper()
			_, err := flow.Call(r, node("n"), failing(cause), pair{})
			if err == nil {
				t.Fatal("the call did not fail")
			}
			return err
		}
		err := call(fmt.Errorf("order 7: %w, %w", errStock, &shortage{3}))
		var short *shortage
		if !errors.Is(err, errStock) || !errors.As(err, &short) || short.left != 3 || errors.Is(err, fs.ErrExist) {
			t.Errorf("%v does not lead to what the tool returned", err)
		}
		wantCode(t, err, value.Unknown)

		err = call(fmt.Errorf("%w: %w", errStock, value.Errorf(value.RateLimit, "later")))
		if !errors.Is(err, errStock) || !strings.HasSuffix(err.Error(), "RATE_LIMIT: later") {
			t.Errorf("%v does not lead to what wraps the tool's error", err)
		}
		if err := call(fmt.Errorf("asking: %w", context.DeadlineExceeded)); !errors.Is(err, context.DeadlineExceeded) || codeOf(err) != value.Timeout {
			t.Errorf("%v", err)
		}
	})
}

// A tool that panics leaves its stack.
func TestPanicCause(t *testing.T) {
	r := observed(t)
	_, err := flow.Call(r, node("n"), flow.Bind("t.panics@1", flow.None, func(context.Context, pair) (pair, error) { panic(errStock) }), pair{})
	var pe *runtime.PanicError
	if !errors.Is(err, errStock) || !errors.As(err, &pe) || !strings.Contains(string(pe.Stack), "TestPanicCause.func") {
		t.Errorf("%v has no stack: %v", err, pe)
	}
	wantCode(t, err, value.Unknown)
}

// What leads to the cause does not print the secrets that the message has lost, and does not count when errors are compared.
func TestCauseRedacted(t *testing.T) {
	const secret = "s3cr3t-0123456789"
	rt, err := flow.New(&flow.Info{Name: "w", Secrets: []string{"KEY"}}, runtime.WithSecrets(func(string) (string, bool) { return secret, true }))
	if err != nil {
		t.Fatal(err)
	}
	_, err = flow.Call(rt.Start(t.Context()), node("n"), failing(fmt.Errorf("%w with %s", errStock, secret)), pair{})
	if !errors.Is(err, errStock) {
		t.Errorf("%v does not lead to what the tool returned", err)
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if text := fmt.Sprintf("%v %+v %s", e, e, e); strings.Contains(text, secret) {
			t.Errorf("a secret is printed: %s", text)
		}
	}
	var te *value.ToolError
	if !errors.As(err, &te) {
		t.Fatal(err)
	}
	after := 2.0
	same := &value.ToolError{Code: te.Code, Message: te.Message}
	if diff := cmp.Diff(te, same); diff != "" {
		t.Error(diff)
	}
	for _, other := range []*value.ToolError{nil, {Code: te.Code}, {Message: te.Message}, {Code: te.Code, Message: te.Message, RetryAfterS: &after},
		{Code: te.Code, Message: te.Message, Details: value.String("x")}} {
		if te.Equal(other) || other.Equal(te) {
			t.Errorf("equal to %+v", other)
		}
	}
}
