package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

const inspectHelp = `Usage: inspect [RUN [CALL]] [flags]

Without RUN it lists the recorded runs. RUN is the name of a run, a prefix of it,

Flags:
  --all            one line for each call; without it, many calls of one node share a line
  --failed         only calls that failed
  --slow           the 20 longest calls
  --node NAME      only calls of a node: its path, or a suffix of it
  --logs           lines that programs of the calls printed besides their results
  --format FORMAT  text, json, or jsonl: the journal in one file, which inspect, diff and replay
                   take in place of RUN
  --runs DIR       the folder of the runs, or the URL of their database
`

var inspectFlagNames = []string{"all", "failed", "format", "help", "logs", "node", "runs", "slow"}

// Inspect answers `flowgen inspect`: it shows recorded runs of any workflow, as compiled programs do of their own. It
// returns the exit code.
func Inspect(stdout, stderr io.Writer, args []string) int {
	s := hostSystem()
	s.args, s.stdout, s.stderr = args, stdout, stderr
	defer s.close()
	return inspectCommand(s, &flow.Info{}, args, nil)
}

// An Elsewhere has runs that no folder has: those of an engine.
type Elsewhere struct {
	Flag string // that says so: RUN is then the id of such a run
	// Read returns the journal of a run. Unless ok, the call ends with code.
	Read func(c *Call, id string) (j *journal.Journal, code int, ok bool)

	call *Call
}

// Inspect is the verb inspect, for runs elsewhere, too.
func (c *Call) Inspect(e Elsewhere) int {
	e.call = c
	return inspectCommand(c.s, c.w.info, c.args, &e)
}

// inspectCommand shows what was recorded about runs. info's name, unless it is empty, is the workflow that "latest"
// is about.
func inspectCommand(s *system, info *flow.Info, args []string, other *Elsewhere) int {
	set := newFlagSet()
	elsewhere := false
	if other != nil {
		set.BoolVar(&elsewhere, other.Flag, false, "")
		set.StringVar(&other.call.flags.blobs, "blobs", "", "")
	}
	format := set.String("format", "text", "")
	dir := set.String("runs", "", "")
	var which filter
	set.BoolVar(&which.all, "all", false, "")
	set.BoolVar(&which.failed, "failed", false, "")
	set.BoolVar(&which.slow, "slow", false, "")
	set.StringVar(&which.node, "node", "", "")
	set.BoolVar(&which.logs, "logs", false, "")
	rest, err := parseFlags(set, args)
	switch {
	case isHelp(err):
		return s.print(inspectHelp)
	case err != nil:
		s.complain(flagMistake(inspectFlagNames, err))
		return ExitUsage
	case !which.grouped() && len(rest) != 1:
		s.complain(mistake{"--all, --failed, --slow, --node and --logs choose among the calls of a run", "write inspect RUN with them"})
		return ExitUsage
	case len(rest) > 2:
		s.complain(mistake{"unexpected argument " + rest[2], "write inspect RUN or inspect RUN CALL"})
		return ExitUsage
	case *format != "text" && *format != "json" && *format != "jsonl":
		s.complain(mistake{"there is no format " + *format, "write --format text, --format json or --format jsonl"})
		return ExitUsage
	case elsewhere && len(rest) == 0:
		s.complain(mistake{"which run?", "write inspect --" + other.Flag + " ID"})
		return ExitUsage
	case *format == "jsonl" && len(rest) != 1:
		s.complain(mistake{"--format jsonl writes the journal of one run", "write inspect RUN --format jsonl"})
		return ExitUsage
	}
	folder, _, wrong := (&keepFlags{dir: *dir}).folder(s, info)
	if wrong == nil && folder == nil {
		if len(rest) == 0 || !strings.HasSuffix(rest[0], ".jsonl") {
			wrong = &mistake{"FLOWGEN_RUNS is off, so there are no runs", "--runs DIR names the folder"}
		}
		folder = runs.Open(filepath.FromSlash(runs.DefaultDir), runs.Options{})
	}
	if wrong != nil {
		s.complain(*wrong)
		return ExitUsage
	}
	in := &inspector{s: s, folder: folder, json: *format == "json", paper: paperOf(s)}
	in.paper.respond, in.paper.filter = s.again("respond", ""), which
	if info.Name == "" { // flowgen's own, which needs the workflow to go on with a run
		in.paper.respond = "flowgen respond FILE "
	}
	if len(rest) == 0 {
		return in.list()
	}
	if elsewhere {
		j, code, ok := other.Read(other.call, rest[0])
		if !ok {
			return code
		}
		return in.journal(rest, j, *format)
	}
	id, j, err := in.folder.Named(info.Name, rest[0])
	if err != nil {
		m := mistake{err.Error(), ""}
		if errors.Is(err, runs.ErrNoRun) {
			m.help = "inspect without a name lists the runs; --runs names their folder"
			s.complain(m)
			return ExitUsage
		}
		s.complain(m)
		return ExitFault
	}
	return in.journal(append([]string{id}, rest[1:]...), j, *format)
}

