// Package command is the verb serve of programs: `flowgen build --verbs serve` and `flowgen serve` link it.
package command

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/serve"
	"github.com/flowgen-dev/flowgen/runtime/serving"
)

func init() { serving.Serve = run }

// MCP is what answers at /mcp, in programs that link the verb mcp. end ends what it has open.
var MCP func(s *serve.Server, c *serving.Command, log *slog.Logger) (h http.Handler, end func(), err error)

// run serves until ctx is done.
func run(ctx context.Context, c *serving.Command) error {
	log := slog.New(slog.NewJSONHandler(c.Log, nil))
	o := Options(c, log)
	o.MaxReader = cmp.Or(c.MaxReader, 8)
	l, local, err := listen(c.Addr)
	if err != nil {
		return err
	}
	defer l.Close()
	secure, err := secured(c)
	if err != nil {
		return err
	}
	if c.Tokens != "" {
		file, err := os.Open(c.Tokens)
		if err != nil {
			return fmt.Errorf("the tokens cannot be read: %w", err)
		}
		o.Auth, err = serve.Tokens(file)
		if err = errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	if o.Auth == nil {
		o.MaxReader = 0 // they are all the same
	}
	if o.Auth == nil && !local && !c.Public {
		return fmt.Errorf("other machines can reach %s, and anyone could make requests: use --tokens FILE, or --public", c.Addr)
	}
	s, err := serve.Handler(o, Workflows(c)...)
	if err != nil {
		return err
	}
	var h http.Handler = s
	if MCP != nil {
		tools, end, err := MCP(s, c, log)
		if err != nil {
			stop(s)
			return err
		}
		defer end()
		mux := http.NewServeMux()
		mux.Handle("/mcp", tools)
		mux.Handle("/", s)
		h = mux
	}
	if c.AdminOnMain {
		h = both(s.Guarded(), h)
	}
	if o.Auth == nil && local {
		h = own(h, c.Origins)
	}
	failed := make(chan error, 2)
	main := server(h, log)
	if secure != nil {
		l = tls.NewListener(l, secure)
	}
	go func() { failed <- main.Serve(l) }()
	servers := []*http.Server{main}
	if c.Admin != "off" && !c.AdminOnMain {
		a, _, err := listen(c.Admin)
		if err != nil {
			stop(s)
			return errors.Join(err, main.Close())
		}
		admin := server(s.Admin(), log)
		servers = append(servers, admin)
		go func() { failed <- admin.Serve(a) }()
		log.Info("listening", "admin", a.Addr().String())
	}
	log.Info("listening", "addr", l.Addr().String(), "workflow", s.Names())
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	return errors.Join(err, drain(ctx, s, c, log, servers))
}

// drain ends the server: it is not ready at once, takes requests for a while, and lets runs end for another.
func drain(ctx context.Context, s *serve.Server, c *serving.Command, log *slog.Logger, servers []*http.Server) error {
	log.Info("stopping", "drain", c.Drain.String())
	s.Drain()
	if c.DrainDelay > 0 {
		t := time.NewTimer(c.DrainDelay)
		<-t.C
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.Drain)
	defer cancel()
	if err := s.Shutdown(end); err != nil {
		log.Warn("unfinished runs", "error", err, "next", "they continue after the next start")
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second) // answers are on their way
	defer cancel()
	var errs error
	for _, h := range servers {
		if err := h.Shutdown(last); err != nil {
			errs = errors.Join(errs, h.Close())
		}
	}
	return errs
}

// Options are those of a Server with the flags of a program.
func Options(c *serving.Command, log *slog.Logger) serve.Options {
	return serve.Options{Runs: c.Runs, Log: log, With: c.With, Leave: c.Leave, ExposeCalls: c.ExposeCalls,
		MaxBody: c.MaxBody, MaxRuns: c.MaxRuns, MaxQueue: c.MaxQueue, MaxTenant: c.MaxTenant, MaxWait: c.MaxWait,
		MaxAnswer: c.MaxAnswer, MaxStreams: c.MaxStreams, MaxRate: c.MaxRate, Origins: c.Origins, Replica: c.Replica, Replicas: c.Replicas}
}

// Workflows are those of a Server.
func Workflows(c *serving.Command) (ws []*serve.Workflow) {
	for _, w := range c.Workflows {
		ws = append(ws, &serve.Workflow{Workflow: w})
	}
	return ws
}

// stop ends a Server at once.
func stop(s *serve.Server) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = s.Shutdown(ctx) // that its time is over is known
}

func server(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
}

// listen listens at an address. local says that only this machine reaches it.
func listen(addr string) (l net.Listener, local bool, err error) {
	l, err = net.Listen("tcp", addr)
	if err != nil {
		return nil, false, fmt.Errorf("cannot listen at %s: %w", addr, err)
	}
	at, ok := l.Addr().(*net.TCPAddr)
	return l, ok && at.IP.IsLoopback(), nil
}

// secured is what is agreed upon with TLS; nil: requests are in the clear. Clients may show a certificate of the authority that is given.
func secured(c *serving.Command) (*tls.Config, error) {
	if c.Cert == "" && c.Key == "" && c.ClientCA == "" {
		return nil, nil
	}
	if c.Cert == "" || c.Key == "" {
		return nil, errors.New("TLS needs the files of a certificate and of its key: --tls-cert and --tls-key")
	}
	pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		return nil, fmt.Errorf("the certificate cannot be read: %w", err)
	}
	o := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if c.ClientCA == "" {
		return o, nil
	}
	text, err := os.ReadFile(c.ClientCA)
	if err != nil {
		return nil, fmt.Errorf("the authority of client certificates cannot be read: %w", err)
	}
	o.ClientCAs, o.ClientAuth = x509.NewCertPool(), tls.VerifyClientCertIfGiven
	if !o.ClientCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate", c.ClientCA)
	}
	return o, nil
}

// both answers probes and metrics beside requests.
func both(admin, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/livez", "/readyz", "/startupz", "/metrics":
			admin.ServeHTTP(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// own refuses requests that pages of others let a browser of this machine make, but for those that may.
func own(next http.Handler, origins []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		site := r.Header.Get("Sec-Fetch-Site")
		origin := r.Header.Get("Origin")
		scheme := "http://"
		if r.TLS != nil {
			scheme = "https://"
		}
		foreign := origin != "" && origin != scheme+r.Host || site != "" && site != "same-origin" && site != "none"
		if !loopback(r.Host) || foreign && !slices.Contains(origins, origin) {
			http.Error(w, "this server accepts requests of this machine only", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
