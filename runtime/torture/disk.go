package torture

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/flowgen-dev/flowgen/runtime"
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

// machineCrash records a run on a disk, crashes the machine at one of the disk's operations, or lets the disk fail from then
// on, and goes on from what is on the disk.
func (t *trial) machineCrash(whole *life) {
	info := t.campaign.workflow.Info
	seed := t.rng.next()
	open := func(d *disk) *runs.Folder {
		return runs.Open("runs", runs.Options{Disk: d, Now: begin, Seed: func() uint64 { return seed }})
	}
	record := func(what string, d *disk, began func(*sim.Simulator)) (*life, string) {
		e := open(d).New(info)
		l := t.run(what, t.world.fresh(), plan{through: e, began: began})
		return l, e.ID()
	}
	d := newDisk(from(seed, "disk"))
	l, id := record("a run that was recorded on a disk", d, nil)
	if t.over() {
		return
	}
	j, err := open(d).Read(id)
	if err != nil {
		t.problem("journal", "", "%s cannot be read: %v", l.what, err)
		return
	}
	l.journal = j
	t.compare(l)
	t.replay(l)

	broken := newDisk(from(seed, "broken disk"))
	at := 1 + t.rng.n(d.ops)
	what := fmt.Sprintf("a run whose machine crashed at operation %d of %d of the disk", at, d.ops)
	broken.crashAt = at
	if t.rng.one(3) {
		what = fmt.Sprintf("a run whose disk failed from operation %d of %d on", at, d.ops)
		broken.crashAt, broken.failAt = 0, at
	}
	l, id = record(what, broken, func(s *sim.Simulator) { broken.crashed = s.Halt })
	t.counts.Crashes++
	t.counts.DiskCrashes++
	if t.over() {
		return
	}
	restarted := broken.restart()
	left, ok := t.recovered(l, open(restarted), id)
	if !ok {
		return
	}
	left.resume = func(decided bool) (runtime.Engine, func() *journal.Journal, error) {
		again := restarted.restart() // each goes on from the same disk
		var c runs.Continue
		if decided {
			c.Decide = func(journal.Record, *runtime.Doubt) (journal.Decision, bool) {
				return journal.Decision{Again: true}, true
			}
		}
		e, _, err := open(again).Resume(info, id, c)
		if err != nil {
			return nil, nil, err
		}
		return e, func() *journal.Journal {
			j, err := open(again).Read(id)
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
