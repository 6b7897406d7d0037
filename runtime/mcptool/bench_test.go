//go:build unix

package mcptool

import (
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// BenchmarkCall is a call of a local server, beside the same call through the SDK alone.
func BenchmarkCall(b *testing.B) {
	s := Local("test", []string{program})
	b.Cleanup(s.Close)
	p := pin(b, s, "echo")
	p.Open = true
	echo := JSON[echoIn, echoOut]("w.echo@1", flow.Reads, s, p)
	b.Run("flowgen", func(b *testing.B) {
		rt, err := flow.New(&flow.Info{Name: "w", Nodes: []*flow.Node{node}})
		if err != nil {
			b.Fatal(err)
		}
		r := rt.Start(b.Context())
		for b.Loop() {
			if _, err := flow.Call(r, node, echo, echoIn{Text: "x"}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("sdk", func(b *testing.B) {
		x, err := s.open(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := x.client.CallTool(b.Context(), &mcp.CallToolParams{Name: "echo", Arguments: json.RawMessage(`{"text":"x"}`)}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
