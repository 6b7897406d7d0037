package serve

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// rates bounds the requests of each principal: a bucket of as many as it may make in a second, which fills with time.
type rates struct {
	each  time.Duration // between two requests; 0: no bound
	ahead time.Duration // what may be made at once

	mu   sync.Mutex           // guards the following
	full map[string]time.Time // when the bucket of a principal is full again
}

// maxRates is how many principals are remembered whose bucket may be full.
const maxRates = 10_000

func (x *rates) init(perSecond int) {
	if perSecond > 0 {
		x.each, x.ahead = time.Second/time.Duration(perSecond), time.Second
	}
	x.full = map[string]time.Time{}
}

// take takes a request out of the bucket of a principal, or says how long it is empty.
func (x *rates) take(p *Principal, now time.Time) (wait time.Duration) {
	if x.each == 0 {
		return 0
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.full) >= maxRates {
		for who, at := range x.full {
			if at.Before(now) {
				delete(x.full, who)
			}
		}
	}
	who := p.Tenant + "/" + p.Name
	at := x.full[who]
	if at.Before(now) {
		at = now
	}
	if at = at.Add(x.each); at.Sub(now) > x.ahead {
		return at.Sub(now) - x.ahead
	}
	x.full[who] = at
	return 0
}

// admitted bounds the requests of a principal.
func (s *Server) admitted(p *Principal) error {
	if wait := s.rates.take(p, time.Now()); wait > 0 {
		return fault(http.StatusTooManyRequests, "TOO_MANY_REQUESTS", "too many requests").later(wait)
	}
	return nil
}

// cross tells the browser which pages of other sites may make requests: those of Options.Origins. It reports whether the request was
// only that question.
func (s *Server) cross(w http.ResponseWriter, r *http.Request) (asked bool) {
	if len(s.o.Origins) == 0 {
		return false
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if !slices.Contains(s.o.Origins, origin) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Location, Retry-After, ETag, Preference-Applied")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE")
	h.Set("Access-Control-Allow-Headers", strings.Join([]string{"Authorization", "Content-Type", "Idempotency-Key", "Prefer", "Last-Event-ID", "If-None-Match"}, ", "))
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}
