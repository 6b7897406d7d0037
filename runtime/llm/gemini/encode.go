package gemini

import (
	"encoding/json"
	"math"
	"regexp"
	"strings"

	"google.golang.org/genai"

	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/internal/wire"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// name marks in Message.Opaque what belongs to this provider.
const name = "gemini"

// ownID begins the ids of calls that came without one. They are not sent back.
const ownID = "gemini_call_"

// memo is a conversation as it has been encoded so far. Whether an answer is streamed is in the URL.
type memo struct {
	body  *wire.Body
	told  int // messages in body
	model string
	names wire.Names
}

// options are a request's fields without the messages, which are the library's "contents".
type options struct {
	System           *genai.Content          `json:"systemInstruction,omitempty"`
	Tools            []genai.Tool            `json:"tools,omitempty"`
	GenerationConfig *genai.GenerationConfig `json:"generationConfig,omitempty"`
}

func newMemo(req *llm.Request) (*memo, error) {
	m := &memo{model: req.Model}
	config, err := config(&req.Params)
	if err != nil {
		return nil, err
	}
	o := options{GenerationConfig: config}
	system := req.Conv.System
	if s := req.Conv.Schema; s != nil {
		schema := limited(s.JSON)
		if len(req.Conv.Tools) > 0 && noSchemaWithTools.MatchString(req.Model) {
			system = strings.TrimSpace(system + "\n\nYour final answer is JSON of this schema and nothing else:\n" + string(schema))
		} else {
			config.ResponseMIMEType, config.ResponseJsonSchema = "application/json", schema
		}
	}
	if system != "" {
		o.System = &genai.Content{Parts: []*genai.Part{{Text: system}}}
	}
	if len(req.Conv.Tools) > 0 {
		var t genai.Tool
		for _, x := range req.Conv.Tools {
			t.FunctionDeclarations = append(t.FunctionDeclarations, &genai.FunctionDeclaration{Name: m.names.Safe(x.Name), Description: x.Description,
				ParametersJsonSchema: limited(x.Schema)})
		}
		o.Tools = []genai.Tool{t}
	}
	m.body = wire.NewBody(wire.Encode(o), "contents")
	return m, nil
}

// noSchemaWithTools are the models that refuse a schema of the answer next to tools.
var noSchemaWithTools = regexp.MustCompile(`^(models/)?gemini-[12]\b`)

func config(p *llm.Params) (*genai.GenerationConfig, error) {
	c := &genai.GenerationConfig{StopSequences: p.Stop}
	if p.Temperature != nil {
		c.Temperature = new(float32(*p.Temperature))
	}
	if p.TopP != nil {
		c.TopP = new(float32(*p.TopP))
	}
	if p.MaxTokens != nil {
		if *p.MaxTokens < 1 || *p.MaxTokens > math.MaxInt32 {
			return nil, value.Invalid("max_tokens %d is not from 1 to %d", *p.MaxTokens, math.MaxInt32)
		}
		c.MaxOutputTokens = int32(*p.MaxTokens)
	}
	if p.Seed != nil {
		if *p.Seed < math.MinInt32 || *p.Seed > math.MaxInt32 {
			return nil, value.Invalid("Gemini takes seeds of 32 bits: %d is too large", *p.Seed)
		}
		c.Seed = new(int32(*p.Seed))
	}
	return c, nil
}

// schemas is what Gemini takes of JSON Schema, for answers and for arguments.
var schemas = wire.Dialect{
	Keywords: []string{"$defs", "$ref", "additionalProperties", "anyOf", "description", "enum", "format", "items", "maxItems", "maximum", "minItems",
		"minimum", "oneOf", "prefixItems", "properties", "required", "title", "type"},
	ConstAsEnum: true,
}

func limited(schema json.RawMessage) json.RawMessage {
	v, ok := wire.ParseSchema(schema)
	if !ok {
		return schema
	}
	schemas.Limit(v)
	return wire.Encode(v)
}

// add appends the messages that are not there yet.
func (m *memo) add(all []llm.Message) {
	for _, msg := range all[m.told:] {
		c := &genai.Content{Role: genai.RoleUser}
		switch msg.Role {
		case llm.Assistant:
			if raw := wire.Unseal(name, msg.Opaque); raw != nil {
				m.body.Append(struct {
					Role  string          `json:"role"`
					Parts json.RawMessage `json:"parts"`
				}{genai.RoleModel, raw})
				continue
			}
			c.Role = genai.RoleModel
			c.Parts = m.said(msg)
		case llm.Tools:
			c.Parts = m.results(msg)
		default:
			c.Parts = content(msg)
		}
		if len(c.Parts) > 0 { // a message may not be empty
			m.body.Append(c)
		}
	}
	m.told = len(all)
}

func (m *memo) said(msg llm.Message) []*genai.Part {
	var parts []*genai.Part
	if msg.Text != "" {
		parts = append(parts, &genai.Part{Text: msg.Text})
	}
	for _, c := range msg.Calls {
		f := &genai.FunctionCall{ID: c.ID, Name: m.names.Safe(c.Name)}
		if strings.HasPrefix(c.ID, ownID) {
			f.ID = ""
		}
		d := json.NewDecoder(strings.NewReader(string(wire.ArgsObject(c.Args))))
		d.UseNumber()
		_ = d.Decode(&f.Args) // an object: ArgsObject makes one of anything
		parts = append(parts, &genai.Part{FunctionCall: f})
	}
	return parts
}

func (m *memo) results(msg llm.Message) []*genai.Part {
	var parts []*genai.Part
	for _, r := range msg.Results {
		f := &genai.FunctionResponse{ID: r.ID, Name: m.names.Safe(r.Name)}
		if strings.HasPrefix(r.ID, ownID) {
			f.ID = ""
		}
		var said any = r.Text
		if structured(r.Text) {
			said = json.RawMessage(r.Text)
		}
		key := "output"
		if r.Failed {
			key = "error"
		}
		f.Response = map[string]any{key: said}
		parts = append(parts, &genai.Part{FunctionResponse: f})
	}
	return parts
}

// structured reports whether text is a JSON object or list, which would cost more tokens as a string of JSON.
func structured(text string) bool {
	return text != "" && (text[0] == '{' || text[0] == '[') && json.Valid([]byte(text))
}

func content(msg llm.Message) []*genai.Part {
	var parts []*genai.Part
	for _, x := range msg.Media {
		if x.URL != "" {
			parts = append(parts, &genai.Part{FileData: &genai.FileData{FileURI: x.URL, MIMEType: x.Type}})
		} else {
			parts = append(parts, &genai.Part{InlineData: &genai.Blob{Data: x.Data, MIMEType: x.Type}})
		}
	}
	if msg.Text != "" {
		parts = append(parts, &genai.Part{Text: msg.Text})
	}
	return parts
}
