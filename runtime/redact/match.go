package redact

// begins says how much of a form begins at a place whose text has ended before the form has.
type begins uint8

const (
	nothing begins = iota
	little         // perhaps: fewer than four bytes of it
	part
)

// span is the range of sorted forms that begin with the same bytes.
type span struct{ lo, hi int32 }

// reading is a place reached by reading the bytes that the forms of a span have in common.
type reading struct {
	span
	p int
}

// maxReadings bounds the ways of reading the same number of bytes.
const maxReadings = 32

// level is the readings of the same number of bytes.
type level struct {
	n int
	a [maxReadings]reading
}

func (l *level) add(s reading) {
	for i := l.n - 1; i >= 0; i-- {
		if l.a[i].p == s.p && l.a[i].lo == s.lo {
			return
		}
	}
	if l.n < len(l.a) {
		l.a[l.n] = s
		l.n++
	}
}

// narrow returns the forms of s that continue with c. All forms of s have their first k bytes in common.
func narrow(forms []string, s span, k int, c byte) span {
	if s.hi-s.lo == 1 {
		if f := forms[s.lo]; k < len(f) && f[k] == c {
			return s
		}
		return span{}
	}
	lo := s.lo
	for hi := s.hi; lo < hi; { // a form of k bytes sorts before the others
		if m := (lo + hi) / 2; len(forms[m]) <= k || forms[m][k] < c {
			lo = m + 1
		} else {
			hi = m
		}
	}
	end := lo
	for hi := s.hi; end < hi; {
		if m := (end + hi) / 2; forms[m][k] <= c {
			end = m + 1
		} else {
			hi = m
		}
	}
	return span{lo, end}
}

// longest returns the end of the longest form from p, -1 if there is none.
func (x *reader) longest(p int) (end int, b begins) {
	r := x.r
	if x.depth == 0 && p+MinSecret <= len(x.s) && r.plain(x.s[p:p+MinSecret]) {
		w := window(x.s, p)
		if !r.first.has(w) {
			return -1, nothing
		}
		if s, ok := r.begin[w]; ok {
			return x.match(r.forms, MinSecret, reading{s, p + MinSecret})
		}
		return -1, nothing
	}
	return x.match(r.forms, 0, reading{span{0, int32(len(r.forms))}, p})
}

// match is longest for the forms of s.span, whose first k bytes end at s.p.
func (x *reader) match(forms []string, k int, s reading) (end int, b begins) {
	levels := &x.work.levels
	end = -1
	if x.depth == 0 {
		if end, k = x.plainly(forms, k, &s); s.lo == s.hi {
			return end, nothing
		}
	}
	levels[k%len(levels)].add(s)
	for last := k; k <= last; k++ {
		here := &levels[k%len(levels)]
		for i := range here.n {
			s := here.a[i]
			if len(forms[s.lo]) == k {
				end = max(end, x.index(s.p))
				if s.lo++; s.lo == s.hi {
					continue
				}
			}
			n, ended := x.step(forms, k, s)
			last = max(last, k+n)
			if ended && k < MinSecret {
				b = max(b, little)
			} else if ended {
				b = part
			}
		}
		here.n = 0
	}
	return end, b
}

// plainly reads on from s as long as no escape begins, and returns the end of the last form that ended, -1 if none did, and
// how many bytes were read. It leaves no forms in s if none can follow.
func (x *reader) plainly(forms []string, k int, s *reading) (end, n int) {
	end = -1
	for {
		if len(forms[s.lo]) == k {
			end = s.p
			s.lo++
		}
		if s.lo == s.hi || s.p == len(x.s) || x.r.escapes.has(x.s[s.p]) {
			return end, k
		}
		if s.span = narrow(forms, s.span, k, x.s[s.p]); s.lo == s.hi {
			return end, k
		}
		k, s.p = k+1, s.p+1
	}
}

// step adds the readings that continue s, and returns how many bytes further they are at most. It reports whether the text
// ended before the next byte.
func (x *reader) step(forms []string, k int, s reading) (most int, ended bool) {
	levels := &x.work.levels
	x.work.steps++
	x.ended = false
	c, next, ok := x.at(s.p)
	if ok && !x.escapes(s.p, c) {
		if x.inner || k >= MinSecret || x.r.leads[k].has(c) {
			if t := narrow(forms, s.span, k, c); t.lo < t.hi {
				levels[(k+1)%len(levels)].add(reading{t, next})
				return 1, false
			}
		}
		return 0, false
	}
	l := x.symbols(s.p, maxEscapes)
	for i := range l.n {
		y := &l.a[i]
		t, n := s.span, int(y.n)
		for j := range n {
			if t = narrow(forms, t, k+j, y.b[j]); t.lo == t.hi {
				break
			}
		}
		if t.lo < t.hi {
			levels[(k+n)%len(levels)].add(reading{t, y.next})
			most = max(most, n)
		}
	}
	return most, x.ended
}

// escapes reports whether c at p may begin an escape.
func (x *reader) escapes(p int, c byte) bool {
	if x.depth == 0 {
		return x.r.escapesAt(x.s, p)
	}
	return x.r.escapes.has(c)
}
