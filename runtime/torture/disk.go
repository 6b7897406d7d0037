package torture

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
	"github.com/flowgen-dev/flowgen/runtime/sim"
)

// disk is a wal.Disk in memory on which, at one of its operations, the machine crashes or from then on everything fails.
// After a crash it holds what was synced, and of each write that was not nothing, a part or all. One goroutine uses it.
type disk struct {
	rng   *random
	files map[string]*diskFile
	locks map[string]bool
	ops   int

	crashAt, failAt int // operations, from 1; 0: never
	crashed         func()
	down            bool
	lies            bool // about having synced
}

type diskFile struct {
	disk    *disk
	named   bool // its name is on the disk
	durable []byte
	size    int
	writes  []diskWrite
}

type diskWrite struct {
	at   int
	data []byte
}

func newDisk(rng *random) *disk {
	return &disk{rng: rng, files: map[string]*diskFile{}, locks: map[string]bool{}}
}

var errCrash = errors.New("the machine has crashed")

func (d *disk) op() error {
	if d.down {
		return errCrash
	}
	d.ops++
	if d.ops == d.crashAt {
		d.down = true
		d.crashed()
		return errCrash
	}
	if d.failAt > 0 && d.ops >= d.failAt {
		return syscall.EIO
	}
	return nil
}

// restart is the disk after the crash, or when everything works again.
func (d *disk) restart() *disk {
	n := newDisk(from(d.rng.next(), "restart"))
	for _, name := range sorted(d.files) {
		f := d.files[name]
		data := append([]byte(nil), f.durable...)
		if d.down && !f.named && d.rng.one(2) {
			continue
		}
		for _, w := range f.writes {
			part := len(w.data)
			if d.down && !d.rng.one(3) {
				part = d.rng.n(part + 1)
			}
			if part == 0 {
				continue
			}
			for len(data) < w.at+part {
				data = append(data, 0)
			}
			copy(data[w.at:], w.data[:part])
		}
		n.files[name] = &diskFile{disk: n, named: true, durable: data, size: len(data)}
	}
	return n
}

func (f *diskFile) content() []byte {
	data := append([]byte(nil), f.durable...)
	for _, w := range f.writes {
		data = append(data, w.data...)
	}
	return data
}

// ReadFile implements wal.Disk.
func (d *disk) ReadFile(name string) ([]byte, error) {
	f := d.files[name]
	if f == nil {
		return nil, fs.ErrNotExist
	}
	return f.content(), nil
}

// Append implements wal.Disk.
func (d *disk) Append(name string) (wal.File, error) {
	if err := d.op(); err != nil {
		return nil, err
	}
	f := d.files[name]
	if f == nil {
		f = &diskFile{disk: d}
		d.files[name] = f
	}
	return f, nil
}

// Mkdir implements wal.Disk. Folders are there.
func (d *disk) Mkdir(string) error { return nil }

// SyncDir implements wal.Disk.
func (d *disk) SyncDir(string) error {
	if err := d.op(); err != nil {
		return err
	}
	for _, f := range d.files {
		f.named = true
	}
	return nil
}

// ReadDir implements wal.Disk. A run is not looked for here.
func (d *disk) ReadDir(string) ([]string, error) { return nil, nil }

// RemoveAll implements wal.Disk. Nothing is removed.
func (d *disk) RemoveAll(string) error { return errors.ErrUnsupported }

// Lock implements wal.Disk.
func (d *disk) Lock(name string) (func() error, error) {
	if d.locks[name] {
		return nil, wal.ErrLocked
	}
	d.locks[name] = true
	return func() error { delete(d.locks, name); return nil }, nil
}

// Write implements wal.File.
func (f *diskFile) Write(p []byte) (int, error) {
	n := len(p)
	err := f.disk.op()
	if err != nil {
		n = f.disk.rng.n(len(p) + 1) // a part may have gone through
	}
	f.writes = append(f.writes, diskWrite{f.size, append([]byte(nil), p[:n]...)})
	f.size += n
	return n, err
}

// Sync implements wal.File.
func (f *diskFile) Sync() error {
	if err := f.disk.op(); err != nil {
		return err
	}
	if !f.disk.lies {
		f.durable, f.writes = f.content(), nil
	}
	return nil
}

// Truncate implements wal.File.
func (f *diskFile) Truncate(size int64) error {
	if err := f.disk.op(); err != nil {
		return err
	}
	f.durable, f.writes = f.content()[:size], nil
	f.size = int(size)
	return nil
}

// Close implements wal.File.
func (f *diskFile) Close() error { return nil }

// recording is a simulated disk with a folder of runs.
type recording struct {
	trial *trial
	disk  *disk
	seed  uint64
}

