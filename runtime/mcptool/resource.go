package mcptool

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Resource binds a tool that reads a resource of a server (MCP, Resources): its text, several contents of it joined by line
// breaks. A resource without text is a VALIDATION_ERROR. Nothing is pinned: what a resource holds is expected to change.
func Resource(name string, s *Server, uri string) *flow.Tool[struct{}, string] {
	s.expect(DefaultMaxOutput)
	return flow.Bind(name, flow.Reads, func(ctx context.Context, _ struct{}) (string, error) {
		ctx, cancel := limited(ctx)
		defer cancel()
		x, err := s.open(ctx)
		if err != nil {
			return "", err
		}
		x.calls.Add(1)
		defer x.calls.Add(-1)
		a := &answer{}
		var got *mcp.ReadResourceResult
		err = x.patiently(ctx, func(ctx context.Context) (err error) {
			got, err = x.client.ReadResource(a.in(ctx), &mcp.ReadResourceParams{URI: uri})
			return err
		})
		if err != nil {
			return "", x.failed(ctx, a, err)
		}
		x.hears()
		var texts []string
		size := 0
		for _, c := range got.Contents {
			if c != nil && c.Text != "" {
				texts = append(texts, c.Text)
				size += len(c.Text) + 1
			}
		}
		switch {
		case texts == nil:
			return "", s.fault(value.ValidationError, "the resource "+shown(uri)+" of server "+s.name+" has no text")
		case size > DefaultMaxOutput:
			return "", s.fault(value.PolicyDenied, "the resource "+shown(uri)+" of server "+s.name+" is larger than the limit",
				value.Entry{Key: "max_output", Value: value.Int(DefaultMaxOutput)})
		}
		return strings.Join(texts, "\n"), nil
	}, s.options()...)
}
