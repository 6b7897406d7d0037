package wal

import "bytes"

// A Cursor is how far a log was read that may still grow. Its zero value is the beginning of a log.
type Cursor struct {
	Offset int64 // of the next line
	Lines  int   // before it

	old  bool   // sums leave the place out
	line []byte // as it was appended
}

// Scan calls line for each complete line of data, which is what the log has from the cursor on, with the line's offset and
// length in the log and what was appended. The cursor is then behind the last of them: a line without an end is left for the
// next Scan, as is a hole of zeros, which a crash leaves at the end of a log. What was appended is the callback's until it returns. The
// error is that of line, or a *DamagedError.
func (c *Cursor) Scan(data []byte, line func(at int64, n int, line []byte) error) error {
	for {
		n := bytes.IndexByte(data, '\n')
		if n < 0 {
			return nil
		}
		if c.Offset == 0 && c.Lines == 0 {
			c.old = fits(data[:n], nowhere)
		}
		place := c.Offset
		if c.old {
			place = nowhere
		}
		body, why := check(data[:n], place)
		switch {
		case why != "" && bytes.IndexByte(data[:n], 0) >= 0:
			return nil
		case why != "":
			return &DamagedError{Offset: c.Offset, Line: c.Lines + 1, Why: why}
		}
		c.line = append(append(c.line[:0], body...), '}')
		if err := line(c.Offset, n, c.line); err != nil {
			return err
		}
		c.Offset, c.Lines, data = c.Offset+int64(n)+1, c.Lines+1, data[n+1:]
	}
}

// At is a cursor at another line of the same log, whose offset is known.
func (c *Cursor) At(offset int64) *Cursor { return &Cursor{Offset: offset, old: c.old} }

// Skip moves a cursor that is behind the first line to another line of the log, whose offset and number are known.
func (c *Cursor) Skip(offset int64, lines int) { c.Offset, c.Lines = offset, lines }

// Last calls line for the lines at the end of a log that are complete, the last one first, until line returns false. tail is what
// the log has from offset at on, which is where some line begins or goes on. The result is false where tail does not say enough: it
// ends in what a crash has left, its lines do not fit their places, or line wants those before tail, too.
func Last(tail []byte, at int64, line func(line []byte) bool) bool {
	if len(tail) == 0 || tail[len(tail)-1] != '\n' {
		return false
	}
	for tail = tail[:len(tail)-1]; ; {
		begin := bytes.LastIndexByte(tail, '\n') + 1
		if begin == 0 && at > 0 {
			return false
		}
		place := at + int64(begin)
		if !fits(tail[begin:], place) {
			place = nowhere
		}
		body, why := check(tail[begin:], place)
		if why != "" {
			return false
		}
		if !line(append(body[:len(body):len(body)], '}')) {
			return true
		}
		if begin == 0 {
			return true
		}
		tail = tail[:begin-1]
	}
}
