package anthropic

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/internal/wire"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// DefaultMaxTokens caps an answer when the model's max_tokens is not given: the interface asks for a cap.
const DefaultMaxTokens = 8192

// oldMaxTokens is the most that models of the third generation's first line write.
const oldMaxTokens = 4096

// name marks in Message.Opaque what belongs to this provider.
const name = "anthropic"

// memo is a conversation as it has been encoded so far.
type memo struct {
	body   *wire.Body
	told   int // messages in body
	model  string
	stream bool
	names  wire.Names
	answer *answerTool // nil: answers are text
}

// options are the fields of sdk.MessageNewParams that are used, without the messages.
type options struct {
	Model        string                    `json:"model"`
	MaxTokens    int64                     `json:"max_tokens"`
	System       string                    `json:"system,omitempty"`
	Temperature  *float64                  `json:"temperature,omitempty"`
	TopP         *float64                  `json:"top_p,omitempty"`
	Stop         []string                  `json:"stop_sequences,omitempty"`
	Tools        []sdk.ToolParam           `json:"tools,omitempty"`
	ToolChoice   *sdk.ToolChoiceUnionParam `json:"tool_choice,omitempty"`
	OutputConfig *sdk.OutputConfigParam    `json:"output_config,omitempty"`
	Stream       bool                      `json:"stream,omitempty"`
}

func newMemo(req *llm.Request) (*memo, error) {
	if req.Params.Seed != nil {
		return nil, value.Invalid("Anthropic's models take no seed: take it out of the model's parameters")
	}
	m := &memo{model: req.Model, stream: req.Delta != nil}
	o := options{Model: req.Model, MaxTokens: DefaultMaxTokens, System: req.Conv.System, Temperature: req.Params.Temperature,
		TopP: req.Params.TopP, Stop: req.Params.Stop, Stream: m.stream}
	switch {
	case req.Params.MaxTokens != nil:
		o.MaxTokens = *req.Params.MaxTokens
	case strings.HasPrefix(req.Model, "claude-3-") && !strings.HasPrefix(req.Model, "claude-3-5-") && !strings.HasPrefix(req.Model, "claude-3-7-"):
		o.MaxTokens = oldMaxTokens
	}
	for _, t := range req.Conv.Tools {
		o.Tools = append(o.Tools, declared(m.names.Safe(t.Name), t.Description, t.Schema))
	}
	if s := req.Conv.Schema; s != nil {
		if schema, ok := closed(s.JSON); ok && s.Tool == "" && !withoutFormat.MatchString(req.Model) {
			f := param.Override[sdk.JSONOutputFormatParam](wire.Encode(struct {
				Type   string          `json:"type"`
				Schema json.RawMessage `json:"schema"`
			}{"json_schema", schema}))
			o.OutputConfig = &sdk.OutputConfigParam{Format: f}
		} else {
			m.answer = newAnswerTool(&m.names, s)
			o.Tools = append(o.Tools, declared(m.answer.name, "Gives the final answer. Call it once, when you have all that the answer needs.", m.answer.schema))
			o.ToolChoice = m.answer.choice(len(req.Conv.Tools) > 0)
		}
	}
	m.body = wire.NewBody(wire.Encode(o), "messages")
	return m, nil
}

func declared(name, description string, schema json.RawMessage) sdk.ToolParam {
	t := sdk.ToolParam{Name: name, InputSchema: param.Override[sdk.ToolInputSchemaParam](schema)}
	if description != "" {
		t.Description = param.NewOpt(description)
	}
	return t
}

// withoutFormat are the models that came before output_config.format.
var withoutFormat = regexp.MustCompile(`^claude-(2|3|instant)|^claude-(opus|sonnet)-4(-0|-2025\d{4})?$`)

// output is what output_config.format takes.
var output = wire.Dialect{
	Keywords: []string{"$defs", "$ref", "additionalProperties", "allOf", "anyOf", "const", "default", "description", "enum", "format", "items",
		"minItems", "properties", "required", "title", "type"},
	Formats:  []string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"},
	Occupied: true,
}

// closed returns a schema in the form that structured output takes, false when it cannot be put so.
func closed(schema json.RawMessage) (json.RawMessage, bool) {
	v, ok := wire.ParseSchema(schema)
	if !ok {
		return nil, false
	}
	output.Limit(v)
	if root, ok := v.(*wire.Object); !ok || root.Get("type") != "object" || !wire.Close(v, nil) {
		return nil, false
	}
	return wire.Encode(v), true
}

// An answerTool takes the answer of models and schemas without structured output: the model has to call it.
type answerTool struct {
	name    string
	schema  json.RawMessage
	wrapped bool // the answer is the field "answer" of the arguments, which are an object always
}

