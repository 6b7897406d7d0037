// Package fork says what a run that begins with the results of another one does anew: from which node on, and with which input and
// results in the place of those that are recorded. The command rerun and requests of package serve are made of it.
package fork

import (
	"fmt"
	"maps"
	"slices"

	"github.com/flowgen-dev/flowgen/runtime/editdistance"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

// Base is what is known of a run without the calls of the nodes again, and without those that were undone.
func Base(j *journal.Journal, again []string) *journal.Journal {
	undone := j.Undone()
	return j.Without(func(r journal.Record) bool {
		return undone[r.Key] || !runs.Kept(r, again)
	})
}

// Following lists a node at the top of the workflow and all that depend on it, none for "". now is what the program says of itself.
func Following(info *flow.Info, now *journal.Hashes, from string) ([]string, error) {
	if from == "" {
		return nil, nil
	}
	next := map[string][]string{}
	for node, before := range now.From {
		for _, b := range before {
			next[b] = append(next[b], node)
		}
	}
	for _, e := range info.Edges {
		next[e.From] = append(next[e.From], e.To)
	}
	var names []string
	for _, n := range info.Nodes {
		names = append(names, n.ID)
	}
	if !slices.Contains(names, from) {
		if near := editdistance.Nearest(from, names); near != "" {
			return nil, fmt.Errorf("unknown node %s; did you mean %s?", from, near)
		}
		return nil, fmt.Errorf("unknown node %s", from)
	}
	seen := map[string]bool{}
	for todo := []string{from}; len(todo) > 0; todo = todo[1:] {
		if node := todo[0]; !seen[node] && node != "end" {
			seen[node] = true
			todo = append(todo, next[node]...)
		}
	}
	return slices.Sorted(maps.Keys(seen)), nil
}
