package wal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
)

// DamagedError says where a log is damaged: a line that was on the disk whole is not what was written.
type DamagedError struct {
	Offset int64 // of the line
	Line   int   // from 1; 0 where only its place is known
	Why    string
}

// Error says what is wrong and where.
func (e *DamagedError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("the line at byte %d of the journal is damaged: %s", e.Offset, e.Why)
	}
	return fmt.Sprintf("line %d of the journal, at byte %d, is damaged: %s", e.Line, e.Offset, e.Why)
}

// Recovered is what was found in a log.
type Recovered struct {
	Lines [][]byte // whole lines as they were appended, without "sync" and "sum"
	Count int      // how many there are, also where they are not kept
	Good  int64    // bytes of them: what follows is torn
	Torn  int64    // bytes that were cut off
	old   bool     // its sums leave the place out
}

// Recover reads a log. What a crash has torn at its end is left out; a *DamagedError says that something else happened
// to the file. It never returns a line that was not appended. The lines are in data, which Recover changes.
func Recover(data []byte) (*Recovered, error) {
	r := &Recovered{}
	in := &pieces{ended: true, held: data}
	err := r.read(in, func(_ int64, _ int, line []byte) error {
		r.Lines = append(r.Lines, line)
		return nil
	})
	return r, err
}

// Scan is Recover of a log on a disk, piece by piece: line is called for each line that is whole, with its place and length in the log.
// The line is the callback's until it returns, and its error is that of Scan. The result has no Lines, and
// is nil when the log could not be read.
func Scan(disk Disk, name string, line func(at int64, n int, line []byte) error) (*Recovered, error) {
	in := &pieces{disk: disk, name: name}
	if _, ok := disk.(Ranger); !ok {
		data, err := disk.ReadFile(name)
		if err != nil {
			return nil, err
		}
		in = &pieces{ended: true, held: data}
	}
	r := &Recovered{}
	err := r.read(in, line)
	if damaged := (*DamagedError)(nil); err != nil && !errors.As(err, &damaged) {
		return nil, err
	}
	return r, err
}

func (r *Recovered) read(in *pieces, each func(at int64, n int, line []byte) error) error {
	var synced int64 // what a line knows to be on the disk
	for {
		sealed, whole, err := in.line()
		if err != nil || !whole && len(sealed) == 0 {
			return err
		}
		why := "its end is missing"
		var line []byte
		if whole {
			if r.Count == 0 {
				r.old = fits(sealed, nowhere)
			}
			synced = max(synced, tells(sealed, r.Good))
			n := len(sealed)
			if line, why = open(sealed, r.place()); why == "" {
				if err := each(r.Good, n, line); err != nil {
					return err
				}
				r.Count++
				r.Good += int64(n + 1)
				continue
			}
		}
		// A crash leaves a missing end or a hole of zeros, and only behind what was known to be on the disk.
		torn := !whole || bytes.IndexByte(sealed, 0) >= 0
		if torn {
			if synced, err = in.rest(synced); err != nil {
				return err
			}
		}
		if torn && r.Good >= min(synced, in.at) {
			r.Torn = in.at - r.Good
			return nil
		}
		return &DamagedError{Offset: r.Good, Line: r.Count + 1, Why: why}
	}
}

// pieces is a log that is read from its beginning to its end.
type pieces struct {
	disk  Disk
	name  string
	at    int64  // of what is behind the line that was returned
	held  []byte // from there on
	ended bool   // held is all that is left
}

// pieceSize is how much of a log is read at once.
var pieceSize int64 = 1 << 20 // a variable for tests

// line returns the next line without its end, or what is left of the log when there is no other one. It is held until the next call.
func (p *pieces) line() (sealed []byte, whole bool, err error) {
	for searched := 0; ; {
		if n := bytes.IndexByte(p.held[searched:], '\n'); n >= 0 {
			n += searched
			sealed, p.held = p.held[:n], p.held[n+1:]
			p.at += int64(n + 1)
			return sealed, true, nil
		}
		if searched = len(p.held); p.ended {
			sealed, p.held = p.held, nil
			p.at += int64(searched)
			return sealed, false, nil
		}
		if err := p.more(); err != nil {
			return nil, false, err
		}
	}
}

