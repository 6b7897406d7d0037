package main

import (
	"context"
	"os"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/stargraph/nautilus"
)

func init() {
	contexts = append(contexts, func(ctx context.Context) context.Context {
		response, err := os.ReadFile("broker.json")
		if err != nil {
			return ctx
		}
		return nautilus.WithBroker(ctx, broker(response))
	})
}

// A broker gives the response that a case has in broker.json, with what it was asked.
type broker []byte

// Request implements nautilus.Broker.
func (b broker) Request(_ context.Context, agentID, intent string) (runtime.Value, error) {
	v, err := runtime.ParseValue(b)
	if err != nil || v.Kind() != runtime.MapKind {
		return v, err
	}
	entries := []runtime.Entry{{Key: "asked", Value: runtime.StringValue(agentID + ": " + intent)}}
	for _, k := range v.Keys() {
		x, _ := v.Get(k)
		entries = append(entries, runtime.Entry{Key: k, Value: x})
	}
	return runtime.MapValue(entries...), nil
}
