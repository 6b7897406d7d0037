// Package runs keeps the journals of runs in a folder, one for each run:
//
//	.flowgen/runs/triage-20260102T150405123-9f3c/journal.jsonl
//	.flowgen/runs/triage-20260102T150405123-9f3c/blobs/<sha-256>
//
// A journal is written while the run goes on, so that a run that was killed can be resumed, and one that has ended can be
// replayed. A service records its runs with
//
//	folder := runs.Open("/var/lib/triage", runs.Options{})
//	w, err := triage.New(runtime.WithEngines(folder.Record))
package runs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	mathrand "math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// DefaultDir is where programs keep their runs when nobody says otherwise.
const DefaultDir = ".flowgen/runs"

const (
	logName   = "journal.jsonl"
	blobsName = "blobs"
	// Names that no run has.
	removedName = ".removed"
	probeName   = ".writable-"
	keyName     = ".key"
)

// ErrNoRun is the error of a run that is not there.
var ErrNoRun = errors.New("no such run")

// ErrExists is the error of a new run with the id of one that is recorded already, see runtime.WithRunID.
var ErrExists = errors.New("a run with this id already exists")

// ErrBusy is the error of a run that a process is at.
var ErrBusy = wal.ErrLocked

// ErrOverlaps is the error of Alone while another run goes on.
var ErrOverlaps = errors.New("another run of the workflow is in progress")

// The errors of a store that cannot be used as it is. A run that they end is a runtime.RunError of the kind JournalUnavailable: what it has
// recorded is not lost, and it goes on by Resume when the store is usable again.
var (
	ErrFull     = wal.ErrFull
	ErrReadOnly = wal.ErrReadOnly
	ErrGone     = wal.ErrGone
)

// Options say how runs are recorded. The zero value is for use: every write and external call is on the disk before it is
// made.
type Options struct {
	Sync    Sync
	Program string   // version of the program, for the header
	Disk    wal.Disk // where the folder is; nil: on the operating system's disk
	Now     func() time.Time
	Seed    func() uint64 // of new runs; nil: a random one

	ReadOnly bool // nothing is written in order to read: no index beside a long journal
}

// Sync says what is forced to the disk.
type Sync string

// The modes. The empty one is Effect.
const (
	Off      Sync = "off"      // lines may wait in the program's memory: nothing is promised after a crash
	Buffered Sync = "buffered" // the operating system has every line at once: a crash of the program loses nothing
	Effect   Sync = "effect"   // before a call that writes its intent is on the disk, and its result before anything else happens
)

// ParseSync reads a mode.
func ParseSync(s string) (Sync, error) {
	switch m := Sync(s); m {
	case "":
		return Effect, nil
	case Off, Buffered, Effect:
		return m, nil
	}
	return "", fmt.Errorf("unknown sync mode %q: expected off, buffered or effect", s)
}

func (s Sync) mode() wal.Sync {
	switch s {
	case Off:
		return wal.Off
	case Buffered:
		return wal.Buffered
	}
	return wal.Durable
}

// Folder is a folder of runs. It is safe for concurrent use.
type Folder struct {
	dir   string
	opts  Options
	watch atomic.Pointer[func(run string, n int, line []byte)] // nil: nobody does

	hashes atomic.Pointer[known] // of the workflow whose run began last
	kept   kept
}

