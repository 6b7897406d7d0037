// Package openai speaks the chat completions interface of OpenAI and of everything that offers the same: OpenRouter,
// Ollama, vLLM, llama.cpp and others, by their base URL.
package openai

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

// At returns the provider at another address, such as http://localhost:11434/v1.
func At(base string) llm.Provider { return &provider{wire.Host{Base: base}} }

// Named is At for an address that the environment variable env may name instead.
func Named(env, base string) llm.Provider { return &provider{wire.Host{Env: env, Base: base}} }

type provider struct{ wire.Host }

// official reports whether it is OpenAI itself, which knows parameters that others do not.
func (p *provider) official() bool { return p.Service().Base == DefaultBaseURL }

// Complete implements llm.Provider.
func (p *provider) Complete(ctx context.Context, req *llm.Request) (*llm.Reply, error) {
	s := p.Service()
	m, ok := req.Conv.Memo.(*memo)
	if !ok || m.stream != (req.Delta != nil) || m.model != req.Model {
		m = newMemo(p, req)
		req.Conv.Memo = m
	}
	m.add(req.Conv.Messages)

	header := http.Header{}
	if req.Key != "" {
		key, _ := tool.Secret(ctx, req.Key)
		header["Authorization"] = []string{"Bearer " + key}
	}
	begin, end := m.body.Parts()
	resp, err := s.Post(ctx, "/chat/completions", header, begin, end)
	if err != nil {
		return nil, err
	}
	return s.Reply(resp, req, m)
}
