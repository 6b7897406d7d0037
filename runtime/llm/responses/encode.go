package responses

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/openai/openai-go/v3/packages/param"
	sdk "github.com/openai/openai-go/v3/responses"

	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/internal/strict"
	"github.com/flowgen-dev/flowgen/runtime/llm/internal/wire"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// name marks in Message.Opaque what belongs to this provider.
const name = "openai-responses"

// memo is a conversation as it has been encoded so far.
type memo struct {
	body   *wire.Body
	told   int // messages in body
	model  string
	stream bool
	names  wire.Names
	answer string // the tool that takes the answer; empty: answers are text
}

// options are the fields of sdk.ResponseNewParams that are used, without the input.
type options struct {
	Model           string                                `json:"model"`
	Instructions    string                                `json:"instructions,omitempty"`
	Temperature     *float64                              `json:"temperature,omitempty"`
	TopP            *float64                              `json:"top_p,omitempty"`
	MaxOutputTokens *int64                                `json:"max_output_tokens,omitempty"`
	Tools           []sdk.FunctionToolParam               `json:"tools,omitempty"`
	ToolChoice      *sdk.ResponseNewParamsToolChoiceUnion `json:"tool_choice,omitempty"`
	Text            *sdk.ResponseTextConfigParam          `json:"text,omitempty"`
	Store           bool                                  `json:"store"`
	Include         []sdk.ResponseIncludable              `json:"include,omitempty"`
	Stream          bool                                  `json:"stream,omitempty"`
}

// reasons are OpenAI's models that reason; of others the interface refuses encrypted reasoning.
var reasons = regexp.MustCompile(`^(o[1-9]|gpt-([5-9]|\d\d)|codex-)`)

func newMemo(req *llm.Request) (*memo, error) {
	p := &req.Params
	switch {
	case p.Seed != nil:
		return nil, value.Invalid("OpenAI's Responses interface takes no seed: take it out of the model's parameters")
	case p.Stop != nil:
		return nil, value.Invalid("OpenAI's Responses interface takes no texts to stop at: take them out of the model's parameters")
	}
	m := &memo{model: req.Model, stream: req.Delta != nil}
	o := options{Model: req.Model, Instructions: req.Conv.System, Temperature: p.Temperature, TopP: p.TopP, MaxOutputTokens: p.MaxTokens, Stream: m.stream}
	if reasons.MatchString(req.Model) && !strings.Contains(req.Model, "-chat") {
		o.Include = []sdk.ResponseIncludable{sdk.ResponseIncludableReasoningEncryptedContent}
	}
	for _, t := range req.Conv.Tools {
		o.Tools = append(o.Tools, function(m.names.Safe(t.Name), strict.Description(t.Description), t.Schema))
	}
	switch s := req.Conv.Schema; {
	case s != nil && s.Tool != "":
		m.answer = m.names.Own(s.Tool)
		o.Tools = append(o.Tools, function(m.answer, "Gives the final answer. Call it once, when you have all that the answer needs.", s.JSON))
		o.ToolChoice = toolChoice(m.answer, len(req.Conv.Tools) > 0)
	case s != nil:
		o.Text = format(s)
	}
	m.body = wire.NewBody(wire.Encode(o), "input")
	return m, nil
}

// function declares a tool. The library would sort the fields of its schema; models read them in their order.
func function(name, description string, schema json.RawMessage) sdk.FunctionToolParam {
	parameters, held := strict.Schema(schema)
	t := sdk.FunctionToolParam{Name: name, Strict: param.NewOpt(held)}
	if description != "" {
		t.Description = param.NewOpt(description)
	}
	t.SetExtraFields(map[string]any{"parameters": parameters})
	return t
}

func format(s *llm.Schema) *sdk.ResponseTextConfigParam {
	schema, held := strict.Schema(s.JSON)
	f := &sdk.ResponseFormatTextJSONSchemaConfigParam{Name: new(wire.Names).Safe(s.Name), Strict: param.NewOpt(held)}
	f.SetExtraFields(map[string]any{"schema": schema})
	return &sdk.ResponseTextConfigParam{Format: sdk.ResponseFormatTextConfigUnionParam{OfJSONSchema: f}}
}

// toolChoice has the model call a tool: that one, or any where there are others.
func toolChoice(name string, others bool) *sdk.ResponseNewParamsToolChoiceUnion {
	if others {
		return &sdk.ResponseNewParamsToolChoiceUnion{OfToolChoiceMode: param.NewOpt(sdk.ToolChoiceOptionsRequired)}
	}
	return &sdk.ResponseNewParamsToolChoiceUnion{OfFunctionTool: &sdk.ToolChoiceFunctionParam{Name: name}}
}

// add appends the messages that are not there yet.
func (m *memo) add(all []llm.Message) {
	for _, msg := range all[m.told:] {
		switch msg.Role {
		case llm.Assistant:
			m.said(msg)
		case llm.Tools:
			for _, r := range msg.Results {
				item := sdk.ResponseInputItemParamOfFunctionCallOutput(r.Text)
				item.OfFunctionCallOutput.CallID = param.NewOpt(r.ID)
				m.body.Append(item)
			}
		default:
			m.body.Append(asked(msg))
		}
	}
	m.told = len(all)
}

// said appends what a model has said: its items as they came where it has reasoned.
func (m *memo) said(msg llm.Message) {
	var items []json.RawMessage
	if raw := wire.Unseal(name, msg.Opaque); raw != nil && json.Unmarshal(raw, &items) == nil {
		for _, item := range items {
			m.body.Append(item)
		}
		return
	}
	if msg.Text != "" || len(msg.Calls) == 0 {
		m.body.Append(sdk.ResponseInputItemParamOfMessage(msg.Text, sdk.EasyInputMessageRoleAssistant))
	}
	for _, c := range msg.Calls {
		m.body.Append(sdk.ResponseInputItemParamOfFunctionCall(c.Args, c.ID, m.names.Safe(c.Name)))
	}
}

// asked is what a user says: text, or a list of parts when there is more than text.
func asked(msg llm.Message) sdk.ResponseInputItemUnionParam {
	if len(msg.Media) == 0 {
		return sdk.ResponseInputItemParamOfMessage(msg.Text, sdk.EasyInputMessageRoleUser)
	}
	var parts sdk.ResponseInputMessageContentListParam
	if msg.Text != "" {
		parts = append(parts, sdk.ResponseInputContentParamOfInputText(msg.Text))
	}
	for _, x := range msg.Media {
		parts = append(parts, media(x))
	}
	return sdk.ResponseInputItemParamOfMessage(parts, sdk.EasyInputMessageRoleUser)
}

func media(x llm.Media) sdk.ResponseInputContentUnionParam {
	data := ""
	if x.URL == "" {
		data = "data:" + x.Type + ";base64," + base64.StdEncoding.EncodeToString(x.Data)
	}
	if strings.HasPrefix(x.Type, "image/") {
		part := sdk.ResponseInputContentParamOfInputImage(sdk.ResponseInputImageDetailAuto)
		part.OfInputImage.ImageURL = param.NewOpt(data + x.URL)
		return part
	}
	file := &sdk.ResponseInputFileParam{}
	if x.URL != "" {
		file.FileURL = param.NewOpt(x.URL)
	} else {
		file.FileData = param.NewOpt(data)
		if x.Name != "" {
			file.Filename = param.NewOpt(x.Name)
		}
	}
	return sdk.ResponseInputContentUnionParam{OfInputFile: file}
}
