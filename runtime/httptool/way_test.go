package httptool

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// forward is a real forward proxy: it passes on requests and tunnels, and knows names that nobody else does.
type forward struct {
	*httptest.Server
	names map[string]string // host to address

	mu   sync.Mutex
	seen []string
}

func newForward(t *testing.T, names map[string]string) *forward {
	f := &forward{names: names}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *forward) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.seen = append(f.seen, r.Method+" "+r.Host)
	f.mu.Unlock()
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		host, port = r.Host, "80"
	}
	address := net.JoinHostPort(host, port)
	if own, ok := f.names[host]; ok {
		address = own
	}
	if r.Method == http.MethodConnect {
		f.tunnel(w, address)
		return
	}
	out := r.Clone(r.Context())
	out.RequestURI, out.URL.Host = "", address
	resp, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body)
}

func (f *forward) tunnel(w http.ResponseWriter, address string) {
	there, err := net.Dial("tcp", address)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer there.Close()
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer here.Close()
	go func() { _, _ = io.Copy(there, buffered) }()
	_, _ = io.Copy(here, there)
}

func (f *forward) asked() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.seen, ", ")
}

// fetch asks an address as a workflow does.
func fetch(ctx context.Context, address string, allow string, o ...runtime.Option) (string, error) {
	n := flow.Node{ID: "get", Pos: "w.yaml:1:1"}
	rt, err := flow.New(&flow.Info{Name: "w", Nodes: []*flow.Node{&n}}, o...)
	if err != nil {
		return "", err
	}
	bound := Text("w.get@1", flow.Reads, func(in string) Request { return Request{Method: "GET", URL: URL(in)} }, Allow(allow))
	r := flow.Start(ctx, rt, "")
	out, err := flow.Call(r, &n, bound, address)
	r.End(&err)
	return out, err
}

// What the program's client says about certificates, roots and proxies counts; what the policy says about addresses, too.
func TestHTTPClient(t *testing.T) {
	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := "nobody"
		if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
			name = r.TLS.PeerCertificates[0].SerialNumber.String()
		}
		_, _ = io.WriteString(w, "hello "+name)
	})
	own, roots := issue(t, func(c *x509.Certificate) { c.DNSNames = []string{"bank.invalid"} })
	client, clients := issue(t, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} })
	mutual := httptest.NewUnstartedServer(hello)
	mutual.TLS = &tls.Config{Certificates: []tls.Certificate{own}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients}
	mutual.StartTLS()
	defer mutual.Close()
	plain := httptest.NewServer(hello)
	defer plain.Close()
	proxy := newForward(t, map[string]string{"shop.invalid": plain.Listener.Addr().String(), "bank.invalid": mutual.Listener.Addr().String()})
	through, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	certified := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{client}}}
	proxied := &http.Transport{Proxy: http.ProxyURL(through)}
	tunnelled := certified.Clone()
	tunnelled.Proxy = http.ProxyURL(through)
	dialed := 0
	dialing := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		dialed++
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
	for _, tt := range []struct {
		what    string
		rt      http.RoundTripper
		address string
		allow   string
		want    string
		code    value.Code
	}{
		{"mTLS", certified, mutual.URL, "loopback", "hello 1", ""},
		{"mTLS to an address that is not allowed", certified, mutual.URL, "private", "", value.PolicyDenied},
		{"no certificate", &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}, mutual.URL, "loopback", "", value.NetworkError},
		{"a name that the proxy knows", proxied, "http://shop.invalid/x", "private", "hello nobody", ""},
		{"an address behind the proxy", proxied, plain.URL, "private", "", value.PolicyDenied},
		{"an allowed address behind the proxy", proxied, plain.URL, "loopback", "hello nobody", ""},
		{"metadata behind the proxy", proxied, "http://169.254.169.254/latest", "private", "", value.PolicyDenied},
		{"a number behind the proxy", proxied, "http://2130706433/", "private", "", value.PolicyDenied},
		{"a short address behind the proxy", proxied, "http://127.1/", "private", "", value.PolicyDenied},
		{"a hexadecimal address behind the proxy", proxied, "http://0x7f000001/", "private", "", value.PolicyDenied},
		{"localhost behind the proxy", proxied, "http://api.localhost/", "private", "", value.PolicyDenied},
		{"a tunnel to a name that the proxy knows", tunnelled, "https://bank.invalid/x", "private", "hello 1", ""},
		{"a tunnel to an address", tunnelled, mutual.URL, "private", "", value.PolicyDenied},
		{"a tunnel to an allowed address", tunnelled, mutual.URL, "loopback", "hello 1", ""},
		{"a tunnel to metadata", tunnelled, "https://169.254.169.254/latest", "private", "", value.PolicyDenied},
		{"a tunnel to a number", tunnelled, "https://2130706433/", "private", "", value.PolicyDenied},
		{"a tunnel to localhost", tunnelled, "https://api.localhost/", "private", "", value.PolicyDenied},
		{"a tunnel to a name whose certificate is another's", tunnelled, "https://shop.invalid/", "private", "", value.NetworkError},
		{"its own dialer", dialing, plain.URL, "loopback", "hello nobody", ""},
		{"its own dialer, not allowed", dialing, plain.URL, "private", "", value.PolicyDenied},
		{"nothing", nil, plain.URL, "private", "", value.PolicyDenied},
	} {
		out, err := fetch(t.Context(), tt.address, tt.allow, WithHTTPClient(&http.Client{Transport: tt.rt}))
		te := value.ToolErrorOf(err)
		if out != tt.want || te == nil && tt.code != "" || te != nil && te.Code != tt.code {
			t.Errorf("%s: %q, %v", tt.what, out, err)
		}
	}
	if asked := proxy.asked(); asked != "GET shop.invalid, GET "+plain.Listener.Addr().String()+", CONNECT bank.invalid:443, CONNECT "+mutual.Listener.Addr().String()+", CONNECT shop.invalid:443" {
		t.Errorf("the proxy was asked for %s", asked)
	}
	if dialed != 1 {
		t.Errorf("dialed %d times", dialed)
	}
	for _, tr := range []*http.Transport{certified, proxied, tunnelled, dialing} {
		tr.CloseIdleConnections()
	}
}

