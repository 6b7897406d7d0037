package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// manifest is what is read of the JSON form of a manifest. The compiler writes it; runtime.Info carries it.
type manifest struct {
	Workflow                                                  string
	Hosts, Networks, Commands, Env, Secrets, Code, Models     []string
	Effects, Grants, Permissions, Servers, Unisolated, People []string
	GoPackages                                                []string `json:"go_packages"`
	Caps                                                      struct {
		MaxIterations *int64 `json:"max_iterations"`
		MaxToolCalls  *int64 `json:"max_tool_calls"`
		MaxTokens     *int64 `json:"max_tokens"`
		MaxCostUSD    string `json:"max_cost_usd"`
		Sandbox       string
	}
}

// ManifestText renders the JSON form of a manifest for people.
func ManifestText(data string) (string, error) {
	var m manifest
	if err := json.Unmarshal([]byte(data), &m); err != nil {
		return "", fmt.Errorf("not a manifest: %w", err)
	}
	rows := [][2]string{
		listed("hosts", m.Hosts), listed("networks", m.Networks), listed("commands", m.Commands), listed("environment", m.Env), listed("secrets", m.Secrets),
		listed("Go packages", m.GoPackages), listed("other code", m.Code), listed("models", m.Models), listed("effects", m.Effects), listed("grants", m.Grants), listed("permissions", m.Permissions),
	}
	if len(m.Servers) > 0 {
		rows = slices.Insert(rows, 3, listed("servers", m.Servers))
	}
	if len(m.People) > 0 {
		rows = append(rows, listed("asks a person", m.People))
	}
	if len(m.Unisolated) > 0 {
		rows = append(rows, listed("not isolated", m.Unisolated))
	}
	var caps []string
	for _, c := range []struct {
		name string
		n    *int64
	}{{"iterations of an agent", m.Caps.MaxIterations}, {"tool calls", m.Caps.MaxToolCalls}, {"tokens", m.Caps.MaxTokens}} {
		if c.n != nil {
			caps = append(caps, fmt.Sprintf("%d %s", *c.n, c.name))
		}
	}
	if m.Caps.MaxCostUSD != "" {
		caps = append(caps, "$"+m.Caps.MaxCostUSD)
	}
	if m.Caps.Sandbox != "" {
		caps = append(caps, "sandbox "+m.Caps.Sandbox)
	}
	var b strings.Builder
	b.WriteString(safe(m.Workflow) + " can touch\n\n")
	table(&b, append(rows, listed("caps", caps)))
	return b.String(), nil
}

func listed(name string, items []string) [2]string {
	if len(items) == 0 {
		return [2]string{name, "none"}
	}
	shown := make([]string, len(items))
	for i, it := range items {
		shown[i] = safe(it)
	}
	return [2]string{name, strings.Join(shown, ", ")}
}
