package ir

import "github.com/flowgen-dev/flowgen/ir/source"

// Swarm asks agents side by side, each what its own prompt says, and may ask one more about what they said.
type Swarm struct {
	Do        Body // the agents in their order, and after them the synthesis
	Synthesis bool // the last node of Do is asked about the others
	Parallel  int  // agents at a time; 0: all
	Keep      bool // an agent that fails says nothing; else the swarm fails with it
	Span      source.Span
}

func (*Swarm) verb() {}

// Agents are the nodes that are asked side by side.
func (s *Swarm) Agents() []*Node {
	if s.Synthesis {
		return s.Do.Nodes[:len(s.Do.Nodes)-1]
	}
	return s.Do.Nodes
}

// Last is the synthesis; nil: there is none.
func (s *Swarm) Last() *Node {
	if !s.Synthesis {
		return nil
	}
	return s.Do.Nodes[len(s.Do.Nodes)-1]
}
