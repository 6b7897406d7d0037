// Package responses speaks the Responses interface of OpenAI, with the wire types of its official library. Package openai
// speaks the older one, chat completions, which most other services offer.
//
// The library's own client is not used, for the reasons of package anthropic: each message is encoded once, addresses are guarded,
// answers are bounded before they are decoded, and keys come from the run's secrets alone. Nothing is kept at OpenAI between
// turns: each request carries the conversation, with the reasoning of models encrypted in it.
package responses

import (
	"context"
	"net/http"

	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/internal/wire"
	"github.com/flowgen-dev/flowgen/runtime/tool"
)

// DefaultBaseURL is OpenAI's own address.
const DefaultBaseURL = "https://api.openai.com/v1"

// Provider is OpenAI, or what the environment variable OPENAI_BASE_URL names instead.
var Provider llm.Provider = &provider{wire.Host{Env: "OPENAI_BASE_URL", Base: DefaultBaseURL}}

// At returns the provider at another address, to which /responses is added.
func At(base string) llm.Provider { return &provider{wire.Host{Base: base}} }

// Named is At for an address that the environment variable env may name instead.
func Named(env, base string) llm.Provider { return &provider{wire.Host{Env: env, Base: base}} }

type provider struct{ wire.Host }

// Complete implements llm.Provider.
func (p *provider) Complete(ctx context.Context, req *llm.Request) (*llm.Reply, error) {
	s := p.Service()
	m, ok := req.Conv.Memo.(*memo)
	if !ok || m.stream != (req.Delta != nil) || m.model != req.Model {
		var err error
		if m, err = newMemo(req); err != nil {
			return nil, err
		}
		req.Conv.Memo = m
	}
	m.add(req.Conv.Messages)

	header := http.Header{}
	if req.Key != "" {
		key, _ := tool.Secret(ctx, req.Key)
		header["Authorization"] = []string{"Bearer " + key}
	}
	begin, end := m.body.Parts()
	resp, err := s.Post(ctx, "/responses", header, begin, end)
	if err != nil {
		return nil, err
	}
	return s.Reply(resp, req, m)
}
