package llm_test

import (
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/anthropic"
	"github.com/flowgen-dev/flowgen/runtime/llm/fake"
	"github.com/flowgen-dev/flowgen/runtime/llm/gemini"
	"github.com/flowgen-dev/flowgen/runtime/llm/openai"
	"github.com/flowgen-dev/flowgen/runtime/llm/responses"
)

// Each provider's own variable names another address, as its libraries have it, and no other variable counts: not even
// their keys.
func TestEnvironment(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GEMINI_API_KEY", "GOOGLE_API_KEY"} {
		t.Setenv(name, "sk-of-somebody-else")
	}
	t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
	s, err := fake.Start("", func(*fake.Request) *fake.Response { return fake.Say("here") })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, tt := range []struct {
		d        fake.Dialect
		variable string
		provider llm.Provider
	}{{fake.OpenAI, "OPENAI_BASE_URL", openai.Provider}, {fake.Anthropic, "ANTHROPIC_BASE_URL", anthropic.Provider}, {fake.Gemini, "GOOGLE_GEMINI_BASE_URL", gemini.Provider}, {fake.Responses, "OPENAI_BASE_URL", responses.Provider}} {
		t.Setenv(tt.variable, s.Base(tt.d)+"/")
		reply, err := tt.provider.Complete(t.Context(), &llm.Request{Model: "m", Conv: &llm.Conversation{Messages: []llm.Message{{Role: llm.User, Text: "x"}}}})
		if err != nil || reply.Message.Text != "here" {
			t.Errorf("%s: %+v, %v", tt.d, reply, err)
		}
	}
	for _, r := range s.Requests() {
		for _, name := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"} {
			if v := r.Header.Get(name); v != "" {
				t.Errorf("%s: %s is %q", r.Dialect, name, v)
			}
		}
	}
}
