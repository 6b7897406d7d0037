// Package wal is an append-only log of JSON lines that survives crashes: what Append has promised to be durable is found
// again, what was torn is cut off, and what was damaged is reported and never guessed at.
//
// A line is a JSON object whose last field is "sum", the CRC-32C of the line's place, its offset in eight bytes with the lowest
// first, and of the bytes before that field. So a line that was removed, doubled or moved is damage, and every line can be
// trusted whatever was before it. Logs of older programs leave the place out. A line that follows a
// sync carries "sync", the length of the file that is known to be on the disk. So recovery tells the two kinds of bad
// lines apart: behind the last known sync a hole or a missing end is what a crash leaves, anything else is damage.
package wal

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"sync"
)

// Sync says when the log forces what it has to the disk.
type Sync uint8

// The modes, from fast to safe.
const (
	Off      Sync = iota // lines wait in memory: a crash of the program loses up to 64 KiB of them
	Buffered             // lines go to the operating system at once: only a crash of the machine can lose some
	Durable              // lines appended as durable are on the disk before Append returns; concurrent ones share a sync
)

const (
	flushAt  = 64 << 10 // bytes that wait in memory at most
	maxLine  = 64 << 20 // bytes of a line
	sumStart = `,"sum":"`
	sumLen   = len(sumStart) + 8 + len(`"}`)
)

// ErrTooLong is the error of a line beyond 64 MiB. The log stays usable.
var ErrTooLong = errors.New("the line is too long")

// Log is a log that is open for appending. It is safe for concurrent use.
type Log struct {
	mode Sync
	file File
	done func() error // releases the lock

	mu      sync.Mutex // guards the following
	pending []byte     // not yet written
	written int64      // bytes that the operating system has
	broken  error      // the first failure: after it nothing more is promised

	syncing sync.Mutex // held by the one that syncs; always taken before mu
	synced  int64      // bytes known to be on the disk; guarded by mu
	told    int64      // value of the last "sync" field
	old     bool       // sums leave the place out; constant
	names   []string   // folders whose entries are not on the disk yet: those of a new log; guarded by syncing
	disk    Disk
	asked   bool // something was to be durable; guarded by mu

	lines int                      // how many the log has; guarded by mu
	watch func(n int, line []byte) // nil: nobody does; guarded by mu
}

// Watch has w called for each line that is appended from now on, in their order, with its number from 1 and without what the
// log adds to it. w must return quickly and must not keep the line: the log waits for it. A line may not be on the disk yet.
func (l *Log) Watch(w func(n int, line []byte)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watch = w
}

// Append adds a line, an object of JSON without line breaks. With durable and mode Durable it returns when the line is
// on the disk. After an error that is not ErrTooLong the log is broken: what a failed sync has left on the disk nobody
// knows, so every later Append fails with the same error.
func (l *Log) Append(line []byte, durable bool) error {
	if len(line) < 2 || line[0] != '{' || line[len(line)-1] != '}' || bytes.ContainsRune(line, '\n') {
		return errors.New("a line is an object of JSON without line breaks")
	}
	if _, _, taken := syncOf(line[:len(line)-1]); taken {
		return errors.New(`the last field of a line cannot be "sync"`)
	}
	if len(line) > maxLine {
		return ErrTooLong
	}
	l.mu.Lock()
	if l.broken != nil {
		l.mu.Unlock()
		return l.broken
	}
	l.add(line)
	end := l.written + int64(len(l.pending))
	var err error
	if l.mode != Off || len(l.pending) >= flushAt {
		err = l.flush()
	}
	if l.lines++; l.watch != nil && err == nil {
		l.watch(l.lines, line)
	}
	durable = durable && l.mode == Durable
	l.asked = l.asked || durable
	l.mu.Unlock()
	if err != nil || !durable {
		return err
	}
	return l.commit(end)
}

// add seals the line and puts it behind what is pending.
func (l *Log) add(line []byte) {
	at := len(l.pending)
	l.pending = append(l.pending, line[:len(line)-1]...)
	if l.synced > l.told {
		if len(line) > 2 {
			l.pending = append(l.pending, ',')
		}
		l.pending = append(l.pending, `"sync":`...)
		l.pending = strconv.AppendInt(l.pending, l.synced, 10)
		l.told = l.synced
	}
	place := l.written + int64(at)
	if l.old {
		place = nowhere
	}
	l.pending = seal(l.pending, at, place)
}

// seal ends the line that begins at b[at:] with its sum.
func seal(b []byte, at int, place int64) []byte {
	sum := sumOf(place, b[at:])
	if len(b)-at == 1 { // an empty object
		b = append(b, sumStart[1:]...)
	} else {
		b = append(b, sumStart...)
	}
	return append(appendSum(b, sum), "\"}\n"...)
}

func appendSum(b []byte, sum uint32) []byte {
	const hex = "0123456789abcdef"
	for shift := 28; shift >= 0; shift -= 4 {
		b = append(b, hex[sum>>shift&15])
	}
	return b
}

// flush gives what is pending to the operating system; l.mu is held.
func (l *Log) flush() error {
	if len(l.pending) == 0 {
		return nil
	}
	n, err := l.file.Write(l.pending)
	l.written += int64(n)
	if err == nil && n < len(l.pending) {
		err = errors.New("short write")
	}
	if err != nil {
		l.broken = fmt.Errorf("the journal cannot be written: %w", Unusable(err))
		return l.broken
	}
	l.pending = l.pending[:0]
	return nil
}

// commit returns when the first end bytes are on the disk. The first that comes syncs for all that have written by then.
func (l *Log) commit(end int64) error {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	l.mu.Lock()
	if l.broken != nil || l.synced >= end {
		defer l.mu.Unlock()
		return l.broken
	}
	to := l.written
	l.mu.Unlock()
	err := l.file.Sync()
	for _, dir := range l.names {
		if err == nil {
			err = l.disk.SyncDir(dir)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil && l.broken == nil {
		l.broken = fmt.Errorf("the journal cannot be written: %w", Unusable(err))
	}
	if l.broken != nil {
		return l.broken
	}
	l.synced, l.names = max(l.synced, to), nil
	return nil
}

// Close writes what is pending and releases the log for others. What is behind lines that are durable is made durable
// too.
func (l *Log) Close() error {
	l.mu.Lock()
	err := l.broken
	if err == nil {
		err = l.flush()
	}
	end, asked := l.written, l.asked
	l.mu.Unlock()
	if err == nil && asked {
		err = l.commit(end)
	}
	return errors.Join(err, l.file.Close(), l.done())
}
