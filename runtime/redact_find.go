package runtime

import "strings"

// begins says how much of a form begins at a place whose text has ended before the form has.
type begins uint8

const (
	nothing begins = iota
	little         // perhaps: fewer than four bytes of it
	part
)

// match is the end of form f from p, where each of its bytes may be escaped; -1 when it does not stand there.
func (x *reader) match(f string, p int) (end int, b begins) {
	k := 0
	if x.depth == 0 {
		for k < len(f) && p < len(x.s) && x.s[p] == f[k] && !x.r.escapes.has(f[k]) {
			k, p = k+1, p+1
		}
	}
	for ; k < len(f); k++ { // as far as nothing is escaped
		x.ended = false
		c, next, ok := x.at(p)
		if !ok {
			if x.ended {
				b = part
			}
			return -1, b
		}
		if x.escapes(p, c) {
			break
		}
		if c != f[k] {
			return -1, nothing
		}
		p = next
	}
	if k == len(f) {
		return x.index(p), nothing
	}
	return x.matchEscaped(f, k, p)
}

// escapes reports whether c at p may begin an escape.
func (x *reader) escapes(p int, c byte) bool {
	if x.depth == 0 {
		return x.r.escapesAt(x.s, p)
	}
	return x.r.escapes.has(c)
}

// matchEscaped is match from byte k of f on.
func (x *reader) matchEscaped(f string, k, p int) (end int, b begins) {
	var at [5]places // those reached at as many bytes of f, modulo 5
	at[k%5].add(p)
	last := k // how many bytes have places
	for ; k <= last && k < len(f); k++ {
		here := at[k%5]
		at[k%5].n = 0
		for _, p := range here.p[:here.n] {
			x.ended = false
			c, next, ok := x.at(p)
			if ok && !x.escapes(p, c) {
				if c == f[k] {
					at[(k+1)%5].add(next)
					last = max(last, k+1)
				}
				continue
			}
			l := x.symbols(p, maxEscapes)
			if x.ended {
				b = part
			}
			for _, s := range l.a[:l.n] {
				if n := int(s.n); strings.HasPrefix(f[k:], string(s.b[:n])) {
					at[(k+n)%5].add(s.next)
					last = max(last, k+n)
				}
			}
		}
	}
	end = -1
	if last == len(f) {
		here := at[last%5]
		for _, p := range here.p[:here.n] {
			end = max(end, x.index(p))
		}
	}
	return end, b
}

// places is a small set of places.
type places struct {
	n int
	p [8]int
}

func (s *places) add(p int) {
	for _, q := range s.p[:s.n] {
		if p == q {
			return
		}
	}
	if s.n < len(s.p) {
		s.p[s.n] = p
		s.n++
	}
}

// lead is what may be the first bytes of a form.
type lead struct {
	w uint32
	n int
	p int // the place after them
}

// leads are those still to be looked at and those that were.
type leads struct {
	n int
	a [20]lead
}

func (l *leads) add(e lead) {
	for i := range l.n {
		if l.a[i] == e {
			return
		}
	}
	if l.n < len(l.a) {
		l.a[l.n] = e
		l.n++
	}
}

// longest is the end of the longest form from p, -1 when there is none.
func (x *reader) longest(p int) (end int, b begins) {
	r := x.r
	if x.depth == 0 && p+MinSecret <= len(x.s) && r.plain(x.s[p:p+MinSecret]) {
		return x.among(window(x.s, p), p)
	}
	end = -1
	var l leads
	l.add(lead{p: p})
	tried := 0
	var done [8]uint32
	for k := 0; k < l.n; k++ {
		e := l.a[k]
		if e.n == MinSecret {
			if !r.first.has(e.w) || tried <= len(done) && contains(done[:min(tried, len(done))], e.w) {
				continue
			}
			if tried < len(done) {
				done[tried] = e.w
			}
			tried++
			n, open := x.among(e.w, p)
			end, b = max(end, n), max(b, open)
			continue
		}
		x.ended = false
		s := x.symbols(e.p, maxEscapes)
		if x.ended {
			b = max(b, little)
		}
	symbols:
		for _, s := range s.a[:s.n] {
			to := lead{w: e.w, n: e.n, p: s.next}
			for _, c := range s.b[:s.n] {
				if to.n == MinSecret {
					break
				}
				if !r.leads[to.n].has(c) {
					continue symbols
				}
				to.w |= uint32(c) << (8 * to.n)
				to.n++
			}
			l.add(to)
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

// among is longest of the forms that begin with w.
func (x *reader) among(w uint32, p int) (end int, b begins) {
	end = -1
	for _, f := range x.r.forms[w] {
		n, open := x.match(f, p)
		end, b = max(end, n), max(b, open)
	}
	return end, b
}

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

func contains(list []uint32, w uint32) bool {
	for _, v := range list {
		if v == w {
			return true
		}
	}
	return false
}

// search goes through a text once, from secret to secret.
type search struct {
	r      *Redactor
	s      string
	text   int // the next place where a form may begin as text
	escape int // the next byte from text that may begin an escape
	lanes  [4]scan
	open   int // where something begins that the end of the text cuts off, perhaps a secret; len(s) when there is nothing
	piece  int // the same, where it is more than perhaps
}

func newSearch(r *Redactor, s string) search {
	x := search{r: r, s: s, text: -1, escape: -1, open: len(s), piece: len(s)}
	for i := range x.lanes { // what looks like an escape may be digits
		x.lanes[i].lane, x.lanes[i].raw = base64Lane, i >= 2
		if i&1 == 1 {
			x.lanes[i].lane = hexLane
		}
		if i < 2 && !strings.ContainsAny(s, `\%&`) {
			x.lanes[i].i = len(s)
		}
	}
	x.text = x.nextText(0)
	for i := range x.lanes {
		x.lanes[i].next(&x)
	}
	return x
}

// next is where the next secret stands, begin is -1 when there is none. Secrets that overlap are one.
func (x *search) next() (begin, end int) {
	begin, end = -1, len(x.s)
	for {
		i := min(x.text, x.lanes[0].at, x.lanes[1].at, x.lanes[2].at, x.lanes[3].at)
		if i >= end {
			break
		}
		to, b := -1, nothing
		in := reader{r: x.r, s: x.s}
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
				if a := uint32(w); r.first.has(a) && (r.short.has(a) || r.second.has(a^uint32(w>>32)*mix)) {
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
	text := reader{r: r, s: s}
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

// headAt is how long the end of a secret is that stands at place p, index from; 0 when it is too short to be one.
func (x *reader) headAt(p, from int) int {
	head := 0
	l := x.symbols(p, maxEscapes)
	for _, s := range l.a[:l.n] {
		for _, list := range x.r.forms {
			for _, f := range list {
				for j := range len(f) {
					if j == 0 || f[j] != s.b[0] {
						continue
					}
					if end, _ := x.match(f[j:], p); end-from >= minPiece {
						head = max(head, end)
						break
					}
				}
			}
		}
	}
	return head
}

// tail is how long the beginning of a secret is that s ends with.
func (r *Redactor) tail(s string) int {
	x := newSearch(r, s)
	for begin := 0; begin >= 0; {
		begin, _ = x.next()
	}
	if n := len(s) - x.piece; n >= minPiece {
		return n
	}
	return 0
}