// Open names a folder of runs. It is made when the first run is recorded.
func Open(dir string, o Options) *Folder {
	if o.Disk == nil {
		o.Disk = wal.OS
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Seed == nil {
		o.Seed = mathrand.Uint64
	}
	o.Sync = cmp.Or(o.Sync, Effect)
	return &Folder{dir: dir, opts: o}
}

// Make makes the folder, before the first run does.
func (f *Folder) Make() error { return f.mkdir(f.dir, true) }

// Dir returns the folder's name.
func (f *Folder) Dir() string { return f.dir }

// String says where the runs are: in the folder, or in the store that it is in.
func (f *Folder) String() string {
	if s, ok := f.opts.Disk.(fmt.Stringer); ok {
		return s.String()
	}
	return f.dir
}

// Blobs returns the folder in which large parts of a run are kept.
func (f *Folder) Blobs(id string) string { return filepath.Join(f.dir, id, blobsName) }

// isID reports whether a name is that of a run. So no name leads out of the folder.
func isID(name string) bool { return made(name) || engine.CheckRunID(name) == nil }

// made reports whether an id is one that engine.NewRunID makes: then it says the workflow and when the run began.
func made(id string) bool {
	prefix, rest := strings.TrimSuffix(id, when(id)), when(id)
	if len(prefix) < 2 || len(prefix) > 129 || prefix[len(prefix)-1] != '-' || len(rest) != len("20060102T150405000-ffff") {
		return false
	}
	for i := range prefix {
		if c := prefix[i]; !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	for i, form := range []byte("00000000T000000000-ffff") {
		c := rest[i]
		digit := c >= '0' && c <= '9'
		if ok := form == '0' && digit || form == 'f' && (digit || c >= 'a' && c <= 'f') || form != '0' && form != 'f' && c == form; !ok {
			return false
		}
	}
	return true
}

// ids are the names of the folders of runs, in no particular order. A folder of runs that is not there has none.
func (f *Folder) ids() ([]string, error) {
	names, err := f.opts.Disk.ReadDir(f.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, f.unlisted(err)
	}
	return slices.DeleteFunc(names, func(name string) bool { return !isID(name) }), nil
}

// since is a text by which runs sort in the order in which they began.
func (f *Folder) since(r Run) string {
	if made(r.ID) {
		return when(r.ID)
	}
	return strings.Replace(r.Begin.UTC().Format("20060102T150405.000"), ".", "", 1)
}

// unlisted is the error of a folder of runs that cannot be listed, without the name of a system call.
func (f *Folder) unlisted(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	return fmt.Errorf("the folder of runs %s cannot be read: %w", f, err)
}

// when is the part of an id that says when the run began.
func when(id string) string { return id[max(0, len(id)-len("20060102T150405000-ffff")):] }

// Find returns the id of the run that name stands for: an id, the beginning of one that no other has, "latest", which is
// the latest of the workflow, or "latest~1" for the one before it. A name with a path in it is none.
func (f *Folder) Find(workflow, name string) (string, error) {
	ids, err := f.ids()
	if err != nil {
		return "", err
	}
	back, latest := before(name)
	if latest {
		return f.latest(workflow, name, back, ids)
	}
	var found []string
	for _, id := range ids {
		switch {
		case id == name:
			return id, nil
		case name != "" && strings.HasPrefix(id, name):
			found = append(found, id)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0:
		return "", fmt.Errorf("%w: %s has no run %s", ErrNoRun, f, name)
	}
	more := ""
	if len(found) > 3 {
		more = ", ..."
	}
	return "", fmt.Errorf("%d runs begin with %s: %s%s", len(found), name, strings.Join(found[:min(3, len(found))], ", "), more)
}

// latest returns the run of the workflow that began as the latest but back.
func (f *Folder) latest(workflow, name string, back int, ids []string) (string, error) {
	found := f.of(workflow, ids)
	if back >= len(found) {
		return "", fmt.Errorf("%w: %s has no run %s", ErrNoRun, f, name)
	}
	return found[back], nil
}

// Latest returns the ids of the runs of a workflow, those of all when it is empty, the latest first. Unlike List it reads only
// the journals of runs whose ids were chosen.
func (f *Folder) Latest(workflow string) ([]string, error) {
	ids, err := f.ids()
	if err != nil {
		return nil, err
	}
	return f.of(workflow, ids), nil
}

// of lists the runs of a workflow among ids, those of all when it is empty, the latest first. An id that was chosen says
// neither the workflow nor the time: the journal does.
func (f *Folder) of(workflow string, ids []string) []string {
	var found []*line
	for _, id := range ids {
		r := Run{ID: id}
		if made(id) {
			name := strings.TrimSuffix(id, when(id))
			if workflow != "" && name != engine.RunIDPrefix(workflow) && !(strings.HasSuffix(name, "-"+engine.RunIDPrefix(workflow)) && f.is(id, workflow)) {
				continue
			}
		} else if h, _, err := f.ends(id); err == nil && (workflow == "" || h.Workflow == workflow) {
			r.Begin = h.Begin
		} else {
			continue
		}
		found = append(found, &line{Stamped{Run: r}, f.since(r)})
	}
	latestFirst(found)
	sorted := make([]string, len(found))
	for i, r := range found {
		sorted[i] = r.ID
	}
	return sorted
}

// is reports whether a run is one of the workflow, as its journal says. Its id may begin with something else.
func (f *Folder) is(id, workflow string) bool {
	h, _, err := f.ends(id)
	return err == nil && h.Workflow == workflow
}

// before reads "latest" and "latest~N": how many runs before the latest one are meant.
func before(name string) (back int, ok bool) {
	if name == "latest" {
		return 0, true
	}
	n, ok := strings.CutPrefix(name, "latest~")
	if !ok {
		return 0, false
	}
	back, err := strconv.Atoi(n)
	return back, err == nil && back >= 0
}

// Read returns the journal of a run as it is now, also while the run goes on. Damage is an error that says where.
func (f *Folder) Read(id string) (*journal.Journal, error) {
	j, err := f.read(id)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errEmpty) {
		return nil, noRecord(id)
	}
	return j, err
}

// noRecord is the error of a run without a journal: one that has stopped before its first line was written.
func noRecord(id string) error {
	return fmt.Errorf("%w: nothing is recorded of %s", ErrNoRun, id)
}

// Alone reserves the workflow for one run in this folder, of all processes that ask for it. release gives it free, as the
// end of the process does, whatever ends it. The error is ErrOverlaps while somebody else has it.
func (f *Folder) Alone(workflow string) (release func() error, err error) {
	if err := f.Make(); err != nil {
		return nil, err
	}
	release, err = f.opts.Disk.Lock(filepath.Join(f.dir, engine.RunIDPrefix(workflow)))
	if errors.Is(err, wal.ErrLocked) {
		return nil, fmt.Errorf("%w: %s", ErrOverlaps, workflow)
	}
	return release, err
}

// Prune removes the runs that have ended, but for the latest keep of them, and returns what it removed. Runs that wait,
// that crashed, that go on or that have calls in doubt are never removed: they can be resumed.
func (f *Folder) Prune(workflow string, keep int) (removed []string, err error) {
	list, err := f.List()
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		if workflow != "" && r.Workflow != workflow {
			continue
		}
		switch r.Outcome {
		case journal.Succeeded, journal.Failed, journal.Cancelled:
		default:
			continue
		}
		if keep--; keep >= 0 {
			continue
		}
		if j, err := f.ReadLazy(r.ID); err != nil || j.InDoubt() {
			continue
		}
		if err := f.remove(r.ID); errors.Is(err, wal.ErrLocked) {
			continue // somebody goes on with it
		} else if err != nil {
			return removed, err
		}
		removed = append(removed, r.ID)
	}
	return removed, nil
}

func (f *Folder) remove(id string) error {
	unlock, err := f.opts.Disk.Lock(f.log(id))
	if err != nil {
		return err
	}
	if !made(id) { // somebody may ask for it again by the same name
		if err := f.bury(id); err != nil {
			return errors.Join(err, unlock())
		}
	}
	return wal.Remove(f.opts.Disk, filepath.Join(f.dir, id), f.log(id), unlock)
}

// bury writes down that a run is removed. It is on the disk before the run is not.
func (f *Folder) bury(id string) error {
	if err := f.mkdir(filepath.Dir(f.grave(id)), true); err != nil {
		return err
	}
	log, _, err := wal.Open(f.opts.Disk, f.grave(id), f.opts.Sync.mode())
	if err != nil {
		return err
	}
	return errors.Join(log.Append([]byte(`{"kind":"removed"}`), true), log.Close())
}

func (f *Folder) grave(id string) string { return filepath.Join(f.dir, removedName, id, logName) }

// Removed reports whether there was a run whose id was chosen, see runtime.WithRunID, and that was removed. It is known for good: a
// line stays of such a run.
func (f *Folder) Removed(id string) (bool, error) {
	if !isID(id) || made(id) {
		return false, nil
	}
	text, err := f.opts.Disk.ReadFile(f.grave(id))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return len(text) > 0, err
}

// Writable returns why no run can be recorded at the moment, nil when one can.
func (f *Folder) Writable() error {
	dir := filepath.Join(f.dir, probeName+strconv.FormatUint(mathrand.Uint64(), 16)) // others ask at the same time
	if err := f.mkdir(dir, false); err != nil {
		return err
	}
	unlock, err := f.opts.Disk.Lock(filepath.Join(dir, logName)) // writes, on all disks
	if err == nil {
		err = unlock()
	}
	return errors.Join(err, f.opts.Disk.RemoveAll(dir))
}

var errEmpty = errors.New("the journal is empty")

func (f *Folder) read(id string) (*journal.Journal, error) {
	if !isID(id) {
		return nil, fmt.Errorf("%w: %q", ErrNoRun, id)
	}
	data, err := f.opts.Disk.ReadFile(f.log(id))
	if err != nil {
		return nil, err
	}
	found, err := wal.Recover(data)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	return f.parse(id, found.Lines)
}

func (f *Folder) log(id string) string { return filepath.Join(f.dir, id, logName) }

// parse makes a journal of its lines, with the values that are in files of their own.
func (f *Folder) parse(id string, lines [][]byte) (*journal.Journal, error) {
	held := 0
	return parsed(id, lines, func(line []byte) ([]byte, error) { return f.inline(id, line, &held) })
}

// parsed makes a journal of what becomes of its lines.
func parsed(id string, lines [][]byte, become func(line []byte) ([]byte, error)) (*journal.Journal, error) {
	if len(lines) == 0 {
		return nil, errEmpty
	}
	j := new(journal.Journal)
	for i, line := range lines {
		line, err := become(line)
		if err == nil {
			err = j.Add(line)
		}
		if err != nil {
			return nil, fmt.Errorf("run %s: line %d of the journal: %w", id, i+1, err)
		}
	}
	return j, nil
}

// known are the hashes of a program.
type known struct {
	info   *flow.Info
	hashes *journal.Hashes
}

// hashesOf is HashesOf, which is read once for runs of the same workflow that follow each other.
func (f *Folder) hashesOf(info *flow.Info) *journal.Hashes {
	if k := f.hashes.Load(); k != nil && k.info == info {
		return k.hashes
	}
	k := &known{info, HashesOf(info)}
	f.hashes.Store(k)
	return k.hashes
}

// HashesOf reads what a program says about itself; nothing when its generator was too old to say it.
func HashesOf(info *flow.Info) *journal.Hashes {
	h, err := journal.ParseHashes(info.Facts.Hashes())
	if err != nil {
		return &journal.Hashes{}
	}
	return h
}
