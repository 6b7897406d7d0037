// Package picture lays the graph of a workflow out for pages that draw it: studio's and the playground's.
package picture

import (
	"maps"
	"slices"
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
	Box   bool     `json:"box,omitempty"`  // it is around others
	Fold  int      `json:"fold,omitempty"` // how many others are in it that are not shown
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

// many is the number of nodes from which a graph is shown with closed boxes.
const many = 300

// Of lays a graph out, with agents closed; a large one with all boxes closed.
func Of(shape *cli.Shape) *Picture { return Folded(shape, nil) }

// Folded lays a graph out in which the boxes of these paths are closed. Without a list they are those of Of.
func Folded(shape *cli.Shape, paths []string) *Picture {
	shape = withTools(shape)
	if paths == nil {
		paths = closed(shape, size(shape) > many)
	}
	shape, inside := fold(shape, paths)
	root := nodeOf(shape)
	layout.Place(root)
	p := &Picture{W: root.W, H: root.H, Nodes: []Node{}, Edges: []Way{}}
	p.add(shape, root, inside)
	return p
}

// withTools makes the tools of agents parts of them.
func withTools(s *cli.Shape) *cli.Shape {
	out := *s
	out.Parts = nil
	for _, part := range s.Parts {
		out.Parts = append(out.Parts, withTools(part))
	}
	for _, tool := range s.Tools {
		name, _, _ := strings.Cut(tool, "@")
		name = name[strings.LastIndexByte(name, '.')+1:]
		out.Parts = append(out.Parts, &cli.Shape{Path: s.Path + "/" + name, ID: name, About: []string{"tool " + tool}})
	}
	return &out
}

func size(s *cli.Shape) int {
	n := len(s.Parts)
	for _, part := range s.Parts {
		n += size(part)
	}
	return n
}

func closed(s *cli.Shape, all bool) []string {
	var paths []string
	for _, part := range s.Parts {
		if len(part.Tools) > 0 || all && len(part.Parts) > 0 {
			paths = append(paths, part.Path)
		}
		paths = append(paths, closed(part, all)...)
	}
	return paths
}

// fold leaves out what is in closed boxes, and counts it by the path of the box.
func fold(s *cli.Shape, paths []string) (*cli.Shape, map[string]int) {
	out, inside := *s, map[string]int{}
	out.Parts = nil
	for _, part := range s.Parts {
		if n := size(part); n > 0 && slices.Contains(paths, part.Path) {
			small := *part
			small.Parts, small.Links = nil, nil
			inside[part.Path] = n
			out.Parts = append(out.Parts, &small)
			continue
		}
		small, in := fold(part, paths)
		maps.Copy(inside, in)
		out.Parts = append(out.Parts, small)
	}
	return &out, inside
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
	if _, model, ok := strings.Cut(what, ":"); ok { // provider:model
		return model
	}
	return what[strings.LastIndexByte(what, '.')+1:]
}

func (p *Picture) add(s *cli.Shape, n *layout.Node, inside map[string]int) {
	for i, part := range s.Parts {
		at := n.Parts[i]
		kind := ""
		if len(part.About) > 0 {
			kind, _, _ = strings.Cut(part.About[0], " ")
		}
		p.Nodes = append(p.Nodes, Node{Path: part.Path, ID: part.ID, Kind: kind, About: part.About, X: at.X, Y: at.Y, W: at.W, H: at.H, Box: len(part.Parts) > 0, Fold: inside[part.Path], End: part.End})
		p.add(part, at, inside)
	}
	for i, l := range s.Links {
		way := n.Paths[i]
		p.Edges = append(p.Edges, Way{From: s.Parts[l.From].Path, To: s.Parts[l.To].Path, Points: way.Points, Label: l.Label, LabelX: way.LabelX, LabelY: way.LabelY, Back: way.Back})
	}
}
