package cli

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
	"github.com/flowgen-dev/flowgen/runtime/stores"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// keepFlags say where runs are kept.
type keepFlags struct {
	dir  string // "": FLOWGEN_RUNS, then what the workflow says, then runs.DefaultDir
	none bool
	sync string

	alone bool // no other run of the workflow may go on
	most  int  // how many ended runs are kept; 0: as FLOWGEN_KEEP says, or all
}

// recording are the flags of verbs that record.
func (k *keepFlags) recording(set *flag.FlagSet) {
	set.BoolVar(&k.alone, "no-overlap", false, "")
	set.Func("keep", "", func(s string) (err error) {
		k.most, err = keepCount(s)
		return err
	})
}

// keepCount reads how many runs are kept.
func keepCount(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, errors.New("expected a number of runs, at least 1")
	}
	return n, nil
}

// retention completes the flags from the environment.
func (x *execution) retention() *mistake {
	k := &x.f.keep
	if text := x.s.env("FLOWGEN_KEEP"); text != "" && k.most == 0 {
		n, err := keepCount(text)
		if err != nil {
			return &mistake{"FLOWGEN_KEEP=" + text + ": " + err.Error(), "it is the number of ended runs to keep"}
		}
		k.most = n
	}
	if k.alone && x.engine == nil {
		return &mistake{"--no-overlap needs a run that is recorded: the folder of runs has the lock", "leave --no-journal and FLOWGEN_RUNS=off out"}
	}
	return nil
}

// retire removes ended runs of the workflow that are too many.
func (x *execution) retire() {
	if x.f.keep.most == 0 || x.engine == nil {
		return
	}
	if _, err := x.folder.Prune(x.w.info.Name, x.f.keep.most); err != nil {
		_, _ = fmt.Fprintf(x.s.stderr, "warning: old runs are not removed: %s\n", safe(err.Error()))
	}
}

// folder is the folder of runs, or the database: nil when runs are not kept. asked says that somebody has named it.
func (k *keepFlags) folder(s *system, info *flow.Info) (f *runs.Folder, asked bool, wrong *mistake) {
	said := flow.Journaling{}
	if info.Journal != nil {
		said = *info.Journal
	}
	sync, err := runs.ParseSync(cmp.Or(k.sync, said.Sync))
	if err != nil {
		return nil, false, &mistake{err.Error(), ""}
	}
	named := cmp.Or(k.dir, s.env("FLOWGEN_RUNS"))
	if k.dir != "" {
		s.runs = "--runs " + shellWord(k.dir) + " "
	}
	if k.none || named == "off" {
		return nil, false, nil
	}
	address := cmp.Or(named, said.Dir, filepath.FromSlash(runs.DefaultDir))
	f, release, wrong := openRuns(address, runs.Options{Sync: sync, Program: programVersion(), Now: s.now})
	if wrong != nil {
		return nil, true, wrong
	}
	s.closers = append(s.closers, release)
	return f, named != "", nil
}

// openRuns opens the runs in a folder or, at a URL, in a database.
func openRuns(address string, o runs.Options) (f *runs.Folder, release func() error, wrong *mistake) {
	if dir, ok := runsKind.path(address); ok {
		return runs.Open(dir, o), func() error { return nil }, nil
	}
	disk, release, err := stores.Runs.Open(address)
	if err != nil {
		return nil, nil, runsKind.wrong(address, err)
	}
	o.Disk = disk
	return runs.Open("", o), release, nil
}

// programVersion says which build of the program it is.
func programVersion() string {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	version := build.Main.Version
	for _, setting := range build.Settings {
		switch {
		case setting.Key == "vcs.revision":
			version += " " + setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			version += " modified"
		}
	}
	return version
}

