package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Hashes are the versions of a workflow and its nodes (flow.Facts.Hashes). Nodes are called by their path: their ids
// joined by "/" through maps, loops and sub-workflows, the key of a call without places and visits. Of a container what
// is at "probe" covers its body, and what is at "probe/" is what it says itself.
//
// The hash of a node covers all that decides what its call does and which value it gives, but for what it reads from
// other nodes, which From says, and the code of Go functions.
type Hashes struct {
	Graph string              `json:"graph"`
	Lock  string              `json:"lock,omitempty"` // of flowgen.lock; "" when there is none
	Nodes map[string]string   `json:"nodes"`
	From  map[string][]string `json:"from"` // what a node directly depends on; nil when it is not known
}

// ParseHashes reads flow.Facts.Hashes.
func ParseHashes(text string) (*Hashes, error) {
	if _, err := value.Parse([]byte(text)); err != nil { // depth, duplicate keys
		return nil, fmt.Errorf("hashes: %w", err)
	}
	h := &Hashes{}
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(h); err != nil {
		return nil, fmt.Errorf("hashes: %w", err)
	}
	return h, nil
}

// PathOf is the path of the node that the call of a key belongs to: calls that an agent makes belong to the agent. It is
// empty when h knows no such node.
func (h *Hashes) PathOf(key string) string { return pathOf(h.Nodes, key) }

func pathOf(nodes map[string]string, key string) string {
	path, known := "", ""
	for segment := range strings.SplitSeq(key, "/") {
		id := segment
		if i := strings.IndexAny(segment, "[#"); i >= 0 {
			id = segment[:i]
		}
		if id == "" { // no node has this name
			return known
		}
		if path != "" {
			path += "/"
		}
		path += id
		if _, ok := nodes[path]; ok {
			known = path
		}
	}
	return known
}

// NodePath is the path that a key stands for when no node is known: "probe/search" of "probe[3]/search#2".
func NodePath(key string) string {
	parts := strings.Split(key, "/")
	for i, p := range parts {
		if at := strings.IndexAny(p, "#["); at >= 0 {
			parts[i] = p[:at]
		}
	}
	return strings.Join(parts, "/")
}

// Below reports whether the call of a key belongs to a node at the top of the workflow or to its body.
func Below(key, node string) bool {
	rest, ok := strings.CutPrefix(key, node)
	return ok && (rest == "" || strings.ContainsRune("[#/", rune(rest[0])))
}

// Changes says what became of the nodes of a workflow between two versions, by path, sorted. A node is in one list.
type Changes struct {
	Unaffected []string // they do the same, and so does all that they depend on
	Changed    []string // they are in both versions and say something else, or something in their body does
	Downstream []string // they say the same, and something that they depend on does not
	Added      []string // only in the new version
	Removed    []string // only in the old one
}

// Compare tells which nodes of the version now do the same as in the version old: what a journal of old has recorded
// about them holds. Everything else must run again, a downstream node if its input is another. What old depended on need
// not be known.
func Compare(old, now *Hashes) *Changes {
	c := &Changes{}
	dirty := map[string]bool{}
	for path, hash := range now.Nodes {
		was, ok := old.Nodes[path]
		switch {
		case !ok || was != hash && (strings.HasSuffix(path, "/") || now.leaf(path)):
			dirty[path] = true
		case was != hash && !old.leaf(path):
			if old.Nodes[path+"/"] == now.Nodes[path+"/"] {
				dirty[path] = true // its edges or its result, if none of its nodes
			}
		}
	}
	for path := range old.Nodes {
		if _, ok := now.Nodes[path]; !ok {
			dirty[path] = true
		}
	}
	spread(dirty, old, now)
	for path, hash := range now.Nodes {
		was, ok := old.Nodes[path]
		switch {
		case strings.HasSuffix(path, "/"):
		case !ok:
			c.Added = append(c.Added, path)
		case was != hash:
			c.Changed = append(c.Changed, path)
		case dirty[path]:
			c.Downstream = append(c.Downstream, path)
		default:
			c.Unaffected = append(c.Unaffected, path)
		}
	}
	for path := range old.Nodes {
		if _, ok := now.Nodes[path]; !ok && !strings.HasSuffix(path, "/") {
			c.Removed = append(c.Removed, path)
		}
	}
	for _, list := range [][]string{c.Unaffected, c.Changed, c.Downstream, c.Added, c.Removed} {
		slices.Sort(list)
	}
	return c
}

// leaf reports whether a node has no body.
func (h *Hashes) leaf(path string) bool {
	_, container := h.Nodes[path+"/"]
	return !container
}

// spread marks what depends on something dirty, in either version: on nodes, and containers on what is in them.
func spread(dirty map[string]bool, old, now *Hashes) {
	readers := map[string][]string{}
	for _, h := range []*Hashes{old, now} {
		for path, from := range h.From {
			for _, f := range from {
				readers[f] = append(readers[f], path)
			}
		}
	}
	todo := slices.Collect(maps.Keys(dirty))
	mark := func(path string) {
		if !dirty[path] {
			dirty[path] = true
			todo = append(todo, path)
		}
	}
	for len(todo) > 0 {
		path := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, r := range readers[path] {
			mark(r)
		}
		if shell, ok := strings.CutSuffix(path, "/"); ok {
			mark(shell)
			continue
		}
		for i := strings.LastIndexByte(path, '/'); i > 0; i = strings.LastIndexByte(path[:i], '/') {
			if _, ok := now.Nodes[path[:i]]; ok {
				mark(path[:i])
			}
		}
	}
}
