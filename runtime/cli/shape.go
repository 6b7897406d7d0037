package cli

import (
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// A Shape is a node of a workflow's graph, as `graph` draws it: for programs that draw it in another way.
type Shape struct {
	Path  string   `json:"path"` // ids joined by "/", as keys of calls have them
	ID    string   `json:"id"`
	About []string `json:"about,omitempty"` // what it does, a line each
	End   bool     `json:"end,omitempty"`   // or the start

	Parts []*Shape `json:"parts,omitempty"` // of a body
	Links []Link   `json:"links,omitempty"` // between them, by their places in Parts
	Tools []string `json:"tools,omitempty"` // of an agent, by their full names
}

// A Link leads from one part to another.
type Link struct {
	From  int    `json:"from"`
	To    int    `json:"to"`
	Label string `json:"label,omitempty"`
}

// ShapeOf returns the graph of a workflow: its nodes are the parts of the result, which has no id.
func ShapeOf(info *flow.Info) *Shape {
	d := drawingOf(info)
	whole, at := &Shape{}, map[string]int{}
	for i, v := range d.list {
		at[v.id] = i
		whole.Parts = append(whole.Parts, v.shape(""))
	}
	for _, e := range d.edges {
		whole.Links = append(whole.Links, Link{at[e.From], at[e.To], e.Label})
	}
	return whole
}

func (v *vertex) shape(path string) *Shape {
	s := &Shape{Path: strings.TrimPrefix(path+"/"+v.id, "/"), ID: v.id, About: v.about, End: v.end, Tools: v.tools}
	at := map[*vertex]int{}
	for i, p := range v.parts {
		at[p] = i
		s.Parts = append(s.Parts, p.shape(s.Path))
	}
	for _, l := range v.links {
		s.Links = append(s.Links, Link{at[l.from], at[l.to], l.label})
	}
	return s
}
