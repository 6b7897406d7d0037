package httptool

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// issue makes a certificate, signed by itself, and a pool that trusts it.
func issue(t *testing.T, change func(*x509.Certificate)) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	change(c)
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// tcp starts a server that does with each connection what f does.
func tcp(t *testing.T, f func(net.Conn)) *httptest.Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer func() { _ = c.Close() }()
				f(c)
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	return &httptest.Server{URL: "https://" + l.Addr().String()}
}

// Each fault of TLS is an error with the node's place, says what is wrong, and tells no secret. None is answered with the
// request, which has one.
func TestTLSFaults(t *testing.T) {
	good, pool := issue(t, func(*x509.Certificate) {})
	speak := func(c *tls.Config, f func(*tls.Conn)) func(net.Conn) {
		return func(conn net.Conn) {
			s := tls.Server(conn, c)
			if s.Handshake() == nil {
				f(s)
			}
		}
	}
	answer := func(response string) func(*tls.Conn) {
		return func(c *tls.Conn) {
			if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
				_, _ = io.WriteString(c, response)
			}
		}
	}
	leak := func(c *tls.Conn) { // never reached: the client has ended the handshake
		if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			t.Errorf("the request was sent: %s", r.URL)
		}
	}
	cert := func(change func(*x509.Certificate)) (func(net.Conn), *x509.CertPool) {
		c, pool := issue(t, change)
		return speak(&tls.Config{Certificates: []tls.Certificate{c}}, leak), pool
	}
	hello := func(f func(net.Conn)) func(net.Conn) { // reads the client's first record
		return func(c net.Conn) {
			head := make([]byte, 5)
			if _, err := io.ReadFull(c, head); err == nil {
				_, _ = io.CopyN(io.Discard, c, int64(head[3])<<8|int64(head[4]))
				f(c)
			}
		}
	}
	send := func(s string) func(net.Conn) {
		return hello(func(c net.Conn) { _, _ = io.WriteString(c, s) })
	}
	expired, expiredPool := cert(func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-24 * time.Hour) })
	early, earlyPool := cert(func(c *x509.Certificate) { c.NotBefore = time.Now().Add(24 * time.Hour) })
	other, otherPool := cert(func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"other.example"} })
	usage, usagePool := cert(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} })
	strange, _ := cert(func(c *x509.Certificate) { c.Subject.CommonName = "\x1b[31m{{ secrets.TOKEN }}\n" })
	const ended = "the connection ended before the response did"
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
	for name, tt := range map[string]struct {
		serve func(net.Conn)
		pool  *x509.CertPool
		why   string // in the message, behind "no response from HOST: "
	}{
		"expired":               {expired, expiredPool, "TLS: x509: certificate has expired or is not yet valid: "},
		"not yet valid":         {early, earlyPool, "TLS: x509: certificate has expired or is not yet valid: "},
		"wrong host":            {other, otherPool, "TLS: x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs"},
		"wrong usage":           {usage, usagePool, "TLS: x509: certificate specifies an incompatible key usage"},
		"self-signed":           {strange, pool, "TLS: x509: certificate signed by unknown authority"},
		"TLS 1.0":               {speak(&tls.Config{Certificates: []tls.Certificate{good}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS10}, leak), pool, "tls: "},
		"TLS 1.1":               {speak(&tls.Config{Certificates: []tls.Certificate{good}, MinVersion: tls.VersionTLS11, MaxVersion: tls.VersionTLS11}, leak), pool, "tls: "},
		"wants a certificate":   {speak(&tls.Config{Certificates: []tls.Certificate{good}, MaxVersion: tls.VersionTLS12, ClientAuth: tls.RequireAnyClientCert}, leak), pool, "tls: "},
		"closed at once":        {func(net.Conn) {}, pool, ""}, // the end of the connection or a reset, as the system sees it
		"closed after hello":    {send(""), pool, ended},
		"cut in a record":       {send("\x16\x03\x03\x00\x7a\x02\x00\x00"), pool, ended},
		"plain HTTP":            {send("HTTP/1.1 400 Bad Request\r\n\r\nhello"), pool, "it does not speak TLS"},
		"SSH":                   {send("SSH-2.0-\x1b[31mOpenSSH\r\n"), pool, "it does not speak TLS"},
		"alert":                 {send("\x15\x03\x03\x00\x02\x02\x70"), pool, "tls: "},
		"huge record":           {send("\x16\x03\x03\xff\xff" + strings.Repeat("x", 1<<16)), pool, ""},
		"nonsense":              {send("\x16\x03\x03\x00\x04\x02\x00\x00\x00"), pool, "tls: "},
		"data in the handshake": {send("\x17\x03\x03\x00\x04abcd"), pool, "it does not speak TLS"},
		"closed before answer":  {speak(&tls.Config{Certificates: []tls.Certificate{good}}, answer("")), pool, ended},
		"closed in the body":    {speak(&tls.Config{Certificates: []tls.Certificate{good}}, answer(ok+"Content-Length: 10\r\n\r\nabc")), pool, ended},
		"garbage in the body": {speak(&tls.Config{Certificates: []tls.Certificate{good}}, func(c *tls.Conn) {
			answer(ok + "Content-Length: 10\r\n\r\nabc")(c)
			_, _ = c.NetConn().Write([]byte("\x17\x03\x03\x00\x20" + strings.Repeat("x", 32)))
			_, _ = io.Copy(io.Discard, c.NetConn())
		}), pool, "tls: bad record MAC"},
	} {
		t.Run(name, func(t *testing.T) {
			s := tcp(t, tt.serve)
			tr := newTransport(newPolicy([]string{"loopback"}), nil, &tls.Config{RootCAs: tt.pool, MinVersion: tls.VersionTLS12})
			t.Cleanup(tr.CloseIdleConnections)
			_, err := call(t, get(s, Bearer("TOKEN"), through(tr)), "/?q=private")
			var te *value.ToolError
			if !errors.As(err, &te) || te.Code != value.NetworkError || !strings.HasPrefix(te.Message, "no response from "+host(s)+": "+tt.why) {
				t.Fatalf("got %v\nwant NETWORK_ERROR, no response from %s: %s", err, host(s), tt.why)
			}
			t.Log(err)
			text := err.Error() + te.Details.String()
			if !strings.HasPrefix(text, node.Pos+": ") || strings.Contains(text, token) || strings.ContainsAny(text, "\x1b\n") || strings.Contains(text, "private") {
				t.Errorf("the error %q", text)
			}
		})
	}
	t.Run("silent", func(t *testing.T) {
		quit := make(chan struct{})
		s := tcp(t, hello(func(net.Conn) { <-quit }))
		t.Cleanup(func() { close(quit) })
		tr := newTransport(newPolicy([]string{"loopback"}), nil, &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12})
		n := &flow.Node{ID: "n", Pos: "f.yaml:1:1", Timeout: 100 * time.Millisecond}
		_, err := callAt(t, context.Background(), n, get(s, Bearer("TOKEN"), through(tr)), "/")
		wantTool(t, err, value.Timeout, host(s)+" did not answer in time")
	})
}
