package dialect

import (
	"context"
	"fmt"
	"maps"

	"github.com/flowgen-dev/flowgen/bench/tool"
)

// byHand is W11 by hand: each node gets a copy of the state, so that it cannot change what others see, and what it gives
// is merged.
func byHand(ctx context.Context, state map[string]any) (map[string]any, error) {
	for i := range Nodes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		seen := maps.Clone(state)
		count, ok := seen["count"].(float64)
		if !ok {
			return nil, fmt.Errorf("n%02d: count is not a number: %v", i, seen["count"])
		}
		out, err := tool.Count(ctx, tool.Counting{By: 1, State: tool.Counted{Count: &count}})
		if err != nil {
			return nil, fmt.Errorf("n%02d: %w", i, err)
		}
		state["count"] = *out.Delta.Count
	}
	return state, nil
}
