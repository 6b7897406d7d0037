// Package mcpserver serves workflows over the Model Context Protocol, by the official SDK: each workflow is a tool of other agents.
// It makes requests of a serve.Server, so that both have the same runs, rights and limits.
//
//	m, err := mcpserver.New(s, mcpserver.Options{}) // s is a *serve.Server
//	mux.Handle("/mcp", m)
//
// docs/guides/mcp.md describes the tools.
package mcpserver

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowgen-dev/flowgen/runtime/serve"
)

// Options say how tools behave. What is zero has a default.
type Options struct {
	Wait time.Duration // of a call for the end of its run; 25 s, as common clients give up after 30
	Beat time.Duration // between notifications of progress; 5 s
	// CancelWithRequest cancels a run with the request that waits for it. Otherwise the run goes on.
	CancelWithRequest bool
	// ModelMayAnswer offers the tool run_answer, with which a model answers questions that are for people.
	ModelMayAnswer bool
	// Async offers NAME_start for all workflows: it begins a run and does not wait. Workflows that ask people, loop or may take longer
	// than Wait have it without.
	Async bool
	// Graph draws a workflow as a Mermaid flowchart, a resource; nil: there is none.
	Graph func(workflow string) string
	// Respond is the command with which a person answers a question of a workflow, up to the run; nil: requests of package serve do.
	Respond func(workflow string) string
	// MaxBody bounds a request over HTTP, in bytes; 2 MiB.
	MaxBody int64
	// MaxSessions bounds the sessions over HTTP of clients whose protocol has such; 1,000. They end after Idle, 30 minutes,
	// without a request.
	MaxSessions int
	Idle        time.Duration
	Log         *slog.Logger // of faults; nil: nobody is told
}

func (o *Options) complete() {
	o.Wait = cmp.Or(o.Wait, 25*time.Second)
	o.Beat = cmp.Or(o.Beat, 5*time.Second)
	o.MaxBody = cmp.Or(o.MaxBody, 2<<20)
	o.MaxSessions = cmp.Or(o.MaxSessions, 1000)
	o.Idle = cmp.Or(o.Idle, 30*time.Minute)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// Server serves the workflows of a serve.Server. It is an http.Handler for one path, and Stdio serves one client on two files.
type Server struct {
	o     Options
	serve *serve.Server
	tools []*workflowTool
	key   []byte // of the ids of sessions

	sessions, stateless http.Handler // of protocols with sessions and without

	mu   sync.Mutex // guards the following
	open []*mcp.Server
}

// New makes the tools of the workflows that s serves.
func New(s *serve.Server, o Options) (*Server, error) {
	o.complete()
	m := &Server{o: o, serve: s, key: make([]byte, 32)}
	_, _ = rand.Read(m.key) // never fails
	for _, name := range s.Names() {
		t, err := m.toolOf(name)
		if err != nil {
			return nil, fmt.Errorf("mcp: workflow %s: %w", name, err)
		}
		for _, n := range t.names() {
			if slices.ContainsFunc(m.tools, func(o *workflowTool) bool { return slices.Contains(o.names(), n) }) || slices.Contains(ownTools, n) {
				return nil, fmt.Errorf("mcp: workflow %s: there is another tool %s; rename the workflow", name, n)
			}
		}
		m.tools = append(m.tools, t)
	}
	of := func(stateless bool) http.Handler {
		return mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
			who, _ := r.Context().Value(whoKey{}).(*serve.Principal)
			if who == nil {
				return nil
			}
			return m.server(*who, !stateless)
		}, &mcp.StreamableHTTPOptions{Stateless: stateless, MaxRequestBodyBytes: o.MaxBody, SessionTimeout: o.Idle, PropagateRequestCancellation: true, Logger: quietly(o.Log)})
	}
	m.sessions, m.stateless = of(false), of(true)
	return m, nil
}

// quietly leaves out what the SDK says of each session.
func quietly(log *slog.Logger) *slog.Logger { return slog.New(warnings{log.Handler()}) }

type warnings struct{ slog.Handler }

func (w warnings) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && w.Handler.Enabled(ctx, l)
}

// whoKey is the key of contexts of requests whose principal is known.
type whoKey struct{}

// sessionHeader has the id of a session.
const sessionHeader = "Mcp-Session-Id"

// firstStateless is the first version of the protocol without sessions.
const firstStateless = "2026-07-28"

// ServeHTTP implements http.Handler: streamable HTTP. Who a request is of is what the serve.Server says.
func (m *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	who, err := m.serve.Who(r)
	if err != nil {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "the request is not authenticated", http.StatusUnauthorized)
		return
	}
	r = r.WithContext(context.WithValue(r.Context(), whoKey{}, &who))
	id := r.Header.Get(sessionHeader)
	switch {
	case r.Header.Get("Mcp-Protocol-Version") >= firstStateless:
		m.stateless.ServeHTTP(w, r)
	case id != "" && !m.owns(id, &who):
		http.Error(w, "session not found", http.StatusNotFound)
	case id == "" && r.Method == http.MethodPost && m.full():
		w.Header().Set("Retry-After", "5")
		http.Error(w, "too many sessions are open", http.StatusServiceUnavailable)
	default:
		m.sessions.ServeHTTP(w, r)
	}
}

// Stdio serves the client that writes to in and reads from out, until it closes in or ctx is done. It may do all that Principal{}
// may.
func (m *Server) Stdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	err := m.server(serve.Principal{}, false).Run(ctx, &mcp.IOTransport{Reader: in, Writer: out})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// Close ends all sessions. Runs go on.
func (m *Server) Close() {
	m.mu.Lock()
	open := m.open
	m.open = nil
	m.mu.Unlock()
	for _, s := range open {
		for x := range s.Sessions() {
			_ = x.Close() // it is over either way
		}
	}
}

// full reports whether there are too many sessions. It forgets those that are over.
func (m *Server) full() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.open) < m.o.MaxSessions {
		return false
	}
	m.open = slices.DeleteFunc(m.open, func(s *mcp.Server) bool {
		for range s.Sessions() {
			return false
		}
		return true
	})
	return len(m.open) >= m.o.MaxSessions
}

// server is the server of one client, which sees what the principal sees.
func (m *Server) server(who serve.Principal, session bool) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "flowgen", Title: strings.Join(m.serve.Names(), ", "), Version: "1"}, &mcp.ServerOptions{
		Instructions: instructions,
		Logger:       quietly(m.o.Log),
		Capabilities: &mcp.ServerCapabilities{},
		GetSessionID: func() string { return m.sessionID(&who) },
	})
	c := &client{m, who}
	for _, t := range m.tools {
		if c.sees(t.name) {
			c.workflow(s, t)
		}
	}
	c.runTools(s)
	c.resources(s)
	if session {
		m.mu.Lock()
		m.open = append(m.open, s)
		m.mu.Unlock()
	}
	return s
}

// sessionID is the id of a new session, which only its principal can use.
func (m *Server) sessionID(who *serve.Principal) string {
	text := rand.Text()
	return text + "-" + m.seal(text, who)
}

func (m *Server) owns(id string, who *serve.Principal) bool {
	text, seal, _ := strings.Cut(id, "-")
	return hmac.Equal([]byte(seal), []byte(m.seal(text, who)))
}

func (m *Server) seal(text string, who *serve.Principal) string {
	h := hmac.New(sha256.New, m.key)
	for _, part := range []string{text, who.Tenant, who.Name} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
