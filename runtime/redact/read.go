package redact

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// reader reads text, the bytes that digits of a lane in it stand for, or those that digits in such bytes stand for; any byte
// may be escaped. A place is an index into the text; in a lane it is eight times the place of a digit plus how many bits of
// the digit are used up.
type reader struct {
	r     *Redactor
	s     string
	lanes [2]*lane // the inner one last
	depth int      // how many there are
	raw   bool     // digits are not escaped
	inner bool     // it compares with ends of forms, which do not begin as forms do
	ended bool     // the text has ended while something was read
	work  *work
}

func (x *reader) with(l *lane) reader {
	in := reader{r: x.r, s: x.s, lanes: x.lanes, depth: x.depth + 1, work: x.work}
	in.lanes[x.depth] = l
	return in
}

// maxEscapes is how many escapes in another are read.
const maxEscapes = 3

// symbol is a character that one or more bytes may stand for.
type symbol struct {
	b    [utf8.UTFMax]byte
	n    uint8
	next int // the place after it
}

// symbols are those that may be at a place: the byte itself first.
type symbols struct {
	n int
	a [12]symbol
}

func (l *symbols) add(c byte, next int) { l.put(symbol{b: [utf8.UTFMax]byte{c}, n: 1, next: next}) }

func (l *symbols) addRune(r rune, next int) {
	if 0xDC80 <= r && r <= 0xDCFF { // how Python keeps a byte that is not UTF-8
		l.add(byte(r), next)
	} else if utf8.ValidRune(r) {
		s := symbol{next: next}
		s.n = uint8(utf8.EncodeRune(s.b[:], r))
		l.put(s)
	}
}

// addByte is for escapes with two digits: those above 0x7F are bytes for some, characters for others.
func (l *symbols) addByte(v rune, next int) {
	l.add(byte(v), next)
	if v >= utf8.RuneSelf {
		l.addRune(v, next)
	}
}

func (l *symbols) put(s symbol) {
	for i := range l.n {
		if l.a[i].next == s.next && l.a[i] == s {
			return
		}
	}
	if l.n < len(l.a) {
		l.a[l.n] = s
		l.n++
	}
}

// at is the byte at p as written.
func (x *reader) at(p int) (c byte, next int, ok bool) {
	if x.depth > 0 {
		return x.byte(p)
	}
	if p >= len(x.s) {
		x.ended = true
		return 0, p, false
	}
	return x.s[p], p + 1, true
}

// symbols returns what may be at p, with escapes of the given depth. The result is valid until the next call.
func (x *reader) symbols(p, depth int) *symbols {
	c, next, ok := x.at(p)
	if !ok || depth == 0 || !x.r.escapes.has(c) {
		l := &x.work.one
		if l.n = 0; ok {
			l.add(c, next)
		}
		return l
	}
	if x.depth == 0 && next < len(x.s) {
		if d := x.s[next]; !x.r.escapes.has(d) {
			if !opens(c, d) {
				l := &x.work.one
				l.n = 0
				l.add(c, next)
				return l
			}
			if c == '\\' && !spells(d) {
				depth = 1 // no escape in it
			}
		}
	}
	key := x.key(p, depth)
	if m := x.work.find(key); m != nil {
		x.ended = x.ended || m.ended
		return &m.symbols
	}
	before := x.ended
	x.ended = false
	l := *x.symbols(p, depth-1) // an escape of this depth is written with those
	for k := range l.n {
		if s := &l.a[k]; s.n == 1 && x.r.escapes.has(s.b[0]) {
			x.escaped(&l, s.b[0], s.next, depth)
		}
	}
	m := x.work.keep(key)
	m.ended, m.symbols = x.ended, l
	x.ended = x.ended || before
	return &m.symbols
}

// key is a number for p in these lanes, with escapes of the given depth.
func (x *reader) key(p, depth int) uint64 {
	n := uint64(p)
	for _, l := range x.lanes[:x.depth] {
		n = n<<2 | uint64(l.bits)/3 // 2 for base64, 1 for hexadecimal
	}
	return n<<4 | uint64(x.depth)<<2 | uint64(depth)
}

