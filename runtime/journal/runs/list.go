package runs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// Run is what a list says about a run.
type Run struct {
	ID       string          `json:"id"`
	Workflow string          `json:"workflow"`
	Begin    time.Time       `json:"begin"`
	Outcome  journal.Outcome `json:"outcome"`           // "" while it runs, and after a crash
	Failure  string          `json:"failure,omitempty"` // of a run that failed, or why its journal cannot be read
	From     string          `json:"from,omitempty"`
}

// Stamped is a Run with the stamp of its journal, which is zero where there is none, as in a database.
type Stamped struct {
	Run
	Stamp Stamp
	Sure  bool // what is read of the journal afterwards is the same while the stamp is
}

// A Stamp tells whether a file has changed: then it is another one.
type Stamp = wal.Stamp

// List returns the runs in the folder, the latest first. A folder that is not there has none. Of a journal it reads the first lines and
// the last ones, so that a long run costs no more than a short one, and nothing again while the file is as it was at the last List of this
// Folder. Runs of which these cannot be read are listed with the reason.
func (f *Folder) List() ([]Run, error) {
	lines, err := f.lines()
	if err != nil {
		return nil, err
	}
	list := make([]Run, len(lines))
	for i, l := range lines {
		list[i] = l.Run
	}
	return list, nil
}

// ListStamped is List for those who keep what they read of journals.
func (f *Folder) ListStamped() ([]Stamped, error) {
	lines, err := f.lines()
	if err != nil {
		return nil, err
	}
	list := make([]Stamped, len(lines))
	for i, l := range lines {
		list[i] = l.Stamped
	}
	return list, nil
}

// A line is what is kept of a run: it holds while the journal has its stamp.
type line struct {
	Stamped
	since string // what it is sorted by
}

func (f *Folder) lines() ([]*line, error) {
	ids, err := f.ids()
	if err != nil {
		return nil, err
	}
	lines := f.linesOf(ids)
	latestFirst(lines)
	return lines, nil
}

// latestFirst sorts lines by when their runs began.
func latestFirst(lines []*line) {
	slices.SortFunc(lines, func(a, b *line) int { return cmp.Or(strings.Compare(b.since, a.since), strings.Compare(a.ID, b.ID)) })
}

// kept are the lines of the last list.
type kept struct {
	mu   sync.Mutex // held while a list is made: who wants one at the same time has nothing left to read
	runs map[string]*line
}

// linesOf looks at all runs, several at a time, and reads those that have changed.
func (f *Folder) linesOf(ids []string) []*line {
	f.kept.mu.Lock()
	defer f.kept.mu.Unlock()
	lines := make([]*line, len(ids))
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 8, len(ids)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(ids); i = int(next.Add(1)) - 1 {
				lines[i] = f.lineOf(ids[i], f.kept.runs[ids[i]])
			}
		})
	}
	all.Wait()
	lines = slices.DeleteFunc(lines, func(l *line) bool { return l == nil })
	f.kept.runs = make(map[string]*line, len(lines))
	for _, l := range lines {
		if l.Sure {
			f.kept.runs[l.ID] = l
		}
	}
	return lines
}

// lineOf is the line of a run, the one before where its journal has not changed; nil for a run that has not begun.
func (f *Folder) lineOf(id string, before *line) *line {
	l := &line{Stamped: Stamped{Run: Run{ID: id}}}
	l.Stamp, l.Sure = wal.StampOf(f.opts.Disk, f.log(id))
	if l.Sure && before != nil && before.Stamp == l.Stamp {
		return before
	}
	if h, end, err := f.ends(id); errors.Is(err, fs.ErrNotExist) || errors.Is(err, errEmpty) {
		return nil
	} else if err != nil {
		l.Failure = err.Error()
		if of := new(fs.PathError); errors.As(err, &of) { // the disk's, which may pass
			l.Sure = false
		}
	} else {
		l.Workflow, l.Begin, l.From, l.Outcome, l.Failure = h.Workflow, h.Begin, h.From, end.Outcome, end.Failure
	}
	l.since = f.since(l.Run)
	return l
}

// endLength is how much of a journal is read at its beginning and at its end.
const endLength = 64 << 10 // bytes

// ends returns how a run began and how it ended. Where the ends of the journal do not say that, as of one that a crash has
// torn, all of it is read.
func (f *Folder) ends(id string) (h journal.Header, end journal.Finish, err error) {
	head, size, err := wal.ReadRange(f.opts.Disk, f.log(id), 0, endLength)
	if err != nil {
		return h, end, err
	}
	first, rest := bytes.IndexByte(head, '\n'), head
	if first >= 0 && size > int64(len(head)) {
		if rest, _, err = wal.ReadRange(f.opts.Disk, f.log(id), size-endLength, endLength); err != nil {
			return h, end, err
		}
	}
	if h, ok := headerOf(head, first); ok {
		if end, ok := finishOf(rest, size-int64(len(rest)), h); ok {
			return h, end, nil
		}
	}
	data, err := f.opts.Disk.ReadFile(f.log(id))
	if err != nil {
		return h, end, err
	}
	found, err := wal.Recover(data)
	if err != nil {
		return h, end, fmt.Errorf("run %s: %w", id, err)
	}
	j, err := parsed(id, found.Lines, func(line []byte) ([]byte, error) { return line, nil })
	if err != nil {
		return h, end, err
	}
	return j.Header(), j.Finish(), nil
}

// headerOf reads the first line of a journal.
func headerOf(head []byte, first int) (h journal.Header, ok bool) {
	if first < 0 {
		return h, false
	}
	err := new(wal.Cursor).Scan(head[:first+1], func(_ int64, _ int, line []byte) error {
		j := new(journal.Journal)
		err := j.Add(line)
		h, ok = j.Header(), err == nil
		return err
	})
	return h, ok && err == nil
}

// finishOf reads how a run ended from the end of its journal, which begins at an offset. Answers may follow a finish.
func finishOf(tail []byte, at int64, h journal.Header) (end journal.Finish, ok bool) {
	read := wal.Last(tail, at, func(line []byte) bool {
		switch {
		case bytes.HasPrefix(line, []byte(`{"kind":"`+journal.KindAnswer+`"`)):
			return true
		case bytes.HasPrefix(line, []byte(`{"kind":"`+journal.KindFinish+`"`)):
			j := journal.New(h)
			ok = j.Add(line) == nil
			end = j.Finish()
		default:
			ok = true // it goes on, or was stopped without a word
		}
		return false
	})
	return end, ok && read
}
