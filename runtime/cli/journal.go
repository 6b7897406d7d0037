package cli

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
	"github.com/flowgen-dev/flowgen/runtime/redact"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// verb reads the flags of a verb that is about a run. define adds those of its own, whose names are in names.
func (x *execution) verb(args, names []string, define func(*flag.FlagSet)) (rest []string, code int, ok bool) {
	if rest, code, ok = x.parse(args, names, define); ok {
		code, ok = x.openFolder()
	}
	return rest, code, ok
}

// parse is verb without the folder.
func (x *execution) parse(args, names []string, define func(*flag.FlagSet)) (rest []string, code int, ok bool) {
	set := newFlagSet()
	x.f.shared(set)
	x.f.keep.flags(set)
	if define != nil {
		define(set)
	}
	rest, err := parseFlags(set, args)
	switch {
	case isHelp(err):
		return nil, x.s.print(help(x.w.info)), false
	case err != nil:
		x.s.complain(flagMistake(append(names, sharedFlagNames...), err))
		return nil, ExitUsage, false
	}
	if code, bad := x.check(); bad {
		return nil, code, false
	}
	return rest, 0, true
}

// openFolder opens the folder of the runs.
func (x *execution) openFolder() (code int, ok bool) {
	folder, _, wrong := x.f.keep.folder(x.s, x.w.info)
	if wrong != nil || folder == nil {
		if wrong == nil {
			wrong = &mistake{"FLOWGEN_RUNS is off, so no runs are recorded", "--runs DIR names the folder"}
		}
		x.s.complain(*wrong)
		return ExitUsage, false
	}
	x.folder = folder
	return 0, true
}

// find is the run that the first argument names.
func (x *execution) find(rest []string, most int) (id string, code int, ok bool) {
	switch {
	case len(rest) == 0:
		x.s.complain(mistake{"which run?", "name one, or latest; inspect lists them"})
		return "", ExitUsage, false
	case len(rest) > most:
		x.s.complain(mistake{"unexpected argument " + rest[most], "see --help"})
		return "", ExitUsage, false
	}
	id, err := x.folder.Find(x.w.info.Name, rest[0])
	if err != nil {
		x.s.complain(mistake{err.Error(), "inspect lists the runs; --runs names another folder"})
		return "", ExitUsage, false
	}
	return id, 0, true
}

// mine refuses the journal of another workflow.
func (x *execution) mine(id string, j *journal.Journal) (code int, ok bool) {
	h := j.Header()
	if h.Workflow != x.w.info.Name {
		return x.another(id, h), false
	}
	if bytes.Contains(h.Input, []byte(redact.Redacted)) {
		x.s.complain(mistake{"the input of " + id + " contained a secret, which its journal omits", "declare secrets under `secrets`: they are looked up by name"})
		return ExitFault, false
	}
	x.tenant = h.Tenant
	return 0, true
}

// recorded reads the run that the one argument names, and what the program is now.
func (x *execution) recorded(args []string) (id string, j *journal.Journal, now *journal.Hashes, code int, ok bool) {
	if id, code, ok = x.find(args, 1); !ok {
		return
	}
	j, err := x.folder.ReadLazy(id)
	if err != nil {
		return id, nil, nil, x.unreadable(err), false
	}
	now, code, ok = x.compared(id, j)
	return id, j, now, code, ok
}

// compared is what the program says of itself, if a run is one of its workflow.
func (x *execution) compared(id string, j *journal.Journal) (now *journal.Hashes, code int, ok bool) {
	if code, ok = x.mine(id, j); !ok {
		return nil, code, false
	}
	now, err := hashes(x.w.info)
	if err != nil {
		x.s.complain(mistake{err.Error(), "generate its code again"})
		return nil, ExitFault, false
	}
	return now, 0, true
}

// another says that a run is one of another workflow.
func (x *execution) another(id string, h journal.Header) int {
	x.s.complain(mistake{id + " is a run of " + h.Workflow + ", this is " + x.w.info.Name, ""})
	return ExitUsage
}

// unreadable says why a run cannot be used.
func (x *execution) unreadable(err error) int {
	var damaged *wal.DamagedError
	help := ""
	switch {
	case errors.Is(err, runs.ErrNoRun):
		x.s.complain(mistake{err.Error(), "the run cannot be continued: start a new run"})
		return ExitUsage
	case errors.Is(err, wal.ErrLocked):
		help = "wait until it ends"
	case wal.Remedy(err) != "":
		help = wal.Remedy(err) + "; recorded data is not lost"
	case errors.As(err, &damaged):
		help = "the file was modified after it was written; flowgen does not repair journals"
	}
	x.s.complain(mistake{err.Error(), help})
	return ExitFault
}

