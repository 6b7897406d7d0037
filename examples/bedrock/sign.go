// Package bedrock signs requests to models of Amazon Bedrock with AWS Signature Version 4, for programs that have AWS credentials in
// place of a Bedrock API key:
//
//	signed := &bedrock.Transport{Credentials: credentials}
//	w, err := greet.New(httptool.WithHTTPClient(&http.Client{Transport: signed}))
//
// The model of the workflow has no `key`:
//
//	models:
//	  m: {model: "openai:openai.gpt-oss-20b-1:0", base_url: "https://bedrock-runtime.eu-central-1.amazonaws.com/openai/v1", max_tokens: 500}
package bedrock

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// Credentials are AWS credentials. Session is empty for those of a user.
type Credentials struct{ KeyID, Secret, Session string }

// Transport signs requests to bedrock-runtime.REGION.amazonaws.com and sends all others as they are. It is safe for concurrent use.
type Transport struct {
	Credentials func(context.Context) (Credentials, error) // asked before each request, because those of roles expire
	Base        http.RoundTripper                          // nil: http.DefaultTransport
	Now         func() time.Time                           // nil: time.Now
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	base := cmp.Or[http.RoundTripper](t.Base, http.DefaultTransport)
	host, found := strings.CutPrefix(req.URL.Hostname(), "bedrock-runtime.")
	region, ok := strings.CutSuffix(host, ".amazonaws.com")
	if !found || !ok {
		return base.RoundTrip(req)
	}
	if req.GetBody == nil {
		return nil, errors.New("a request without a body that can be read twice cannot be signed")
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, body); err != nil {
		return nil, err
	}
	credentials, err := t.Credentials(req.Context())
	if err != nil {
		return nil, err
	}
	now := time.Now
	if t.Now != nil {
		now = t.Now
	}
	signed := req.Clone(req.Context()) // a RoundTripper does not change requests
	sign(signed, credentials, region, "bedrock", hex.EncodeToString(sum.Sum(nil)), now().UTC())
	return base.RoundTrip(signed)
}

// sign adds the headers of a signature over the method, the path, the host, the time and the SHA-256 of the body.
func sign(req *http.Request, c Credentials, region, service, payload string, now time.Time) {
	at, day := now.Format("20060102T150405Z"), now.Format("20060102")
	req.Header.Set("X-Amz-Date", at)
	headers, names := "host:"+req.URL.Host+"\nx-amz-date:"+at+"\n", "host;x-amz-date"
	if c.Session != "" {
		req.Header.Set("X-Amz-Security-Token", c.Session)
		headers, names = headers+"x-amz-security-token:"+c.Session+"\n", names+";x-amz-security-token"
	}
	path := cmp.Or(strings.ReplaceAll(req.URL.EscapedPath(), "%", "%25"), "/") // escaped twice, but for S3
	canonical := strings.Join([]string{req.Method, path, req.URL.Query().Encode(), headers, names, payload}, "\n")
	scope := strings.Join([]string{day, region, service, "aws4_request"}, "/")
	text := "AWS4-HMAC-SHA256\n" + at + "\n" + scope + "\n" + digest(canonical)
	key := []byte("AWS4" + c.Secret)
	for _, part := range []string{day, region, service, "aws4_request", text} {
		m := hmac.New(sha256.New, key)
		m.Write([]byte(part))
		key = m.Sum(nil)
	}
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+c.KeyID+"/"+scope+", SignedHeaders="+names+", Signature="+hex.EncodeToString(key))
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
