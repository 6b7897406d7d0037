package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

// keepFlags say where runs are kept.
type keepFlags struct {
	dir  string // "": FLOWGEN_RUNS, then what the workflow says, then runs.DefaultDir
	none bool
	sync string
}

// folder is the folder of runs: nil when runs are not kept. asked says that somebody has named it.
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
	if k.none || named == "off" {
		return nil, false, nil
	}
	dir := cmp.Or(named, said.Dir, filepath.FromSlash(runs.DefaultDir))
	return runs.Open(dir, runs.Options{Sync: sync, Program: programVersion(), Now: s.now}), named != "", nil
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
		err = writable(f.Dir())
	}
	switch {
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
	case !asked && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)):
		_, _ = fmt.Fprintf(s.stderr, "warning: this run is not recorded: %s\nhelp: --runs DIR or FLOWGEN_RUNS names a folder for runs; --no-journal runs without\n", safe(err.Error()))
		return false, nil
	}
	return false, &mistake{"cannot record the run: " + err.Error(), "--runs DIR or FLOWGEN_RUNS names another folder; --no-journal runs without a journal, and then nothing can be resumed or replayed"}
}

// again is what a program is called as by its user, with a verb for a run.
func (s *system) again(verb, id string) string {
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
			text += safe("waiting for an answer to "+q.Key+": "+s.again("respond", e.ID())+" "+shellWord(q.Key)+" ANSWER") + "\n"
		}
	case j.Finish().Outcome == journal.Failed:
		text = safe("recorded as "+e.ID()+"; what has failed is done again by: "+s.again("resume", e.ID())+" --again") + "\n"
	case doubted(e.ID(), j, err) != "":
		flag := " --in-doubt " + shellWord(doubted(e.ID(), j, err)+"=")
		text = safe("recorded as "+e.ID()+"; if the call may be made again, the run goes on with: "+s.again("resume", e.ID())+flag+"again") + "\n" +
			safe("if it has happened: "+s.again("resume", e.ID())+flag+"JSON, with what it has given") + "\n"
	case written(j, err) != "":
		text = safe("recorded as "+e.ID()+"; the call is made once more by: "+s.again("resume", e.ID())+" --edited --redo "+shellWord(written(j, err))) + "\n"
	case runErrorKind(err) == runtime.Diverged: // it would end there again
		text = safe("recorded as "+e.ID()) + "\n"
	default:
		text = safe("recorded as "+e.ID()+"; it goes on with: "+s.again("resume", e.ID())) + "\n"
	}
	_, _ = fmt.Fprint(s.stderr, text)
}

// doubted is the key of the call in doubt that a run ended with; empty when it ended otherwise.
func doubted(id string, j *journal.Journal, err error) string {
	var wrong *runtime.RunError
	if !errors.As(err, &wrong) || wrong.Kind != runtime.InDoubt {
		return ""
	}
	for _, d := range inspectionOf(id, j).InDoubt {
		if strings.HasPrefix(wrong.Message, "call "+d.Key+" had begun") {
			return d.Key
		}
	}
	return ""
}

// written is the key of a call that has written, and that a changed program would have to make again; empty when err is
// something else.
func written(j *journal.Journal, err error) string {
	var wrong *runtime.RunError
	if !errors.As(err, &wrong) || runErrorKind(err) != runtime.Diverged {
		return ""
	}
	for _, r := range j.Records() {
		if strings.HasPrefix(wrong.Message, "call "+r.Key+" has run already") {
			return r.Key
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
