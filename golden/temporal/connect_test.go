//go:build unix

package temporal

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
)

// Where the server is, its namespace, TLS and the API key come from Temporal's own configuration: a file, or variables.
func TestConnect(t *testing.T) {
	served(t)
	exe := build(t, "testdata/publish.flowgen.yaml")
	worker(t, exe, "--queue", "connect")
	ok(t, exe, "start", "--id", "connect", "--queue", "connect", "--input", "what=it")
	var key atomic.Value
	back := &url.URL{Scheme: "http", Host: fmt.Sprint("127.0.0.1:", shared.grpc)}
	plain := &http.Transport{Protocols: new(http.Protocols)}
	plain.Protocols.SetUnencryptedHTTP2(true)
	front := httptest.NewUnstartedServer(&httputil.ReverseProxy{Transport: plain, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		key.Store(r.In.Header.Get("Authorization"))
		r.SetURL(back)
	}})
	front.EnableHTTP2 = true
	front.StartTLS()
	t.Cleanup(front.Close)
	ca := file(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})))
	address := front.Listener.Addr().String()
	says := func(want string) {
		t.Helper()
		if s := fields[state](t, ok(t, exe, "describe", "connect")); s.Status != want {
			t.Errorf("%+v", s)
		}
	}
	at := server
	t.Cleanup(func() { server = at })

	server = []string{"TEMPORAL_CONFIG_FILE=" + file(t, "temporal.toml", fmt.Sprintf("[profile.default]\naddress = %q\nnamespace = %q\n", back.Host, shared.namespace))}
	says("running")
	server = []string{"TEMPORAL_CONFIG_FILE=" + file(t, "wrong.toml", "[profile")}
	fails(t, 2, "Temporal's configuration: ", exe, "describe", "connect")
	server = []string{"TEMPORAL_ADDRESS=" + address, "TEMPORAL_NAMESPACE=" + shared.namespace, "TEMPORAL_API_KEY=k3y", "TEMPORAL_TLS_SERVER_CA_CERT_PATH=" + ca}
	says("running")
	if key.Load() != "Bearer k3y" {
		t.Errorf("the server was given %q", key.Load())
	}
	server = []string{"TEMPORAL_ADDRESS=" + address, "TEMPORAL_NAMESPACE=" + shared.namespace, "TEMPORAL_TLS=true"} // nobody trusts that certificate
	fails(t, 3, "no Temporal server answers at "+address, exe, "describe", "connect")
	server = []string{"TEMPORAL_ADDRESS=" + back.Host, "TEMPORAL_NAMESPACE=nowhere"}
	fails(t, 3, "the server has no namespace nowhere", exe, "describe", "connect")
}
