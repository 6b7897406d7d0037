package gemini

import (
	"encoding/json"
	"net/http"
	"strconv"

	"google.golang.org/genai"

	"github.com/flowgen-dev/flowgen/runtime/httptool"
	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/internal/wire"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// response is genai.GenerateContentResponse with its parts as they came: some have to be sent back byte for byte, and
// the library reads the arguments of calls into untyped maps, in which large numbers change.
type response struct {
	ModelVersion   string                                       `json:"modelVersion"`
	Candidates     []candidate                                  `json:"candidates"`
	PromptFeedback *genai.GenerateContentResponsePromptFeedback `json:"promptFeedback"`
	UsageMetadata  *genai.GenerateContentResponseUsageMetadata  `json:"usageMetadata"`
	Error          *genai.APIError                              `json:"error"`
}

type candidate struct {
	Content struct {
		Parts []json.RawMessage `json:"parts"`
	} `json:"content"`
	FinishReason  genai.FinishReason `json:"finishReason"`
	FinishMessage string             `json:"finishMessage"`
}

// part is what is read of a genai.Part.
type part struct {
	Text             string `json:"text"`
	Thought          bool   `json:"thought"`
	ThoughtSignature string `json:"thoughtSignature"`
	FunctionCall     *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
}

// answer is what has arrived.
type answer struct {
	model   string
	text    []byte
	calls   []llm.Call
	parts   []json.RawMessage
	pending []byte // text that is not in parts yet
	signed  bool
	finish  genai.FinishReason
	message string
	blocked genai.BlockedReason
	usage   *genai.GenerateContentResponseUsageMetadata
	some    bool // there was a candidate
}

// Whole reads an answer that came in one piece.
func (m *memo) Whole(host string, body []byte) (*llm.Reply, error) {
	a := &answer{}
	if err := m.take(host, a, body, nil); err != nil {
		return nil, err
	}
	if !a.some && a.blocked == "" {
		return nil, wire.Garbled(host, "it has no candidates")
	}
	if a.finish == "" && a.blocked == "" {
		return nil, wire.Garbled(host, "it does not say why it ended")
	}
	return m.reply(host, a)
}

// Streamed puts an answer together that comes in pieces. There is no event that ends one: the piece with the reason does,
// and what follows it can only add to the counts.
func (m *memo) Streamed(s *wire.Service, resp *http.Response, delta func(string)) (*llm.Reply, error) {
	host := resp.Request.URL.Host
	a := &answer{}
	err := s.Events(resp, func(_, data string) (bool, error) {
		return false, m.take(host, a, []byte(data), delta)
	})
	if err != nil {
		return nil, err
	}
	if a.finish == "" && a.blocked == "" {
		return nil, value.Errorf(value.NetworkError, "no answer from %s: the connection ended before the answer did", host)
	}
	return m.reply(host, a)
}

// take adds a piece.
func (m *memo) take(host string, a *answer, data []byte, delta func(string)) error {
	var r response
	if err := wire.Unmarshal(host, data, &r); err != nil {
		return err
	}
	if e := r.Error; e != nil {
		code := value.ProviderError
		if e.Code >= 400 && e.Code < 600 {
			code = httptool.StatusCode(e.Code)
		}
		return value.Errorf(code, "%s reports: %s", host, plain.Line(e.Message, 300))
	}
	if r.ModelVersion != "" {
		a.model = r.ModelVersion
	}
	if r.UsageMetadata != nil {
		a.usage = r.UsageMetadata
	}
	if r.PromptFeedback != nil && r.PromptFeedback.BlockReason != "" {
		a.blocked = r.PromptFeedback.BlockReason
	}
	if len(r.Candidates) == 0 {
		return nil
	}
	a.some = true
	c := &r.Candidates[0]
	if c.FinishReason != "" {
		a.finish, a.message = c.FinishReason, c.FinishMessage
	}
	for _, raw := range c.Content.Parts {
		if err := m.part(host, a, raw, delta); err != nil {
			return err
		}
	}
	return nil
}

func (m *memo) part(host string, a *answer, raw json.RawMessage, delta func(string)) error {
	var p part
	if err := wire.Unmarshal(host, raw, &p); err != nil {
		return err
	}
	plainText := p.FunctionCall == nil && p.ThoughtSignature == "" && !p.Thought
	if plainText {
		a.pending = append(a.pending, p.Text...)
	} else {
		a.flush()
		a.parts = append(a.parts, raw)
	}
	if p.ThoughtSignature != "" {
		a.signed = true
	}
	if p.Text != "" && !p.Thought {
		a.text = append(a.text, p.Text...)
		if delta != nil {
			delta(p.Text)
		}
	}
	if f := p.FunctionCall; f != nil {
		if len(a.calls) >= wire.MaxCalls {
			return wire.Garbled(host, "it asks for more than 10000 tool calls")
		}
		id, args := f.ID, string(f.Args)
		if id == "" {
			id = ownID + strconv.Itoa(m.told) + "_" + strconv.Itoa(len(a.calls))
		}
		if args == "" || args == "null" {
			args = "{}"
		}
		a.calls = append(a.calls, llm.Call{ID: id, Name: m.names.Real(f.Name), Args: args})
	}
	return nil
}

// flush makes one part of the texts that came since the last one.
func (a *answer) flush() {
	if len(a.pending) > 0 {
		a.parts = append(a.parts, wire.Encode(genai.Part{Text: string(a.pending)}))
		a.pending = nil
	}
}

// reply makes the answer of what has arrived.
func (m *memo) reply(host string, a *answer) (*llm.Reply, error) {
	r := &llm.Reply{Model: a.model, Message: llm.Message{Role: llm.Assistant, Text: string(a.text), Calls: a.calls}}
	if u := a.usage; u != nil {
		if u.PromptTokenCount < 0 || u.ToolUsePromptTokenCount < 0 || u.CandidatesTokenCount < 0 || u.ThoughtsTokenCount < 0 {
			return nil, wire.Garbled(host, "it counts a negative number of tokens")
		}
		r.Usage = llm.Usage{Input: int64(u.PromptTokenCount) + int64(u.ToolUsePromptTokenCount), Cached: int64(u.CachedContentTokenCount),
			Output: int64(u.CandidatesTokenCount) + int64(u.ThoughtsTokenCount)}
	}
	switch a.finish {
	case genai.FinishReasonStop, genai.FinishReasonUnspecified, "":
		r.Stop = llm.End
		if len(a.calls) > 0 {
			r.Stop = llm.CallStop
		}
	case genai.FinishReasonMaxTokens:
		r.Stop = llm.Length
	case genai.FinishReasonSafety, genai.FinishReasonRecitation, genai.FinishReasonBlocklist, genai.FinishReasonProhibitedContent, genai.FinishReasonSPII,
		genai.FinishReasonLanguage, genai.FinishReasonImageSafety, genai.FinishReasonImageProhibitedContent, genai.FinishReasonImageRecitation:
		r.Stop = llm.Refusal
	default: // such as a call that the model could not write
		return nil, value.Errorf(value.ProviderError, "%s returns no answer: %s", host, plain.Line(string(a.finish)+" "+a.message, 300))
	}
	if a.blocked != "" && !a.some {
		r.Stop = llm.Refusal
	}
	if a.signed {
		a.flush()
		r.Message.Opaque = wire.Seal(name, wire.Encode(a.parts))
	}
	return wire.Check(host, r)
}
