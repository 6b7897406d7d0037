// Package faultdisk is a disk in memory that fails and crashes when a test wants it to. After a crash it holds what a
// real disk may hold: everything that was synced, and of what was not any part: writes may be missing, torn at any byte,
// or there without those before them, which leaves holes of zeros.
package faultdisk

import (
	"errors"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// ErrCrash is the error of every operation after the crash.
var ErrCrash = errors.New("the machine has crashed")

// Disk implements wal.Disk. It is safe for concurrent use; its fields are set before that. A sync that goes on while
// somebody writes covers what was there when it began.
type Disk struct {
	mu    sync.Mutex
	files map[string]*file
	dirs  map[string]bool // that were made here; others are there from the beginning
	names map[string]bool // names of files and folders that are durable
	ops   int
	locks map[string]bool

	CrashAt int   // the operation, from 1, in which the machine crashes; 0: never
	FailAt  int   // the operation that fails, from 1; 0: none
	Fail    error // how; nil is syscall.EIO
	Space   int   // bytes that fit; 0: no bound
	down    bool
	rand    *rand.Rand
	Observe func(op string) // called before each operation
}

type file struct {
	disk *Disk
	name string
	// durable is what a crash cannot take away. writes come after it, in order.
	durable []byte
	writes  []write
	size    int
}

type write struct {
	at   int
	data []byte
	cut  bool // a truncation to at
}

// New returns an empty disk whose crashes are decided by seed.
func New(seed uint64) *Disk {
	return &Disk{files: map[string]*file{}, dirs: map[string]bool{}, names: map[string]bool{}, locks: map[string]bool{}, rand: rand.New(rand.NewPCG(seed, 1))}
}

// Ops returns how many operations there were.
func (d *Disk) Ops() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ops
}

// begin takes the lock, for an operation with the error that it ends with.
func (d *Disk) begin(name string) error {
	if d.Observe != nil {
		d.Observe(name)
	}
	d.mu.Lock()
	if d.down {
		return ErrCrash
	}
	d.ops++
	switch d.ops {
	case d.CrashAt:
		d.down = true
		return ErrCrash
	case d.FailAt:
		if d.Fail != nil {
			return d.Fail
		}
		return syscall.EIO
	}
	return nil
}

// Restart returns what the disk holds after the crash, or after an orderly stop when there was none.
func (d *Disk) Restart() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := New(d.rand.Uint64())
	gone := map[string]bool{} // names that never reached the disk
	for _, name := range slices.Sorted(maps.Keys(d.dirs)) {
		if gone[name] = gone[filepath.Dir(name)] || d.lost(name); !gone[name] {
			n.dirs[name], n.names[name] = true, true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		f := d.files[name]
		data := f.content()
		if d.down {
			data = f.crashed(d.rand)
		}
		if gone[filepath.Dir(name)] || d.lost(name) {
			continue
		}
		n.files[name] = &file{disk: n, name: name, durable: data, size: len(data)}
		n.names[name] = true
	}
	return n
}

// lost decides about a name.
func (d *Disk) lost(name string) bool { return d.down && !d.names[name] && d.rand.IntN(2) == 0 }

// Durable returns what of a file no crash can take away any more: nothing as long as its name, or that of a folder that it
// is in, can be lost.
func (d *Disk) Durable(name string) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	for at := name; ; at = filepath.Dir(at) {
		if (at == name || d.dirs[at]) && !d.names[at] {
			return nil
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return slices.Clone(d.files[name].durable)
}

// Put makes a file that is durable.
func (d *Disk) Put(name string, data []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files[name] = &file{disk: d, name: name, durable: slices.Clone(data), size: len(data)}
	d.names[name] = true
}

// Files returns what is in all files.
func (d *Disk) Files() map[string][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := map[string][]byte{}
	for name, f := range d.files {
		all[name] = f.content()
	}
	return all
}

// Failed reports whether the operation that was to fail has done so.
func (d *Disk) Failed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.down || d.FailAt > 0 && d.ops >= d.FailAt
}

// content is what a reader sees.
func (f *file) content() []byte {
	data := append([]byte(nil), f.durable...)
	for _, w := range f.writes {
		data = w.apply(data, len(w.data))
	}
	return data
}

func (w write) apply(data []byte, n int) []byte {
	if w.cut {
		return data[:min(len(data), w.at)]
	}
	for len(data) < w.at+n {
		data = append(data, 0)
	}
	copy(data[w.at:], w.data[:n])
	return data
}

// crashed applies any of the writes that were not synced, in part or whole.
func (f *file) crashed(r *rand.Rand) []byte {
	data := append([]byte(nil), f.durable...)
	for _, w := range f.writes {
		switch r.IntN(3) {
		case 0: // lost
		case 1:
			data = w.apply(data, r.IntN(len(w.data)+1))
		default:
			data = w.apply(data, len(w.data))
		}
	}
	return data
}

