package wal

import (
	"fmt"
	"sync"
)

// Lines reads lines of a log again whose places are known, for who keeps only these. It is safe for concurrent use, also while
// the log grows.
type Lines struct {
	disk Disk
	name string

	mu    sync.Mutex // guards the following
	pages [maxPages]*page
}

// page is a part of a log that was read last: calls are asked for in about the order in which they were made.
type page struct {
	number int64
	data   []byte
}

const (
	pageBytes = 64 << 10
	maxPages  = 64
)

// LinesOf returns the Lines of a log. ok is false on a disk that reads only whole files.
func LinesOf(disk Disk, name string) (l *Lines, ok bool) {
	_, ok = disk.(Ranger)
	return &Lines{disk: disk, name: name}, ok
}

// Line returns what was appended as the line at an offset, whose length is that of the log. It is not what it was when its sum does
// not fit: that is a *DamagedError.
func (l *Lines) Line(at int64, n int) ([]byte, error) {
	sealed, err := l.bytes(at, n)
	if err != nil {
		return nil, err
	}
	place := at
	if !fits(sealed, at) { // a log of an older program
		place = nowhere
	}
	line, why := open(sealed, place)
	if why != "" {
		return nil, &DamagedError{Offset: at, Why: why}
	}
	return line, nil
}

// bytes returns a copy of a part of the log.
func (l *Lines) bytes(at int64, n int) ([]byte, error) {
	if n > pageBytes {
		data, _, err := ReadRange(l.disk, l.name, at, int64(n))
		return data, err
	}
	out := make([]byte, 0, n)
	for n > 0 {
		p, err := l.page(at/pageBytes, at%pageBytes+int64(n))
		if err != nil {
			return nil, err
		}
		from := min(at%pageBytes, int64(len(p)))
		part := p[from:min(from+int64(n), int64(len(p)))]
		if len(part) == 0 {
			return nil, fmt.Errorf("the journal ends at byte %d: it was longer", at)
		}
		out = append(out, part...)
		at, n = at+int64(len(part)), n-len(part)
	}
	return out, nil
}

// page returns a page that has at least so many bytes, if the log has them.
func (l *Lines) page(number, least int64) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	slot := &l.pages[number%maxPages]
	if p := *slot; p != nil && p.number == number && int64(len(p.data)) >= min(least, pageBytes) {
		return p.data, nil
	}
	data, _, err := ReadRange(l.disk, l.name, number*pageBytes, pageBytes)
	if err != nil {
		return nil, err
	}
	*slot = &page{number, data}
	return data, nil
}