// replayCommand does a run again from its journal.
func replayCommand(s *system, w *workflow, args []string) int {
	x := newExecution(s, w, &runFlags{})
	missing := false
	rest, code, ok := x.verb(args, []string{"missing"}, func(set *flag.FlagSet) { set.BoolVar(&missing, "missing", false, "") })
	if !ok {
		return code
	}
	_, j, now, code, ok := x.recorded(rest)
	if !ok {
		return code
	}
	options := []journal.ReplayOption{journal.Program(now.Nodes)}
	if missing {
		options = append(options, journal.RunMissing())
	}
	if j.Header().Graph != now.Graph {
		x.edited(j.Header(), now)
	}
	x.replay = journal.Replay(j, options...)
	return x.run(j.Header().Input)
}

func hashes(info *flow.Info) (*journal.Hashes, error) {
	text := info.Facts.Hashes()
	if text == "" {
		return &journal.Hashes{}, nil
	}
	return journal.ParseHashes(text)
}

// edited says what the program's changes mean for a run that was recorded before them.
func (x *execution) edited(h journal.Header, now *journal.Hashes) {
	if x.f.quiet {
		return
	}
	c := journal.Compare(&journal.Hashes{Graph: h.Graph, Nodes: h.Nodes}, now)
	var b strings.Builder
	b.WriteString("note: the workflow has changed since the run was recorded\n")
	for _, l := range []struct {
		what  string
		nodes []string
	}{{"unaffected", c.Unaffected}, {"changed", c.Changed}, {"repeated if their input differs", c.Downstream}, {"new", c.Added}, {"gone", c.Removed}} {
		if len(l.nodes) > 0 {
			b.WriteString("  " + l.what + ": " + safe(strings.Join(l.nodes, ", ")) + "\n")
		}
	}
	_, _ = fmt.Fprint(x.s.stderr, b.String())
}

// goOn is how a run goes on.
type goOn struct {
	runs.Continue
	redo    []string
	decided map[string]string // by key: "again", or the output as JSON
}

func (g *goOn) flags(set *flag.FlagSet, k *keepFlags) {
	k.recording(set)
	g.decided = map[string]string{}
	set.BoolVar(&g.Again, "again", false, "")
	set.BoolVar(&g.Edited, "edited", false, "")
	set.Func("redo", "", func(s string) error { g.redo = append(g.redo, s); return nil })
	set.Func("in-doubt", "", func(s string) error {
		key, what, ok := strings.Cut(s, "=")
		if !ok || what == "" {
			return errors.New("write --in-doubt KEY=again if the call did not happen or may be repeated, or --in-doubt KEY=JSON with its output")
		}
		if what != "again" {
			if _, err := value.Parse([]byte(what)); err != nil {
				return fmt.Errorf("--in-doubt %s: the output is not JSON: %w", key, err)
			}
		}
		g.decided[key] = what
		return nil
	})
}

var goOnNames = append([]string{"again", "edited", "redo", "in-doubt"}, keepFlagNames...)

// continued are the decisions for the folder of runs.
func (g *goOn) continued(x *execution) runs.Continue {
	c := g.Continue
	c.Redo = func(r journal.Record) bool { return slices.Contains(g.redo, r.Key) }
	c.Decide = func(r journal.Record, d *flow.Doubt) (journal.Decision, bool) {
		switch what, ok := g.decided[r.Key]; {
		case ok && what == "again":
			return journal.Decision{Again: true}, true
		case ok:
			return journal.Decision{Output: []byte(what)}, true
		case d != nil && d.Policy == flow.AskInDoubt:
			return x.askInDoubt(r)
		}
		return journal.Decision{}, false
	}
	return c
}

// askInDoubt asks at the terminal whether a call happened.
func (x *execution) askInDoubt(r journal.Record) (journal.Decision, bool) {
	if !x.s.typing() {
		return journal.Decision{}, false
	}
	q := runtime.Question{Text: "Call " + r.Key + " of " + r.Tool + " had started when the program died. May it be repeated?", Type: "bool"}
	_, _ = fmt.Fprint(x.s.stderr, question(q))
	var answer string
	if _, err := fmt.Fscanln(x.s.stdin, &answer); err != nil || q.Check(answer) != nil {
		return journal.Decision{}, false
	}
	return journal.Decision{Again: true}, answer == "yes" || answer == "true"
}

// resumeCommand goes on with a run.
func resumeCommand(s *system, w *workflow, args []string) int {
	x, g := newExecution(s, w, &runFlags{}), &goOn{}
	rest, code, ok := x.verb(args, goOnNames, func(set *flag.FlagSet) { g.flags(set, &x.f.keep) })
	if !ok {
		return code
	}
	id, code, ok := x.find(rest, 1)
	if !ok {
		return code
	}
	if code, ok := x.open(id, g); !ok {
		return code
	}
	return x.run(x.past.Header().Input)
}

