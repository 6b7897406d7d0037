package serve

import (
	"io"
	"net/http"
	"time"
)

// Variables for tests.
var (
	beats   = 5 * time.Second  // of the watchdog
	stalled = 30 * time.Second // without one the program does not live
)

// watch keeps the pulse of the program until Shutdown. There is none while no goroutine runs, or somebody does not give back the lock
// that all requests and runs need.
func (s *Server) watch() {
	s.pulse.Store(time.Now().UnixNano())
	go func() {
		t := time.NewTicker(beats)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				s.mu.Lock()
				s.pulse.Store(time.Now().UnixNano())
				s.mu.Unlock()
			case <-s.ctx.Done():
				return
			}
		}
	}()
}

// check is one thing that a probe looks at.
type check struct {
	name    string
	problem func() string // "": there is none
}

// checks are what the probes look at.
func (s *Server) checks() (live, started, ready []check) {
	awake := check{"scheduler", func() string {
		if time.Since(time.Unix(0, s.pulse.Load())) > stalled && s.ctx.Err() == nil {
			return "no progress for " + stalled.String()
		}
		return ""
	}}
	found := check{"runs", func() string {
		select {
		case <-s.found:
			return ""
		default:
			return "the runs of the previous process are not loaded yet"
		}
	}}
	return []check{awake}, []check{found}, []check{
		{"draining", func() string {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.draining || s.leaving {
				return "the server stops"
			}
			return ""
		}},
		{"queue", func() string {
			s.mu.Lock()
			defer s.mu.Unlock()
			if !s.full.IsZero() && time.Since(s.full) >= s.o.Full {
				return "the queue is full"
			}
			return ""
		}},
		{"journal", func() string {
			if err := s.o.Runs.Writable(); err != nil {
				s.o.Log.Error("runs cannot be recorded", "error", err)
				return "runs cannot be recorded"
			}
			return ""
		}},
		found,
	}
}

// Admin answers probes and Prometheus: /livez, /readyz, /startupz and /metrics. It asks nobody for a name, so it belongs on an
// address of its own. With ?verbose a probe says of each check what it found.
func (s *Server) Admin() http.Handler {
	mux := http.NewServeMux()
	live, started, ready := s.checks()
	for path, list := range map[string][]check{"GET /livez": live, "GET /startupz": started, "GET /readyz": ready} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { probe(w, r, list) })
	}
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		s.text(w)
	})
	return mux
}

// Guarded is Admin for the address of the requests: only those with the right admin read /metrics.
func (s *Server) Guarded() http.Handler {
	admin := s.Admin()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" {
			p, err := s.principal(r)
			if err == nil {
				err = p.may(MayAdmin)
			}
			if err != nil {
				s.refuse(w, r, err)
				return
			}
		}
		admin.ServeHTTP(w, r)
	})
}

func probe(w http.ResponseWriter, r *http.Request, list []check) {
	said, status := "", http.StatusOK
	verbose := r.URL.Query().Has("verbose")
	for _, c := range list {
		why := c.problem()
		switch {
		case why != "" && !verbose:
			said, status = why+"\n", http.StatusServiceUnavailable
		case why != "":
			said, status = said+"[-] "+c.name+": "+why+"\n", http.StatusServiceUnavailable
		case verbose:
			said += "[+] " + c.name + "\n"
		}
		if why != "" && !verbose {
			break
		}
	}
	if said == "" {
		said = "ok\n"
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, said)
}
