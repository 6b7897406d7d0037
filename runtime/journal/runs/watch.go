package runs

import (
	"errors"
	"io/fs"

	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// Watch has w called for each line of a journal that this Folder writes from now on: with the run and the number of the line,
// from 1, in the order of the lines of a run. w must return quickly, must not keep the line, and can be called by several
// runs at the same time. The line may not be on the disk yet. There is one watcher: a later one replaces it, nil ends it.
func (f *Folder) Watch(w func(run string, n int, line []byte)) {
	if w == nil {
		f.watch.Store(nil)
		return
	}
	f.watch.Store(&w)
}

// open opens the journal of a run for writing.
func (f *Folder) open(id string, line func(at int64, n int, line []byte) error) (*wal.Log, *wal.Recovered, error) {
	log, found, err := wal.OpenScan(f.opts.Disk, f.log(id), f.opts.Sync.mode(), line)
	if err == nil && f.watch.Load() != nil {
		log.Watch(func(n int, line []byte) {
			if w := f.watch.Load(); w != nil {
				(*w)(id, n, line)
			}
		})
	}
	return log, found, err
}

// Lines returns the lines of a run's journal as they are now, also while the run goes on: what Watch has called for, and
// all before. Damage is an error that says where.
func (f *Folder) Lines(id string) ([][]byte, error) {
	if !isID(id) {
		return nil, noRecord(id)
	}
	data, err := f.opts.Disk.ReadFile(f.log(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noRecord(id)
	}
	if err != nil {
		return nil, err
	}
	found, err := wal.Recover(data)
	if err != nil {
		return nil, err
	}
	if len(found.Lines) == 0 {
		return nil, noRecord(id)
	}
	return found.Lines, nil
}

// Remove removes a run that has ended. The error is ErrBusy while somebody is at it.
func (f *Folder) Remove(id string) error {
	if _, err := f.Read(id); err != nil {
		return err
	}
	return f.remove(id)
}
