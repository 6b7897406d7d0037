package studio

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"time"
)

const (
	codePath = "/api/v1/token"
	codeFor  = 2 * time.Minute
)

func (s *Server) scheme() string {
	if s.opts.Secure {
		return "https"
	}
	return "http"
}

// Code returns what a page can exchange for the token, once and soon: arguments of programs, as of the one that opens a browser, are seen
// by other users of the machine.
func (s *Server) Code() string {
	random := make([]byte, 16)
	_, _ = rand.Read(random) // never fails
	s.mu.Lock()
	defer s.mu.Unlock()
	s.code, s.until = hex.EncodeToString(random), time.Now().Add(codeFor)
	return s.code
}

// exchange answers with the token for the code. Any attempt ends the code.
func (s *Server) exchange(_ http.ResponseWriter, r *http.Request) (any, error) {
	if r.Method != http.MethodPost {
		return nil, problemf(http.StatusMethodNotAllowed, "no such method", "")
	}
	var body struct {
		Code string `json:"code"`
	}
	if err := decode(r, &body); err != nil {
		return nil, err
	}
	s.mu.Lock()
	code, until := s.code, s.until
	s.code = ""
	s.mu.Unlock()
	if code == "" || time.Now().After(until) || subtle.ConstantTimeCompare([]byte(code), []byte(body.Code)) != 1 {
		return nil, problemf(http.StatusUnauthorized, "the code was already used or has expired", "open the URL that flowgen studio printed")
	}
	return map[string]string{"token": s.token}, nil
}