// open opens the journal of a run that goes on.
func (x *execution) open(id string, g *goOn) (code int, ok bool) {
	e, j, err := x.folder.Resume(x.w.info, id, g.continued(x))
	var changed *runs.EditedError
	if errors.As(err, &changed) {
		if changed.Recorded.Workflow != x.w.info.Name {
			return x.another(id, changed.Recorded), false
		}
		if now, herr := hashes(x.w.info); herr == nil {
			x.edited(changed.Recorded, now)
		}
		x.s.complain(mistake{err.Error(), "--edited continues: unchanged calls keep their results, others run; calls that wrote are repeated only with --redo KEY"})
		return ExitFault, false
	}
	if err != nil {
		return x.unreadable(err), false
	}
	if code, ok := x.mine(id, j); !ok {
		_ = e.Close()
		return code, false
	}
	if wrong := g.unknown(j); wrong != nil {
		_ = e.Close()
		x.s.complain(*wrong)
		return ExitUsage, false
	}
	x.engine, x.past = e, j
	return 0, true
}

// unknown is about decisions for calls that the run does not have.
func (g *goOn) unknown(j *journal.Journal) *mistake {
	flags := make([]string, 0, len(g.redo)+len(g.decided))
	for _, key := range g.redo {
		flags = append(flags, "--redo "+key)
	}
	for _, key := range slices.Sorted(maps.Keys(g.decided)) {
		flags = append(flags, "--in-doubt "+key)
	}
	if len(flags) == 0 { // most runs have none, and some have a million calls
		return nil
	}
	keys := j.Keys()
	for _, flag := range flags {
		_, key, _ := strings.Cut(flag, " ")
		if slices.Contains(keys, key) {
			continue
		}
		m := &mistake{flag + ": the run has no call " + key, "inspect shows its calls"}
		if near := nearest(key, keys); near != "" {
			m.help = "did you mean " + near + "?"
		}
		return m
	}
	return nil
}

// respondCommand answers a question of a run that waits, and goes on with it.
func respondCommand(s *system, w *workflow, args []string) int {
	x, g := newExecution(s, w, &runFlags{}), &goOn{}
	later := false
	rest, code, ok := x.verb(args, append([]string{"later"}, goOnNames...), func(set *flag.FlagSet) {
		g.flags(set, &x.f.keep)
		set.BoolVar(&later, "later", false, "")
	})
	if !ok {
		return code
	}
	id, code, ok := x.find(rest, 3)
	if !ok {
		return code
	}
	if code, ok := x.open(id, g); !ok {
		return code
	}
	if wrong := x.respond(rest[1:]); wrong != nil {
		_ = x.engine.Close()
		x.s.complain(*wrong)
		return ExitUsage
	}
	if later {
		if err := x.engine.Close(); err != nil {
			return x.unreadable(err)
		}
		return ExitOK
	}
	return x.run(x.past.Header().Input)
}

// respond writes an answer: [KEY] ANSWER.
func (x *execution) respond(args []string) *mistake {
	open := x.past.Questions()
	keys := make([]string, len(open))
	for i, q := range open {
		keys[i] = q.Key
	}
	key := ""
	switch {
	case len(open) == 0:
		return &mistake{"the run has no open question", ""}
	case len(args) == 0:
		return &mistake{"what is the answer?", "the run waits for " + strings.Join(keys, ", ")}
	case len(args) == 2:
		key = args[0]
	case len(open) > 1:
		return &mistake{"the run waits for several answers", "say which question it is for: " + strings.Join(keys, ", ")}
	default:
		key = keys[0]
	}
	at := slices.Index(keys, key)
	if at < 0 {
		return &mistake{"the run has no open question " + key, "it waits for " + strings.Join(keys, ", ")}
	}
	answer := args[len(args)-1]
	err := x.engine.Answer(key, answer)
	switch {
	case errors.Is(err, runs.ErrWrongAnswer):
		var q runtime.Question
		_ = value.Decode(open[at].Input, &q) // Answer has read it
		return &mistake{"the answer does not fit " + key + ": " + bare(value.ToolErrorOf(err)), "the question is: " + strings.TrimPrefix(strings.TrimSpace(question(q)), "? ")}
	case err != nil:
		return &mistake{err.Error(), wal.Remedy(err)}
	}
	return nil
}

// pruneCommand removes runs that have ended.
func pruneCommand(s *system, w *workflow, args []string) int {
	x := newExecution(s, w, &runFlags{})
	keep := 0
	rest, code, ok := x.verb(args, []string{"keep"}, func(set *flag.FlagSet) { set.IntVar(&keep, "keep", 20, "") })
	if !ok {
		return code
	}
	if len(rest) > 0 || keep < 0 {
		s.complain(mistake{"prune takes only --keep N", "it keeps the latest N ended runs (default 20)"})
		return ExitUsage
	}
	removed, err := x.folder.Prune(w.info.Name, keep)
	for _, id := range removed {
		_, _ = fmt.Fprintln(s.stderr, "removed "+safe(id))
	}
	if err != nil {
		return x.unreadable(err)
	}
	return ExitOK
}
