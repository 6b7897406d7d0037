package torture

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"regexp/syntax"
	"strings"
)

// random is splitmix64: the same numbers for the same seed, everywhere and for ever.
type random struct{ state uint64 }

// from makes random numbers that follow from what is given.
func from(seed uint64, parts ...string) *random {
	f := fnv.New64a()
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	f.Write(b[:])
	for _, p := range parts {
		f.Write([]byte(p))
		f.Write([]byte{0})
	}
	r := &random{f.Sum64()}
	r.next()
	return r
}

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	x := r.state
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// n returns a number in [0, n).
func (r *random) n(n int) int {
	if n <= 0 {
		return 0
	}
	return int(r.next() % uint64(n))
}

// one reports true once in n times.
func (r *random) one(n int) bool { return r.n(n) == 0 }

// words are texts that show what handles text badly.
var words = []string{"a", "b", "alpha", "beta gamma", "42", "-1", "yes", "no", "null", "", "x y\nz", " padded ", "grün ✓", `"quoted" \`, "{{ input.x }}", "$state.x", "<b>&amp;</b>"}

func (r *random) text() string {
	if r.one(3) {
		return fmt.Sprintf("text %d", r.n(1000))
	}
	return words[r.n(len(words))]
}

func (r *random) int() int64 {
	switch r.n(24) {
	case 0:
		return 1 << 20
	case 1:
		return -int64(r.n(1000))
	case 2, 3, 4:
		return int64(r.n(1000))
	}
	return int64(r.n(8))
}

func (r *random) float() float64 {
	if r.one(3) {
		return float64(r.n(1001)) / 1000
	}
	return float64(r.int()) + float64(r.n(4))/4
}

// bounds are those of a rule or a schema; nil is none.
type bounds struct{ min, max *float64 }

// within returns an integer between the bounds.
func (r *random) within(n int64, b bounds) int64 {
	lo, hi := n, n
	if b.min != nil {
		lo = int64(*b.min)
		if float64(lo) < *b.min {
			lo++
		}
	}
	if b.max != nil {
		hi = int64(*b.max)
		if float64(hi) > *b.max {
			hi--
		}
	}
	switch {
	case b.min == nil && b.max == nil:
		return n
	case b.min != nil && b.max == nil:
		hi = lo + max(n, -n)%1000
	case b.min == nil:
		lo = hi - max(n, -n)%1000
	}
	if hi <= lo {
		return lo
	}
	return lo + int64(r.next()%min(uint64(hi-lo), 1<<62)) + int64(r.n(2))
}

// length is how many items, characters or entries there are.
func (r *random) length(n int, b bounds) int { return int(max(0, min(r.within(int64(n), b), 1000))) }

// sized is text of a length within bounds, in characters.
func (r *random) sized(s string, b bounds) string {
	if b.min == nil && b.max == nil {
		return s
	}
	runes := []rune(s)
	n := len(runes)
	if b.min != nil && float64(n) < *b.min || b.max != nil && float64(n) > *b.max {
		n = r.length(n, b)
	}
	for len(runes) < n {
		runes = append(runes, rune('a'+r.n(26)))
	}
	return string(runes[:n])
}

// matching is text that matches a regular expression.
func (r *random) matching(re string) string {
	p, err := syntax.Parse(re, syntax.Perl)
	if err != nil {
		return r.text()
	}
	var b strings.Builder
	r.match(&b, p.Simplify(), 0)
	return b.String()
}

func (r *random) match(b *strings.Builder, p *syntax.Regexp, depth int) {
	times := func(lo, hi int) {
		if hi < 0 || hi > lo+3 {
			hi = lo + 3
		}
		for range lo + r.n(hi-lo+1) {
			r.match(b, p.Sub[0], depth+1)
		}
	}
	if depth > 50 || b.Len() > 1000 {
		return
	}
	switch p.Op {
	case syntax.OpLiteral:
		b.WriteString(string(p.Rune))
	case syntax.OpCharClass:
		if len(p.Rune) >= 2 {
			i := r.n(len(p.Rune)/2) * 2
			lo, hi := p.Rune[i], p.Rune[i+1]
			b.WriteRune(lo + rune(r.n(int(min(hi-lo, 100))+1)))
		}
	case syntax.OpAnyCharNotNL, syntax.OpAnyChar:
		b.WriteRune(rune('a' + r.n(26)))
	case syntax.OpStar:
		times(0, -1)
	case syntax.OpPlus:
		times(1, -1)
	case syntax.OpQuest:
		times(0, 1)
	case syntax.OpRepeat:
		times(p.Min, p.Max)
	case syntax.OpCapture:
		r.match(b, p.Sub[0], depth+1)
	case syntax.OpConcat:
		for _, s := range p.Sub {
			r.match(b, s, depth+1)
		}
	case syntax.OpAlternate:
		r.match(b, p.Sub[r.n(len(p.Sub))], depth+1)
	}
}
