package ir

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// Model is a named model configuration.
type Model struct {
	Name    Ident
	Model   Ident  // provider:id, as written
	BaseURL Ident  // empty: the provider's own address
	BaseEnv string // an environment variable that may name another address when the program runs; empty: none
	Key     Ident  // the name of a secret; empty: see check.ModelKey
	Params  ModelParams
	// Unbounded: `max_tokens: unbounded` is written, so that its author knows that nothing bounds answers.
	Unbounded bool
	Price     *ModelPrice  // nil: a list knows it, or nobody does
	Listed    *ListedModel // what a list says that takes the place of the release's; nil: the release's, if it has the model
	New       *Expr        // a function that makes it, once, when the program starts; nil: it is Model
	Reach     *Reach       // what New touches besides Address and Key; nil: nothing
	Provided  bool         // its provider is one of Workflow.Providers
	Script    *ModelScript // of a scripted model; nil: no file of answers belongs to it
	Span      source.Span
}

// A ModelScript is what a scripted model answers.
type ModelScript struct {
	File    *source.File // nil when it cannot be read
	Answers string       // the JSON of runtime/llm/scripted
}

// ModelParams are the usual parameters of a model; nil fields are not written.
type ModelParams struct {
	Temperature, TopP *float64
	MaxTokens, Seed   *int64
	Stop              []string

	TemperatureSpan, SeedSpan, StopSpan source.Span // where they are written
}

// ModelPrice is what a million tokens cost, in dollars as decimals. An empty Cached is the price of Input.
type ModelPrice struct{ Input, Cached, Output string }

// A ListedModel is a model in a list of prices.
type ListedModel struct {
	ModelPrice
	Long           *ModelPrice // of long prompts; nil: the same
	Prompt, Answer int64       // the most tokens of each; zero: not known
}

// Split returns the two parts of provider:id. id is empty when there are no two.
func (m *Model) Split() (provider, id string) {
	provider, id, _ = strings.Cut(m.Model.Name, ":")
	return provider, id
}

// Provides reports whether the program that embeds the workflow brings the provider of a model.
func (w *Workflow) Provides(m *Model) bool {
	name, id := m.Split()
	return id != "" && slices.ContainsFunc(w.Providers, func(p Ident) bool { return p.Name == name })
}

// Provider is who provides the model; nil when the name is none of ModelProviders.
func (m *Model) Provider() *ModelProvider {
	name, _ := m.Split()
	for i := range ModelProviders {
		if ModelProviders[i].Name == name {
			return &ModelProviders[i]
		}
	}
	return nil
}

// Address is where the model is asked: what is written, or the provider's own address; empty when it is asked nowhere.
func (m *Model) Address() string {
	if p := m.Provider(); m.BaseURL.Name == "" && p != nil {
		return p.Address
	}
	return m.BaseURL.Name
}

// A ModelProvider is a name that may be before the colon of a model.
type ModelProvider struct {
	Name    string
	Speaks  string // whose wire format: openai, responses, anthropic, gemini, or scripted for none
	Address string // where it is unless base_url is written; empty: base_url must be
	Preset  bool   // Address is not the default of what speaks its format
	Key     string // the secret that it usually takes; empty: none
}

// ModelProviders are all there are, in the order in which they are listed.
var ModelProviders = []ModelProvider{
	{Name: "openai", Speaks: "openai", Address: "https://api.openai.com/v1", Key: "OPENAI_API_KEY"},
	{Name: "openai-responses", Speaks: "responses", Address: "https://api.openai.com/v1", Key: "OPENAI_API_KEY"},
	{Name: "anthropic", Speaks: "anthropic", Address: "https://api.anthropic.com", Key: "ANTHROPIC_API_KEY"},
	{Name: "gemini", Speaks: "gemini", Address: "https://generativelanguage.googleapis.com", Key: "GEMINI_API_KEY"},
	{Name: "openrouter", Speaks: "openai", Address: "https://openrouter.ai/api/v1", Preset: true, Key: "OPENROUTER_API_KEY"},
	{Name: "groq", Speaks: "openai", Address: "https://api.groq.com/openai/v1", Preset: true, Key: "GROQ_API_KEY"},
	{Name: "ollama", Speaks: "openai", Address: "http://localhost:11434/v1", Preset: true},
	{Name: "llamacpp", Speaks: "openai", Address: "http://localhost:8080/v1", Preset: true},
	{Name: "vllm", Speaks: "openai", Preset: true},
	{Name: "scripted", Speaks: "scripted"},
}

// Prompt is text, or a file with text.
type Prompt struct {
	File   Ident        // as written; empty: the text is in the workflow
	Text   *Template    // nil when it could not be read
	System *Template    // of the file's front matter
	With   *schema.Type // what the file takes, a struct; nil: its front matter does not say
	Span   source.Span
}