func (r recording) folder() *runs.Folder {
	return runs.Open("runs", runs.Options{Disk: r.disk, Now: begin, Seed: func() uint64 { return r.seed }})
}

// run records a run and returns its name.
func (r recording) run(what string) (*life, string) {
	e := r.folder().New(r.trial.campaign.workflow.Info)
	l := r.trial.run(what, r.trial.world.fresh(), plan{through: e, began: func(s *sim.Simulator) { r.disk.crashed = s.Halt }})
	return l, e.ID()
}

// machineCrash records a run on a disk, and again on one on which the machine crashes at one of its operations, or that
// fails from then on. It goes on from what is on the disk.
func (t *trial) machineCrash(whole *life) {
	r := recording{t, nil, t.rng.next()}
	r.disk = newDisk(from(r.seed, "disk"))
	l, id := r.run("a run that was recorded on a disk")
	if t.over() {
		return
	}
	j, err := r.folder().Read(id)
	if err != nil {
		t.problem("journal", "", "%s cannot be read: %v", l.what, err)
		return
	}
	l.journal = j
	t.compare(l)
	t.replay(l)
	ops := r.disk.ops
	first, last := 1+t.rng.n(ops), 0
	fails := t.rng.one(3)
	if t.campaign.opts.EveryCrash {
		first, last = 1, ops
	}
	for at := first; at <= max(first, last) && !t.over(); at++ {
		d := newDisk(from(r.seed, "broken disk", fmt.Sprint(at)))
		if fails != (last > 0 && at%2 == 0) {
			d.failAt = at
			t.diskCrash(whole, recording{t, d, r.seed}, fmt.Sprintf("a run whose disk failed from operation %d of %d on", at, ops))
		} else {
			d.crashAt = at
			t.diskCrash(whole, recording{t, d, r.seed}, fmt.Sprintf("a run whose machine crashed at operation %d of %d of the disk", at, ops))
		}
	}
}

// diskCrash records a run on a disk that breaks, and goes on from what is on it.
func (t *trial) diskCrash(whole *life, r recording, what string) {
	l, id := r.run(what)
	t.counts.Crashes++
	t.counts.DiskCrashes++
	if t.over() {
		return
	}
	r.disk = r.disk.restart()
	left, ok := t.recovered(l, r.folder(), id)
	if !ok {
		return
	}
	left.resume = func(decided bool) (engine.Engine, func() *journal.Journal, error) {
		again := recording{t, r.disk.restart(), r.seed} // each goes on from the same disk
		var c runs.Continue
		if decided {
			c.Decide = func(journal.Record, *flow.Doubt) (journal.Decision, bool) {
				return journal.Decision{Again: true}, true
			}
		}
		e, _, err := again.folder().Resume(t.campaign.workflow.Info, id, c)
		if err != nil {
			return nil, nil, err
		}
		return e, func() *journal.Journal {
			j, err := again.folder().Read(id)
			if err != nil {
				t.problem("journal", "", "%s and was resumed cannot be read: %v", what, err)
				return journal.New(journal.Header{})
			}
			return j
		}, nil
	}
	t.resume(whole, left, what+" and was resumed", false)
	if !t.over() {
		t.resume(whole, left, what+" and was resumed", true)
	}
}

// recovered reads what is on the disk of a run that ended in a crash, and checks that all is there that has to be: the
// intent of each call that changes the world and was executed, and the result of each that the run has heard of.
func (t *trial) recovered(l *life, folder *runs.Folder, id string) (remains, bool) {
	j, err := folder.Read(id)
	if errors.Is(err, runs.ErrNoRun) {
		j, err = journal.New(journal.Header{}), nil // it had not begun
	}
	if err != nil {
		t.problem("journal", "", "%s cannot be read: %v", l.what, err)
		return remains{}, false
	}
	w := t.world.fresh()
	for _, e := range l.log {
		c := call{e.record.Key, e.record.Attempt}
		r, known := j.Lookup(c.key, c.attempt)
		if e.what == sim.Ran {
			w.done[c]++
		}
		if !writes(e.record) {
			continue
		}
		switch {
		case e.what == sim.Ran && !known:
			t.problem("durable", "", "%s: call %s of tool %s was executed, and its intent is not on the disk", l.what, c, e.record.Tool)
		case e.what == sim.Ended && e.record.Result() && !(known && r.Result()):
			t.problem("durable", "", "%s: the run has heard of the result of call %s of tool %s, which is not on the disk", l.what, c, e.record.Tool)
		}
	}
	return remains{journal: j, world: w}, j.Header().Workflow != "" && !t.over()
}