// ReadFile implements wal.Disk.
func (d *Disk) ReadFile(name string) ([]byte, error) {
	err := d.begin("read")
	defer d.mu.Unlock()
	if err != nil {
		return nil, err
	}
	f := d.files[name]
	if f == nil {
		return nil, fs.ErrNotExist
	}
	return f.content(), nil
}

// ReadRange implements wal.Ranger.
func (d *Disk) ReadRange(name string, at, n int64) (data []byte, size int64, err error) {
	if data, err = d.ReadFile(name); err != nil {
		return nil, 0, err
	}
	size = int64(len(data))
	at = min(at, size)
	return data[at:min(at+n, size)], size, nil
}

// Append implements wal.Disk.
func (d *Disk) Append(name string) (wal.File, error) {
	err := d.begin("open")
	defer d.mu.Unlock()
	if err != nil {
		return nil, err
	}
	f := d.files[name]
	if f == nil {
		f = &file{disk: d, name: name}
		d.files[name] = f
	}
	return f, nil
}

// Mkdir implements wal.Disk.
func (d *Disk) Mkdir(dir string) error {
	err := d.begin("mkdir")
	defer d.mu.Unlock()
	switch {
	case err != nil:
		return err
	case d.dirs[dir]:
		return fs.ErrExist
	}
	d.dirs[dir] = true
	return nil
}

// SyncDir implements wal.Disk.
func (d *Disk) SyncDir(dir string) error {
	err := d.begin("syncdir")
	defer d.mu.Unlock()
	if err != nil {
		return err
	}
	for name := range d.files {
		if filepath.Dir(name) == filepath.Clean(dir) {
			d.names[name] = true
		}
	}
	for name := range d.dirs {
		if filepath.Dir(name) == filepath.Clean(dir) {
			d.names[name] = true
		}
	}
	return nil
}

// ReadDir implements wal.Disk.
func (d *Disk) ReadDir(dir string) ([]string, error) {
	err := d.begin("readdir")
	defer d.mu.Unlock()
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range d.dirs {
		if filepath.Dir(name) == filepath.Clean(dir) {
			names = append(names, filepath.Base(name))
		}
	}
	slices.Sort(names)
	return names, nil
}

// RemoveAll implements wal.Disk.
func (d *Disk) RemoveAll(dir string) error {
	err := d.begin("remove")
	defer d.mu.Unlock()
	if err != nil {
		return err
	}
	below := func(name string) bool { return name == dir || strings.HasPrefix(name, dir+string(filepath.Separator)) }
	maps.DeleteFunc(d.files, func(name string, _ *file) bool { return below(name) })
	maps.DeleteFunc(d.dirs, func(name string, _ bool) bool { return below(name) })
	return nil
}

// Lock implements wal.Disk.
func (d *Disk) Lock(name string) (func() error, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.down {
		return nil, ErrCrash
	}
	if d.locks[name] {
		return nil, wal.ErrLocked
	}
	d.locks[name] = true
	return func() error {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.locks, name)
		return nil
	}, nil
}

// Write appends. A disk that is full takes what fits.
func (f *file) Write(p []byte) (int, error) {
	err := f.disk.begin("write")
	defer f.disk.mu.Unlock()
	if err != nil {
		n := 0
		if f.disk.down || f.disk.rand.IntN(2) == 0 { // a part may have gone through
			n = f.disk.rand.IntN(len(p) + 1)
			f.put(p[:n])
		}
		return n, err
	}
	if free := f.disk.free(); len(p) > free {
		f.put(p[:free])
		return free, syscall.ENOSPC
	}
	f.put(p)
	return len(p), nil
}

// free is what fits yet.
func (d *Disk) free() int {
	if d.Space == 0 {
		return math.MaxInt
	}
	used := 0
	for _, f := range d.files {
		used += f.size
	}
	return max(d.Space-used, 0)
}

func (f *file) put(p []byte) {
	f.writes = append(f.writes, write{at: f.size, data: append([]byte(nil), p...)})
	f.size += len(p)
}

// Sync makes all writes durable. One that fails may have made some of them durable, and says nothing about them.
func (f *file) Sync() error {
	f.disk.mu.Lock()
	n := len(f.writes)
	f.disk.mu.Unlock()
	err := f.disk.begin("sync")
	defer f.disk.mu.Unlock()
	if err != nil {
		if !f.disk.down {
			f.durable, f.writes = f.crashed(f.disk.rand), nil
		}
		return err
	}
	for _, w := range f.writes[:n] {
		f.durable = w.apply(f.durable, len(w.data))
	}
	f.writes = f.writes[n:]
	return nil
}

// Truncate implements wal.File.
func (f *file) Truncate(size int64) error {
	err := f.disk.begin("truncate")
	defer f.disk.mu.Unlock()
	if err != nil {
		return err
	}
	f.writes = append(f.writes, write{at: int(size), cut: true})
	f.size = int(size)
	return nil
}

// Close implements wal.File. It makes nothing durable.
func (f *file) Close() error {
	err := f.disk.begin("close")
	defer f.disk.mu.Unlock()
	return err
}
