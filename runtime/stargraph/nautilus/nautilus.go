// Package nautilus is the tool nautilus.broker_request@1 of Stargraph's page: it asks the broker that the program was given.
package nautilus

import (
	"context"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A Broker answers what an agent intends. Stargraph's Broker.arequest.
type Broker interface {
	// Request returns the response, a map, with the id of the request in `request_id`. It is called concurrently.
	Request(ctx context.Context, agentID, intent string) (value.Value, error)
}

type key struct{}

// WithBroker is a context whose runs ask b.
func WithBroker(ctx context.Context, b Broker) context.Context {
	return context.WithValue(ctx, key{}, b)
}

// provenance is the field that says where a result comes from.
const provenance = "__stargraph_provenance__"

// Request is what a broker is asked.
type Request struct {
	AgentID string `json:"agent_id"`
	Intent  string `json:"intent"`
}

// Ask is BrokerRequest for the native language, in which it is a tool like any other:
// `go: github.com/flowgen-dev/flowgen/runtime/stargraph/nautilus.Ask`.
func Ask(ctx context.Context, in Request) (value.Value, error) {
	return BrokerRequest(ctx, in.AgentID, in.Intent)
}

// BrokerRequest asks the broker of ctx. The result is its response with the provenance envelope of the page. Without a
// broker, and when the response is not a map, the error is a PROVIDER_ERROR; errors of the broker are passed on.
func BrokerRequest(ctx context.Context, agentID, intent string) (value.Value, error) {
	b, ok := ctx.Value(key{}).(Broker)
	if !ok || b == nil {
		return value.Value{}, value.Errorf(value.ProviderError, "nautilus.broker_request@1: no Broker is registered; give the run one with nautilus.WithBroker, or bind the tool in flowgen.bindings.yaml")
	}
	response, err := b.Request(ctx, agentID, intent)
	if err != nil {
		return value.Value{}, err
	}
	if response.Kind() != value.MapKind {
		return value.Value{}, value.Errorf(value.ProviderError, "nautilus.broker_request@1: the broker's response is a %s, not a map", response.Kind())
	}
	id, _ := response.Get("request_id")
	var entries []value.Entry
	for _, k := range response.Keys() {
		if k != provenance {
			v, _ := response.Get(k)
			entries = append(entries, value.Entry{Key: k, Value: v})
		}
	}
	return value.Map(append(entries, value.Entry{Key: provenance, Value: value.Map(
		value.Entry{Key: "origin", Value: value.String("tool")},
		value.Entry{Key: "source", Value: value.String("nautilus")},
		value.Entry{Key: "external_id", Value: id},
	)})...), nil
}