// more reads the next piece. Longer lines are read in longer ones.
func (p *pieces) more() error {
	from := p.at + int64(len(p.held))
	data, size, err := ReadRange(p.disk, p.name, from, max(pieceSize, int64(len(p.held))))
	if err == nil && size > MaxFile {
		err = fmt.Errorf("%s is too large: at most %d bytes are read", p.name, MaxFile)
	}
	if from > 0 && errors.Is(err, fs.ErrNotExist) { // which says that there is no log
		err = fmt.Errorf("%w: %s was removed", ErrGone, p.name)
	}
	if err != nil {
		return err
	}
	p.ended = from+int64(len(data)) >= size || len(data) == 0
	if len(p.held) == 0 {
		p.held = data
	} else {
		p.held = append(p.held[:len(p.held):len(p.held)], data...)
	}
	return nil
}

// rest reads all that is left and returns the largest length that its lines know to be on the disk, or that before.
func (p *pieces) rest(before int64) (synced int64, err error) {
	for synced = before; ; {
		at := p.at
		sealed, whole, err := p.line()
		if err != nil || !whole {
			return synced, err
		}
		synced = max(synced, tells(sealed, at))
	}
}

// place is where the next line begins, as its sum says it.
func (r *Recovered) place() int64 {
	if r.old {
		return nowhere
	}
	return r.Good
}

// fits reports whether the sum of a line is that of its place.
func fits(sealed []byte, place int64) bool {
	body, sum, ok := split(sealed)
	var hex [8]byte
	return ok && string(appendSum(hex[:0], sumOf(place, body))) == string(sum)
}

// open checks a line and takes off what the log has added, in place.
func open(sealed []byte, place int64) (line []byte, why string) {
	body, why := check(sealed, place)
	if why != "" {
		return nil, why
	}
	sealed[len(body)] = '}' // the comma before what the log has added, or the quote of an empty object
	return sealed[: len(body)+1 : len(body)+1], ""
}

// check is open without the brace at the line's end.
func check(sealed []byte, place int64) (body []byte, why string) {
	body, _, ok := split(sealed)
	if !ok {
		return nil, "it does not end with a checksum"
	}
	if !fits(sealed, place) {
		return nil, "its checksum does not match: it or an earlier line was changed"
	}
	if i, _, ok := syncOf(body); ok {
		body = body[:i]
	}
	return body, ""
}

// split cuts a sealed line into what its sum covers and the sum.
func split(sealed []byte) (body, sum []byte, ok bool) {
	at := len(sealed) - sumLen
	if at == 0 { // the empty object has no comma: {"sum":"..."}
		at = 1
		if string(sealed[1:len(sumStart)]) != sumStart[1:] {
			return nil, nil, false
		}
		return sealed[:1], sealed[len(sumStart) : len(sumStart)+8], string(sealed[len(sumStart)+8:]) == `"}`
	}
	if at <= 1 || string(sealed[at:at+len(sumStart)]) != sumStart || string(sealed[len(sealed)-2:]) != `"}` {
		return nil, nil, false
	}
	return sealed[:at], sealed[at+len(sumStart) : len(sealed)-2], true
}

// syncOf finds the field "sync" at the end of a line's body: where it begins, comma included, and its value.
func syncOf(body []byte) (at int, length int64, ok bool) {
	end := len(body)
	for end > 0 && body[end-1] >= '0' && body[end-1] <= '9' {
		end--
	}
	const field = `"sync":`
	if end == len(body) || !bytes.HasSuffix(body[:end], []byte(field)) {
		return 0, 0, false
	}
	n, err := strconv.ParseInt(string(body[end:]), 10, 64)
	if err != nil {
		return 0, 0, false
	}
	at = end - len(field)
	if at > 1 {
		at-- // the comma
	}
	return at, n, true
}

// tells is the length that a whole line knows to be on the disk, 0 when it does not say one.
func tells(sealed []byte, at int64) int64 {
	if body, _, ok := split(sealed); ok {
		if _, length, ok := syncOf(body); ok && (fits(sealed, at) || fits(sealed, nowhere)) {
			return length
		}
	}
	return 0
}

// Sealed reports whether a line, without its line break, ends like one of a log.
func Sealed(line []byte) bool {
	_, _, ok := split(line)
	return ok
}
