package llm

import (
	"context"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// WithProvider gives a workflow a provider that it declares under `providers`. New fails when one is missing, is nil or is
// not declared.
func WithProvider(name string, p Provider) runtime.Option {
	return func(rt *flow.Runtime) {
		if p == nil {
			rt.Provide(name, nil)
			return
		}
		rt.Provide(name, p)
	}
}

// Provided stands for the provider that WithProvider gives a workflow under the name. Generated code calls it.
func Provided(name string) Provider { return provided(name) }

type provided string

// Complete implements Provider. Model calls ask the provider itself.
func (p provided) Complete(context.Context, *Request) (*Reply, error) {
	return nil, value.Invalid("provider %s was given to no workflow", string(p))
}

// in is the provider that answers in r.
func (m *Model) in(r *flow.Run) Provider {
	if name, ok := m.provider.(provided); ok {
		if p, ok := r.Provided(string(name)).(Provider); ok {
			return p
		}
	}
	return m.provider
}
