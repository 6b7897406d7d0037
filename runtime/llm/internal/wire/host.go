package wire

import (
	"net/http"
	"os"
	"sync"

	"github.com/flowgen-dev/flowgen/runtime/llm"
)

// Host is where a provider is asked: at Base, or at the base URL that the variable Env of the environment names instead. The
// variable is read at the first call. It is safe for concurrent use.
type Host struct {
	Env, Base string

	once    sync.Once
	service *Service
}

// Service is what asks it.
func (h *Host) Service() *Service {
	h.once.Do(func() {
		base := h.Base
		if v := os.Getenv(h.Env); h.Env != "" && v != "" {
			base = v
		}
		h.service = Open(base)
	})
	return h.service
}

// Reader makes a reply of what a provider answers: of a stream of events, whose text goes to delta piece by piece, or of a
// whole body.
type Reader interface {
	Streamed(s *Service, resp *http.Response, delta func(string)) (*llm.Reply, error)
	Whole(host string, body []byte) (*llm.Reply, error)
}

// Reply reads an answer to req and closes it. Who wants pieces and gets a whole answer is given its text as one.
func (s *Service) Reply(resp *http.Response, req *llm.Request, r Reader) (*llm.Reply, error) {
	defer func() { _ = resp.Body.Close() }()
	if IsEvents(resp) {
		return r.Streamed(s, resp, req.Delta)
	}
	body, err := s.Body(resp)
	if err != nil {
		return nil, err
	}
	reply, err := r.Whole(resp.Request.URL.Host, body)
	if err == nil && req.Delta != nil && reply.Message.Text != "" {
		req.Delta(reply.Message.Text)
	}
	return reply, err
}
