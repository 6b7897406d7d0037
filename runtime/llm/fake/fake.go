// Package fake is a model server on loopback that speaks the wire formats of OpenAI's chat completions and responses,
// Anthropic's messages and Gemini's generateContent, streams included, for tests and for examples that run without a network. It
// refuses what the real services refuse, and can fail in all the ways in which they and networks do.
package fake

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/llm"
)

// Dialect is a wire format.
type Dialect string

// The dialects.
const (
	OpenAI    Dialect = "openai"
	Anthropic Dialect = "anthropic"
	Gemini    Dialect = "gemini"
	Responses Dialect = "openai-responses"
)

// Dialects are all there are.
var Dialects = []Dialect{OpenAI, Anthropic, Gemini, Responses}

// Request is what a client has asked, as the server read it.
type Request struct {
	Dialect  Dialect
	Model    string
	Stream   bool
	System   string
	Tools    []string
	Schema   json.RawMessage // of the answer; nil: text
	Messages []llm.Message
	Header   http.Header
	Body     []byte
}

// Turn returns how many answers the conversation has had.
func (r *Request) Turn() int {
	n := 0
	for i := range r.Messages {
		if r.Messages[i].Role == llm.Assistant {
			n++
		}
	}
	return n
}

// Last returns the last message.
func (r *Request) Last() llm.Message { return r.Messages[len(r.Messages)-1] }

// Response is what the server answers.
type Response struct {
	Reply  llm.Reply
	Pieces int // into which a stream cuts texts and arguments; 0 is 3
	Fault  Fault
}

// Say returns the response that is a text.
func Say(text string) *Response {
	return &Response{Reply: llm.Reply{Stop: llm.End, Message: llm.Message{Text: text}, Usage: llm.Usage{Input: 10, Output: int64(len(text)+3) / 4}}}
}

// Ask returns the response that asks for tools to be called.
func Ask(calls ...llm.Call) *Response {
	return &Response{Reply: llm.Reply{Stop: llm.CallStop, Message: llm.Message{Calls: calls}, Usage: llm.Usage{Input: 10, Output: int64(8 * len(calls))}}}
}

// Server is a running server. Its methods are safe for concurrent use.
type Server struct {
	URL string // http://127.0.0.1:PORT

	key    string
	answer func(*Request) *Response
	http   *http.Server
	done   chan struct{}

	mu       sync.Mutex
	requests []*Request
}

// Start starts a server. key is the key that clients have to send; empty: none is asked for. answer is called for each
// request that the real service would take, by any number of goroutines.
func Start(key string, answer func(*Request) *Response) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{URL: "http://" + l.Addr().String(), key: key, answer: answer, done: make(chan struct{})}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(l) // until Close
	}()
	return s, nil
}

// Close stops the server and ends its connections.
func (s *Server) Close() {
	_ = s.http.Close()
	<-s.done
}

// Base returns the base URL under which clients of a dialect ask.
func (s *Server) Base(d Dialect) string {
	if d == OpenAI || d == Responses {
		return s.URL + "/v1"
	}
	return s.URL
}

// Requests returns the requests that were taken so far, and the number with it.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Request(nil), s.requests...)
}

// longest bounds a request.
const longest = 64 << 20

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d, model, action := route(r.URL.Path)
	if d == "" || r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, longest))
	if err != nil {
		return
	}
	if status, what := s.authorize(d, r.Header); status != 0 {
		writeError(w, d, status, what)
		return
	}
	req := &Request{Dialect: d, Model: model, Header: r.Header.Clone(), Body: body, Stream: action == "streamGenerateContent"}
	if what := readers[d](req); what != "" {
		writeError(w, d, http.StatusBadRequest, what)
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, req)
	s.mu.Unlock()
	resp := s.answer(req)
	if resp == nil {
		writeError(w, d, http.StatusInternalServerError, "no answer is left")
		return
	}
	resp.send(w, r, req)
}

// route finds the dialect of a path, and of Gemini's the model and what it is to do.
func route(path string) (d Dialect, model, action string) {
	switch path {
	case "/v1/chat/completions":
		return OpenAI, "", ""
	case "/v1/responses":
		return Responses, "", ""
	case "/v1/messages":
		return Anthropic, "", ""
	}
	rest, ok := strings.CutPrefix(path, "/v1beta/models/")
	model, action, found := strings.Cut(rest, ":")
	if !ok || !found || action != "generateContent" && action != "streamGenerateContent" {
		return "", "", ""
	}
	return Gemini, model, action
}

func (s *Server) authorize(d Dialect, h http.Header) (status int, what string) {
	if d == Anthropic && h.Get("Anthropic-Version") == "" {
		return http.StatusBadRequest, "anthropic-version: header is required"
	}
	if s.key == "" {
		return 0, ""
	}
	switch d {
	case OpenAI, Responses:
		if h.Get("Authorization") != "Bearer "+s.key {
			return http.StatusUnauthorized, "Incorrect API key provided"
		}
	case Anthropic:
		if h.Get("X-Api-Key") != s.key {
			return http.StatusUnauthorized, "invalid x-api-key"
		}
	case Gemini:
		if h.Get("X-Goog-Api-Key") != s.key {
			return http.StatusBadRequest, badKey
		}
	}
	return 0, ""
}
