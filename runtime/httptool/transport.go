package httptool

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// transports has one transport for each policy: a kept connection was checked under the policy of the tool that opened
// it, and must not serve one that could not have opened it.
var transports struct {
	sync.Mutex
	byPolicy map[string]*http.Transport
}

func transportFor(p *policy) *http.Transport {
	transports.Lock()
	defer transports.Unlock()
	t := transports.byPolicy[p.key]
	if t == nil {
		t = newTransport(p, nil, nil)
		if transports.byPolicy == nil {
			transports.byPolicy = map[string]*http.Transport{}
		}
		transports.byPolicy[p.key] = t
	}
	return t
}

// WriteBuffer is how many bytes of a request are written at once: those of most conversations with a model.
const WriteBuffer = 16 << 10

// newTransport is tuned for many calls to few hosts. resolver and roots are for tests.
func newTransport(p *policy, resolver *net.Resolver, roots *tls.Config) *http.Transport {
	if roots == nil {
		roots = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return &http.Transport{
		DialContext:            p.dialer(resolver),
		TLSClientConfig:        roots,
		TLSHandshakeTimeout:    10 * time.Second,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           512,
		MaxIdleConnsPerHost:    128,
		IdleConnTimeout:        idle,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: MaxHeader,
		WriteBufferSize:        WriteBuffer,
		DisableCompression:     true, // asked for and undone here, where both sizes are counted
		HTTP2:                  &http.HTTP2Config{MaxReceiveBufferPerStream: 1 << 20, SendPingTimeout: 30 * time.Second},
	}
}

// CloseIdleConnections closes the connections that are kept for later calls, as
// http.Client's method does. Long-lived programs have no need of it: idle
// connections close after 90 seconds.
func CloseIdleConnections() {
	transports.Lock()
	defer transports.Unlock()
	for _, t := range transports.byPolicy {
		t.CloseIdleConnections()
	}
	proxied().CloseIdleConnections()
}
