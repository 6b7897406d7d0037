package redact

import "strings"

// all is longest in the bytes of a lane, and in those that digits among them stand for.
func (x *reader) all(p int) (end int, b begins) {
	end, b = x.longest(p)
	for _, l := range []*lane{base64Lane, hexLane} {
		in := x.with(l)
		if _, _, _, ok := in.digit(p); !ok && !in.ended {
			continue
		}
		for offset := 0; offset <= int(l.spare); offset += 2 {
			e, open := in.longest(p<<3 | offset)
			end, b = max(end, e), max(b, open)
		}
	}
	return end, b
}

// plain reports whether no escape begins in s.
func (r *Redactor) plain(s string) bool {
	for i := range len(s) {
		if r.escapes.has(s[i]) {
			return false
		}
	}
	return true
}

// search goes through a text once, from secret to secret.
type search struct {
	r      *Redactor
	s      string
	work   *work
	text   int // the next place where a form may begin as text
	escape int // the next byte from text that may begin an escape
	lanes  [4]scan
	open   int // where something begins that the end of the text cuts off, perhaps a secret; len(s) when there is nothing
	piece  int // the same, where it is more than perhaps
}

// newSearch returns a search of s, which must be closed. Of an entire text it does not matter what its end cuts off.
func newSearch(r *Redactor, s string, entire bool) search {
	x := search{r: r, s: s, work: works.Get().(*work), text: -1, escape: -1, open: len(s), piece: len(s)}
	x.work.begin()
	x.work.steps = 0
	escaped := strings.ContainsAny(s, `\%&`)
	for i := range x.lanes { // what looks like an escape may be digits
		x.lanes[i].lane, x.lanes[i].raw, x.lanes[i].short = base64Lane, i >= 2, len(s)
		if i&1 == 1 {
			x.lanes[i].lane = hexLane
		}
		if i < 2 && !escaped || entire && len(s)*int(x.lanes[i].lane.bits) < 8*r.least { // too short for the digits of a form
			x.lanes[i].i = len(s)
		}
	}
	x.text = x.nextText(0)
	for i := range x.lanes {
		x.lanes[i].next(&x)
	}
	return x
}

func (x *search) close() { works.Put(x.work) }

// next is where the next secret stands, begin is -1 when there is none. Secrets that overlap are one.
func (x *search) next() (begin, end int) {
	begin, end = -1, len(x.s)
	for {
		i := min(x.text, x.lanes[0].at, x.lanes[1].at, x.lanes[2].at, x.lanes[3].at)
		if i >= end {
			break
		}
		to, b := -1, nothing
		in := reader{r: x.r, s: x.s, work: x.work}
		if i == x.text {
			to, b = in.longest(i)
			x.text = x.nextText(i + 1)
		}
		for k := range x.lanes {
			lane := &x.lanes[k]
			if i != lane.at {
				continue
			}
			for offset := 0; offset < 8; offset += 2 {
				if lane.offsets&(1<<offset) != 0 {
					in := in.with(lane.lane)
					e, open := in.all(i<<3 | offset)
					to, b = max(to, e), max(b, open)
				}
			}
			lane.next(x)
		}
		if b >= little {
			x.open = min(x.open, i)
		}
		if b == part {
			x.piece = min(x.piece, i)
		}
		if to < 0 {
			continue
		}
		if begin < 0 {
			begin, end = i, to
		}
		end = max(end, to)
	}
	if begin < 0 {
		return -1, -1
	}
	return begin, end
}

// nextText is the first place from i where a form may begin as text, len(s) when there is none.
func (x *search) nextText(i int) int {
	r, s := x.r, x.s
	for i < len(s) {
		if x.escape < i {
			x.escape = i
			for x.escape < len(s) && !r.escapesAt(s, x.escape) {
				x.escape++
			}
		}
		if stop := min(x.escape, len(s)) - 7; i < stop { // eight bytes without an escape from here
			w := uint64(window(s, i)) | uint64(window(s, i+4))<<32
			for {
				if a := uint32(w); r.first.has(a) && (r.brief.has(a) || r.second.has(a^uint32(w>>32)*mix)) {
					return i
				}
				if i++; i == stop {
					break
				}
				w = w>>8 | uint64(s[i+7])<<56
			}
		}
		for ; i < len(s) && i <= x.escape; i++ {
			if r.may(s, i) {
				return i
			}
		}
	}
	return i
}

// escapesAt reports whether an escape may begin at i.
func (r *Redactor) escapesAt(s string, i int) bool {
	if c := s[i]; !r.escapes.has(c) {
		return false
	} else if c != '"' && c != '\'' || i+1 == len(s) {
		return true
	}
	c := s[i+1]
	return c == '\\' || c == '%' || c == '&' || c == '"' || c == '\''
}

// may reports whether a form may begin at i.
func (r *Redactor) may(s string, i int) bool {
	for n := range r.leads {
		if i+n == len(s) || r.escapesAt(s, i+n) {
			return true
		}
		if !r.leads[n].has(s[i+n]) {
			return false
		}
	}
	return r.first.has(window(s, i))
}

// minPiece is how much of a secret at the edge of a text counts as a part of it.
const minPiece = 6

// head is how long the end of a secret is that s begins with.
func (r *Redactor) head(s string) int {
	text := reader{r: r, s: s, work: works.Get().(*work)}
	text.work.begin()
	defer works.Put(text.work)
	head := 0
	for from := 0; from < min(len(s), minPiece); from++ {
		if from > 0 && hexLane.value[s[from-1]] == noDigit && strings.IndexByte("xuU;", s[from-1]) < 0 {
			break // no end of an escape, which may have been cut, too
		}
		head = max(head, text.headAt(from, from))
	}
	for _, l := range []*lane{base64Lane, hexLane} {
		for from := range min(len(s), 2) {
			for offset := 0; offset <= int(l.spare); offset += 2 {
				in := text.with(l)
				head = max(head, in.headAt(from<<3|offset, from))
			}
		}
	}
	return head
}

// headAt is how long the end of a secret is that is at place p, index from; 0 when it is too short to be one.
func (x *reader) headAt(p, from int) int {
	head := 0
	x.inner = true
	l := *x.symbols(p, maxEscapes)
	for _, s := range l.a[:l.n] {
		for _, f := range x.r.forms {
			for j := 1; j < len(f); j++ {
				if f[j] != s.b[0] {
					continue
				}
				if end, _ := x.match([]string{f[j:]}, 0, reading{span{0, 1}, p}); end-from >= minPiece {
					head = max(head, end)
					break
				}
			}
		}
	}
	return head
}

// tail is how long the beginning of a secret is that s ends with.
func (r *Redactor) tail(s string) int {
	x := newSearch(r, s, false)
	defer x.close()
	for begin := 0; begin >= 0; {
		begin, _ = x.next()
	}
	for i := range x.lanes {
		c := &x.lanes[i]
		in := reader{r: r, s: s, work: x.work}
		in = in.with(c.lane)
		in.raw = c.raw
		for at := c.short; at < x.piece; at++ {
			for offset := 0; offset <= int(c.lane.spare); offset += 2 {
				if _, b := in.all(at<<3 | offset); b == part {
					x.piece = min(x.piece, at)
				}
			}
		}
	}
	if n := len(s) - x.piece; n >= minPiece {
		return n
	}
	return 0
}
