//go:build unix

package command_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{key: newKey(t)}
	a.cert = a.sign(t, &x509.Certificate{Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}, a.key)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (a *authority) sign(t *testing.T, c *x509.Certificate, key *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	c.SerialNumber, c.NotBefore, c.NotAfter = big.NewInt(time.Now().UnixNano()), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent := a.cert
	if parent == nil {
		parent = c
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// client is a client that shows a certificate with these names, signed by a.
func (a *authority) client(t *testing.T, roots *x509.CertPool, common string, names ...string) *http.Client {
	t.Helper()
	key := newKey(t)
	c := a.sign(t, &x509.Certificate{Subject: pkix.Name{CommonName: common}, DNSNames: names, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, key)
	return browser(t, roots, tls.Certificate{Certificate: [][]byte{c.Raw}, PrivateKey: key})
}

func browser(t *testing.T, roots *x509.CertPool, certs ...tls.Certificate) *http.Client {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: certs}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func ask(t *testing.T, c *http.Client, method, url, token string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(`{"order": "o1"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := c.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func pemFile(t *testing.T, name, kind string, der []byte) string {
	t.Helper()
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// A client is known by a certificate that the authority has signed, with the rights that the file gives it; and a platform with one
// port finds the probes there, but metrics only with the right to.
func TestCertificates(t *testing.T) {
	dir := t.TempDir()
	ours, others := newAuthority(t), newAuthority(t)
	key := newKey(t)
	cert := ours.sign(t, &x509.Certificate{Subject: pkix.Name{CommonName: "server"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, key)
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	tokens := filepath.Join(dir, "tokens")
	lines := "cert=ci.example.com name=ci rights=start,read\ncert=reader name=reader rights=read\n" +
		"sha256=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 name=boss\n" // of test
	if err := os.WriteFile(tokens, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, dir, "--admin-on-main", "--tokens", tokens, "--tls-cert", pemFile(t, filepath.Join(dir, "cert"), "CERTIFICATE", cert.Raw),
		"--tls-key", pemFile(t, filepath.Join(dir, "key"), "EC PRIVATE KEY", der), "--client-ca", pemFile(t, filepath.Join(dir, "ca"), "CERTIFICATE", ours.cert.Raw))
	roots := x509.NewCertPool()
	roots.AddCert(ours.cert)
	url := "https://" + p.addr
	const runs = "/v1/workflows/pay/runs"
	for _, c := range []struct {
		who          string
		client       *http.Client
		token        string
		method, path string
		want         int
	}{
		{"ci", ours.client(t, roots, "x", "ci.example.com"), "", "POST", runs, 202},
		{"ci without the right", ours.client(t, roots, "x", "ci.example.com"), "", "GET", "/metrics", 403},
		{"the reader by its common name", ours.client(t, roots, "reader"), "", "GET", "/v1/runs", 200},
		{"the reader begins nothing", ours.client(t, roots, "reader"), "", "POST", runs, 403},
		{"a name of no line", ours.client(t, roots, "stranger"), "", "GET", "/v1/runs", 401},
		{"a common name beside other names", ours.client(t, roots, "reader", "other.example.com"), "", "GET", "/v1/runs", 401},
		{"no certificate", browser(t, roots), "", "GET", "/v1/runs", 401},
		{"a token instead", browser(t, roots), "test", "POST", runs, 202},
		{"metrics with a token", browser(t, roots), "test", "GET", "/metrics", 200},
		{"metrics without", browser(t, roots), "", "GET", "/metrics", 401},
		{"a probe", browser(t, roots), "", "GET", "/livez", 200},
		{"a certificate of another authority", others.client(t, roots, "reader"), "", "GET", "/v1/runs", 0},
	} {
		if status, text := ask(t, c.client, c.method, url+c.path, c.token); status != c.want {
			t.Errorf("%s: %d, want %d: %s", c.who, status, c.want, text)
		}
	}
	if status, _ := ask(t, http.DefaultClient, "GET", "http://"+p.addr+"/v1/runs", "test"); status != http.StatusBadRequest {
		t.Errorf("in the clear: %d", status)
	}
	if log := p.end(t, syscall.SIGTERM); strings.Contains(log, `"admin"`) {
		t.Errorf("it listens at another address: %s", log)
	}
}
