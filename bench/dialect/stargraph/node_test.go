package counting

import (
	"context"
	"fmt"
	"testing"

	"github.com/flowgen-dev/flowgen/bench/dialect"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// TestNode holds the cost of a node.
func TestNode(t *testing.T) {
	w, err := New()
	if err != nil {
		t.Fatal(err)
	}
	dialect.Measure(t, "Stargraph", 4, func(ctx context.Context) error {
		out, err := w.Run(ctx, Input{Text: value.String("hello")})
		if err == nil && !out.Other.Equal(out.Text) {
			err = fmt.Errorf("the result is wrong: %v", out)
		}
		return err
	})
}
