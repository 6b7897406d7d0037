// Package host is a small code host with an HTTP API.
package host

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const diff = `--- a/cart/price.go
+++ b/cart/price.go
@@ -1,3 +1,4 @@
 package cart
 
-func Price(cents int) string { return "$" + format(cents) }
+// FOLLOW-UP: currencies
+func Price(cents int) string { return format(cents) }
`

// tax is pull request 8: nothing in the repository uses what it changes.
const tax = `--- a/cart/tax.go
+++ b/cart/tax.go
@@ -1,3 +1,3 @@
 package cart
 
-const Rate = 19
+const Rate = 7
`

// Server is the running code host.
type Server struct {
	Port int

	server *http.Server
	done   chan error

	mu       sync.Mutex
	comments map[string]string // by idempotency key
}

// Start starts the code host on a port of loopback.
func Start() (*Server, error) { return StartAt(0) }

// StartAt is Start on a certain port; 0 is any.
func StartAt(port int) (*Server, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	s := &Server{Port: l.Addr().(*net.TCPAddr).Port, done: make(chan error, 1), comments: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /repos/{owner}/{repo}/pulls/{pr}/diff", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		text := diff
		if r.PathValue("pr") == "8" {
			text = tax
		}
		_, _ = io.WriteString(w, text) // the client may be gone
	})
	mux.HandleFunc("POST /repos/{owner}/{repo}/pulls/{pr}/comments", s.comment)
	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { s.done <- s.server.Serve(l) }()
	return s, nil
}

// comment takes a comment once, however often it is sent.
func (s *Server) comment(w http.ResponseWriter, r *http.Request) {
	var c struct {
		Body string `json:"body"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&c); err != nil || c.Body == "" {
		http.Error(w, `{"message": "a comment has a body"}`, http.StatusUnprocessableEntity)
		return
	}
	s.mu.Lock()
	s.comments[r.Header.Get("Idempotency-Key")] = c.Body
	n := len(s.comments)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(map[string]int{"id": n}) // the client may be gone
}

// Comments returns the comments that were made.
func (s *Server) Comments() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, c := range s.comments {
		all = append(all, c)
	}
	return all
}

// Stop stops the code host at once. It does not wait for connections: a client keeps one that it has never used, which a server that
// waits takes for one that is about to ask.
func (s *Server) Stop() error {
	err := s.server.Close()
	if served := <-s.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
