// Package llm is the interface of workflows to language models of any provider (Agent Tools 2.2.5). A provider implements
// one small interface; each is a leaf package, and a program links only those its workflow names. Generated code calls
// Ask; the agent package drives the same models through Complete.
//
// A model call is a call like any other: it passes the runtime's gates and is recorded.
package llm

import (
	"context"
	"encoding/json"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/usage"
)

// Provider speaks the wire format of one family of models. It is safe for concurrent use and keeps no state of a
// conversation but what it puts into Conversation.Memo.
type Provider interface {
	// Complete asks for the next message of the conversation. It reads its key with tool.Secret. Errors are
	// *value.ToolError with the code of language.md's table, or the error of a context that has ended.
	Complete(ctx context.Context, req *Request) (*Reply, error)
}

// Request is one call of a model.
type Request struct {
	Model  string // the provider's name of it
	Key    string // the secret to authenticate with, empty: none
	Params Params
	Conv   *Conversation

	// Delta takes pieces of the answer's text as they arrive. nil: the answer comes as a whole.
	Delta func(text string)
}

// Params are the usual parameters of a model; a nil field is left to the provider.
type Params struct {
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	MaxTokens   *int64   `json:"max_tokens,omitempty"` // of the answer
	Seed        *int64   `json:"seed,omitempty"`
	Stop        []string `json:"stop,omitempty"`
}

// Schema is the JSON Schema (2020-12) that an answer has to fit.
type Schema struct {
	Name string          `json:"name"`
	JSON json.RawMessage `json:"json"`
	// Tool is the name of a tool whose arguments the answer is asked for as; empty: the provider's own way of structured
	// output. Gemini has that way only.
	Tool string `json:"tool,omitempty"`
}

// Tool is the description of a tool for a model.
type Tool struct {
	Name        string          `json:"name"` // of letters, digits, "_", "-" and "."; providers translate what they do not take
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema"` // of the arguments: an object
}

// Role says whose message it is.
type Role string

// The roles. The system's text is not a message: it is in Conversation.System.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Tools     Role = "tools" // results of the calls of the assistant's message before
)

// Message is one message of a conversation.
type Message struct {
	Role    Role     `json:"role"`
	Text    string   `json:"text,omitempty"`
	Media   []Media  `json:"media,omitempty"`   // of a user
	Calls   []Call   `json:"calls,omitempty"`   // of an assistant
	Results []Result `json:"results,omitempty"` // of tools: one for each call, in the order of the calls
	Opaque  string   `json:"opaque,omitempty"`  // of an assistant: what its provider wants back as it was
}

// Media is an image or a file. Either Data or URL is given.
type Media struct {
	Type string `json:"type"` // such as image/png
	Name string `json:"name,omitempty"`
	Data []byte `json:"data,omitempty"`
	URL  string `json:"url,omitempty"`
}

// Call is a tool call that a model asks for. Args is what the model wrote, which may be anything.
type Call struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args"`
}

// Result answers the call of the same ID.
type Result struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Text   string `json:"text"`
	Failed bool   `json:"failed,omitempty"`
}

// Stop says why an answer ended.
type Stop string

// The reasons. An answer that was cut is not a result: Ask and agents make an error of it.
const (
	End      Stop = "end"
	CallStop Stop = "calls"  // the model wants tools called
	Length   Stop = "length" // the cap on tokens cut the answer
	Refusal  Stop = "refusal"
)

// Reply is a model's answer.
type Reply struct {
	Model   string  `json:"model"` // that answered, as the provider says
	Message Message `json:"message"`
	Stop    Stop    `json:"stop"`
	Usage   Usage   `json:"usage"`

	// CostUSD is what the call cost by the table of prices; nil: the table does not know the model.
	CostUSD *usage.USD `json:"cost_usd"`
}

// Usage is what a call took, in tokens.
type Usage struct {
	Input  int64 `json:"input_tokens"`        // cached ones included
	Cached int64 `json:"cached_input_tokens"` // of Input
	Output int64 `json:"output_tokens"`       // reasoning included
}

// Add returns the sum.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Cached + v.Cached, u.Output + v.Output}
}

// Conversation is the input of a model. Messages are only appended, and never changed after that.
type Conversation struct {
	System   string
	Tools    []Tool
	Schema   *Schema // answers are JSON of this schema; nil: text
	Messages []Message

	// Memo is the provider's: what it has encoded already, so that each message is encoded once however many turns
	// follow.
	Memo any

	// Fill, where it is given, makes what is sent of what is recorded: it puts in values that no journal may hold.
	Fill *Filling

	told   int // messages that a Turn has carried
	weight weight
}

// Turn is the input of a model call as the journal keeps it. System, tools and the like are in a conversation's first
// turn; later ones carry what is new. Two turns are equal when they and all before them are.
type Turn struct {
	Model    string    `json:"model"`
	System   string    `json:"system,omitempty"`
	Tools    []Tool    `json:"tools,omitempty"`
	Schema   *Schema   `json:"schema,omitempty"`
	Params   *Params   `json:"params,omitempty"`
	Messages []Message `json:"messages"`

	conv   *Conversation
	asked  Provider  // that answers; nil: the model's own
	run    *flow.Run // of a turn that came from another process
	params Params
	told   int   // messages of conv before it
	most   Usage // that the call can take
}

// turn is the next turn of the conversation.
func (c *Conversation) turn(r *flow.Run, m *Model) Turn {
	t := Turn{Model: m.name, asked: m.in(r), params: m.bounded(r), Messages: c.Messages[c.told:len(c.Messages):len(c.Messages)], told: c.told, conv: c}
	if c.told == 0 {
		t.System, t.Tools, t.Schema = c.System, c.Tools, c.Schema
		if t.params.given() {
			t.Params = &t.params
		}
	}
	t.most = c.weight.most(c, &t)
	return t
}

func (p *Params) given() bool {
	return p.Temperature != nil || p.TopP != nil || p.MaxTokens != nil || p.Seed != nil || p.Stop != nil
}
