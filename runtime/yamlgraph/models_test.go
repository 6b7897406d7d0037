package yamlgraph

import (
	"context"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/tool"
)

// keyed is a provider that answers with the key that it gets.
type keyed struct{}

func (keyed) Complete(ctx context.Context, req *llm.Request) (*llm.Reply, error) {
	key, _ := tool.Secret(ctx, req.Key)
	return &llm.Reply{Message: llm.Message{Role: llm.Assistant, Text: "key: " + key}, Stop: llm.End}, nil
}

// TestShortKey: the key of a stand-in for a provider may be too short to be taken out of texts.
func TestShortKey(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("OPENAI_API_KEY", "x")
	m, te := NewModel("openai", "m", llm.Params{}, Speakers{OpenAI: func(string) llm.Provider { return keyed{} }}).use()
	if te != nil {
		t.Fatal(te)
	}
	rt, err := flow.New(&flow.Info{Name: "w"})
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Start(t.Context())
	reply, err := m.Complete(r, &flow.Node{ID: "a", Index: -1}, &llm.Conversation{})
	if err != nil || reply.Message.Text != "key: x" {
		t.Errorf("%v, %v", reply, err)
	}
}
