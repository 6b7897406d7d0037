package cli

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal/fork"
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
	if len(again) > 0 && !x.f.quiet {
		shown := slices.DeleteFunc(slices.Clone(again), func(node string) bool {
			return strings.HasSuffix(node, "/") || strings.HasSuffix(node, engine.UndoSuffix)
		}) // bodies have no name, and a new run begins without undos
		_, _ = fmt.Fprintln(s.stderr, "executed again: "+safe(strings.Join(shown, ", ")))
	}
	x.engine, x.past = x.folder.Fork(w.info, id, base, again...), base
	return x.run(input)
}
