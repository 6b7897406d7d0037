// Package anthropic speaks the messages interface of Anthropic, with the wire types of its official library.
//
// The library's own client is left out on purpose: requests go out as bytes of which each message was encoded once,
// through the guard on addresses; answers are bounded before they are decoded; and nothing is taken from the
// environment but the base URL, so that a key comes from the run's secrets and from nowhere else.
package anthropic

import (
	"context"
	"net/http"
	"os"
	"sync"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/internal/wire"
)

// DefaultBaseURL is Anthropic's own address.
const DefaultBaseURL = "https://api.anthropic.com"

// Provider is Anthropic, or what the environment variable ANTHROPIC_BASE_URL names instead.
var Provider llm.Provider = &provider{env: "ANTHROPIC_BASE_URL", base: DefaultBaseURL}

// At returns the provider at another address, to which /v1/messages is added.
func At(base string) llm.Provider { return &provider{base: base} }

// version of the interface, which is dated and does not change.
const version = "2023-06-01"

type provider struct {
	env  string
	base string

	once    sync.Once
	service *wire.Service
}

func (p *provider) open() {
	base := p.base
	if v := os.Getenv(p.env); p.env != "" && v != "" {
		base = v
	}
	p.service = wire.Open(base)
}

// Complete implements llm.Provider.
func (p *provider) Complete(ctx context.Context, req *llm.Request) (*llm.Reply, error) {
	p.once.Do(p.open)
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
		key, _ := runtime.Secret(ctx, req.Key)
		header["X-Api-Key"] = []string{key}
	}
	begin, end := m.body.Parts()
	resp, err := p.service.Post(ctx, "/v1/messages", header, begin, end)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if wire.IsEvents(resp) {
		return m.streamed(p.service, resp, req.Delta)
	}
	body, err := p.service.Body(resp)
	if err != nil {
		return nil, err
	}
	reply, err := m.whole(resp.Request.URL.Host, body)
	if err == nil && req.Delta != nil && reply.Message.Text != "" {
		req.Delta(reply.Message.Text)
	}
	return reply, err
}
