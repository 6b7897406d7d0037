package cli

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/fork"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

var rerunFlagNames = append([]string{"from", "set", "sync"}, keepFlagNames...)

// Rerun is the verb rerun, for runs elsewhere, too.
func (c *Call) Rerun(e Elsewhere) int {
	e.call = c
	return rerunCommand(c.s, c.w, c.args, &e)
}

// rerunCommand begins a new run with what another has done.
func rerunCommand(s *system, w *workflow, args []string, other *Elsewhere) int {
	x := newExecution(s, w, &runFlags{})
	from, sets, elsewhere := "", []string{}, false
	rest, code, ok := x.parse(args, rerunFlagNames, func(set *flag.FlagSet) {
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
		if other != nil {
			set.BoolVar(&elsewhere, other.Flag, false, "")
			other.Define(set)
		}
	})
	if !ok {
		return code
	}
	var id string
	var j *journal.Journal
	var now *journal.Hashes
	if elsewhere {
		other.call.flags.blobs = x.f.blobs
		id, j, now, code, ok = x.elsewhere(other, rest)
	} else if code, ok = x.openFolder(); ok {
		id, j, now, code, ok = x.recorded(rest)
	}
	if !ok {
		return code
	}
	if edited := elsewhere && j.Header().Graph != now.Graph; from == "" && len(sets) == 0 && !edited {
		s.complain(mistake{"rerun needs a change", "--from NODE re-executes a node and its successors; --set PATH=VALUE changes an input or a result"})
		return ExitUsage
	}
	again, err := fork.Following(w.info, now, from)
	if err != nil {
		s.complain(mistake{err.Error(), "see graph"})
		return ExitUsage
	}
	base := fork.Base(j, again)
	input := j.Header().Input
	for _, set := range sets {
		path, text, _ := strings.Cut(set, "=")
		if input, err = fork.Set(w.info, base, input, path, text); err != nil {
			s.complain(mistake{"--set " + path + ": " + err.Error(), ""})
			return ExitUsage
		}
	}
	if elsewhere {
		x.announce(append(slices.Clone(again), changed(base, now)...))
		return other.Fork(other.call, id, input, base)
	}
	x.announce(again)
	x.engine, x.past = x.folder.Fork(w.info, id, base, again...), base
	return x.run(input)
}

// announce prints which nodes a run executes again, before it starts.
func (x *execution) announce(again []string) {
	shown := slices.DeleteFunc(slices.Clone(again), func(node string) bool {
		return strings.HasSuffix(node, "/") || strings.HasSuffix(node, engine.UndoSuffix)
	}) // bodies have no name, and a new run begins without undos
	if len(shown) > 0 && !x.f.quiet {
		_, _ = fmt.Fprintln(x.s.stderr, "executed again: "+safe(strings.Join(shown, ", ")))
	}
}

// changed lists the calls of j whose nodes are others now.
func changed(j *journal.Journal, now *journal.Hashes) (keys []string) {
	for _, r := range j.Records() {
		if j.Changed(r, now.Nodes) != "" && !slices.Contains(keys, r.Key) {
			keys = append(keys, r.Key)
		}
	}
	return keys
}

// elsewhere reads a run that no folder has, or a file with its journal.
func (x *execution) elsewhere(other *Elsewhere, args []string) (id string, j *journal.Journal, now *journal.Hashes, code int, ok bool) {
	if len(args) != 1 {
		x.s.complain(mistake{"which run?", "write rerun --" + other.Flag + " ID, or the file of its journal, whose name ends in .jsonl"})
		return "", nil, nil, ExitUsage, false
	}
	if id = args[0]; strings.HasSuffix(id, ".jsonl") {
		var err error
		if _, j, err = runs.Open(filepath.FromSlash(runs.DefaultDir), runs.Options{}).Named(x.w.info.Name, id); err != nil {
			return id, nil, nil, x.unreadable(err), false
		}
	} else if j, code, ok = other.Read(other.call, id); !ok {
		return id, nil, nil, code, false
	}
	now, code, ok = x.compared(id, j)
	return id, j, now, code, ok
}
