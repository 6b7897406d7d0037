package main

import (
	"context"
	"os"

	"github.com/flowgen-dev/flowgen/runtime/stargraph/nautilus"
	"github.com/flowgen-dev/flowgen/runtime/value"
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
func (b broker) Request(_ context.Context, agentID, intent string) (value.Value, error) {
	v, err := value.Parse(b)
	if err != nil || v.Kind() != value.MapKind {
		return v, err
	}
	entries := []value.Entry{{Key: "asked", Value: value.String(agentID + ": " + intent)}}
	for _, k := range v.Keys() {
		x, _ := v.Get(k)
		entries = append(entries, value.Entry{Key: k, Value: x})
	}
	return value.Map(entries...), nil
}
