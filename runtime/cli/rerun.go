package cli

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

var rerunFlagNames = append([]string{"from", "set", "sync"}, keepFlagNames...)

// rerunCommand begins a new run with what another has done.
func rerunCommand(s *system, w *workflow, args []string) int {
	x := newExecution(s, w, &runFlags{})
	from, sets := "", []string{}
	rest, code, ok := x.verb(args, rerunFlagNames, func(set *flag.FlagSet) {
		x.f.keep.recording(set)
		set.StringVar(&from, "from", "", "")
		set.StringVar(&x.f.keep.sync, "sync", "", "")
		set.Func("set", "", func(s string) error {
			if !strings.Contains(s, "=") {
				return errors.New("write --set PATH=VALUE, as in --set input.pr=8 or --set plan.route=fix")
			}
			sets = append(sets, s)
			return nil
		})
	})
	if !ok {
		return code
	}
	id, j, now, code, ok := x.recorded(rest)
	if !ok {
		return code
	}
	if from == "" && len(sets) == 0 {
		s.complain(mistake{"what is to be different?", "--from NODE does a node and all that follows from it again; --set PATH=VALUE changes an input or a result"})
		return ExitUsage
	}
	again, wrong := following(w.info, now, from)
	if wrong != nil {
		s.complain(*wrong)
		return ExitUsage
	}
	undone := j.Undone()
	base := j.Without(func(r journal.Record) bool {
		return undone[r.Key] || !runs.Kept(r, again)
	})
	input := j.Header().Input
	for _, set := range sets {
		path, text, _ := strings.Cut(set, "=")
		var err error
		if input, err = change(w.info, base, input, path, text); err != nil {
			s.complain(mistake{"--set " + path + ": " + err.Error(), ""})
			return ExitUsage
		}
	}
	if len(again) > 0 && !x.f.quiet {
		shown := slices.DeleteFunc(slices.Clone(again), func(node string) bool {
			return strings.HasSuffix(node, "/") || strings.HasSuffix(node, engine.UndoSuffix)
		}) // bodies have no name, and a new run begins without undos
		_, _ = fmt.Fprintln(s.stderr, "executed again: "+safe(strings.Join(shown, ", ")))
	}
	x.engine, x.past = x.folder.Fork(w.info, id, base, again...), base
	return x.run(input)
}

// following lists a node at the top of the workflow and all that depend on it.
func following(info *flow.Info, now *journal.Hashes, from string) ([]string, *mistake) {
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
		m := &mistake{"there is no node " + from, "see graph"}
		if near := nearest(from, names); near != "" {
			m.help = "did you mean " + near + "?"
		}
		return nil, m
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