// escaped adds what c and what follows at p may stand for.
func (x *reader) escaped(l *symbols, c byte, p, depth int) {
	switch c {
	case '+':
		l.add(' ', p)
	case '%':
		if d, q, ok := x.char(p, depth-1); ok && d == 'u' { // JavaScript's escape
			if v, q, ok := x.hex(q, 4, depth); ok {
				x.utf16(l, v, q, depth, '%')
			}
		} else if v, q, ok := x.hex(p, 2, depth); ok {
			l.addByte(v, q)
		}
	case '&':
		x.entity(l, p, depth)
	case '\\':
		inner := *x.symbols(p, depth-1)
		for _, s := range inner.a[:inner.n] {
			if s.n == 1 {
				x.backslash(l, s.b[0], s.next, depth)
			}
		}
	case '"', '\'':
		if d, q, ok := x.char(p, depth-1); ok && d == c { // CSV, SQL, YAML
			l.add(c, q)
		}
		for _, rest := range []string{`\''`, `"'"'`, `""'""'`} { // out of the quotes of a shell and back
			if c != '\'' {
				break
			}
			if q, ok := x.literal(p, rest, depth); ok {
				l.add(c, q)
			}
			if q, ok := x.escapedLiteral(p, rest, depth); ok { // quoted again, by the same shell
				l.add(c, q)
			}
		}
	}
}

// backslash adds what a backslash, c and what follows at p may stand for.
func (x *reader) backslash(l *symbols, c byte, p, depth int) {
	switch i := strings.IndexByte("abtnvfr", c); {
	case i >= 0:
		l.add(byte('\a'+i), p)
	case c == 'e':
		l.add(0x1B, p)
	case c == 'x':
		if v, q, ok := x.hex(p, 2, depth); ok {
			l.addByte(v, q)
		}
	case c == 'U':
		if v, q, ok := x.hex(p, 8, depth); ok {
			l.addRune(v, q)
		}
	case c == 'u':
		if v, q, ok := x.hex(p, 4, depth); ok {
			x.utf16(l, v, q, depth, '\\')
			for n := 5; n <= 6; n++ { // text/template has no pairs
				if v, q, ok := x.hex(p, n, depth); ok && v > 0xFFFF {
					l.addRune(v, q)
				}
			}
		} else if q, ok := x.literal(p, "{", depth); ok {
			if v, q, ok := x.number(q, '}', 16, depth); ok {
				l.addRune(v, q)
			}
		}
	case '0' <= c && c <= '7':
		v := rune(c - '0')
		l.add(byte(v), p)
		for range 2 {
			d, q, ok := x.char(p, depth-1)
			if !ok || d < '0' || d > '7' || v > 0o37 {
				return
			}
			v, p = v<<3|rune(d-'0'), q
		}
		l.addByte(v, p)
	case 'a' <= c|0x20 && c|0x20 <= 'z' || c >= utf8.RuneSelf || c == '8' || c == '9':
	default:
		l.add(c, p)
	}
}

// utf16 adds the character of the code v, and of the code after it where v is half of one.
func (x *reader) utf16(l *symbols, v rune, p, depth int, escape byte) {
	if v < 0xD800 || 0xDBFF < v {
		l.addRune(v, p)
		return
	}
	seconds := *x.symbols(p, depth-1)
	for _, s := range seconds.a[:seconds.n] {
		if s.n != 1 || s.b[0] != escape {
			continue
		}
		if p, ok := x.literal(s.next, "u", depth); ok {
			if low, p, ok := x.hex(p, 4, depth); ok && 0xDC00 <= low && low <= 0xDFFF {
				l.addRune((v-0xD800)<<10+low-0xDC00+0x10000, p)
			}
		}
	}
}

var entities = map[string]rune{"amp": '&', "lt": '<', "gt": '>', "quot": '"', "apos": '\'', "nbsp": 0xA0}

