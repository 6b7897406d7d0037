// Package manifest lists what a workflow can touch: hosts, programs, environment variables, secrets, Go packages, effects
// and the caps on them. A manifest that is checked in is the permission; Compare tells what a change of the workflow
// would add to it.
package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Version is the version of the JSON form.
const Version = 1

// A Manifest is what a workflow can touch, sub-workflows included. Lists are sorted, without duplicates, never nil but for the last ones.
type Manifest struct {
	Version  int    `json:"manifest"`
	Workflow string `json:"workflow"`

	Hosts      []string `json:"hosts"`       // host or host:port of requests; * stands for what is decided at run time
	Networks   []string `json:"networks"`    // addresses that are no public hosts and that the policy opens: loopback, 10.0.0.0/8
	Commands   []string `json:"commands"`    // programs; sh for scripts
	Env        []string `json:"env"`         // variables that commands are given or inherit, and those that prompts, arguments and models read
	Secrets    []string `json:"secrets"`     // names
	GoPackages []string `json:"go_packages"` // whose functions are called
	Code       []string `json:"code"`        // other code: "python:module:function", "js:tools/x.mjs", "mcp:server/tool", "starlark:tidy.star", "wasm:score.wasm#score"
	Models     []string `json:"models"`      // that are asked: provider:name
	Effects    []string `json:"effects"`     // of the tools that are called
	Grants     []string `json:"grants"`      // permissions that the policy gives
	Caps       Caps     `json:"caps"`

	// Permissions are those that the tools claim: what a policy must grant. Written only when there are any.
	Permissions []string `json:"permissions,omitempty"`
	// Timeouts are the bounds of calls that tools say: "build@1 20m0s", "watch@1 unbounded". Others have 5 minutes, or what their node
	// says. Written likewise.
	Timeouts []string `json:"timeouts,omitempty"`
	// Unisolated are the tools that run as processes without a sandbox, with all rights of the user. Written likewise.
	Unisolated []string `json:"unisolated,omitempty"`
	// People are the nodes that ask a user. Written likewise.
	People  []string `json:"people,omitempty"`
	Servers []string `json:"servers,omitempty"` // MCP servers: "slack: slack-mcp --stdio", "docs: https://mcp.example.com"
	// Slots are what the program that embeds the workflow has to bring: classes and tools without code. Written likewise.
	Slots []string `json:"slots,omitempty"`
	// Asked says where models are asked: "openai:gpt-4o-mini at api.openai.com". Written likewise.
	Asked  []string `json:"asked,omitempty"`
	Agents []*Agent `json:"agents,omitempty"`  // in the order of the file, those of sub-workflows after them
	AtMost *Worst   `json:"at_most,omitempty"` // written when models are asked
}

// Caps are the bounds that the policy writes; absent ones are not written.
type Caps struct {
	MaxIterations *int64 `json:"max_iterations,omitempty"`
	MaxToolCalls  *int64 `json:"max_tool_calls,omitempty"`
	MaxTokens     *int64 `json:"max_total_tokens,omitempty"`
	MaxCostUSD    string `json:"max_cost_usd,omitempty"` // a decimal
	Sandbox       string `json:"sandbox,omitempty"`      // the least tier
	MaxTime       string `json:"max_time,omitempty"`     // of the work of a run: "10m0s"
}

