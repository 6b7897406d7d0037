// Package anthropic speaks the messages interface of Anthropic, with the wire types of its official library.
//
// The library's own client is not used: requests go out as bytes of which each message was encoded once,
// through the guard on addresses; answers are bounded before they are decoded; and nothing is taken from the
// environment but the base URL, so that a key comes from the run's secrets and from nowhere else.
package anthropic

import (
	"context"
	"net/http"

	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/internal/wire"
	"github.com/flowgen-dev/flowgen/runtime/tool"
)

// DefaultBaseURL is Anthropic's own address.
const DefaultBaseURL = "https://api.anthropic.com"

// Provider is Anthropic, or what the environment variable ANTHROPIC_BASE_URL names instead.
var Provider llm.Provider = &provider{wire.Host{Env: "ANTHROPIC_BASE_URL", Base: DefaultBaseURL}}

// At returns the provider at another address, to which /v1/messages is added.
func At(base string) llm.Provider { return &provider{wire.Host{Base: base}} }

// version of the interface, which is dated and does not change.
const version = "2023-06-01"

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
	if err := unknown(req.Conv.Messages[m.told:]); err != nil {
		return nil, err
	}
	m.add(req.Conv.Messages)

	header := http.Header{"Anthropic-Version": {version}}
	if req.Key != "" {
		key, _ := tool.Secret(ctx, req.Key)
		header["X-Api-Key"] = []string{key}
	}
	begin, end := m.body.Parts()
	resp, err := s.Post(ctx, "/v1/messages", header, begin, end)
	if err != nil {
		return nil, err
	}
	return s.Reply(resp, req, m)
}
