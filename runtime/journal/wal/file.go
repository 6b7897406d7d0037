package wal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// File is an open log file: what the log needs of it. Writes go to its end.
type File interface {
	io.Writer
	Sync() error
	Truncate(size int64) error
	Close() error
}

// Disk is where logs are: OS is the operating system's, package database has one in a database, and tests have disks that fail.
type Disk interface {
	// ReadFile returns the entire file; an error that is fs.ErrNotExist says that there is none.
	ReadFile(name string) ([]byte, error)
	// Append opens a file for writing at its end and makes it when it is missing.
	Append(name string) (File, error)
	// Mkdir makes a folder; an error that is fs.ErrExist says that there is one, one that is fs.ErrNotExist that there is
	// none to make it in.
	Mkdir(dir string) error
	// SyncDir makes the names in a folder durable.
	SyncDir(dir string) error
	// ReadDir returns the names of the folders in a folder, sorted; fs.ErrNotExist says that it is not there.
	ReadDir(dir string) ([]string, error)
	// RemoveAll removes a folder with all that is in it.
	RemoveAll(dir string) error
	// Lock keeps others away from a file until the function it returns is called. ErrLocked: somebody else has it.
	Lock(name string) (unlock func() error, err error)
}

// A Ranger is a Disk that can read a part of a file: logs are listed and followed without reading all of them.
type Ranger interface {
	// ReadRange returns at most n bytes of a file from an offset on, less where the file ends before, and the size of the file.
	ReadRange(name string, at, n int64) (data []byte, size int64, err error)
}

// ReadRange is Ranger's, also for a disk that is none: then the whole file is read.
func ReadRange(disk Disk, name string, at, n int64) (data []byte, size int64, err error) {
	if r, ok := disk.(Ranger); ok {
		return r.ReadRange(name, at, n)
	}
	if data, err = disk.ReadFile(name); err != nil {
		return nil, 0, err
	}
	size = int64(len(data))
	at = min(at, size)
	return data[at:min(at+n, size)], size, nil
}

// Owned reports whether a process has a log of the operating system's disk open, as that process has said it: to ask keeps nobody away.
// It is false on other disks, and where programs say nothing.
func Owned(disk Disk, name string) bool {
	return disk == OS && osDisk{}.owned(name)
}

// Remove removes a folder with a log that the caller has locked, and unlocks it. ErrLocked: somebody else has opened the log since, where
// it had to be unlocked first.
func Remove(disk Disk, dir, log string, unlock func() error) error {
	if disk != OS || !openStays {
		return errors.Join(disk.RemoveAll(dir), unlock())
	}
	if err := unlock(); err != nil {
		return err
	}
	if err := disk.RemoveAll(log); err != nil { // before anything else: it is open where somebody goes on with it
		return errors.Join(ErrLocked, err)
	}
	return disk.RemoveAll(dir)
}

// ErrLocked is the error of a log that another process, or another Log of this one, has open.
var ErrLocked = errors.New("another process is using this run")

// Open opens a log for appending, after what is in it, and makes it when it is missing. What a crash has torn is cut off
// first. Only one Log can have a file open, across processes. A *DamagedError is returned with what was read before the
// damage.
func Open(disk Disk, name string, mode Sync) (*Log, *Recovered, error) {
	var lines [][]byte
	l, found, err := OpenScan(disk, name, mode, func(_ int64, _ int, line []byte) error {
		lines = append(lines, bytes.Clone(line))
		return nil
	})
	if found != nil {
		found.Lines = lines
	}
	return l, found, err
}

// OpenScan is Open that keeps no lines: it calls line for each, see Scan. Nothing is changed when that returns an error.
func OpenScan(disk Disk, name string, mode Sync, line func(at int64, n int, line []byte) error) (*Log, *Recovered, error) {
	unlock, err := disk.Lock(name)
	if err != nil {
		return nil, nil, Unusable(err)
	}
	l, found, err := start(disk, name, mode, line)
	if err != nil {
		return nil, found, errors.Join(Unusable(err), unlock())
	}
	l.done = unlock
	return l, found, nil
}

