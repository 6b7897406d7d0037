package redact

import (
	"math/bits"
	"strings"
)

// scan goes through the runs of digits of a lane.
type scan struct {
	lane    *lane
	raw     bool // escapes are none
	at      int  // the next place where a form may begin, len(s) when there is none
	offsets uint // bits of the digit there that are before it, as a set
	short   int  // where the run begins that ends with the text and is too short for a form, len(s) when there is none

	i    int     // the next digit
	n    int     // how many there were in this run
	v    uint64  // the last ones
	back [16]int // where they stand
}

// next moves at on.
func (c *scan) next(x *search) {
	l := c.lane
	in := reader{r: x.r, s: x.s, work: x.work}
	in = in.with(l)
	in.raw = c.raw
	need := l.window
	for c.i < len(x.s) {
		if c.n == 0 && !c.run(x, &in) {
			continue
		}
		in.ended = false
		v, at, next, ok := l.value[x.s[c.i]], c.i, c.i+1, true
		if v == noDigit {
			v, at, next, ok = in.digit(c.i)
		}
		if !ok {
			if in.ended { // there may be more of it
				x.open = min(x.open, c.back[max(0, c.n-need+1)&15])
			}
			c.n, c.i = 0, max(at, c.i+1)
			continue
		}
		c.back[c.n&15] = at
		c.v, c.i, c.n = c.v<<l.bits|uint64(v), next, c.n+1
		if c.n < need {
			continue
		}
		c.offsets = 0
		for offset := uint(0); offset <= l.spare; offset += 2 {
			if w := uint32(c.v >> (l.spare - offset)); x.r.mayBytes(bits.ReverseBytes32(w)) {
				c.offsets |= 1 << offset
			}
		}
		if c.offsets != 0 {
			c.at = c.back[(c.n-need)&15]
			return
		}
	}
	if c.n > 0 {
		x.open = min(x.open, c.back[max(0, c.n-need+1)&15])
	}
	c.at = len(x.s)
}

// run moves on to the next digit, and over its run when that is too short for a form.
func (c *scan) run(x *search, in *reader) bool {
	s, l := x.s, c.lane
	i := c.i
	for i < len(s) && l.value[s[i]] == noDigit && !(introduces(s[i]) && x.r.digitAt(s, i)) {
		i++
	}
	c.i = i
	in.ended = false
	for n := 0; n < x.r.least*8; n += int(l.bits) {
		if i < len(s) && l.value[s[i]] != noDigit {
			i++
			continue
		}
		var ok bool
		if _, _, i, ok = in.digit(i); !ok {
			if in.ended {
				x.open, c.short = min(x.open, c.i), c.i
			}
			c.i = max(i, c.i+1)
			return false
		}
	}
	return true
}

// digitAt reports whether an escape that begins at i may stand for a digit of a lane.
func (r *Redactor) digitAt(s string, i int) bool {
	if i+1 == len(s) || r.escapes.has(s[i+1]) {
		return true
	}
	if s[i] == '\\' {
		return spells(s[i+1]) || strings.IndexByte("+/-_", s[i+1]) >= 0
	}
	return opens(s[i], s[i+1])
}

// inLane is which bytes digits are written with, and what may be between them.
var inLane = func() (t [256]bool) {
	for c := range t {
		t[c] = base64Lane.value[c] != noDigit || strings.IndexByte("\n\r :", byte(c)) >= 0
	}
	return t
}()

// mayBytes is may for four bytes of a lane.
func (r *Redactor) mayBytes(w uint32) bool {
	if r.first.has(w) {
		return true
	}
	if inLane[byte(w)] && inLane[byte(w>>8)] && inLane[byte(w>>16)] && inLane[byte(w>>24)] {
		return true // a lane within
	}
	for n := range r.leads {
		c := byte(w >> (8 * n))
		if introduces(c) {
			d := byte(w >> (8 * (n + 1)))
			if n == len(r.leads)-1 || r.escapes.has(d) || opens(c, d) {
				return true
			}
		}
		if !r.leads[n].has(c) {
			return false
		}
		if c == '"' || c == '\'' { // a doubled one, perhaps
			return true
		}
	}
	return r.plus
}