// entity adds what "&" and what follows at p stand for.
func (x *reader) entity(l *symbols, p, depth int) {
	if q, ok := x.literal(p, "#", depth); ok {
		base := 10
		if d, after, ok := x.char(q, depth-1); ok && d|0x20 == 'x' {
			base, q = 16, after
		}
		if v, q, ok := x.number(q, ';', base, depth); ok {
			l.addRune(v, q)
		}
		return
	}
	var name [5]byte
	for n := range name {
		c, q, ok := x.char(p, depth-1)
		if !ok {
			return
		}
		if c == ';' {
			if r, ok := entities[string(name[:n])]; ok {
				l.addRune(r, q)
			}
			return
		}
		name[n], p = c, q
	}
}

// opens reports whether d, which is not escaped, may follow on c in an escape.
func opens(c, d byte) bool {
	switch c {
	case '%':
		return d == 'u' || hexLane.value[d] != noDigit
	case '&':
		return strings.IndexByte("#algqn", d) >= 0
	}
	return true
}

// spells reports whether a backslash and c begin the code of a character.
func spells(c byte) bool { return c == 'x' || c == 'u' || c == 'U' || '0' <= c && c <= '7' }

func introduces(c byte) bool { return c == '\\' || c == '%' || c == '&' }

// char is the character at p where an escape is written: what an escape there stands for, if there is one.
func (x *reader) char(p, depth int) (c byte, next int, ok bool) {
	c, next, ok = x.at(p)
	if !ok || depth <= 0 || !introduces(c) {
		return c, next, ok
	}
	l := x.symbols(p, depth)
	for k := l.n - 1; k > 0; k-- {
		if s := l.a[k]; s.n == 1 {
			c, next = s.b[0], s.next
			if !x.r.escapes.has(c) {
				break
			}
		}
	}
	return c, next, true
}

// literal is the place after text, which has to be at p.
func (x *reader) literal(p int, text string, depth int) (next int, ok bool) {
	for i := range len(text) {
		c, q, ok := x.at(p)
		if ok && c != text[i] {
			q, ok = x.spelt(p, text[i], depth-1)
		}
		if !ok {
			return p, false
		}
		p = q
	}
	return p, true
}

// escapedLiteral is literal for text of which everything that can be read as escaped is escaped.
func (x *reader) escapedLiteral(p int, text string, depth int) (next int, ok bool) {
	for i := range len(text) {
		l := x.symbols(p, depth-1)
		ok = false
		for _, s := range l.a[:l.n] {
			if s.n == 1 && s.b[0] == text[i] {
				p, ok = s.next, true
			}
		}
		if !ok {
			return p, false
		}
	}
	return p, true
}

// spelt is the place after c, which has to be at p escaped.
func (x *reader) spelt(p int, c byte, depth int) (next int, ok bool) {
	l := x.symbols(p, depth)
	for _, s := range l.a[:l.n] {
		if s.n == 1 && s.b[0] == c {
			return s.next, true
		}
	}
	return p, false
}

// hex is the number of n hexadecimal digits at p.
func (x *reader) hex(p, n, depth int) (v rune, next int, ok bool) {
	for range n {
		c, q, ok := x.char(p, depth-1)
		d := hexLane.value[c]
		if !ok || d == noDigit || v > 0x10FFFF {
			return 0, p, false
		}
		v, p = v<<4|rune(d), q
	}
	return v, p, true
}

// number is that of up to eight digits at p, which end with a character.
func (x *reader) number(p int, end byte, base, depth int) (v rune, next int, ok bool) {
	var digits [8]byte
	for n := range len(digits) + 1 {
		c, q, ok := x.char(p, depth-1)
		if !ok || c != end && n == len(digits) {
			break
		}
		if c == end {
			v, err := strconv.ParseInt(string(digits[:n]), base, 32)
			return rune(v), q, err == nil
		}
		digits[n], p = c, q
	}
	return 0, p, false
}

