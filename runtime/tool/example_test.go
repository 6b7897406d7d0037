package tool_test

import (
	"context"
	"fmt"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

type lookupIn struct {
	City string `json:"city"`
}

// lookup is a tool: a function that flowgen binds.
func lookup(ctx context.Context, in lookupIn) (string, error) {
	key, ok := tool.Secret(ctx, "WEATHER_KEY")
	if !ok {
		return "", value.Errorf(value.AuthRequired, "set WEATHER_KEY")
	}
	return fmt.Sprintf("%s: sunny (key %s)", in.City, key), nil
}

func Example() {
	node := &flow.Node{ID: "weather", Pos: "trip.flowgen.yaml:7:5"}
	weather := flow.Bind("weather.lookup@1", flow.Reads, lookup, flow.Secrets("WEATHER_KEY"))
	rt, err := flow.New(&flow.Info{Name: "trip", Nodes: []*flow.Node{node}}, runtime.WithSecrets(func(string) (string, bool) { return "k-12345", true }))
	if err != nil {
		panic(err)
	}
	out, err := flow.Call(rt.Start(context.Background()), node, weather, lookupIn{"Oslo"})
	fmt.Println(out, err)

	_, err = lookup(context.Background(), lookupIn{"Oslo"})
	fmt.Println(err)
	// Output:
	// Oslo: sunny (key [redacted]) <nil>
	// AUTH_REQUIRED: set WEATHER_KEY
}
