package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// manifest is what is read of the JSON form of a manifest. The compiler writes it; flow.Info carries it.
type manifest struct {
	Workflow                                                  string
	Hosts, Networks, Commands, Env, Secrets, Code, Models     []string
	Effects, Grants, Permissions, Servers, Unisolated, People []string
	GoPackages                                                []string `json:"go_packages"`
	Caps                                                      struct {
		MaxIterations *int64 `json:"max_iterations"`
		MaxToolCalls  *int64 `json:"max_tool_calls"`
		MaxTokens     *int64 `json:"max_total_tokens"`
		MaxCostUSD    string `json:"max_cost_usd"`
		Sandbox       string
		MaxTime       string `json:"max_time"`
	}
	Timeouts []string
	Asked    []string
	Slots    []string
	Agents   []manifestAgent
	AtMost   *struct {
		ModelCalls *int64  `json:"model_calls"`
		ToolCalls  *int64  `json:"tool_calls"`
		CostUSD    *string `json:"cost_usd"`
	} `json:"at_most"`
}

type manifestAgent struct {
	Node, Model   string
	Tools         []string
	MaxIterations json.RawMessage `json:"max_iterations"`
	MaxToolCalls  json.RawMessage `json:"max_tool_calls"`
	MaxTokens     *int64          `json:"max_total_tokens"`
	MaxCostUSD    string          `json:"max_cost_usd"`
}

// text is an agent in a line.
func (a *manifestAgent) text() string {
	words := []string{safe(a.Model), atMost(a.MaxIterations, "answer")}
	if len(a.Tools) > 0 {
		words = append(words, atMost(a.MaxToolCalls, "call")+" of "+safe(strings.Join(a.Tools, ", ")))
	}
	if a.MaxTokens != nil {
		words = append(words, fmt.Sprintf("at most %d tokens", *a.MaxTokens))
	}
	if a.MaxCostUSD != "" {
		words = append(words, "at most $"+safe(a.MaxCostUSD))
	}
	return strings.Join(words, ", ")
}

// models are the models with where they are asked.
func (m *manifest) models() []string {
	out := slices.Clone(m.Asked)
	for _, name := range m.Models {
		if !slices.ContainsFunc(m.Asked, func(a string) bool { return strings.HasPrefix(a, name+" at ") }) {
			out = append(out, name)
		}
	}
	return out
}

// worst is what a workflow that asks models does at most, in words.
func (m *manifest) worst() string {
	number := func(n *int64) string {
		if n == nil {
			return unbounded
		}
		return fmt.Sprint(*n)
	}
	cost := "unbounded or not known"
	if c := m.AtMost.CostUSD; c != nil {
		cost = "$" + safe(*c)
	}
	return number(m.AtMost.ModelCalls) + " questions to models, " + number(m.AtMost.ToolCalls) + " calls of tools, cost " + cost
}

// ManifestText renders the JSON form of a manifest for people.
func ManifestText(data string) (string, error) {
	var m manifest
	if err := json.Unmarshal([]byte(data), &m); err != nil {
		return "", fmt.Errorf("not a manifest: %w", err)
	}
	rows := [][2]string{
		listed("hosts", m.Hosts), listed("networks", m.Networks), listed("commands", m.Commands), listed("environment", m.Env), listed("secrets", m.Secrets),
		listed("Go packages", m.GoPackages), listed("other code", m.Code), listed("models", m.models()), listed("effects", m.Effects), listed("grants", m.Grants), listed("permissions", m.Permissions),
	}
	if len(m.Servers) > 0 {
		rows = slices.Insert(rows, 3, listed("servers", m.Servers))
	}
	if len(m.People) > 0 {
		rows = append(rows, listed("asks a user", m.People))
	}
	if len(m.Unisolated) > 0 {
		rows = append(rows, listed("not isolated", m.Unisolated))
	}
	if len(m.Timeouts) > 0 {
		rows = append(rows, listed("timeouts", m.Timeouts))
	}
	if len(m.Slots) > 0 {
		rows = append(rows, listed("slots", m.Slots))
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
	if m.Caps.MaxTime != "" {
		caps = append(caps, m.Caps.MaxTime+" of work")
	}
	if m.Caps.Sandbox != "" {
		caps = append(caps, "sandbox "+m.Caps.Sandbox)
	}
	rows = append(rows, listed("caps", caps))
	for i := range m.Agents {
		rows = append(rows, [2]string{"agent " + safe(m.Agents[i].Node), m.Agents[i].text()})
	}
	if m.AtMost != nil {
		rows = append(rows, [2]string{"at most", m.worst()})
	}
	var b strings.Builder
	b.WriteString(safe(m.Workflow) + " can touch\n\n")
	table(&b, rows)
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
