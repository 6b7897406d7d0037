package cli

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// A drawing is a workflow's graph before it is written in a language of graphs.
type drawing struct {
	name  string
	list  []*vertex // the workflow's own, in the order of the node table
	place map[string]*vertex
	edges []flow.Edge // between the workflow's own nodes
	next  int         // number of the next vertex
	runs  bool        // states are those of a run
}

// A vertex is a node of the drawing, or with parts a cluster. Drawings name vertices n0, n1, ... so that no id of the workflow can be
// a word of a language of graphs.
type vertex struct {
	name  string // n0
	id    string
	about []string // lines below the id
	tools []string // of an agent
	end   bool     // or the start
	state string   // of a run: a state of calls, idle, or empty

	parts []*vertex // of a body
	links []link    // between them
}

// A link leads from one part of a body to another.
type link struct {
	from, to *vertex
	label    string
}

// The state of a node that could have been called, and was not.
const idle = "idle"

// drawingOf draws a workflow from its table of nodes, its edges and its plan.
func drawingOf(info *flow.Info) *drawing {
	d := &drawing{name: info.Name, place: map[string]*vertex{}, edges: info.Edges}
	var p plan
	if text := info.Facts.Plan(); text != "" {
		_ = json.Unmarshal([]byte(text), &p) // a drawing without it says less
	}
	steps, inside := map[string]*planPart{}, map[string]bool{}
	top(p.Parts, "", steps, inside)
	for _, n := range info.Nodes {
		if _, ok := steps[n.ID]; ok || !inside[n.ID] {
			d.add(n.ID, false)
		}
	}
	for _, e := range info.Edges {
		d.add(e.From, e.From == "start") // no native node may be called start, and none at all end
		d.add(e.To, e.To == "end")
	}
	for _, v := range d.list {
		if p := steps[v.id]; p != nil {
			d.describe(v, p)
			if p.When != "" && !slices.ContainsFunc(info.Edges, func(e flow.Edge) bool { return e.To == v.id && e.Label != "" }) {
				v.about = append(v.about, "if "+p.When)
			}
		}
	}
	return d
}

// top files the steps of a workflow's own body, with the condition around each as its When, and those inside of others.
func top(list []planPart, when string, steps map[string]*planPart, inside map[string]bool) {
	for i := range list {
		p := &list[i]
		switch {
		case p.Kind != "step":
			w := when
			if p.Kind == "if" {
				w = p.When
			}
			top(p.Parts, w, steps, inside)
		case steps[p.Node] == nil:
			own := *p
			own.When = when
			steps[p.Node] = &own
			hidden(p.Parts, inside)
		}
	}
}

func hidden(list []planPart, inside map[string]bool) {
	for i := range list {
		if list[i].Kind == "step" {
			inside[list[i].Node] = true
		}
		hidden(list[i].Parts, inside)
	}
}

func (d *drawing) add(id string, end bool) {
	if d.place[id] == nil {
		v := d.vertex(id)
		v.end = end
		d.place[id], d.list = v, append(d.list, v)
	}
}

func (d *drawing) vertex(id string) *vertex {
	v := &vertex{name: "n" + itoa(d.next), id: id}
	d.next++
	return v
}

// describe says what a step does, and draws its body.
func (d *drawing) describe(v *vertex, p *planPart) {
	what := p.Verb
	for _, of := range []string{p.Tool, p.Model, p.Flow, p.For} {
		if of != "" {
			what += " " + of
			break
		}
	}
	v.about = append(v.about, what)
	if bound := string(p.MaxItems); bound != "" && bound != "null" && p.Verb == "map" {
		v.about = append(v.about, "at most "+bound+" items")
	}
	if len(p.Tools) > 0 {
		v.about = append(v.about, "tools: "+strings.Join(p.Tools, ", "))
	}
	if p.Until != "" {
		v.about = append(v.about, "until "+p.Until)
	}
	for _, c := range p.Catch {
		v.about = append(v.about, "on "+c.Code+": "+c.To)
	}
	if p.Verb == "agent" {
		v.tools = p.Tools
	}
	d.body(v, p.Parts, nil)
}

// A way is where the next part of a body comes from, and under which condition.
type way struct {
	from  *vertex
	label string
}

// body draws parts one after the other, after the given ways, and returns the ways that lead on.
func (d *drawing) body(in *vertex, list []planPart, from []way) []way {
	for i := range list {
		from = d.part(in, &list[i], from)
	}
	return from
}

func (d *drawing) part(in *vertex, p *planPart, from []way) []way {
	labelled := func(label string) []way {
		out := slices.Clone(from)
		if len(out) == 0 {
			out = []way{{}}
		}
		for i := range out {
			out[i].label = label
		}
		return out
	}
	var out []way
	switch p.Kind {
	case "step":
		v := d.vertex(p.Node)
		in.parts = append(in.parts, v)
		d.describe(v, p)
		for _, w := range from {
			if w.from != nil {
				in.links = append(in.links, link{w.from, v, w.label})
			} else if w.label != "" {
				v.about = append(v.about, "if "+w.label)
			}
		}
		return []way{{from: v}}
	case "if":
		return append(d.body(in, p.Parts, labelled(p.When)), from...)
	case "choose":
		for i := range p.Parts {
			part := p.Parts[i]
			label := strings.TrimSpace(strings.TrimPrefix(p.When+" is "+part.Case, " is "))
			out = append(out, d.part(in, &part, labelled(label))...)
		}
		return out
	case "parallel", "scheduled":
		for i := range p.Parts {
			out = append(out, d.part(in, &p.Parts[i], from)...)
		}
		return out
	}
	return d.body(in, p.Parts, from)
}

// paint gives vertices the states that their calls have had in a run.
func (d *drawing) paint(in *inspection) {
	d.runs = true
	last := map[string]string{} // by key: the state of the last attempt
	for _, c := range in.Calls.all() {
		if !c.Again {
			last[c.Key] = c.State
		}
	}
	states := map[string][]string{} // by path of nodes
	for key, state := range last {
		path := ""
		for _, name := range strings.Split(key, "/") {
			path = strings.TrimPrefix(path+"/"+name[:end(name)], "/")
			states[path] = append(states[path], state)
		}
	}
	for _, v := range d.list {
		v.paint("", states)
	}
}

// end is where the id ends in a name of a key: `probe[3]`, `draft#2`.
func end(name string) int {
	if i := strings.IndexAny(name, "[#"); i >= 0 {
		return i
	}
	return len(name)
}

// worst are states in the order in which one of many is shown.
var worst = []string{callFailed, callWaiting, callInDoubt, callOpen, callCancelled, callDone}

func (v *vertex) paint(path string, states map[string][]string) {
	path = strings.TrimPrefix(path+"/"+v.id, "/")
	had := states[path]
	for _, state := range worst {
		if v.state == "" && slices.Contains(had, state) {
			v.state = state
		}
	}
	computes := len(v.about) == 0 || slices.Contains([]string{"let", "fail", "wait", "parse"}, strings.SplitN(v.about[0], " ", 2)[0])
	if v.state == "" && !v.end && !computes {
		v.state = idle
	}
	for _, p := range v.parts {
		p.paint(path, states)
	}
}
