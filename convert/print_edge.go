package convert

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// edges are the edges. Plain ones that stand one after the other, and of which the file says nothing, are one line: where they
// lead to the same nodes, and where they follow each other.
func (c *Converter) edges(list []*ir.Edge) doc.Value {
	l := &doc.List{}
	for len(list) > 0 {
		e, n := list[0], 1
		if !plain(e) {
			l.Add(c.edge(e), e.Span)
			list = list[1:]
			continue
		}
		from, to := c.id(e.From), c.ids(e.To)
		for ; (to[0] != "end" || !e.Span.IsZero()) && n < len(list) && plain(list[n]) && list[n].Span == e.Span && slices.Equal(c.ids(list[n].To), to); n++ {
			from += ", " + c.id(list[n].From)
		}
		list = list[n:]
		text, k := from+" -> "+strings.Join(to, ", "), len(l.Items)
		if k > 0 && n == 1 && len(to) == 1 && e.Span.IsZero() && l.Items[k-1].From.IsZero() {
			if before, ok := l.Items[k-1].Value.(doc.Scalar); ok && strings.HasSuffix(string(before), " -> "+from) && !strings.Contains(string(before), ",") {
				l.Items[k-1].Value = before + " -> " + doc.Scalar(to[0])
				continue
			}
		}
		l.Add(doc.Scalar(text), e.Span)
	}
	return l
}

func plain(e *ir.Edge) bool { return e.When == nil && e.Switch == nil && !e.Back }

func (c *Converter) ids(list []ir.Ident) (names []string) {
	for _, id := range list {
		names = append(names, c.id(id))
	}
	return names
}

func (c *Converter) targets(list []ir.Ident) doc.Value {
	if len(list) == 1 {
		return doc.Scalar(c.id(list[0]))
	}
	return doc.Words(c.ids(list)...)
}

// edge is an edge with a condition, a switch, or a way back.
func (c *Converter) edge(e *ir.Edge) doc.Value {
	m := doc.Flow(doc.Pair("from", doc.Scalar(c.id(e.From))))
	if len(e.To) > 0 {
		m.Add("to", c.targets(e.To), source.Span{})
	}
	if e.When != nil {
		m.Add("when", c.condition(e.When), source.Span{})
	}
	if e.Switch != nil {
		m.Add("switch", c.condition(e.Switch), source.Span{})
		cases := doc.Flow()
		for _, k := range e.Cases {
			s, ok := k.Value.(*ir.Scalar)
			if !ok {
				c.Refuse(e.Span, "write edges with `when`", "a case of this switch is not converted")
				continue
			}
			text := s.Text.Value
			if s.Tag == "!!str" && doc.PlainForm.MatchString(text) {
				text = doc.Quoted(text)
			} else if s.Tag == "!!str" {
				text = doc.Escaped(text)
			}
			cases.Add(text, c.targets(k.To), source.Span{})
		}
		m.Add("cases", cases, source.Span{})
		if len(e.Default) > 0 {
			m.Add("default", c.targets(e.Default), source.Span{})
		}
	}
	if e.Back {
		m.Add("max", most(e.Max), source.Span{})
	}
	if e.Exhausted != nil {
		m.Add("exhausted", doc.Scalar(c.id(*e.Exhausted)), source.Span{})
	}
	return m
}

// condition is an expression where the language reads one without a `$`.
func (c *Converter) condition(e *ir.Expr) doc.Value {
	text := c.expr(e.Text.Value, e.Node, 0)
	if q := doc.Quoted("$" + text); q == "$"+text && doc.PlainForm.MatchString(text) {
		return doc.Scalar(text)
	}
	return doc.Scalar(doc.Quoted(text))
}
