package workload

import (
	"context"

	openexpertise "github.com/flowgen-dev/flowgen/bench/dialect/openexpertise"
	sirenspec "github.com/flowgen-dev/flowgen/bench/dialect/sirenspec"
	stargraph "github.com/flowgen-dev/flowgen/bench/dialect/stargraph"
	yamlgraph "github.com/flowgen-dev/flowgen/bench/dialect/yamlgraph"
	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
)

// DialectNodes is the length of the chains of the dialects.
const DialectNodes = 20

// Dialects is W11: 20 nodes in a row on a state whose fields have no type, in each of the four dialects, with Go functions in
// the place of their tools; YAMLGraph's nodes calculate instead. By hand, the state is a map of any, as a person has it who
// interprets such a file.
func Dialects() (Comparison, error) {
	expertise, err := openexpertise.New()
	if err != nil {
		return Comparison{}, err
	}
	siren, err := sirenspec.New()
	if err != nil {
		return Comparison{}, err
	}
	star, err := stargraph.New()
	if err != nil {
		return Comparison{}, err
	}
	graph, err := yamlgraph.New()
	if err != nil {
		return Comparison{}, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	return Comparison{
		ID: "W11", Title: "chain of 20 nodes on a state without types", Unit: "node",
		Close: cancel,
		Cases: []Case{
			{"by hand, a map of any", DialectNodes, repeat(func() error {
				state, err := dialectByHand(ctx, map[string]any{"count": 0.0, "text": "hello"})
				if err == nil && state["count"] != float64(DialectNodes) {
					err = wrong(state)
				}
				return err
			})},
			{"OpenExpertise", DialectNodes, repeat(func() error {
				out, err := expertise.Run(ctx, openexpertise.Input{})
				if err == nil && out.FinalState.Count.Value().Float() != DialectNodes {
					err = wrong(out)
				}
				return err
			})},
			{"SirenSpec", DialectNodes, repeat(func() error {
				out, err := siren.Run(ctx, sirenspec.Input{Message: "hello"})
				if err == nil && out.Status != "success" {
					err = wrong(out)
				}
				return err
			})},
			{"Stargraph", DialectNodes, repeat(func() error {
				out, err := star.Run(ctx, stargraph.Input{Text: runtime.StringValue("hello")})
				if err == nil && !out.Other.Equal(out.Text) {
					err = wrong(out)
				}
				return err
			})},
			{"YAMLGraph", DialectNodes, repeat(func() error {
				out, err := graph.Run(ctx, yamlgraph.Input{Count: dynamic.Whole(0), Text: dynamic.Text("hello")})
				if err == nil && out.Count.Value().Float() != DialectNodes {
					err = wrong(out)
				}
				return err
			})},
		},
	}, nil
}