// ready makes the folder, with a note to version control that nothing in it is for it. A folder that nobody has named and
// that cannot be made, as in an image that is read-only, is a warning: ok is false then.
func ready(s *system, f *runs.Folder, asked bool) (ok bool, wrong *mistake) {
	err := f.Make()
	if err == nil {
		err = wal.Unusable(writable(f.Dir()))
	}
	switch {
	case f.Dir() == "": // a database, which has been asked already
		return true, nil
	case err == nil:
		if top := filepath.Dir(f.Dir()); filepath.Base(top) == ".flowgen" {
			ignore := filepath.Join(top, ".gitignore")
			info, err := os.Lstat(top)
			if err != nil || !info.IsDir() { // where a link leads there may be other files, which are not to be ignored
				return true, nil
			}
			if _, err := os.Lstat(ignore); errors.Is(err, fs.ErrNotExist) {
				_ = os.WriteFile(ignore, []byte("*\n"), 0o600) // a convenience
			}
		}
		return true, nil
	case !asked && errors.Is(err, wal.ErrReadOnly):
		_, _ = fmt.Fprintf(s.stderr, "warning: this run is not recorded: %s\nhelp: --runs DIR or FLOWGEN_RUNS names a folder for runs; --no-journal runs without\n", safe(err.Error()))
		return false, nil
	}
	return false, &mistake{"cannot record the run: " + err.Error(), "--runs DIR or FLOWGEN_RUNS names another folder; --no-journal runs without a journal, and then nothing can be resumed or replayed"}
}

// again is what a program is called as by its user, with a verb for a run.
func (s *system) again(verb, id string) string {
	id = s.runs + id
	if file := s.env("FLOWGEN_FILE"); file != "" { // flowgen has started the program
		return "flowgen " + verb + " " + shellWord(file) + " " + id
	}
	return shellWord(filepath.Base(os.Args[0])) + " " + verb + " " + id
}

// after tells what can be done with a run that did not succeed, and ended with err.
func (s *system) after(e *runs.Engine, j *journal.Journal, err error, quiet bool) {
	if quiet {
		return
	}
	text := ""
	switch {
	case j.Finish().Outcome == journal.Waiting:
		for _, q := range j.Questions() {
			var asked runtime.Question
			if value.Decode(q.Input, &asked) == nil {
				text += strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(question(asked), "? "), "> ")) + "\n"
			}
			text += safe("waiting for an answer to "+q.Key+": "+s.again("respond", e.ID())+" "+shellWord(q.Key)+" ANSWER") + "\n"
		}
	case j.Finish().Outcome == journal.Failed:
		text = safe("run "+e.ID()+" failed. Retry the failed call with: "+s.again("resume", e.ID())+" --again") + "\n"
	case runErrorKind(err) == runtime.InDoubt:
		text = s.inDoubt(e.ID(), inspectionOf(e.ID(), j).InDoubt)
	case written(j, err) != "":
		text = safe("run "+e.ID()+" stopped. Repeat the call with: "+s.again("resume", e.ID())+" --edited --redo "+shellWord(written(j, err))) + "\n"
	case runErrorKind(err) == runtime.Diverged: // it would end there again
		text = safe("run "+e.ID()+" stopped") + "\n"
	case runErrorKind(err) == runtime.JournalUnavailable:
		text = safe("run "+e.ID()+" stopped, because its journal cannot be written. What is in it is not lost. When it can be written again, resume the run with: "+
			s.again("resume", e.ID())) + "\n"
	default:
		text = safe("run "+e.ID()+" stopped. Resume it with: "+s.again("resume", e.ID())) + "\n"
	}
	_, _ = fmt.Fprint(s.stderr, text)
}

// inDoubt names the calls in doubt of a run, and the command that settles all of them.
func (s *system) inDoubt(id string, calls []doubtful) string {
	command := s.again("resume", id)
	text := "run " + safe(id) + " stopped: of " + itoa(len(calls)) + " calls nobody knows whether they have happened\n"
	if len(calls) == 1 {
		text = "run " + safe(id) + " stopped: of 1 call nobody knows whether it has happened\n"
	}
	for _, d := range calls {
		text += "  " + safe(d.Key) + ", " + safe(d.Tool) + ", call_id " + safe(d.CallID) + "\n"
		command += " --in-doubt " + shellWord(d.Key+"=again")
	}
	return text + "Repeat them with: " + safe(command) + "\n" +
		"For a call that has happened, write its output as JSON in place of again.\n"
}

// written is the key of a call that has written, and that a changed program would have to make again; empty when err is
// something else.
func written(j *journal.Journal, err error) string {
	var wrong *runtime.RunError
	if !errors.As(err, &wrong) || runErrorKind(err) != runtime.Diverged {
		return ""
	}
	for _, key := range j.Keys() {
		if strings.HasPrefix(wrong.Message, "call "+key+" has already run") {
			return key
		}
	}
	return ""
}

// runErrorKind is the kind of a run error, empty for others.
func runErrorKind(err error) runtime.RunErrorKind {
	if wrong := (*runtime.RunError)(nil); errors.As(err, &wrong) {
		return wrong.Kind
	}
	return ""
}
