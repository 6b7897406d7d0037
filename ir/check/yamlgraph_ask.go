package check

import (
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
)

// tokenAsk checks a node of a graph of tokens that asks a model, and makes its questions.
func (c *checker) tokenAsk(s *Step) {
	a := s.Node.Dynamic.Token.Ask
	for _, v := range a.Values {
		if v.Value != nil {
			ir.ValueReferences(v.Value, c.dynamicReference)
		}
	}
	for _, id := range append(s.Node.Dynamic.Reads, s.Node.Dynamic.Token.Requires...) {
		if c.state[id.Name] == nil {
			c.reportUnknown(diag.UnknownName, "the state has no field \""+id.Name+"\", which the node requires", id.Span, id.Name, c.stateNames())
			return
		}
	}
	s.Node.Retry = &ir.Retry{Attempts: 3, Base: &ir.Duration{Value: time.Second}, Cap: &ir.Duration{Value: 30 * time.Second}}
	if a.Agent == nil {
		s.Ask = &Ask{Model: c.graphModel(a.Model), Fallback: c.graphModel(a.Fallback), Prompt: &Prompt{}}
		for _, k := range a.Candidates {
			s.Ask.Race = append(s.Ask.Race, c.graphModel(k.Use))
			s.Node.Retry = nil
		}
		return
	}
	most := int64(a.Agent.Iterations)
	unbounded := int64(ir.Unbounded)
	s.Agent = &Agent{Model: c.graphModel(a.Model), name: a.Model, Policy: &ir.Policy{MaxIterations: &most, MaxToolCalls: &unbounded}}
	for _, id := range a.Agent.Tools {
		if t := c.resolveTool(id); t != nil {
			c.used[t] = true
			s.Agent.Tools = append(s.Agent.Tools, Choice{id.Name, t, id.Span})
		}
	}
}

// promptFunc checks the function that makes a node's prompt.
func (c *checker) promptFunc(n *ir.Node) {
	a := n.Dynamic.Token.Ask
	if a != nil && a.Prompt != nil && a.Prompt.Text != nil && c.textOf[a.Prompt.Text] == nil {
		c.textFunc(a.Prompt.Text)
	}
}

// graphModel is a model that the reader has declared, which the environment completes; nil when there is none.
func (c *checker) graphModel(id ir.Ident) *ir.Model {
	for _, m := range c.wf.Models {
		if m.Name.Name == id.Name && id.Name != "" {
			return m
		}
	}
	return nil
}

// rendering names the function that makes a prompt; nodes with the same one share it.
func (n *Names) rendering(s *Step) {
	d := s.Node.Dynamic
	if d == nil || d.Token == nil || d.Token.Ask == nil {
		return
	}
	if r := d.Token.Ask.Prompt; r != nil && n.Texts[r.Text] == "" {
		n.Texts[r.Text] = n.take(n.beside(s, "Prompt", "PromptText"), s.Node.ID.Span)
	}
}

// beside is a name made of a node's, which is not that of another node: the first suffix that fits, or else the last.
func (n *Names) beside(s *Step, suffixes ...string) string {
	locals := map[string]bool{}
	for _, name := range n.Locals {
		locals[name] = true
	}
	name := ""
	for _, suffix := range suffixes {
		if name = strings.TrimSuffix(n.Nodes[s], "Node") + suffix; !locals[name] && !n.Taken(name) {
			break
		}
	}
	return name
}
