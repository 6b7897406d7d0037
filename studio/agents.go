package studio

import "strings"

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
