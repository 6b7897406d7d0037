package studio

import (
	"net/http"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/usage"
)

// agentBounds are the tools that an agent is offered, and its limits; 0 and "" are none.
type agentBounds struct {
	Node  string   `json:"node"` // its path
	Tools []string `json:"tools"`
	Turns int64    `json:"turns,omitempty"`
	Calls int64    `json:"calls,omitempty"`
	Cost  string   `json:"cost,omitempty"`
}

// planPart is what the page needs of a part of a plan.
type planPart struct {
	Kind  string     `json:"kind"`
	Node  string     `json:"node"`
	Verb  string     `json:"verb"`
	Tools []string   `json:"tools"`
	Turns *int64     `json:"max_iterations"`
	Calls *int64     `json:"max_tool_calls"`
	Cost  string     `json:"max_cost_usd"`
	Parts []planPart `json:"parts"`
}

// agentsIn lists the agents of a plan, with those inside of others.
func agentsIn(parts []planPart, path string) []agentBounds {
	var list []agentBounds
	for i := range parts {
		p, at := &parts[i], path
		if p.Kind == "step" {
			at = strings.TrimPrefix(path+"/"+p.Node, "/")
		}
		if p.Verb == "agent" {
			one := agentBounds{Node: at, Tools: append([]string{}, p.Tools...), Cost: p.Cost}
			if p.Turns != nil {
				one.Turns = *p.Turns
			}
			if p.Calls != nil {
				one.Calls = *p.Calls
			}
			list = append(list, one)
		}
		list = append(list, agentsIn(p.Parts, at)...)
	}
	return list
}

// agentSpent is what an agent has used of its limits.
type agentSpent struct {
	Node    string    `json:"node"` // its path
	Scope   string    `json:"scope"`
	Times   int       `json:"times"` // how often the node has asked it; the rest is of the time with the most turns
	Turns   int       `json:"turns"`
	Calls   int       `json:"calls"` // of tools, without denied ones
	Tokens  int64     `json:"tokens"`
	CostUSD usage.USD `json:"cost_usd"`
}

func (s *Server) agentsSpent(_ http.ResponseWriter, r *http.Request) (any, error) {
	reader, err := s.opts.Runs.Follow(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if err := reader.All(); err != nil && len(reader.Calls()) == 0 {
		return nil, err
	}
	return map[string]any{"agents": spentIn(reader.Calls())}, nil
}

// turnOf divides the key of a call of an agent, as in review[0]/search: what comes before the number is its scope.
func turnOf(key string) (scope, rest string) {
	at := strings.LastIndexByte(key, '/')
	if at < 1 || key[at-1] != ']' {
		return "", ""
	}
	return key[:strings.LastIndexByte(key[:at], '[')], key[at+1:]
}

// spentIn adds up the calls of each agent. Attempts in whose place another one is count as one.
func spentIn(calls []runs.Call) []agentSpent {
	scopes := map[string]*agentSpent{}
	var order []string
	for i := range calls {
		c := &calls[i]
		scope, rest := turnOf(c.Key)
		if !c.Metered || rest != "model" {
			continue
		}
		if scopes[scope] == nil {
			scopes[scope] = &agentSpent{Node: journal.NodePath(scope), Scope: scope}
			order = append(order, scope)
		}
		one := scopes[scope]
		one.Tokens, one.CostUSD = one.Tokens+c.Tokens, one.CostUSD+c.CostUSD
		if !c.Again {
			one.Turns++
		}
	}
	for i := range calls {
		scope, rest := turnOf(calls[i].Key)
		if one := scopes[scope]; one != nil && rest != "model" && !calls[i].Again && !calls[i].Denied {
			one.Calls++
		}
	}
	most := map[string]int{}
	list := []agentSpent{}
	for _, scope := range order {
		one := scopes[scope]
		at, known := most[one.Node]
		if !known {
			at, most[one.Node] = len(list), len(list)
			list = append(list, *one)
		}
		times := list[at].Times + 1
		if one.Turns > list[at].Turns {
			list[at] = *one
		}
		list[at].Times = times
	}
	return list
}
