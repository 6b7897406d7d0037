package runs

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// ReadLazy is Read of a journal whose records are read again when somebody asks for them: it takes a hundred bytes for a call, whatever
// the call was given and has returned. What is read then is held to its sum; journal.Record says where that fails.
func (f *Folder) ReadLazy(id string) (*journal.Journal, error) {
	if !isID(id) {
		return nil, fmt.Errorf("%w: %q", ErrNoRun, id)
	}
	l := f.lazy(id)
	found, err := wal.Scan(f.opts.Disk, f.log(id), l.add)
	damaged := (*wal.DamagedError)(nil)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && found.Count == 0:
		return nil, noRecord(id)
	case errors.As(err, &damaged):
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	return l.journal, err
}

// openLazy is ReadLazy of a journal that is open for appending then.
func (f *Folder) openLazy(id string) (*wal.Log, *journal.Journal, error) {
	l := f.lazy(id)
	log, found, err := f.open(id, l.add)
	if err == nil && found.Count == 0 { // it died before its first line was written
		err = errors.Join(noRecord(id), log.Close())
	}
	return log, l.journal, err
}

// lazy makes a journal of the lines of a log that it is given.
type lazy struct {
	folder  *Folder
	id      string
	journal *journal.Journal
	lines   int
	held    int // bytes of values that are in files of their own
}

func (f *Folder) lazy(id string) *lazy {
	l := &lazy{folder: f, id: id, journal: new(journal.Journal)}
	if lines, ok := wal.LinesOf(f.opts.Disk, f.log(id)); ok {
		l.journal = journal.NewLazy(func(at int64, n int) ([]byte, error) {
			line, err := lines.Line(at, n)
			if err != nil {
				return nil, err
			}
			held := 0
			return f.inline(id, line, &held)
		})
	}
	return l
}

func (l *lazy) add(at int64, n int, line []byte) error {
	l.lines++
	line, err := l.folder.inline(l.id, line, &l.held)
	if err == nil {
		err = l.journal.AddAt(line, at, n)
	}
	if err != nil {
		return fmt.Errorf("run %s: line %d of the journal: %w", l.id, l.lines, err)
	}
	return nil
}
