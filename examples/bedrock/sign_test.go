package bedrock

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/httptool"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/fake"
	"github.com/flowgen-dev/flowgen/runtime/llm/openai"
)

var (
	example = Credentials{KeyID: "AKIDEXAMPLE", Secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
	when    = time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)
)

// The signatures of Amazon's own test suite of Signature Version 4: get-vanilla and post-vanilla.
func TestSignaturesOfAmazon(t *testing.T) {
	for method, want := range map[string]string{
		http.MethodGet:  "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
		http.MethodPost: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
	} {
		req, err := http.NewRequestWithContext(t.Context(), method, "https://example.amazonaws.com/", nil)
		if err != nil {
			t.Fatal(err)
		}
		sign(req, example, "us-east-1", "service", digest(""), when)
		want := "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=" + want
		if got := req.Header.Get("Authorization"); got != want {
			t.Errorf("%s:\n%s\n%s", method, got, want)
		}
	}
}

// amazon is what stands at the address of Bedrock: it checks the signature of what arrives and hands on to a model.
type amazon struct {
	t     *testing.T
	model http.RoundTripper
	asked []string
}

func (a *amazon) RoundTrip(req *http.Request) (*http.Response, error) {
	a.asked = append(a.asked, req.URL.String())
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	mac := func(key []byte, text string) []byte {
		m := hmac.New(sha256.New, key)
		_, _ = io.WriteString(m, text)
		return m.Sum(nil)
	}
	sum := sha256.Sum256(body)
	request := "POST\n/openai/v1/chat/completions\n\nhost:bedrock-runtime.eu-central-1.amazonaws.com\nx-amz-date:20150830T123600Z\nx-amz-security-token:session\n\n" +
		"host;x-amz-date;x-amz-security-token\n" + hex.EncodeToString(sum[:])
	hashed := sha256.Sum256([]byte(request))
	key := mac(mac(mac(mac([]byte("AWS4"+example.Secret), "20150830"), "eu-central-1"), "bedrock"), "aws4_request")
	signature := hex.EncodeToString(mac(key, "AWS4-HMAC-SHA256\n20150830T123600Z\n20150830/eu-central-1/bedrock/aws4_request\n"+hex.EncodeToString(hashed[:])))
	if got := req.Header.Get("Authorization"); !strings.HasSuffix(got, "SignedHeaders=host;x-amz-date;x-amz-security-token, Signature="+signature) {
		a.t.Errorf("authorization %s, want signature %s", got, signature)
	}
	if req.Header.Get("X-Amz-Date") != "20150830T123600Z" || req.Header.Get("X-Amz-Security-Token") != "session" {
		a.t.Errorf("headers %v", req.Header)
	}
	req = req.Clone(req.Context())
	req.Body = io.NopCloser(bytes.NewReader(body))
	return a.model.RoundTrip(req)
}

// to sends requests to another address.
type to string

func (address to) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host = "http", strings.TrimPrefix(string(address), "http://")
	req.URL.Path = strings.TrimPrefix(req.URL.Path, "/openai")
	return http.DefaultTransport.RoundTrip(req)
}

var node = &flow.Node{ID: "hello", Pos: "greet.flowgen.yaml:5:3"}

// A model at Bedrock is asked with a signature that Amazon would take; other hosts get none.
func TestBedrock(t *testing.T) {
	server, err := fake.Start("", func(r *fake.Request) *fake.Response { return fake.Say("hello from " + r.Model) })
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	there := &amazon{t: t, model: to(server.URL)}
	session := example
	session.Session = "session"
	signed := &Transport{Base: there, Now: func() time.Time { return when }, Credentials: func(context.Context) (Credentials, error) { return session, nil }}
	ask := func(signed *Transport, base string) (string, error) {
		rt, err := flow.New(&flow.Info{Name: "greet", Nodes: []*flow.Node{node}}, httptool.WithHTTPClient(&http.Client{Transport: signed}))
		if err != nil {
			t.Fatal(err)
		}
		m := llm.NewModel("openai:openai.gpt-oss-20b-1:0", "openai.gpt-oss-20b-1:0", openai.At(base))
		return llm.Ask[string](rt.Start(t.Context()), node, m, llm.Prompt{Text: "Say hello."}, llm.Format{})
	}
	const base = "https://bedrock-runtime.eu-central-1.amazonaws.com/openai/v1"
	got, err := ask(signed, base)
	if err != nil || got != "hello from openai.gpt-oss-20b-1:0" || len(there.asked) != 1 || there.asked[0] != base+"/chat/completions" {
		t.Errorf("%q, %v, asked %q", got, err, there.asked)
	}
	expired := &Transport{Base: there, Credentials: func(context.Context) (Credentials, error) { return Credentials{}, errors.New("the role has expired") }}
	if _, err := ask(expired, base); err == nil || len(there.asked) != 1 {
		t.Errorf("without credentials: %v, asked %d times", err, len(there.asked))
	}
	plain := &Transport{Base: unsigned{t, to(server.URL)}, Credentials: expired.Credentials}
	if got, err := ask(plain, "https://models.example.invalid/openai/v1"); err != nil || got == "" {
		t.Errorf("another host: %q, %v", got, err)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// unsigned fails for requests with a signature.
type unsigned struct {
	t    *testing.T
	base http.RoundTripper
}

func (u unsigned) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Header.Get("Authorization") != "" || req.Header.Get("X-Amz-Date") != "" {
		u.t.Error("a request to another host is signed")
	}
	return u.base.RoundTrip(req)
}
