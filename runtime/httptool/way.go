package httptool

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
)

// WithHTTPClient makes the Transport of c carry the requests of HTTP tools and models: for client certificates, roots,
// proxies and instrumentation. Timeouts, redirects and cookies stay those of the tools. A nil client, or
// one without a Transport, changes nothing.
//
// The guard on addresses stays. An *http.Transport that dials by itself keeps its settings and dials as tools do. Another
// RoundTripper, a Transport with a dial function and one with a proxy connect as they like: there a host is looked up and
// refused before the request, if one of its addresses is. What a proxy makes of a name that cannot be looked up here, or
// looks up otherwise, nobody here can see.
func WithHTTPClient(c *http.Client) runtime.Option {
	if c == nil || c.Transport == nil {
		return engine.WithValue(carrierKey{}, nil)
	}
	return engine.WithValue(carrierKey{}, &carrier{rt: c.Transport})
}

// WithEnvironmentProxy makes the requests of HTTP tools and models through the proxy that HTTP_PROXY, HTTPS_PROXY and
// NO_PROXY name, as http.ProxyFromEnvironment reads them: loopback addresses are asked directly. The guard on
// addresses looks at the host that is asked for, as with WithHTTPClient; the proxy itself may have any address.
func WithEnvironmentProxy() runtime.Option { return engine.WithValue(engine.EnvironmentProxy{}, true) }

type carrierKey struct{}

// A carrier is somebody's transport.
type carrier struct {
	rt      http.RoundTripper
	guarded sync.Map // key of a policy -> *http.Transport, which dials under it
}

// A way is how the requests of a tool leave: under its policy, directly where the program says nothing else.
type way struct {
	policy *policy
	direct *http.Transport
}

// RoundTrip implements http.RoundTripper.
func (w way) RoundTrip(req *http.Request) (*http.Response, error) {
	via, err := w.choose(req)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	return via.RoundTrip(req)
}

func (w way) choose(req *http.Request) (http.RoundTripper, error) {
	ctx := req.Context()
	if c, ok := ctx.Value(carrierKey{}).(*carrier); ok {
		return c.choose(w.policy, req)
	}
	if on, _ := ctx.Value(engine.EnvironmentProxy{}).(bool); !on {
		return w.direct, nil
	}
	proxy, err := http.ProxyFromEnvironment(req)
	switch {
	case err != nil: // its text may hold a password
		return nil, errors.New("HTTP_PROXY or HTTPS_PROXY is not the address of a proxy, as http://proxy.example.com:3128 is")
	case proxy == nil:
		return w.direct, nil
	}
	return proxied(), w.policy.look(ctx, req.URL.Hostname())
}

// proxied is the transport of requests through the proxy of the environment.
var proxied = sync.OnceValue(func() *http.Transport {
	t := newTransport(newPolicy(nil), nil, nil)
	t.Proxy = http.ProxyFromEnvironment
	t.DialContext = (&net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}).DialContext // to the proxy
	return t
})

func (c *carrier) choose(p *policy, req *http.Request) (http.RoundTripper, error) {
	t, ok := c.rt.(*http.Transport)
	//lint:ignore SA1019 a transport that has the older functions dials by itself
	if ok && t.DialContext == nil && t.DialTLSContext == nil && t.Dial == nil && t.DialTLS == nil {
		direct := t.Proxy == nil
		if !direct {
			proxy, err := t.Proxy(req)
			if err != nil {
				return nil, errors.New("the proxy of the program's HTTP client cannot be used")
			}
			direct = proxy == nil
		}
		if direct {
			return c.under(p, t), nil
		}
	}
	return c.rt, p.look(req.Context(), req.URL.Hostname())
}

// under is t with the dialer of a policy.
func (c *carrier) under(p *policy, t *http.Transport) *http.Transport {
	if own, ok := c.guarded.Load(p.key); ok {
		return own.(*http.Transport)
	}
	own := t.Clone()
	own.Proxy, own.DialContext = nil, p.dialer(nil)
	if own.MaxResponseHeaderBytes == 0 {
		own.MaxResponseHeaderBytes = MaxHeader
	}
	if own.IdleConnTimeout == 0 {
		own.IdleConnTimeout = idle // the owner of t cannot close them
	}
	kept, _ := c.guarded.LoadOrStore(p.key, own)
	return kept.(*http.Transport)
}

// look returns the error of a request to a host that somebody else connects to. A name that cannot be looked up here passes:
// a proxy may know it.
func (p *policy) look(ctx context.Context, host string) error {
	name := hostName(host)
	if a, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return p.check(host, a)
	}
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return p.check(host, netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	}
	if numeric(name) {
		return &blocked{host: host, address: host, what: "no IP address in its usual form"}
	}
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return ctx.Err()
	}
	for _, a := range addresses {
		if err := p.check(host, a); err != nil {
			return err
		}
	}
	return nil
}

// numeric reports whether some read a host as an IPv4 address that is none in Go: 127.1, 0x7f000001, 2130706433.
func numeric(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}
