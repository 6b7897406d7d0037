package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
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
	// Define adds the flags of Fork, which begins a run there with results of another one. They are for Rerun.
	Define func(*flag.FlagSet)
	Fork   func(c *Call, from string, input []byte, results *journal.Journal) (exitCode int)

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
		s.complain(mistake{"unknown format " + *format, "write --format text, --format json or --format jsonl"})
		return ExitUsage
	case elsewhere && len(rest) == 0:
		s.complain(mistake{"which run?", "write inspect --" + other.Flag + " ID"})
		return ExitUsage
	case *format == "jsonl" && len(rest) != 1:
		s.complain(mistake{"--format jsonl writes the journal of one run", "write inspect RUN --format jsonl"})
		return ExitUsage
	}
	if elsewhere {
		return other.inspect(rest, *format, which)
	}
	folder, _, wrong := (&keepFlags{dir: *dir}).folder(s, info)
	if wrong == nil && folder == nil {
		if len(rest) == 0 || !strings.HasSuffix(rest[0], ".jsonl") {
			wrong = &mistake{"FLOWGEN_RUNS is off, so no runs are recorded", "--runs DIR names the folder"}
		}
		folder = runs.Open(filepath.FromSlash(runs.DefaultDir), runs.Options{})
	}
	if wrong != nil {
		s.complain(*wrong)
		return ExitUsage
	}
	defer debug.SetGCPercent(debug.SetGCPercent(40)) // a long journal fits into less memory, and takes as long
	in := &inspector{s: s, folder: folder, json: *format == "json", paper: paperOf(s), flag: s.runs}
	in.paper.respond, in.paper.filter = s.again("respond", ""), which
	if info.Name == "" { // flowgen's own, which needs the workflow to go on with a run
		in.paper.respond = "flowgen respond FILE " + s.runs
	}
	if len(rest) == 0 {
		return in.list()
	}
	run, err := in.named(info.Name, rest[0], *format == "jsonl")
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
	return in.recorded(run, rest[1:], *format)
}

// named reads what a name stands for. A journal in a folder is read through its index, unless all of it is wanted or the program was
// changed while the run went on: then what nodes were before is in the entire journal.
func (in *inspector) named(workflow, name string, whole bool) (recorded, error) {
	if !whole && !strings.HasSuffix(name, ".jsonl") {
		id, err := in.folder.Find(workflow, name)
		if err != nil {
			return recorded{}, err
		}
		if r, ok := in.folder.Indexed(id); ok {
			return recorded{id: id, r: r}, nil
		}
	}
	id, j, err := in.folder.Named(workflow, name)
	return recorded{id: id, j: j}, err
}

// recorded shows a run, or one call of it.
func (in *inspector) recorded(run recorded, call []string, format string) int {
	if format == "jsonl" {
		text, err := run.j.MarshalText()
		if err != nil {
			in.s.complain(mistake{err.Error(), ""})
			return ExitFault
		}
		return in.s.print(string(text))
	}
	if len(call) == 0 {
		return in.run(run.inspection())
	}
	return in.call(run, call[0])
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
	flag   string // that says where the run is
}

// inspect shows a run, or a call of it, without a folder of runs.
func (e *Elsewhere) inspect(args []string, format string, which filter) int {
	j, code, ok := e.Read(e.call, args[0])
	if !ok {
		return code
	}
	s := e.call.s
	in := &inspector{s: s, json: format == "json", paper: paperOf(s), flag: "--" + e.Flag + " "}
	in.paper.respond, in.paper.filter = s.again("respond", ""), which
	return in.recorded(recorded{id: args[0], j: j}, args[1:], format)
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
	shown, unknown := in.paper.filter.apply(i.Calls)
	if unknown {
		m := mistake{"run " + i.ID + " has no call of node " + in.paper.filter.node, "inspect " + in.flag + i.ID + " shows its calls"}
		var paths []string
		for _, c := range i.Calls.all() {
			path := journal.NodePath(c.Key)
			paths = append(paths, path, path[strings.LastIndexByte(path, '/')+1:])
		}
		slices.Sort(paths)
		if near := nearest(in.paper.filter.node, slices.Compact(paths)); near != "" {
			m.help = "did you mean " + near + "?"
		}
		in.s.complain(m)
		return ExitUsage
	}
	i.Calls = shown
	if in.json {
		return in.stream(i)
	}
	return in.show(i, func(t *sheet) {
		if t.filter.logs {
			t.logs(i.Calls)
		} else {
			t.inspection(i)
		}
	})
}

// stream writes a run as JSON, its calls one after the other: there may be a million.
func (in *inspector) stream(i *inspection) int {
	calls := i.Calls
	i.Calls = listOf(nil)
	text, err := encode(i)
	const end = "]\n}\n" // calls are the last field
	out := bufio.NewWriterSize(in.s.stdout, 64<<10)
	_, _ = out.Write(bytes.TrimSuffix(text, []byte(end)))
	var one bytes.Buffer
	enc := json.NewEncoder(&one)
	enc.SetEscapeHTML(false)
	enc.SetIndent("    ", "  ")
	for n := range calls.len() {
		if err != nil {
			break
		}
		if n > 0 {
			_ = out.WriteByte(',')
		}
		one.Reset()
		err = enc.Encode(calls.at(n))
		_, _ = out.WriteString("\n    ")
		_, _ = out.Write(harmless(bytes.TrimSuffix(one.Bytes(), []byte("\n"))))
	}
	if err != nil {
		in.s.complain(mistake{err.Error(), ""})
		return ExitFault
	}
	if calls.len() > 0 {
		_, _ = out.WriteString("\n  ")
	}
	if _, err = out.WriteString(end); err == nil {
		err = out.Flush()
	}
	if err != nil {
		in.s.complain(mistake{"cannot write the result: " + err.Error(), ""})
		return ExitFault
	}
	return ExitOK
}

// call shows what name stands for in a run: one call whole, or those of a node.
func (in *inspector) call(run recorded, name string) int {
	found, told, err := run.named(name)
	if err != nil {
		in.s.complain(mistake{err.Error(), ""})
		return ExitFault
	}
	if len(found) > 0 {
		return in.show(found, func(t *sheet) {
			for n, r := range found {
				if n > 0 {
					t.text("")
				}
				t.record(run, r, &told[n])
			}
		})
	}
	whole := run.inspection()
	whole.Calls = whole.Calls.only(func(c *inspectedCall) bool {
		path := journal.NodePath(c.Key)
		return path == name || strings.HasPrefix(path, name+"/")
	})
	if whole.Calls.len() > 0 {
		return in.show(whole.Calls, func(t *sheet) { t.filter.all = true; t.timeline(whole) })
	}
	m := mistake{"run " + run.id + " has no call " + name, "inspect " + in.flag + run.id + " shows its calls"}
	if near := nearest(name, run.keys()); near != "" {
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
