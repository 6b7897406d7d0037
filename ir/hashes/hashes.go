// Package hashes says which version of each node of a workflow this is. Of two versions of a workflow it tells which
// nodes do the same, so that what a journal holds about them holds still.
//
// The hash of a node covers everything that decides what its call does and which value it gives: its verb, the
// declaration of its tool with all sources of its module, its arguments, models, prompts, retry, timeout and handling
// of errors, and the body of a container. It does not cover positions, comments, layout, descriptions that nobody but
// people reads, names of files, and what other nodes give: From says which those are. It does
// not cover what becomes of a call in doubt, either: whoever learns that there is one can say so, and resume.
package hashes

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

// Set is the hashes of a workflow: 16 hexadecimal digits each.
//
// Paths are the ids of nodes joined by "/" through maps, loops and sub-workflows, as in the keys of a journal: a loop that
// an edge closes has the id of its first node. What is at "probe" covers the body of probe; what is at "probe/"
// does not, only what probe itself says: what it maps over, or what it gives to a workflow.
type Set struct {
	Graph string              `json:"graph"`          // of the entire workflow
	Lock  string              `json:"lock,omitempty"` // of flowgen.lock; "" when nothing asks for it
	Nodes map[string]string   `json:"nodes"`
	From  map[string][]string `json:"from"` // by path, what a node directly depends on: by edges, and by what it reads
}

// JSON is the set on one line, the same bytes for the same set.
func (s *Set) JSON() string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// maxPaths bounds the paths of a set: a workflow that runs others which run others can have any number. What is beyond
// stands for itself in the hash of the container.
const maxPaths = 4096

// Of makes the hashes of p.
func Of(p *check.Program) *Set {
	m := newMaker(p)
	out := &Set{Graph: m.program(p), Nodes: map[string]string{}, From: map[string][]string{}}
	if lock := p.WF.Lock; lock != nil {
		sum := sha256.Sum256([]byte(lock.Text))
		out.Lock = hex.EncodeToString(sum[:8])
	}
	w := &walk{m: m, out: out}
	w.program(p, "", scope{paths: map[*check.Step]string{}})
	for _, f := range w.later {
		f()
	}
	return out
}

// walk gives nodes their paths.
type walk struct {
	m     *maker
	out   *Set
	later []func() // when all nodes have their paths
}

// scope is one workflow, run from one place.
type scope struct {
	paths map[*check.Step]string
	flow  string // the path of the node that runs the workflow; empty for the outermost one

	rounds map[*check.Step][]string // what the paths of nodes in loops of a Block begin with
}

// program enters the nodes of a workflow below prefix.
func (w *walk) program(p *check.Program, prefix string, in scope) {
	in.rounds = map[*check.Step][]string{}
	for s, ids := range p.Body.Rounds() {
		for _, id := range ids {
			in.rounds[s] = append(in.rounds[s], prefix+id+"/")
		}
	}
	w.body(p.Body, nil, prefix, in, nil)
	for s, more := range in.rounds {
		for _, at := range more {
			w.out.Nodes[at+s.Node.ID.Name] = w.out.Nodes[in.paths[s]]
		}
	}
	w.later = append(w.later, func() { w.stateFrom(p, in) })
}

// body enters the nodes of a body, that of step of, below prefix.
func (w *walk) body(b *check.Body, of *check.Step, prefix string, in scope, up *names) {
	at := prefixes(b, prefix)
	for s, more := range in.rounds {
		at[s] = more[0]
	}
	for _, s := range b.Steps {
		in.paths[s] = at[s] + s.Node.ID.Name
	}
	known := namesOf(b, of, in.paths, up)
	for i, s := range b.Steps {
		if len(w.out.Nodes)+2 > maxPaths {
			b = &check.Body{Steps: b.Steps[:i]}
			break
		}
		path := in.paths[s]
		w.out.Nodes[path] = w.m.node(s)
		if s.Undo != nil {
			w.out.Nodes[path+ir.UndoSuffix] = w.m.node(s.Undo)
		}
		if s.Body != nil || s.Flow != nil {
			w.out.Nodes[path+"/"] = w.m.shell(s)
		}
		switch {
		case s.Body != nil:
			w.body(s.Body, s, path+"/", in, known)
		case s.Flow != nil:
			w.program(s.Flow, path+"/", scope{paths: map[*check.Step]string{}, flow: path})
		}
	}
	for _, s := range b.Steps {
		w.later = append(w.later, func() { w.from(s, in, known) })
	}
}

// prefixes are the paths that the nodes of a body are below: those inside of a loop of edges below its first node.
func prefixes(b *check.Body, prefix string) map[*check.Step]string {
	out := map[*check.Step]string{}
	var visit func(p *check.Plan, prefix string)
	visit = func(p *check.Plan, prefix string) {
		switch p.Kind {
		case check.Leaf:
			out[p.Step] = prefix
		case check.Repeat:
			prefix += p.Loop.Header.Node.ID.Name + "/"
		}
		for _, k := range p.Kids {
			visit(k, prefix)
		}
	}
	if b.Plan != nil {
		visit(b.Plan, prefix)
	}
	for _, s := range b.Steps {
		if _, ok := out[s]; !ok {
			out[s] = prefix
		}
	}
	return out
}

// from enters what a node depends on.
func (w *walk) from(s *check.Step, in scope, known *names) {
	path := in.paths[s]
	direct := map[string]bool{}
	for _, t := range s.Before() {
		direct[in.paths[t]] = true
	}
	r := readsOf(s.Node)
	for name := range r.names {
		direct[known.find(name)] = true
	}
	if len(r.input) > 0 && in.flow != "" {
		direct[in.flow+"/"] = true
	}
	if len(r.state) > 0 {
		for t, at := range in.paths {
			if sets(t, r.state) && s.MayFollow(t) {
				direct[at] = true
			}
		}
	}
	var from []string
	for p := range direct {
		if _, ok := w.out.Nodes[p]; ok && p != path && !strings.HasPrefix(p, path+"/") {
			from = append(from, p)
		}
	}
	if len(from) == 0 {
		return
	}
	slices.Sort(from)
	w.out.From[path] = from
	if s.Body != nil || s.Flow != nil {
		w.out.From[path+"/"] = from
	}
}

func sets(s *check.Step, fields map[string]bool) bool {
	return slices.ContainsFunc(s.Node.Set, func(x *ir.Set) bool { return fields[x.Field.Name] || fields["*"] })
}