// journal shows a run: RUN [CALL].
func (in *inspector) journal(rest []string, j *journal.Journal, format string) int {
	if format == "jsonl" {
		text, err := j.MarshalText()
		if err != nil {
			in.s.complain(mistake{err.Error(), ""})
			return ExitFault
		}
		return in.s.print(string(text))
	}
	if len(rest) == 1 {
		return in.run(inspectionOf(rest[0], j))
	}
	return in.call(rest[0], j, rest[1])
}

// paper is what text is written for.
type paper struct {
	wide  int // columns; 0: no terminal, and lines are as long as they are
	style style

	respond string // how a question is answered, up to the run
	filter  filter // of the calls of a run
}

// paperOf looks at standard output, which need not be the terminal that progress is shown on.
func paperOf(s *system) paper {
	file, ok := s.stdout.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return paper{style: style{glyphs: plainGlyphs, ellipsis: "..."}}
	}
	sc := paper{style: newStyle(s.env)}
	sc.style.colour = sc.style.colour && s.env("TERM") != "dumb"
	if wide, _, err := term.GetSize(int(file.Fd())); err == nil {
		sc.wide = wide
	}
	return sc
}

// inspector shows runs, in one format.
type inspector struct {
	s      *system
	folder *runs.Folder
	json   bool
	paper  paper
}

func (in *inspector) show(v any, text func(*sheet)) int {
	if in.json {
		out, err := encode(v)
		if err != nil {
			in.s.complain(mistake{err.Error(), ""})
			return ExitFault
		}
		return in.s.print(string(out))
	}
	t := &sheet{paper: in.paper}
	text(t)
	return in.s.print(t.b.String())
}

func (in *inspector) list() int {
	list, err := in.folder.List()
	if err != nil {
		in.s.complain(mistake{"cannot list the runs: " + err.Error(), "--runs or FLOWGEN_RUNS names their folder"})
		return ExitFault
	}
	return in.show(list, func(t *sheet) { t.runs(in.folder.String(), list) })
}

func (in *inspector) run(i *inspection) int {
	var paths []string
	for _, c := range i.Calls {
		path := journal.NodePath(c.Key)
		paths = append(paths, path, path[strings.LastIndexByte(path, '/')+1:])
	}
	shown, unknown := in.paper.filter.apply(i.Calls)
	if unknown {
		m := mistake{"run " + i.ID + " has no call of node " + in.paper.filter.node, "inspect " + i.ID + " shows its calls"}
		if near := nearest(in.paper.filter.node, paths); near != "" {
			m.help = "did you mean " + near + "?"
		}
		in.s.complain(m)
		return ExitUsage
	}
	i.Calls = shown
	return in.show(i, func(t *sheet) {
		if t.filter.logs {
			t.logs(i.Calls)
		} else {
			t.inspection(i)
		}
	})
}

// call shows what name stands for in a run: one call whole, or those of a node.
func (in *inspector) call(id string, j *journal.Journal, name string) int {
	all := j.Records()
	earlier := callsNamed(j.Earlier(), name)
	found := append(slices.Clone(earlier), callsNamed(all, name)...)
	if len(found) > 0 {
		return in.show(found, func(t *sheet) {
			for n, r := range found {
				if n > 0 {
					t.text("")
				}
				c := new(inspection).state(j, &r)
				if n < len(earlier) {
					c, _ = earlierCall(j, &r)
				}
				t.record(j, r, &c)
			}
		})
	}
	whole := inspectionOf(id, j)
	whole.Calls = slices.DeleteFunc(whole.Calls, func(c inspectedCall) bool {
		path := journal.NodePath(c.Key)
		return path != name && !strings.HasPrefix(path, name+"/")
	})
	if len(whole.Calls) > 0 {
		return in.show(whole.Calls, func(t *sheet) { t.filter.all = true; t.timeline(whole) })
	}
	m := mistake{"run " + id + " has no call " + name, "inspect " + id + " shows its calls"}
	keys := make([]string, len(all))
	for i, r := range all {
		keys[i] = r.Key
	}
	if near := nearest(name, keys); near != "" {
		m.help = "did you mean " + near + "?"
	}
	in.s.complain(m)
	return ExitUsage
}

// leastCallID is how much of a call_id must be given, in digits.
const leastCallID = 6

// callsNamed returns the attempts of the call with a key, or with a call_id that begins so.
func callsNamed(all []journal.Record, name string) []journal.Record {
	var byKey, byID []journal.Record
	for _, r := range all {
		if r.Key == name {
			byKey = append(byKey, r)
		}
		if len(name) >= leastCallID && strings.HasPrefix(r.CallID, name) {
			byID = append(byID, r)
		}
	}
	if byKey != nil {
		return byKey
	}
	return byID
}
