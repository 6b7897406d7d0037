package llm_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/agent"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/fake"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

var counted = regexp.MustCompile(`("(?:input_tokens|cache_read_input_tokens|cache_creation_input_tokens|prompt_tokens|promptTokenCount)": ?)\d+`)

// A provider cannot say that it took so much that sums of it are little or negative: three of the last number are 2.
func TestCounts(t *testing.T) {
	everywhere(t, func(t *testing.T, d fake.Dialect) {
		for _, n := range []string{"-1", "1e30", "1.5", `"x"`, "4294967297", "4611686018427387904", "9223372036854775807", "9223372036854775808", "6148914691236517206"} {
			s := start(t, func(*fake.Request) *fake.Response {
				p := fake.Say("done")
				p.Fault.Edit = func(_ fake.Dialect, body []byte) []byte { return counted.ReplaceAll(body, []byte("${1}"+n)) }
				return p
			})
			_, err := llm.Ask[string](run(t), node, model(s, d), llm.Prompt{Text: "x"}, llm.Format{})
			var te *value.ToolError
			if !errors.As(err, &te) || te.Code != value.ProviderError || strings.Contains(err.Error(), "json:") || strings.Contains(err.Error(), "Go ") {
				t.Errorf("%s: %v", n, err)
			}
		}
	})
}

// A server that counts answers and no questions takes what its questions can be out of the budget.
func TestCountsMissing(t *testing.T) {
	everywhere(t, func(t *testing.T, d fake.Dialect) {
		s := start(t, func(r *fake.Request) *fake.Response {
			p := calling("echo", `{"q":"x"}`)
			p.Reply.Message.Calls[0].ID += strings.Repeat("x", r.Turn())
			p.Reply.Usage = llm.Usage{Output: 1}
			return p
		})
		var g guarded
		spec := &agent.Spec{Model: model(s, d), Tools: g.tools(false), Policy: &runtime.Policy{MaxTokens: llm.AnswerBound + 10_000}}
		_, err := agent.Run(run(t), node, spec, llm.Prompt{System: strings.Repeat("Be good. ", 300), Text: "Go."})
		if n := len(s.Requests()); n < 1 || n > 4 {
			t.Errorf("asked %d times, and then %v", n, err)
		}
	})
}
