package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"net/http"
)

// Key returns random bytes that all processes with the folder of runs share, see runs.Folder.Key.
func (s *Server) Key() ([]byte, error) { return s.o.Runs.Key(rand.Reader) }

// Who says whose request it is, as Options.Auth does.
func (s *Server) Who(r *http.Request) (Principal, error) {
	if s.o.Auth == nil {
		return Principal{}, nil
	}
	return s.o.Auth(r)
}

// principalKey is the key of contexts of requests whose principal is known.
type principalKey struct{}

// Do answers a request of somebody who is known, as ServeHTTP answers those of the network: the same paths, limits and problems.
// Other protocols are made of it. A body is JSON.
func (s *Server) Do(ctx context.Context, p Principal, method, path string, header http.Header, body []byte) (status int, answer []byte) {
	r, err := http.NewRequestWithContext(context.WithValue(ctx, principalKey{}, &p), method, path, bytes.NewReader(body))
	if err != nil {
		return http.StatusBadRequest, nil
	}
	for name, v := range header {
		r.Header[name] = v
	}
	if len(body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	w := &kept{header: http.Header{}}
	s.mux.ServeHTTP(w, r)
	return w.status, w.Bytes()
}

// kept is an answer that is kept in memory.
type kept struct {
	bytes.Buffer
	header http.Header
	status int
}

func (k *kept) Header() http.Header { return k.header }

func (k *kept) WriteHeader(status int) {
	if k.status == 0 {
		k.status = status
	}
}

func (k *kept) Write(b []byte) (int, error) {
	k.WriteHeader(http.StatusOK)
	return k.Buffer.Write(b)
}
