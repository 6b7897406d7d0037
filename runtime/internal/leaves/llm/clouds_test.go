package llm_test

import (
	"net/http"
	"os"
	"regexp"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/httptool"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/fake"
	"github.com/flowgen-dev/flowgen/runtime/llm/openai"
)

// cloud stands at the addresses of clouds: it keeps what is asked of them and hands on to a server of OpenAI's interface.
type cloud struct {
	server string
	asked  []*http.Request
}

func (c *cloud) RoundTrip(req *http.Request) (*http.Response, error) {
	c.asked = append(c.asked, req)
	there, err := http.NewRequestWithContext(req.Context(), req.Method, c.server+"/v1/chat/completions", req.Body)
	if err != nil {
		return nil, err
	}
	there.Header, there.ContentLength = req.Header, req.ContentLength
	return http.DefaultTransport.RoundTrip(there)
}

// The models of clouds in docs/language.md are asked where these clouds have OpenAI's interface, with a bearer token. Azure's v1 takes no
// api-version, its older interface needs one.
func TestClouds(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	s, err := fake.Start(key, func(r *fake.Request) *fake.Response { return fake.Say("hello from " + r.Model) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	for name, want := range map[string]struct{ model, address string }{
		"azure":       {"my-deployment", "https://my-resource.openai.azure.com/openai/v1/chat/completions"},
		"azure_dated": {"my-deployment", "https://my-resource.openai.azure.com/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21"},
		"vertex":      {"google/gemini-2.5-flash", "https://europe-west1-aiplatform.googleapis.com/v1/projects/my-project/locations/europe-west1/endpoints/openapi/chat/completions"},
		"bedrock":     {"openai.gpt-oss-20b-1:0", "https://bedrock-runtime.eu-central-1.amazonaws.com/openai/v1/chat/completions"},
	} {
		m := regexp.MustCompile(`(?m)^` + name + `: \{model: "openai:([^"]+)", base_url: "([^"]+)", key: TOKEN, `).FindSubmatch(page)
		if m == nil {
			t.Errorf("docs/language.md has no model %s", name)
			continue
		}
		for _, streamed := range []bool{false, true} {
			c := &cloud{server: s.URL}
			rt, err := flow.New(&flow.Info{Name: "t", Nodes: []*flow.Node{node}}, runtime.WithSecrets(func(string) (string, bool) { return key, true }),
				httptool.WithHTTPClient(&http.Client{Transport: c}))
			if err != nil {
				t.Fatal(err)
			}
			conv := &llm.Conversation{Messages: []llm.Message{{Role: llm.User, Text: "Hello."}}}
			req := &llm.Request{Model: string(m[1]), Conv: conv}
			if streamed {
				req.Delta = func(string) {}
			}
			reply, err := flow.Call(rt.Start(t.Context()), node, complete(t, openai.At(string(m[2])), req), "")
			if err != nil || reply.Message.Text != "hello from "+want.model || len(c.asked) != 1 {
				t.Errorf("%s: %q, %v, asked %d times", name, reply.Message.Text, err, len(c.asked))
				continue
			}
			asked := c.asked[0]
			if got := asked.URL.String(); got != want.address {
				t.Errorf("%s: asked %s, want %s", name, got, want.address)
			}
			if got := asked.Header.Get("Authorization"); asked.Method != http.MethodPost || got != "Bearer "+key || asked.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %s with %v", name, asked.Method, asked.Header)
			}
		}
	}
}