// JSON is the manifest as one line of JSON: the same bytes for the same manifest.
func (m *Manifest) JSON() string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		panic(err) // there is nothing in it that JSON could not hold
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Parse reads the JSON form. Unknown keys, other versions and anything after the object are errors.
func Parse(data []byte) (*Manifest, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var m *Manifest
	if err := dec.Decode(&m); err != nil {
		return nil, fmt.Errorf("not a manifest: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("not a manifest: there is more after it")
	}
	switch {
	case m == nil || m.Version == 0:
		return nil, errors.New("not a manifest: it does not say `\"manifest\": 1`")
	case m.Version != Version:
		return nil, fmt.Errorf("a manifest of version %d; this is version %d", m.Version, Version)
	}
	if m.Caps.MaxCostUSD != "" && !isDecimal(m.Caps.MaxCostUSD) {
		return nil, fmt.Errorf("not a manifest: max_cost_usd is %q", m.Caps.MaxCostUSD)
	}
	if err := m.parseAgents(); err != nil {
		return nil, err
	}
	if !slices.Contains(tiers, m.Caps.Sandbox) {
		return nil, fmt.Errorf("not a manifest: sandbox is %q", m.Caps.Sandbox)
	}
	return m, nil
}

// A Section is one list of a manifest.
type Section struct {
	Name  string // as in JSON
	One   string // for one entry: "host"
	Items []string
}

// Sections are the lists in the order of the JSON form.
func (m *Manifest) Sections() []Section {
	return []Section{
		{"hosts", "host", m.Hosts}, {"networks", "network", m.Networks}, {"commands", "command", m.Commands}, {"env", "variable", m.Env},
		{"secrets", "secret", m.Secrets}, {"go_packages", "Go package", m.GoPackages}, {"code", "code", m.Code}, {"models", "model", m.Models},
		{"effects", "effect", m.Effects}, {"grants", "grant", m.Grants}, {"permissions", "permission", m.Permissions}, {"servers", "server", m.Servers}, {"people", "question to a user", m.People}, {"slots", "slot", m.Slots}, {"timeouts", "timeout", m.Timeouts}, {"unisolated", "tool without a sandbox", m.Unisolated},
		{"asked", "place where a model is asked:", m.Asked},
	}
}

// Compare tells what the manifest now has and old has not, and what it no longer has. The name of the workflow does not
// count. More is what needs permission: new entries, and caps that are gone, larger or weaker.
func Compare(old, now *Manifest) (more, less []string) {
	before := old.Sections()
	for i, s := range now.Sections() {
		for _, x := range s.Items {
			if !allows(before[i], x) {
				more = append(more, "new "+s.One+" "+x)
			}
		}
		for _, x := range before[i].Items {
			if !slices.Contains(s.Items, x) {
				less = append(less, s.One+" "+x+" is no longer used")
			}
		}
	}
	n := &notes{more, less}
	for _, c := range []struct {
		name    string
		was, is *int64
	}{
		{"max_iterations", old.Caps.MaxIterations, now.Caps.MaxIterations}, {"max_tool_calls", old.Caps.MaxToolCalls, now.Caps.MaxToolCalls},
		{"max_total_tokens", old.Caps.MaxTokens, now.Caps.MaxTokens},
	} {
		n.cap(looser(c.was, c.is), c.name, number(c.was), number(c.is))
	}
	n.cap(dearer(old.Caps.MaxCostUSD, now.Caps.MaxCostUSD), "max_cost_usd", old.Caps.MaxCostUSD, now.Caps.MaxCostUSD)
	n.cap(longer(old.Caps.MaxTime, now.Caps.MaxTime), "max_time", old.Caps.MaxTime, now.Caps.MaxTime)
	n.cap(weaker(old.Caps.Sandbox, now.Caps.Sandbox), "sandbox", old.Caps.Sandbox, now.Caps.Sandbox)
	n.agents(old.Agents, now.Agents)
	n.worst(old.AtMost, now.AtMost)
	return n.more, n.less
}

// parseAgents checks what of agents and costs the JSON form cannot.
func (m *Manifest) parseAgents() error {
	amounts := []string{}
	for _, a := range m.Agents {
		if a == nil {
			return errors.New("not a manifest: an agent is null")
		}
		amounts = append(amounts, a.MaxCostUSD)
	}
	if m.AtMost != nil && m.AtMost.CostUSD != nil {
		amounts = append(amounts, *m.AtMost.CostUSD)
	}
	for _, x := range amounts {
		if x != "" && !isDecimal(x) {
			return fmt.Errorf("not a manifest: %q is not an amount in dollars", x)
		}
	}
	return nil
}

// allows reports whether a section covers an entry: `*` among the hosts covers every host.
func allows(s Section, x string) bool {
	return slices.Contains(s.Items, x) || s.Name == "hosts" && slices.Contains(s.Items, "*")
}

func number(n *int64) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

// looser is 1 when the second bound allows more, -1 when it allows less. No bound allows most.
func looser(was, is *int64) int {
	switch {
	case was == nil && is == nil:
		return 0
	case is == nil:
		return 1
	case was == nil:
		return -1
	}
	return sign(*is > *was, *is < *was)
}

func sign(up, down bool) int {
	switch {
	case up:
		return 1
	case down:
		return -1
	}
	return 0
}

// dearer compares decimals of dollars without rounding.
func dearer(was, is string) int {
	switch {
	case was == is:
		return 0
	case is == "":
		return 1
	case was == "":
		return -1
	}
	c := compareDecimals(is, was)
	return sign(c > 0, c < 0)
}

// longer compares durations; none is the longest.
func longer(was, is string) int {
	switch {
	case was == is:
		return 0
	case is == "":
		return 1
	case was == "":
		return -1
	}
	a, _ := time.ParseDuration(was)
	b, _ := time.ParseDuration(is)
	return sign(b > a, b < a)
}

func compareDecimals(a, b string) int {
	ai, af, _ := strings.Cut(a, ".")
	bi, bf, _ := strings.Cut(b, ".")
	n := max(len(ai), len(bi))
	m := max(len(af), len(bf))
	pad := func(i, f string) string {
		return strings.Repeat("0", n-len(i)) + i + f + strings.Repeat("0", m-len(f))
	}
	return strings.Compare(pad(ai, af), pad(bi, bf))
}

func isDecimal(s string) bool {
	whole, part, dot := strings.Cut(s, ".")
	return len(s) < 30 && whole != "" && strings.Trim(whole, "0123456789") == "" && strings.Trim(part, "0123456789") == "" && (!dot || part != "")
}

// tiers from weakest to strongest.
var tiers = []string{"", "native", "wasm", "process", "container", "gvisor"}

func weaker(was, is string) int {
	a, b := slices.Index(tiers, was), slices.Index(tiers, is)
	return sign(b < a, b > a)
}

// set collects the entries of a list.
type set map[string]bool

func (s set) add(x string) {
	if x != "" {
		s[x] = true
	}
}

func (s set) sorted() []string {
	out := slices.Sorted(maps.Keys(s))
	if out == nil {
		return []string{}
	}
	return out
}
