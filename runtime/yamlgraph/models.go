package yamlgraph

import (
	"cmp"
	"os"
	"sync"

	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/secret"
	"github.com/flowgen-dev/flowgen/runtime/value"
	"github.com/flowgen-dev/flowgen/runtime/yamlgraph/providers"
)

// A Model is whom nodes ask. What the file leaves open is what the environment says when the model is asked first: the
// provider is PROVIDER's, and the model that of a variable such as OPENAI_MODEL. A file .env in the working directory
// counts where the environment says nothing. It is safe for concurrent use.
type Model struct {
	provider, model string
	params          llm.Params
	speakers        Speakers

	once sync.Once
	m    *llm.Model
	err  *value.ToolError
}

// Speakers are the wire formats that a program links, each as the function that makes a provider of an address.
type Speakers struct {
	OpenAI, Anthropic, Gemini func(base string) llm.Provider
}

// NewModel makes a model. An empty provider or model is the environment's to say.
func NewModel(provider, model string, p llm.Params, s Speakers) *Model {
	return &Model{provider: provider, model: model, params: p, speakers: s}
}

// envFile is the file of variables that the engine reads, too.
var envFile = secret.File(".env")

// setting is an environment variable, or of .env.
func setting(name string) string {
	if v := os.Getenv(name); v != "" || name == "" {
		return v
	}
	v, ok := envFile.Secret("", name)
	if !ok {
		return ""
	}
	return v
}

// use is the model as the environment completes it.
func (m *Model) use() (*llm.Model, *value.ToolError) {
	m.once.Do(func() {
		name := cmp.Or(m.provider, setting("PROVIDER"), providers.All[0].Name)
		p := providers.Find(name)
		if p == nil {
			m.err = value.Invalid("PROVIDER names the unknown provider %q", name)
			return
		}
		at := map[string]func(string) llm.Provider{"openai": m.speakers.OpenAI, "anthropic": m.speakers.Anthropic, "gemini": m.speakers.Gemini}[p.Speaks]
		id := cmp.Or(m.model, setting(p.ModelEnv), p.Model)
		opts := []llm.ModelOption{llm.With(m.params)}
		if p.Key != "" {
			key := p.Key
			if p.OtherKey != "" && setting(key) == "" && setting(p.OtherKey) != "" {
				key = p.OtherKey
			}
			opts = append(opts, llm.Key(key), llm.ShortKey())
		}
		m.m = llm.NewModel(name+":"+id, id, at(cmp.Or(setting(p.BaseEnv), p.Address)), opts...)
	})
	return m.m, m.err
}
