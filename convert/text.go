package convert

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// PyText is the Go function that writes a value as Python's str() does.
const PyText = schema.RuntimePath + "/dynamic/py.Text"

// Plain reports whether an expression can write values of a type as Python does.
func Plain(t *schema.Type) bool {
	switch t.Kind {
	case schema.String, schema.Enum, schema.Int, schema.Bool:
		return true
	}
	return false
}

// Shown is a place of the native file in text, as Python writes it. If its type is not Plain the place is the result of a node,
// or a part of it: the text is made by a node that Shown adds behind that one.
func (c *Converter) Shown(place string, t *schema.Type) string {
	if t.Kind == schema.Bool {
		place += ` ? "True" : "False"`
	} else if !Plain(t) {
		place = c.written(place)
	}
	return "{{ " + place + " }}"
}

// A written is a node that writes a place as text.
type written struct{ id, place string }

// written is the id of the node that writes a place, one for all its readers.
func (c *Converter) written(place string) string {
	if i := slices.IndexFunc(c.texts, func(w written) bool { return w.place == place }); i >= 0 {
		return c.texts[i].id
	}
	id := Free(NativeID(strings.ReplaceAll(place, ".", "_")+"_text"), func(id string) bool {
		return c.FreeID(id) != id || slices.ContainsFunc(c.texts, func(w written) bool { return w.id == id })
	})
	c.texts = append(c.texts, written{id, place})
	return id
}

// addTexts puts the nodes that write places behind those whose results they read, on all ways that lead on from there.
func (c *Converter) addTexts() {
	body := &c.Out.Body
	for _, w := range slices.Backward(c.texts) {
		of, _, _ := strings.Cut(w.place, ".")
		if !slices.ContainsFunc(body.Nodes, func(n *ir.Node) bool { return n.ID.Name == of }) {
			c.Refuse(c.Workflow.Name.Span, "make its text in a node: `go: "+PyText+"`", "%s is written as Python writes it, and no node gives it", w.place)
			continue
		}
		insertAfter(body, of, &ir.Node{ID: Name(w.id), Verb: Call(PyText, Pair("v", Ref(w.place)))})
	}
}

// insertAfter puts a node behind another, on all ways that lead on from there.
func insertAfter(b *ir.Body, of string, n *ir.Node) {
	i := slices.IndexFunc(b.Nodes, func(n *ir.Node) bool { return n.ID.Name == of })
	b.Nodes = slices.Insert(b.Nodes, i+1, n)
	first := -1
	for k, e := range b.Edges {
		if e.From.Name == of {
			own := *e
			own.From, b.Edges[k] = n.ID, &own
			if first < 0 {
				first = k
			}
		}
	}
	if first < 0 && len(b.Edges) == 0 && len(b.Nodes) > 2 {
		return // results give the order
	}
	b.Edges = slices.Insert(b.Edges, max(first, 0), &ir.Edge{From: Name(of), To: []ir.Ident{n.ID}})
}

// InsertBefore puts a node before another, on all ways that lead there.
func InsertBefore(b *ir.Body, reader string, n *ir.Node) {
	i := slices.IndexFunc(b.Nodes, func(n *ir.Node) bool { return n.ID.Name == reader })
	b.Nodes[i].Join, n.Join = n.Join, b.Nodes[i].Join
	b.Nodes = slices.Insert(b.Nodes, i, n)
	redirect := func(list []ir.Ident) []ir.Ident {
		own := slices.Clone(list)
		for k, to := range own {
			if to.Name == reader {
				own[k] = ir.Ident{Name: n.ID.Name, Span: to.Span}
			}
		}
		return own
	}
	last := -1
	for k, e := range b.Edges {
		if slices.ContainsFunc(e.To, func(to ir.Ident) bool { return to.Name == reader }) {
			last = k
		}
		own := *e
		own.To, own.Default, own.Cases = redirect(e.To), redirect(e.Default), nil
		for _, x := range e.Cases {
			to := *x
			to.To = redirect(x.To)
			own.Cases = append(own.Cases, &to)
		}
		b.Edges[k] = &own
	}
	for _, m := range b.Nodes {
		for k, x := range m.Catch {
			if x.Target.Name == reader {
				own := *x
				own.Target.Name = n.ID.Name
				m.Catch = slices.Clone(m.Catch)
				m.Catch[k] = &own
			}
		}
	}
	if last < 0 {
		last = len(b.Edges) - 1
	}
	b.Edges = slices.Insert(b.Edges, last+1, &ir.Edge{From: n.ID, To: Names(reader)})
}
