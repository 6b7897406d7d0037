// Package providers lists the providers that graphs name: data that the translator and the runtime have to agree on.
package providers

// A Provider is one as files name it, with what its engine takes from the environment.
type Provider struct {
	Name     string
	Speaks   string // whose wire format: openai, anthropic or gemini
	Address  string // unless BaseEnv says something else
	BaseEnv  string
	Key      string // the variable with the key; empty: none
	OtherKey string // another one, which is asked when there is no Key
	ModelEnv string // the variable with the model
	Model    string // unless ModelEnv says something else
}

// All are the providers. The first one is asked when neither the file nor PROVIDER says who.
var All = []Provider{
	{Name: "anthropic", Speaks: "anthropic", Address: "https://api.anthropic.com", BaseEnv: "ANTHROPIC_BASE_URL", Key: "ANTHROPIC_API_KEY", ModelEnv: "ANTHROPIC_MODEL", Model: "claude-haiku-4-5"},
	{Name: "mistral", Speaks: "openai", Address: "https://api.mistral.ai/v1", BaseEnv: "MISTRAL_BASE_URL", Key: "MISTRAL_API_KEY", ModelEnv: "MISTRAL_MODEL", Model: "mistral-large-latest"},
	{Name: "openai", Speaks: "openai", Address: "https://api.openai.com/v1", BaseEnv: "OPENAI_BASE_URL", Key: "OPENAI_API_KEY", ModelEnv: "OPENAI_MODEL", Model: "gpt-4o"},
	{Name: "google", Speaks: "gemini", Address: "https://generativelanguage.googleapis.com", BaseEnv: "GOOGLE_GEMINI_BASE_URL", Key: "GOOGLE_API_KEY", OtherKey: "GEMINI_API_KEY", ModelEnv: "GOOGLE_MODEL", Model: "gemini-2.0-flash"},
	{Name: "xai", Speaks: "openai", Address: "https://api.x.ai/v1", BaseEnv: "XAI_BASE_URL", Key: "XAI_API_KEY", ModelEnv: "XAI_MODEL", Model: "grok-4-1-fast-reasoning"},
	{Name: "deepseek", Speaks: "openai", Address: "https://api.deepseek.com/v1", BaseEnv: "DEEPSEEK_BASE_URL", Key: "DEEPSEEK_API_KEY", ModelEnv: "DEEPSEEK_MODEL", Model: "deepseek-chat"},
	{Name: "lmstudio", Speaks: "openai", Address: "http://localhost:1234/v1", BaseEnv: "LMSTUDIO_BASE_URL", ModelEnv: "LMSTUDIO_MODEL", Model: "qwen2.5-coder-7b-instruct"},
	{Name: "openrouter", Speaks: "openai", Address: "https://openrouter.ai/api/v1", BaseEnv: "OPENROUTER_BASE_URL", Key: "OPENROUTER_API_KEY", ModelEnv: "OPENROUTER_MODEL", Model: "openai/gpt-4o"},
	{Name: "ollama", Speaks: "openai", Address: "http://localhost:11434/v1", BaseEnv: "OLLAMA_BASE_URL", ModelEnv: "OLLAMA_MODEL", Model: "llama3.2"},
	{Name: "gemini", Speaks: "gemini", Address: "https://generativelanguage.googleapis.com", BaseEnv: "GOOGLE_GEMINI_BASE_URL", Key: "GEMINI_API_KEY", OtherKey: "GOOGLE_API_KEY", ModelEnv: "GEMINI_MODEL", Model: "gemini-2.0-flash"},
}

// Find is the provider of a name; nil when there is none.
func Find(name string) *Provider {
	for i := range All {
		if All[i].Name == name {
			return &All[i]
		}
	}
	return nil
}
