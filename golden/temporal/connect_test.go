//go:build unix

package temporal

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// front is TLS in front of the server, as services have it. It has the address and a file with the authority to trust.
func front(t *testing.T, config *tls.Config, seen func(*http.Request)) (address, ca string) {
	t.Helper()
	plain := &http.Transport{Protocols: new(http.Protocols)}
	plain.Protocols.SetUnencryptedHTTP2(true)
	s := httptest.NewUnstartedServer(&httputil.ReverseProxy{Transport: plain, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) {
		seen(r.In)
		r.SetURL(&url.URL{Scheme: "http", Host: fmt.Sprint("127.0.0.1:", shared.grpc)})
	}})
	s.EnableHTTP2, s.TLS = true, config
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of clients that are refused
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String(), file(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
}

// certificate makes one that signs itself, and returns files with it and its key.
func certificate(t *testing.T, name string) (c *x509.Certificate, cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err == nil {
		c, err = x509.ParseCertificate(der)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c, file(t, name+".pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))),
		file(t, name+".key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})))
}

// A server that asks for a certificate of its clients, workers too, is shown that of the configuration; without it, or with that of
// somebody else, nobody is let in.
func TestClientCertificates(t *testing.T) {
	served(t)
	exe := build(t, "testdata/publish.flowgen.yaml")
	known, cert, key := certificate(t, "flowgen")
	_, foreign, foreignKey := certificate(t, "nobody")
	trusted := x509.NewCertPool()
	trusted.AddCert(known)
	var shown atomic.Value
	address, ca := front(t, &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: trusted}, func(r *http.Request) { shown.Store(r.TLS.PeerCertificates[0].Subject.CommonName) })
	at := server
	t.Cleanup(func() { server = at })
	server = []string{"TEMPORAL_ADDRESS=" + address, "TEMPORAL_NAMESPACE=" + shared.namespace, "TEMPORAL_TLS_SERVER_CA_CERT_PATH=" + ca}
	without := server
	server = append(slices.Clone(without), "TEMPORAL_TLS_CLIENT_CERT_PATH="+cert, "TEMPORAL_TLS_CLIENT_KEY_PATH="+key)
	w := worker(t, exe, "--queue", "mtls")
	ok(t, exe, "start", "--id", "mtls", "--queue", "mtls", "--input", "what=it")
	for ok(t, exe, "questions", "mtls") == "[]\n" { // the worker has asked
	}
	if shown.Load() != "flowgen" {
		t.Errorf("the server was shown the certificate of %v", shown.Load())
	}
	_ = w.Process.Kill()
	for _, env := range [][]string{nil, {"TEMPORAL_TLS_CLIENT_CERT_PATH=" + foreign, "TEMPORAL_TLS_CLIENT_KEY_PATH=" + foreignKey}} {
		server = append(slices.Clone(without), env...)
		fails(t, 3, "no Temporal server answers at "+address, exe, "describe", "mtls")
	}
	server = append(slices.Clone(without), "TEMPORAL_TLS_CLIENT_CERT_PATH="+file(t, "none.pem", "no certificate"), "TEMPORAL_TLS_CLIENT_KEY_PATH="+key)
	fails(t, 2, "Temporal's configuration: ", exe, "describe", "mtls")
}

// Where the server is, its namespace, TLS and the API key come from Temporal's own configuration: a file, or variables.
func TestConnect(t *testing.T) {
	served(t)
	exe := build(t, "testdata/publish.flowgen.yaml")
	worker(t, exe, "--queue", "connect")
	ok(t, exe, "start", "--id", "connect", "--queue", "connect", "--input", "what=it")
	back := &url.URL{Scheme: "http", Host: fmt.Sprint("127.0.0.1:", shared.grpc)}
	var key atomic.Value
	address, ca := front(t, nil, func(r *http.Request) { key.Store(r.Header.Get("Authorization")) })
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
	type listed struct{ ID, Workflow, Status string }
	for deadline, there := time.Now().Add(time.Minute), false; !there; { // the server files new runs a moment later
		all := fields[[]listed](t, ok(t, exe, "list"))
		if there = slices.Contains(all, listed{"connect", "publish", "running"}); !there && time.Now().After(deadline) {
			t.Fatalf("list has %+v", all)
		}
	}
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