func newAnswerTool(names *wire.Names, s *llm.Schema) *answerTool {
	a := &answerTool{name: names.Own(cmp.Or(s.Tool, "answer")), schema: s.JSON}
	v, _ := wire.ParseSchema(s.JSON)
	root, ok := v.(*wire.Object)
	if ok && root.Get("type") == "object" && !root.Has("anyOf") && !root.Has("oneOf") && !root.Has("allOf") {
		return a
	}
	a.wrapped = true
	var defs any
	if ok {
		defs = root.Get("$defs")
		root.Delete("$defs") // what refers to them counts from the root
		root.Delete("$schema")
	}
	if v == nil {
		v = s.JSON
	}
	outer := map[string]any{"type": "object", "properties": map[string]any{"answer": v}, "required": []string{"answer"}}
	if defs != nil {
		outer["$defs"] = defs
	}
	a.schema = wire.Encode(outer)
	return a
}

func (a *answerTool) choice(others bool) *sdk.ToolChoiceUnionParam {
	if others {
		return &sdk.ToolChoiceUnionParam{OfAny: &sdk.ToolChoiceAnyParam{}}
	}
	return &sdk.ToolChoiceUnionParam{OfTool: &sdk.ToolChoiceToolParam{Name: a.name}}
}

// text is the answer in the arguments of a call.
func (a *answerTool) text(args string) string {
	if !a.wrapped {
		return args
	}
	var outer struct {
		Answer json.RawMessage `json:"answer"`
	}
	if json.Unmarshal([]byte(args), &outer) != nil || outer.Answer == nil {
		return args
	}
	return string(outer.Answer)
}

// add appends the messages that are not there yet.
func (m *memo) add(all []llm.Message) {
	for _, msg := range all[m.told:] {
		var p sdk.MessageParam
		switch msg.Role {
		case llm.Assistant:
			if raw := wire.Unseal(name, msg.Opaque); raw != nil {
				m.body.Append(struct {
					Role    string          `json:"role"`
					Content json.RawMessage `json:"content"`
				}{"assistant", raw})
				continue
			}
			p = sdk.NewAssistantMessage(m.said(msg)...)
		case llm.Tools:
			p = sdk.NewUserMessage(m.results(msg)...)
		default:
			p = sdk.NewUserMessage(content(msg)...)
		}
		if len(p.Content) > 0 { // a message may not be empty; the two around it are taken as one
			m.body.Append(p)
		}
	}
	m.told = len(all)
}

func (m *memo) said(msg llm.Message) []sdk.ContentBlockParamUnion {
	var blocks []sdk.ContentBlockParamUnion
	if strings.TrimSpace(msg.Text) != "" {
		blocks = append(blocks, sdk.NewTextBlock(msg.Text))
	}
	for _, c := range msg.Calls {
		blocks = append(blocks, sdk.NewToolUseBlock(c.ID, wire.ArgsObject(c.Args), m.names.Safe(c.Name)))
	}
	return blocks
}

func (m *memo) results(msg llm.Message) []sdk.ContentBlockParamUnion {
	var blocks []sdk.ContentBlockParamUnion
	for _, r := range msg.Results {
		b := sdk.NewToolResultBlock(r.ID, r.Text, r.Failed)
		if r.Text == "" {
			b.OfToolResult.Content = nil // a text may not be empty
		}
		if !r.Failed {
			b.OfToolResult.IsError = param.Opt[bool]{}
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// unknown says which of the files the interface has no place for; nil when there is none.
func unknown(all []llm.Message) error {
	for _, msg := range all {
		for _, x := range msg.Media {
			image, text := strings.HasPrefix(x.Type, "image/"), strings.HasPrefix(x.Type, "text/")
			if !image && x.Type != "application/pdf" && (!text || x.URL != "") {
				return value.Invalid("Anthropic's models take images, PDF files and the data of texts, not %s", x.Type)
			}
		}
	}
	return nil
}

// content is what a user says: media first, as the provider advises.
func content(msg llm.Message) []sdk.ContentBlockParamUnion {
	var blocks []sdk.ContentBlockParamUnion
	for _, x := range msg.Media {
		blocks = append(blocks, media(x))
	}
	if msg.Text != "" {
		blocks = append(blocks, sdk.NewTextBlock(msg.Text))
	}
	return blocks
}

func media(x llm.Media) sdk.ContentBlockParamUnion {
	data := base64.StdEncoding.EncodeToString(x.Data)
	switch {
	case strings.HasPrefix(x.Type, "image/") && x.URL != "":
		return sdk.NewImageBlock(sdk.URLImageSourceParam{URL: x.URL})
	case strings.HasPrefix(x.Type, "image/"):
		return sdk.NewImageBlockBase64(x.Type, data)
	case x.URL != "":
		return titled(sdk.NewDocumentBlock(sdk.URLPDFSourceParam{URL: x.URL}), x.Name)
	case strings.HasPrefix(x.Type, "text/"):
		return titled(sdk.NewDocumentBlock(sdk.PlainTextSourceParam{Data: strings.ToValidUTF8(string(x.Data), "\uFFFD")}), x.Name)
	}
	return titled(sdk.NewDocumentBlock(sdk.Base64PDFSourceParam{Data: data}), x.Name)
}

func titled(b sdk.ContentBlockParamUnion, title string) sdk.ContentBlockParamUnion {
	if title != "" {
		b.OfDocument.Title = param.NewOpt(title)
	}
	return b
}
