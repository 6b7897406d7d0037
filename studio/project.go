package studio

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/cli"
	"github.com/flowgen-dev/flowgen/studio/layout"
)

// aFile is a line of the list of workflows.
type aFile struct {
	File        string          `json:"file"`
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	Dialect     string          `json:"dialect,omitempty"`
	Errors      int             `json:"errors"`
	Warnings    int             `json:"warnings"`
	AtMost      json.RawMessage `json:"at_most,omitempty"`
	Agents      int             `json:"agents"`
	Last        *aRun           `json:"last,omitempty"` // run
	Problem     string          `json:"problem,omitempty"`
}

func (s *Server) project(http.ResponseWriter, *http.Request) (any, error) {
	names, err := s.opts.Project.Files()
	if err != nil {
		return nil, err
	}
	list, err := s.opts.Runs.List()
	problem := ""
	if err != nil {
		problem = err.Error()
	}
	files := []aFile{}
	for _, name := range names {
		f := aFile{File: name}
		w, err := s.opts.Project.Workflow(name)
		if err != nil {
			f.Problem = err.Error()
			files = append(files, f)
			continue
		}
		f.Name, f.Description, f.Dialect, f.Errors, f.Warnings, f.AtMost, f.Agents = w.Name, w.Description, w.Dialect, w.Errors, w.Warnings, w.AtMost, len(w.Agents)
		for i := range list {
			if list[i].Workflow == w.Name && w.Name != "" {
				f.Last = &aRun{ID: list[i].ID, Workflow: w.Name, Begin: list[i].Begin, State: s.stateOf(list[i].ID, list[i].Outcome)}
				s.fill(f.Last)
				break
			}
		}
		files = append(files, f)
	}
	return map[string]any{"root": s.opts.Root, "version": s.opts.Version, "read_only": s.opts.ReadOnly, "no_run": s.opts.NoRun || s.opts.ReadOnly,
		"runs": s.opts.Runs.String(), "problem": problem, "files": files}, nil
}

func (s *Server) workflow(_ http.ResponseWriter, r *http.Request) (any, error) {
	file := r.URL.Query().Get("file")
	if err := s.projectFile(file); err != nil {
		return nil, err
	}
	w, err := s.opts.Project.Workflow(file)
	if err != nil {
		return nil, err
	}
	out := map[string]any{"file": w.File, "name": w.Name, "description": w.Description, "dialect": w.Dialect, "source": w.Source, "diagnostics": w.Diagnostics,
		"errors": w.Errors, "warnings": w.Warnings, "plan": w.Plan, "manifest": w.Manifest, "go": w.Go, "places": w.Places, "agents": w.Agents}
	if w.AtMost != nil {
		out["at_most"] = w.AtMost
	}
	if w.Input != nil {
		out["input"] = w.Input
	}
	if w.Info != nil {
		out["graph"] = pictureOf(cli.ShapeOf(w.Info))
	}
	return out, nil
}

// picture is a graph with places, as the page draws it.
type picture struct {
	W     float64    `json:"w"`
	H     float64    `json:"h"`
	Nodes []drawn    `json:"nodes"` // those around others first
	Edges []drawnWay `json:"edges"`
}

type drawn struct {
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

type drawnWay struct {
	From   string       `json:"from"`
	To     string       `json:"to"`
	Points [][2]float64 `json:"points"`
	Label  string       `json:"label,omitempty"`
	LabelX float64      `json:"label_x"`
	LabelY float64      `json:"label_y"`
	Back   bool         `json:"back,omitempty"`
}

// pictureOf lays a graph out.
func pictureOf(shape *cli.Shape) *picture {
	root := nodeOf(shape)
	layout.Place(root)
	p := &picture{W: root.W, H: root.H, Nodes: []drawn{}, Edges: []drawnWay{}}
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

func (p *picture) add(s *cli.Shape, n *layout.Node) {
	for i, part := range s.Parts {
		at := n.Parts[i]
		kind := ""
		if len(part.About) > 0 {
			kind, _, _ = strings.Cut(part.About[0], " ")
		}
		p.Nodes = append(p.Nodes, drawn{Path: part.Path, ID: part.ID, Kind: kind, About: part.About, X: at.X, Y: at.Y, W: at.W, H: at.H, Box: len(part.Parts) > 0, End: part.End})
		p.add(part, at)
	}
	for i, l := range s.Links {
		way := n.Paths[i]
		p.Edges = append(p.Edges, drawnWay{From: s.Parts[l.From].Path, To: s.Parts[l.To].Path, Points: way.Points, Label: l.Label, LabelX: way.LabelX, LabelY: way.LabelY, Back: way.Back})
	}
}
