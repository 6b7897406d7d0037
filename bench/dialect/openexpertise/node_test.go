package counting

import (
	"context"
	"fmt"
	"testing"

	"github.com/flowgen-dev/flowgen/bench/dialect"
)

// TestNode holds the cost of a node.
func TestNode(t *testing.T) {
	w, err := New()
	if err != nil {
		t.Fatal(err)
	}
	dialect.Measure(t, "OpenExpertise", 2.5, func(ctx context.Context) error {
		out, err := w.Run(ctx, Input{})
		if err == nil && out.FinalState.Count.Value().Float() != dialect.Nodes {
			err = fmt.Errorf("the result is wrong: %v", out)
		}
		return err
	})
}
