package counting

import (
	"context"
	"fmt"
	"testing"

	"github.com/flowgen-dev/flowgen/bench/dialect"
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
)

// TestNode holds the cost of a node.
func TestNode(t *testing.T) {
	w, err := New()
	if err != nil {
		t.Fatal(err)
	}
	dialect.Measure(t, "YAMLGraph", 0.5, func(ctx context.Context) error {
		out, err := w.Run(ctx, Input{Count: dynamic.Whole(0), Text: dynamic.Text("hello")})
		if err == nil && out.Count.Value().Float() != dialect.Nodes {
			err = fmt.Errorf("the result is wrong: %v", out)
		}
		return err
	})
}
