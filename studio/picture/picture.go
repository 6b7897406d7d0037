// Package picture lays the graph of a workflow out for pages that draw it: studio's and the playground's.
package picture

import (
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/cli"
	"github.com/flowgen-dev/flowgen/studio/layout"
)

// A Picture is a graph with places, as pages draw it.
type Picture struct {
	W     float64 `json:"w"`
	H     float64 `json:"h"`
	Nodes []Node  `json:"nodes"` // those around others first
	Edges []Way   `json:"edges"`
}

// A Node is a box.
type Node struct {
	Path  string   `json:"path"`
	ID    string   `json:"id"`
	Kind  string   `json:"kind"` // what it does, in a word
	About []string `json:"about,omitempty"`
	X     float64  `json:"x"`
	Y     float64  `json:"y"`
	W     float64  `json:"w"`
	H     float64  `json:"h"`
	Box   bool     `json:"box,omitempty"` // it is around others
	End   bool     `json:"end,omitempty"`
}

// A Way is a line from one node to another.
type Way struct {
	From   string       `json:"from"`
	To     string       `json:"to"`
	Points [][2]float64 `json:"points"`
	Label  string       `json:"label,omitempty"`
	LabelX float64      `json:"label_x"`
	LabelY float64      `json:"label_y"`
	Back   bool         `json:"back,omitempty"`
}

// Of lays a graph out.
func Of(shape *cli.Shape) *Picture {
	root := nodeOf(shape)
	layout.Place(root)
	p := &Picture{W: root.W, H: root.H, Nodes: []Node{}, Edges: []Way{}}
	p.add(shape, root)
	return p
}

func nodeOf(s *cli.Shape) *layout.Node {
	n := &layout.Node{Name: s.ID, Note: note(s)}
	for _, part := range s.Parts {
		n.Parts = append(n.Parts, nodeOf(part))
	}
	for _, l := range s.Links {
		n.Links = append(n.Links, layout.Link{From: l.From, To: l.To, Label: l.Label})
	}
	return n
}

// note is what a box says of its node besides the id.
func note(s *cli.Shape) string {
	if len(s.About) == 0 {
		return ""
	}
	_, what, ok := strings.Cut(s.About[0], " ")
	if !ok {
		return s.About[0]
	}
	if at := strings.LastIndexByte(what, '@'); at > 0 {
		what = what[:at]
	}
	return what[strings.LastIndexByte(what, '.')+1:]
}

func (p *Picture) add(s *cli.Shape, n *layout.Node) {
	for i, part := range s.Parts {
		at := n.Parts[i]
		kind := ""
		if len(part.About) > 0 {
			kind, _, _ = strings.Cut(part.About[0], " ")
		}
		p.Nodes = append(p.Nodes, Node{Path: part.Path, ID: part.ID, Kind: kind, About: part.About, X: at.X, Y: at.Y, W: at.W, H: at.H, Box: len(part.Parts) > 0, End: part.End})
		p.add(part, at)
	}
	for i, l := range s.Links {
		way := n.Paths[i]
		p.Edges = append(p.Edges, Way{From: s.Parts[l.From].Path, To: s.Parts[l.To].Path, Points: way.Points, Label: l.Label, LabelX: way.LabelX, LabelY: way.LabelY, Back: way.Back})
	}
}
