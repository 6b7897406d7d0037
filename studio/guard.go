package studio

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io/fs"
	"mime"
	"net/http"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

// maxBody bounds the body of a request.
const maxBody = 1 << 20 // bytes

// policy is what the page may load: what this server has, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// ServeHTTP implements http.Handler. Whatever comes from another machine's name, another page or without the token is refused before
// anything is looked up.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	h.Set("Cache-Control", "no-store")
	if p := s.refused(r); p != nil {
		p.write(w)
		return
	}
	if !isAPI(r) {
		serveAsset(w, r)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if r.URL.Path == codePath {
		answer(s.exchange).ServeHTTP(w, r)
		return
	}
	s.mux.ServeHTTP(&plainErrors{ResponseWriter: w}, r)
}

func isAPI(r *http.Request) bool {
	return r.URL.Path == "/api" || strings.HasPrefix(r.URL.Path, "/api/")
}

// refused says why a request is not answered; nil when it is.
func (s *Server) refused(r *http.Request) *problem {
	if !s.hosts[r.Host] { // a name of somebody else that leads to this machine
		return &problem{Status: http.StatusMisdirectedRequest, Title: "not a host name of this server", Detail: "open the URL that flowgen studio printed"}
	}
	if origins := r.Header.Values("Origin"); len(origins) > 1 || len(origins) == 1 && origins[0] != s.scheme()+"://"+r.Host {
		return &problem{Status: http.StatusForbidden, Title: "a request from another page"}
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case site == "" || site == "same-origin":
	case site == "none" && !isAPI(r): // typed or opened by a program; the page holds no data
	default:
		return &problem{Status: http.StatusForbidden, Title: "a request from another page"}
	}
	switch r.Method {
	case http.MethodGet:
	case http.MethodPost:
		if !isAPI(r) {
			return &problem{Status: http.StatusMethodNotAllowed, Title: "no such method"}
		}
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			return &problem{Status: http.StatusUnsupportedMediaType, Title: "the body must be application/json"}
		}
	default:
		return &problem{Status: http.StatusMethodNotAllowed, Title: "no such method"}
	}
	if r.Header.Get("Upgrade") != "" {
		return &problem{Status: http.StatusForbidden, Title: "other protocols are not supported"}
	}
	if !isAPI(r) || r.URL.Path == codePath {
		return nil
	}
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || subtle.ConstantTimeCompare([]byte(given), []byte(s.token)) != 1 {
		return &problem{Status: http.StatusUnauthorized, Title: "the token is missing or wrong", Detail: "open the URL that flowgen studio printed: the token is in it, and changes with each start"}
	}
	return nil
}

// A problem is an error for programs, as RFC 9457 has them.
type problem struct {
	Status int    `json:"status"`
	Title  string `json:"title"`
	Detail string `json:"detail,omitempty"`
	Edit   *Edit  `json:"edit,omitempty"` // as it is now
}

func (p *problem) Error() string { return p.Title }

func (p *problem) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}

func problemf(status int, title, detail string) error {
	return &problem{Status: status, Title: title, Detail: detail}
}

// answer writes what h returns as JSON, or its error.
func answer(h func(http.ResponseWriter, *http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := h(w, r)
		if err != nil {
			problemOf(err).write(w)
			return
		}
		if v == nil { // it is written
			return
		}
		w.Header().Set("Content-Type", "application/json")
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(v)
	})
}

func problemOf(err error) *problem {
	var p *problem
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, runs.ErrNoRun), errors.Is(err, fs.ErrNotExist):
		return &problem{Status: http.StatusNotFound, Title: "not there", Detail: err.Error()}
	case errors.Is(err, runs.ErrBusy):
		return &problem{Status: http.StatusConflict, Title: "a program is running it", Detail: err.Error()}
	}
	return &problem{Status: http.StatusUnprocessableEntity, Title: "it cannot be done", Detail: err.Error()}
}

// plainErrors makes problems of the texts with which net/http refuses addresses and methods that are not there.
type plainErrors struct {
	http.ResponseWriter
	refused bool
}

func (p *plainErrors) WriteHeader(status int) {
	if kind := p.Header().Get("Content-Type"); status >= 400 && strings.HasPrefix(kind, "text/plain") {
		p.refused = true
		(&problem{Status: status, Title: strings.ToLower(http.StatusText(status))}).write(p.ResponseWriter)
		return
	}
	p.ResponseWriter.WriteHeader(status)
}

func (p *plainErrors) Write(data []byte) (int, error) {
	if p.refused {
		return len(data), nil
	}
	return p.ResponseWriter.Write(data)
}

// Unwrap is for http.ResponseController.
func (p *plainErrors) Unwrap() http.ResponseWriter { return p.ResponseWriter }
