package core

import (
	"fmt"
	"slices"
)

// Provide gives the workflow what it declares as a provider of models, for options of package llm.
func (rt *Runtime) Provide(name string, provider any) {
	if rt.provided == nil {
		rt.provided = map[string]any{}
	}
	rt.provided[name] = provider
}

// Provided returns what Provide was given under the name; nil: nothing.
func (r *Run) Provided(name string) any { return r.state.rt.provided[name] }

// findProviders compares the providers that the workflow declares with those it was given. Where nothing is executed, or
// fakes answer, none needs to be there.
func (rt *Runtime) findProviders() error {
	for name, p := range rt.provided {
		switch {
		case !slices.Contains(rt.info.Providers, name):
			return fmt.Errorf("workflow %s: WithProvider(%q): its models have no such provider; they have %q", rt.info.Name, name, rt.info.Providers)
		case p == nil:
			return fmt.Errorf("workflow %s: WithProvider(%q) was given nil", rt.info.Name, name)
		}
	}
	if x, ok := rt.engine.(Executor); ok && !x.Executes() || rt.fakes != nil || rt.standIn != nil {
		return nil
	}
	for _, name := range rt.info.Providers {
		if rt.provided[name] == nil {
			return fmt.Errorf("workflow %s: provider %s is missing: give New llm.WithProvider(%q, ...)", rt.info.Name, name, name)
		}
	}
	return nil
}