func start(disk Disk, name string, mode Sync, line func(at int64, n int, line []byte) error) (*Log, *Recovered, error) {
	var refused error
	found, err := Scan(disk, name, func(at int64, n int, text []byte) error {
		refused = line(at, n, text)
		return refused
	})
	fresh := refused == nil && errors.Is(err, fs.ErrNotExist)
	if fresh {
		found = &Recovered{}
	} else if err != nil {
		return nil, found, err
	}
	file, err := disk.Append(name)
	if err != nil {
		return nil, found, err
	}
	l := &Log{mode: mode, file: file, written: found.Good, old: found.old, disk: disk, lines: found.Count}
	if found.Torn > 0 {
		err = file.Truncate(found.Good)
	}
	switch {
	case err != nil || mode != Durable:
	case fresh: // nothing is promised yet: its name, and that of its folder, are made durable with the first line that is
		dir := filepath.Dir(name)
		l.names = []string{dir, filepath.Dir(dir)}
	default: // what was read may be in the memory of the operating system only; from here on it is built upon
		err = file.Sync()
		if err == nil {
			err = errors.Join(disk.SyncDir(filepath.Dir(name)), disk.SyncDir(filepath.Dir(filepath.Dir(name))))
		}
		l.synced = found.Good
	}
	if err != nil {
		return nil, found, errors.Join(fmt.Errorf("the journal cannot be opened: %w", err), file.Close())
	}
	return l, found, nil
}

// OS is the operating system's disk.
var OS Disk = osDisk{}

type osDisk struct{}

// MaxFile is how many bytes of a file are read.
const MaxFile = 1 << 30

func (osDisk) ReadFile(name string) ([]byte, error) {
	f, err := openFile(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > MaxFile { // before any memory is taken: a file with a hole has any size
		return nil, fmt.Errorf("%s is too large: at most %d bytes are read", name, MaxFile)
	}
	data := make([]byte, 0, info.Size()+bytes.MinRead)
	b := bytes.NewBuffer(data)
	_, err = b.ReadFrom(io.LimitReader(f, MaxFile))
	return b.Bytes(), err
}

// ReadRange is Ranger's.
func (osDisk) ReadRange(name string, at, n int64) (data []byte, size int64, err error) {
	f, err := openFile(name, os.O_RDONLY)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	data = make([]byte, max(0, min(n, info.Size()-at)))
	got, err := f.ReadAt(data, at)
	if errors.Is(err, io.EOF) { // it became shorter
		err = nil
	}
	return data[:got], info.Size(), err
}

func (osDisk) Append(name string) (File, error) {
	// A new file is made without a look at what is there.
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND|noFollow, 0o600)
	if err == nil {
		return osFile{f}, nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	f, err = openFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// osFile is a file of the operating system's disk.
type osFile struct{ *os.File }

// Sync implements File. What is written to a file that somebody has removed is on no disk.
func (f osFile) Sync() error {
	if err := f.File.Sync(); err != nil {
		return err
	}
	if removed(f.File) {
		return fmt.Errorf("%w: %s was removed", ErrGone, f.Name())
	}
	return nil
}

// openFile opens a regular file. A folder of runs may come from elsewhere: links would lead reads and writes out of it,
// and pipes and devices never end.
func openFile(name string, flag int) (*os.File, error) {
	is := regular(name)
	err := is(os.Lstat(name))
	if err != nil && (flag&os.O_CREATE == 0 || !errors.Is(err, fs.ErrNotExist)) {
		return nil, err
	}
	f, err := os.OpenFile(name, flag|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	if err := is(f.Stat()); err != nil { // it was replaced in between
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// regular refuses what is not a regular file.
func regular(name string) func(fs.FileInfo, error) error {
	return func(info fs.FileInfo, err error) error {
		if err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("%s is not a regular file", name)
		}
		return err
	}
}

func (osDisk) Mkdir(dir string) error { return os.Mkdir(dir, 0o700) }

func (osDisk) ReadDir(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) { // Windows says so of a file, too
		if info, statErr := os.Stat(dir); statErr == nil && !info.IsDir() {
			return nil, fmt.Errorf("%s is not a folder", dir)
		}
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

func (osDisk) RemoveAll(dir string) error { return os.RemoveAll(dir) }

func (osDisk) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, errors.ErrUnsupported) || isNoDirSync(err) {
		err = nil // the file system keeps names by itself
	}
	return errors.Join(err, d.Close())
}
