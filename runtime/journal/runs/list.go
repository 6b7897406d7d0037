package runs

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"
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

// List returns the runs in the folder, the latest first. A folder that is not there has none. Of a journal it reads the first lines and
// the last ones, so that a long run costs no more than a short one; runs of which these cannot be read are listed with the reason.
func (f *Folder) List() ([]Run, error) {
	ids, err := f.ids()
	if err != nil {
		return nil, err
	}
	list := []Run{}
	for _, id := range ids {
		r := Run{ID: id}
		if h, end, err := f.ends(id); errors.Is(err, fs.ErrNotExist) || errors.Is(err, errEmpty) {
			continue // it has not begun
		} else if err != nil {
			r.Failure = err.Error()
		} else {
			r.Workflow, r.Begin, r.From, r.Outcome, r.Failure = h.Workflow, h.Begin, h.From, end.Outcome, end.Failure
		}
		list = append(list, r)
	}
	slices.SortStableFunc(list, func(a, b Run) int {
		return cmp.Or(strings.Compare(f.since(b), f.since(a)), strings.Compare(a.ID, b.ID))
	})
	return list, nil
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
	j, err := f.read(id)
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