// lane is an encoding in which every byte has digits of a few bits.
type lane struct {
	bits   uint
	value  [256]uint8 // of a digit
	spaced bool       // digits may stand apart
	window int        // how many digits are sure to hold four bytes, wherever in the first they begin
	spare  uint       // how many bits of the first digit they may leave out
}

const noDigit = 0xFF

func newLane(bits uint, spaced bool, alphabets ...string) *lane {
	window := (31 + bits) / bits
	l := &lane{bits: bits, spaced: spaced, window: int(window), spare: window*bits - 32}
	for i := range l.value {
		l.value[i] = noDigit
	}
	for _, a := range alphabets {
		for i := range len(a) {
			l.value[a[i]] = uint8(i)
		}
	}
	return l
}

const letters64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

var (
	base64Lane = newLane(6, false, letters64+"+/", letters64+"-_")
	hexLane    = newLane(4, true, "0123456789abcdef", "0123456789ABCDEF")
)

// maxGap is how much may be between two digits: the end of a line, and what the next is indented by.
const maxGap = 64

// digit is the value of the next digit from place i below the lane, where it stands and the place after it.
func (x *reader) digit(i int) (v uint8, at, next int, ok bool) {
	l := x.lanes[x.depth-1]
	if x.depth == 1 && i < len(x.s) { // nearly always
		c := x.s[i]
		if v := l.value[c]; v != noDigit {
			x.work.steps++
			return v, i, i + 1, true
		}
		if !introduces(c) && strings.IndexByte("\n\r \t:+", c) < 0 {
			return 0, i, i, false
		}
	}
	below := reader{r: x.r, s: x.s, lanes: x.lanes, depth: x.depth - 1, work: x.work}
	broken := l.spaced
	for range maxGap {
		x.work.steps++
		c, next, ok := below.at(i)
		if ok && introduces(c) && !x.raw {
			c, next, ok = below.char(i, maxEscapes)
			if l.value[c] == noDigit { // it may be read in more than one way
				c, next = below.spelled(l, i, c, next)
			}
		}
		if x.ended = x.ended || below.ended; !ok {
			return 0, i, i, false
		}
		if v = l.value[c]; v != noDigit {
			return v, i, next, true
		}
		switch {
		case c == '\n' || c == '\r':
			broken = true
		case broken && (c == ' ' || c == '\t'), l.spaced && (c == ':' || c == '+'):
		default:
			return 0, i, i, false
		}
		i = next
	}
	return 0, i, i, false
}

// spelled is the digit of l that is at i escaped, and the place after it; c and next when there is none.
func (x *reader) spelled(l *lane, i int, c byte, next int) (byte, int) {
	symbols := x.symbols(i, maxEscapes)
	for _, s := range symbols.a[1:max(1, symbols.n)] {
		if s.n == 1 && l.value[s.b[0]] != noDigit {
			return s.b[0], s.next
		}
	}
	return c, next
}

// byte is the one whose digits begin at p.
func (x *reader) byte(p int) (c byte, after int, ok bool) {
	size := x.lanes[x.depth-1].bits
	i := p >> 3
	v, _, next, ok := x.digit(i)
	have := size - uint(p&7)
	acc := uint(v) & (1<<have - 1)
	for ok && have < 8 {
		i = next
		v, _, next, ok = x.digit(i)
		acc, have = acc<<size|uint(v), have+size
	}
	if !ok {
		return 0, p, false
	}
	over := have - 8
	if over == 0 {
		return byte(acc), next << 3, true
	}
	return byte(acc >> over), i<<3 | int(size-over), true
}

// index is the end of what was read up to p in the text.
func (x *reader) index(p int) int {
	if x.depth == 0 {
		return p
	}
	i := p >> 3
	if p&7 != 0 {
		_, _, i, _ = x.digit(i)
	}
	below := reader{r: x.r, s: x.s, lanes: x.lanes, depth: x.depth - 1, work: x.work}
	return below.index(i)
}
