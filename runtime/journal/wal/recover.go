package wal

import (
	"bytes"
	"fmt"
	"strconv"
)

// DamagedError says where a log is damaged: a line that was on the disk whole is not what was written.
type DamagedError struct {
	Offset int64 // of the line
	Line   int   // from 1
	Why    string
}

// Error says what is wrong and where.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("line %d of the journal, at byte %d, is damaged: %s", e.Line, e.Offset, e.Why)
}

// Recovered is what was found in a log.
type Recovered struct {
	Lines [][]byte // whole lines as they were appended, without "sync" and "sum"
	Good  int64    // bytes of them: what follows is torn
	Torn  int64    // bytes that were cut off
	old   bool     // its sums leave the place out
}

// Recover reads a log. What a crash has torn at its end is left out; a *DamagedError says that something else happened
// to the file. It never returns a line that was not appended. The lines are in data, which Recover changes.
func Recover(data []byte) (*Recovered, error) {
	r := &Recovered{}
	synced := lastSync(data)
	for rest := data; len(rest) > 0; {
		n := bytes.IndexByte(rest, '\n')
		var line []byte
		why := ""
		if n < 0 {
			why = "its end is missing"
		} else {
			if r.Good == 0 {
				r.old = fits(rest[:n], nowhere)
			}
			line, why = open(rest[:n], r.place())
		}
		if why != "" {
			// A crash leaves a missing end or a hole of zeros, and only behind what was known to be on the disk.
			if torn := n < 0 || bytes.IndexByte(rest[:n], 0) >= 0; torn && r.Good >= synced {
				r.Torn = int64(len(rest))
				return r, nil
			}
			return r, &DamagedError{Offset: r.Good, Line: len(r.Lines) + 1, Why: why}
		}
		r.Lines = append(r.Lines, line)
		r.Good += int64(n + 1)
		rest = rest[n+1:]
	}
	return r, nil
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
		return nil, "it does not end in a sum"
	}
	if !fits(sealed, place) {
		return nil, "its sum does not fit: it was changed or moved, or something before it was removed or added"
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

// lastSync is the largest length that a whole line knows to be on the disk.
func lastSync(data []byte) int64 {
	var most, at int64
	for rest := data; ; {
		n := bytes.IndexByte(rest, '\n')
		if n < 0 {
			return min(most, int64(len(data)))
		}
		if body, _, ok := split(rest[:n]); ok {
			if _, length, ok := syncOf(body); ok && (fits(rest[:n], at) || fits(rest[:n], nowhere)) {
				most = max(most, length)
			}
		}
		rest, at = rest[n+1:], at+int64(n+1)
	}
}

// Sealed reports whether a line, without its line break, ends like one of a log.
func Sealed(line []byte) bool {
	_, _, ok := split(line)
	return ok
}
