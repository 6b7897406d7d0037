// Package gemini speaks the generateContent interface of Google's Gemini models, with the wire types of the official
// library.
//
// The library's own client is not used: it encodes a whole conversation for each turn, reads answers without
// a bound and through untyped maps, writes to the standard logger, and takes keys and projects from the environment.
package gemini

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/internal/wire"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// DefaultBaseURL is Google's own address.
const DefaultBaseURL = "https://generativelanguage.googleapis.com"

// Provider is Google's service, or what the environment variable GOOGLE_GEMINI_BASE_URL names instead.
var Provider llm.Provider = &provider{wire.Host{Env: "GOOGLE_GEMINI_BASE_URL", Base: DefaultBaseURL}}

// At returns the provider at another address, to which /v1beta/models/... is added.
func At(base string) llm.Provider { return &provider{wire.Host{Base: base}} }

type provider struct{ wire.Host }

// Complete implements llm.Provider.
func (p *provider) Complete(ctx context.Context, req *llm.Request) (*llm.Reply, error) {
	s := p.Service()
	m, ok := req.Conv.Memo.(*memo)
	if !ok || m.model != req.Model {
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
		header["X-Goog-Api-Key"] = []string{key}
	}
	path := "/v1beta/models/" + url.PathEscape(strings.TrimPrefix(req.Model, "models/"))
	if req.Delta != nil {
		path += ":streamGenerateContent?alt=sse"
	} else {
		path += ":generateContent"
	}
	begin, end := m.body.Parts()
	resp, err := s.Post(ctx, path, header, begin, end)
	if err != nil {
		return nil, explained(err)
	}
	return s.Reply(resp, req, m)
}

// longestWait is the longest that anybody is asked to wait, in seconds.
const longestWait = 24 * 60 * 60

// explained completes an error with what this interface says in bodies and others say in statuses and headers: a wrong
// key is status 400, and how long to wait is a detail.
func explained(err error) error {
	var te *value.ToolError
	if !errors.As(err, &te) || te.Code != value.ValidationError && te.Code != value.RateLimit && te.Code != value.ProviderError {
		return err
	}
	body, _ := te.Details.Get("body")
	var e struct {
		Error struct {
			Details []struct {
				Reason     string `json:"reason"`
				RetryDelay string `json:"retryDelay"`
			} `json:"details"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(body.String()), &e) != nil {
		return err
	}
	for _, d := range e.Error.Details {
		if d.Reason == "API_KEY_INVALID" {
			te.Code = value.AuthRequired
		}
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait >= 0 && te.RetryAfterS == nil {
			te.RetryAfterS = new(min(wait.Seconds(), longestWait))
		}
	}
	return err // with te in it
}
