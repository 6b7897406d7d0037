package stargraph

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// edges writes the edges. Those that only follow each other are one line.
func (c *converter) edges() *doc.List {
	l := &doc.List{}
	var chain []string
	end := func() {
		if len(chain) > 0 {
			l.Add(doc.Scalar(strings.Join(chain, " -> ")), source.Span{})
		}
		chain = nil
	}
	for _, e := range c.Workflow.Body.Edges {
		if e.When == nil && e.Switch == nil && !e.Back && len(e.To) == 1 {
			from, to := c.Target(e.From), c.Target(e.To[0])
			if len(chain) == 0 || chain[len(chain)-1] != from {
				end()
				chain = []string{from}
			}
			chain = append(chain, to)
			continue
		}
		end()
		l.Add(c.edge(e), c.written(e.From, e.Span))
	}
	end()
	return l
}

// written is the place of an edge that the file writes, or of the routes of its node; nothing for one that follows from the
// order of nodes.
func (c *converter) written(id ir.Ident, at source.Span) source.Span {
	if slices.ContainsFunc(c.Workflow.Body.Nodes, func(n *ir.Node) bool { return n.ID.Span == at || n.Span == at }) {
		return c.Entry("routes", id.Name)
	}
	return at
}

func (c *converter) targets(ids []ir.Ident) doc.Value {
	if len(ids) == 1 {
		return doc.Scalar(c.Target(ids[0]))
	}
	l := &doc.List{Flow: true}
	for _, id := range ids {
		l.Add(doc.Scalar(c.Target(id)), source.Span{})
	}
	return l
}

// edge is an edge with a condition, a switch, or a way back.
func (c *converter) edge(e *ir.Edge) doc.Value {
	m := doc.Flow(doc.Pair("from", doc.Scalar(c.Target(e.From))))
	if len(e.To) > 0 {
		m.Add("to", c.targets(e.To), source.Span{})
	}
	if e.When != nil {
		m.Add("when", doc.Scalar(convert.Condition(c.Expr(e.When.Text.Value, e.When.Node))), source.Span{})
	}
	if e.Switch != nil {
		m.Add("switch", doc.Scalar(convert.Condition(c.Expr(e.Switch.Text.Value, e.Switch.Node))), source.Span{})
		cases := doc.Flow()
		for _, k := range e.Cases {
			s, ok := k.Value.(*ir.Scalar)
			if !ok {
				c.Refuse(e.Span, "", "a case of this switch is not converted")
				continue
			}
			text := s.Text.Value
			if s.Tag == "!!str" {
				text = caseKey(text)
			}
			cases.Add(text, c.targets(k.To), source.Span{})
		}
		m.Add("cases", cases, source.Span{})
		if len(e.Default) > 0 {
			m.Add("default", c.targets(e.Default), source.Span{})
		}
	}
	if e.Back {
		max := doc.Scalar("unbounded")
		if e.Max != 0 {
			max = doc.Number(e.Max)
		}
		m.Add("max", max, source.Span{})
	}
	if e.Exhausted != nil {
		m.Add("exhausted", doc.Scalar(c.Target(*e.Exhausted)), source.Span{})
	}
	return m
}

// caseKey is a text of a switch.
func caseKey(s string) string {
	if doc.PlainForm.MatchString(s) {
		return doc.Quoted(s)
	}
	return doc.Escaped(s)
}
