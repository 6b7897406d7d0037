// Package services is a small directory of services with an HTTP API.
package services

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"time"
)

var owners = map[string]string{"cart": "team checkout", "web": "team storefront"}

// Server is the running directory.
type Server struct {
	Port int

	server *http.Server
	done   chan error
}

// Start starts the directory on a port of loopback.
func Start() (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /services/{name}", func(w http.ResponseWriter, r *http.Request) {
		owner, ok := owners[r.PathValue("name")]
		if !ok {
			http.Error(w, `{"message": "nobody looks after it"}`, http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"name": r.PathValue("name"), "owner": owner}) // the client may be gone
	})
	s := &Server{Port: l.Addr().(*net.TCPAddr).Port, server: &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}, done: make(chan error, 1)}
	go func() { s.done <- s.server.Serve(l) }()
	return s, nil
}

// Stop stops the directory at once. It does not wait for connections: a client keeps one that it has never used, which a server that
// waits takes for one that is about to ask.
func (s *Server) Stop() error {
	err := s.server.Close()
	if served := <-s.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
