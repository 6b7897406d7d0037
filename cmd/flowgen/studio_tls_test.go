package main

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// certificate writes one that is its own authority, for a name and addresses, and its key.
func certificate(t *testing.T, dir, name string) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	from := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	text, err := x509.CreateCertificate(rand.Reader, from, from, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	cert, key = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: text}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		encoded := pem.EncodeToMemory(block)
		if file == cert {
			pool.AppendCertsFromPEM(encoded)
		}
		if err := os.WriteFile(file, encoded, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key, pool
}

// TestStudioTLS: with a certificate the page and its data are reached by https alone, by those who know the certificate and the token.
func TestStudioTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key, pool := certificate(t, dir, "studio.test")
	cmd := exec.CommandContext(t.Context(), "flowgen", "studio", "--addr", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key)
	var said bytes.Buffer
	cmd.Dir, cmd.Stderr = t.TempDir(), &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err, said.String())
	}
	base, token, ok := strings.Cut(strings.TrimSpace(line), "/#token=")
	host, secure := strings.CutPrefix(base, "https://127.0.0.1:")
	if !ok || !secure {
		t.Fatalf("it prints %q", line)
	}
	client := func(c *tls.Config) *http.Client {
		return &http.Client{Transport: &http.Transport{TLSClientConfig: c, DisableKeepAlives: true, ForceAttemptHTTP2: true}, Timeout: time.Minute}
	}
	get := func(c *http.Client, address, token string, header ...string) (string, error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			return "", err
		}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		res, err := c.Do(r)
		if err != nil {
			return "", err
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		return fmt.Sprint(res.StatusCode, " ", string(body)), err
	}
	knows := client(&tls.Config{RootCAs: pool})
	for _, c := range []struct {
		what, path, token string
		header            []string
		want              string
	}{
		{"the page", "/", "", nil, "200 <!doctype html>"},
		{"data", "/api/v1/project", token, []string{"Origin", base, "Sec-Fetch-Site", "same-origin"}, `200 {"files":[]`},
		{"data without a token", "/api/v1/project", "", nil, "401 {"},
		{"data for a page by http", "/api/v1/project", token, []string{"Origin", "http://127.0.0.1:" + host}, "403 {"},
	} {
		if got, err := get(knows, base+c.path, c.token, c.header...); err != nil || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %.200s, %v", c.what, got, err)
		}
	}
	var unknown x509.UnknownAuthorityError
	if got, err := get(client(&tls.Config{}), base+"/", ""); !errors.As(err, &unknown) {
		t.Errorf("who does not know the certificate gets %s, %v", got, err)
	}
	_, _, others := certificate(t, dir, "other.test")
	if got, err := get(client(&tls.Config{RootCAs: others}), base+"/", ""); !errors.As(err, &unknown) {
		t.Errorf("who knows another certificate gets %s, %v", got, err)
	}
	if got, err := get(client(&tls.Config{RootCAs: pool, MaxVersion: tls.VersionTLS11}), base+"/", ""); err == nil {
		t.Errorf("an old version of TLS gets %s", got)
	}
	if got, err := get(client(nil), "http://127.0.0.1:"+host+"/api/v1/project", token); err != nil || !strings.HasPrefix(got, "400 Client sent an HTTP request to an HTTPS server") {
		t.Errorf("http at the port of https: %s, %v", got, err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
	if strings.Contains(said.String(), token) {
		t.Errorf("the token is in what it says: %s", said.String())
	}
}

// TestStudioCertificates: certificates that cannot be used are refused before anything is answered.
func TestStudioCertificates(t *testing.T) {
	dir := t.TempDir()
	cert, key, _ := certificate(t, dir, "studio.test")
	_, other, _ := certificate(t, dir, "other.test")
	broken := filepath.Join(dir, "broken.pem")
	if err := os.WriteFile(broken, []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"the certificate cannot be used: tls: private key does not match public key": {"--tls-cert", cert, "--tls-key", other},
		"the certificate cannot be used: x509: malformed certificate":                {"--tls-cert", broken, "--tls-key", key},
		"the certificate cannot be used: open ":                                      {"--tls-cert", filepath.Join(dir, "none.pem"), "--tls-key", key},
		"--tls-cert and --tls-key belong together":                                   {"--tls-cert", cert},
		"add --tls-cert and --tls-key, or --behind-proxy":                            {"--addr", "0.0.0.0:0"},
	} {
		cmd := exec.CommandContext(t.Context(), "flowgen", append([]string{"studio"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: %v, %s", args, err, out)
		}
	}
}