// The proxy of the environment is asked when the program says so, for each host that NO_PROXY does not name. The variables
// are read once in a process, so that this is another one.
func TestEnvironmentProxy(t *testing.T) {
	if os.Getenv("PROXY_TEST") != "" {
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			how, address, _ := strings.Cut(lines.Text(), " ")
			var o []runtime.Option
			if how == "proxy" {
				o = append(o, WithEnvironmentProxy())
			}
			out, err := fetch(context.Background(), address, "private", o...)
			if te := value.ToolErrorOf(err); te != nil {
				out = string(te.Code)
			} else if err != nil {
				out = err.Error()
			}
			fmt.Println("GOT " + out)
		}
		CloseIdleConnections()
		return
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	defer server.Close()
	proxy := newForward(t, map[string]string{"shop.invalid": server.Listener.Addr().String()})
	cases := [][2]string{
		{"proxy http://shop.invalid/", "hello"},
		{"direct http://shop.invalid/", "NETWORK_ERROR"},
		{"proxy http://not.invalid/", "NETWORK_ERROR"},
		{"proxy http://169.254.169.254/", "POLICY_DENIED"},
		{"proxy " + server.URL, "POLICY_DENIED"}, // asked directly
		{"proxy http://0x7f.1/", "POLICY_DENIED"},
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestEnvironmentProxy$")
	in := ""
	for _, c := range cases {
		in += c[0] + "\n"
	}
	cmd.Stdin = strings.NewReader(in)
	cmd.Env = append(os.Environ(), "PROXY_TEST=1", "HTTP_PROXY="+proxy.URL, "http_proxy="+proxy.URL, "NO_PROXY=not.invalid", "no_proxy=not.invalid")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got []string
	for line := range strings.Lines(string(out)) {
		if text, ok := strings.CutPrefix(line, "GOT "); ok {
			got = append(got, strings.TrimSpace(text))
		}
	}
	if len(got) != len(cases) {
		t.Fatalf("%s", out)
	}
	for i, c := range cases {
		if got[i] != c[1] {
			t.Errorf("%s: %s, want %s", c[0], got[i], c[1])
		}
	}
	if asked := proxy.asked(); asked != "GET shop.invalid" {
		t.Errorf("the proxy was asked for %s", asked)
	}
}

// The password of a proxy is in no error.
func TestWrongProxy(t *testing.T) {
	wrong := &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { return nil, errors.New("invalid proxy address with hunter2") }}
	if _, err := fetch(t.Context(), "http://shop.invalid/", "private", WithHTTPClient(&http.Client{Transport: wrong})); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v", err)
	}
}
