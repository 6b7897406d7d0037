package stargraph

import (
	"strconv"
	"strings"
)

// A pattern is a condition of the left side of a rule in CLIPS that a fact fits: a template with at most one slot that is
// looked at.
type pattern struct {
	name   string      // of the template
	slot   string      // empty: none
	value  *constraint // of the slot; nil: anything
	lo, hi int         // in the text
}

// A constraint is what the value of a slot has to be: one of kids ('|'), all of them ('&'), none of the only one ('~'), a
// text ('"'), a symbol or a number ('s'), anything ('?'), or what a test says ('t').
type constraint struct {
	op     byte
	kids   []*constraint
	text   string
	lo, hi int
	test   *formula
}

// A formula is the left side of a rule, or a part of it: a pattern ('p'), all of kids ('&'), one of them ('|'), not the only
// one ('!'), or a comparison of a slot that a variable stands for with a value ('=').
type formula struct {
	op      byte
	kids    []*formula
	pattern pattern
}

// A clipsReader reads the left side of a rule.
type clipsReader struct {
	text     string
	at       int
	salience int
	vars     map[string]pattern // the slots that variables stand for
}

// badPattern is a part of a left side that is not read, and why.
type badPattern struct {
	lo, hi int
	why    string
}

// maxPatternDepth is how deep conditions may be nested.
const maxPatternDepth = 20

// readClips reads the left side of a rule: patterns with constraints, `and`, `or`, `not`, `exists`, `logical`, tests of texts,
// and a salience.
func readClips(text string) (f *formula, salience int, bad *badPattern) {
	r := &clipsReader{text: text, vars: map[string]pattern{}}
	r.space()
	if r.at < len(r.text) && r.text[r.at] == '"' { // a comment
		if _, ok := r.quoted(); !ok {
			return nil, 0, r.bad(r.at, "a string is not closed")
		}
	}
	kids, bad := r.formulas(0)
	return &formula{op: '&', kids: kids}, r.salience, bad
}

func (r *clipsReader) space() {
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			r.at++
		case c == ';': // a comment
			for r.at < len(r.text) && r.text[r.at] != '\n' {
				r.at++
			}
		default:
			return
		}
	}
}

// next reports whether a byte comes next, and goes past it.
func (r *clipsReader) next(c byte) bool {
	r.space()
	if r.at == len(r.text) || r.text[r.at] != c {
		return false
	}
	r.at++
	return true
}

// formulas reads to the end of the text, or to the parenthesis that closes what they are in.
func (r *clipsReader) formulas(depth int) (list []*formula, bad *badPattern) {
	for {
		r.space()
		if r.at == len(r.text) || r.text[r.at] == ')' && depth > 0 {
			return list, nil
		}
		f, bad := r.formula(depth)
		if bad != nil {
			return nil, bad
		}
		if f != nil {
			list = append(list, f)
		}
	}
}

// formula reads one condition; it is nil for a declaration.
func (r *clipsReader) formula(depth int) (*formula, *badPattern) {
	lo := r.at
	if r.text[r.at] == '?' { // the name that the fact gets
		r.word()
		r.space()
		if !strings.HasPrefix(r.text[r.at:], "<-") {
			return nil, r.bad(lo, "a variable is before `<-` and a pattern")
		}
		r.at += 2
		r.space()
	}
	start := r.at
	if !r.next('(') {
		return nil, r.bad(lo, "a pattern is written in parentheses")
	}
	if depth == maxPatternDepth {
		return nil, r.bad(lo, "it is nested too deep")
	}
	r.space()
	switch name := r.word(); name {
	case "":
		return nil, r.bad(lo, "a pattern begins with the name of a template")
	case "and", "logical", "or", "not", "exists":
		kids, bad := r.formulas(depth + 1)
		if bad != nil {
			return nil, bad
		}
		if name == "not" && len(kids) != 1 || len(kids) == 0 {
			return nil, r.bad(start, "`"+name+"` is before a pattern")
		}
		op := map[string]byte{"or": '|', "not": '!'}[name]
		if op == 0 {
			op = '&'
		}
		return &formula{op: op, kids: kids}, r.end(lo)
	case "test":
		f, bad := r.test(depth + 1)
		if bad != nil {
			return nil, bad
		}
		return f, r.end(lo)
	case "declare":
		return nil, r.declare(lo)
	case "forall":
		return nil, r.bad(lo, "`"+name+"` is not compiled")
	default:
		return r.pattern(lo, name)
	}
}

// pattern reads what is behind the name of a template.
func (r *clipsReader) pattern(lo int, name string) (*formula, *badPattern) {
	p := pattern{name: name, lo: lo}
	slot := r.at
	if r.next('(') {
		r.space()
		p.slot = r.word()
		var bad *badPattern
		if r.space(); r.at == len(r.text) {
			return nil, r.bad(slot, "a parenthesis is not closed")
		} else if r.text[r.at] == ')' {
			return nil, r.bad(slot, "a slot has a value")
		}
		if p.value, bad = r.constraint(p, 0); bad != nil {
			return nil, bad
		}
		if bad = r.end(slot); bad != nil {
			return nil, bad
		}
	}
	bad := r.end(lo)
	p.hi = r.at
	return &formula{op: 'p', pattern: p}, bad
}

// constraint reads what the value of a slot has to be: `|` of `&` of values, each perhaps after `~`.
func (r *clipsReader) constraint(p pattern, level int) (*constraint, *badPattern) {
	c := &constraint{op: '|', lo: r.at}
	for {
		all := &constraint{op: '&', lo: r.at}
		for {
			one, bad := r.value(p, level)
			if bad != nil {
				return nil, bad
			}
			if all.kids = append(all.kids, one); !r.next('&') {
				break
			}
		}
		if c.kids = append(c.kids, all); !r.next('|') {
			return c, nil
		}
	}
}

// value reads one value of a slot.
func (r *clipsReader) value(p pattern, level int) (*constraint, *badPattern) {
	r.space()
	c := &constraint{lo: r.at}
	switch {
	case r.at == len(r.text) || level > maxPatternDepth:
		return nil, r.bad(c.lo, "a value is missing")
	case r.next('~'):
		inner, bad := r.value(p, level+1)
		if bad != nil {
			return nil, bad
		}
		c.op, c.kids = '~', []*constraint{inner}
	case r.text[r.at] == '"':
		text, ok := r.quoted()
		if !ok {
			return nil, r.bad(c.lo, "a string is not closed")
		}
		c.op, c.text = '"', text
	case r.text[r.at] == ':':
		r.at++
		f, bad := r.test(level + 1)
		if bad != nil {
			return nil, bad
		}
		c.op, c.test = 't', f
	case r.text[r.at] == '?':
		c.op = '?'
		if name := r.word(); name != "?" {
			if _, twice := r.vars[name]; twice {
				return nil, r.bad(c.lo, "a variable that appears twice is not compiled")
			}
			r.vars[name] = pattern{name: p.name, slot: p.slot, lo: c.lo, hi: r.at}
		}
	default:
		if c.op, c.text = 's', r.word(); c.text == "" || c.text[0] == '=' || c.text[0] == '$' {
			return nil, r.bad(c.lo, "only texts, words, variables and tests are compiled as the value of a slot")
		}
	}
	c.hi = r.at
	return c, nil
}

// test reads a test of texts: `eq` and `neq` of a variable and constants, in `and`, `or` and `not`.
func (r *clipsReader) test(depth int) (*formula, *badPattern) {
	lo := r.at
	if !r.next('(') || depth > maxPatternDepth {
		return nil, r.bad(lo, "a test is an expression in parentheses")
	}
	r.space()
	switch name := r.word(); name {
	case "and", "or", "not":
		f := &formula{op: map[string]byte{"and": '&', "or": '|', "not": '!'}[name]}
		for r.space(); r.at < len(r.text) && r.text[r.at] != ')'; r.space() {
			kid, bad := r.test(depth + 1)
			if bad != nil {
				return nil, bad
			}
			f.kids = append(f.kids, kid)
		}
		if name == "not" && len(f.kids) != 1 || len(f.kids) == 0 {
			return nil, r.bad(lo, "`"+name+"` is before a test")
		}
		return f, r.end(lo)
	case "eq", "neq":
		return r.compared(lo, name == "neq")
	default:
		return nil, r.bad(lo, "only `eq` and `neq` of a variable and a text, `and`, `or` and `not` are compiled as tests")
	}
}

// compared reads what is behind `eq` and `neq`: a variable and constants, all of which it has to be equal to, or none.
func (r *clipsReader) compared(lo int, differs bool) (*formula, *badPattern) {
	why := "`eq` and `neq` are compiled of a variable that a pattern before has, and of constants"
	r.space()
	p, ok := r.vars[r.word()]
	if !ok {
		return nil, r.bad(lo, why)
	}
	f := &formula{op: '&'}
	for r.space(); r.at < len(r.text) && r.text[r.at] != ')'; r.space() {
		if r.text[r.at] == '?' || r.text[r.at] == '(' {
			return nil, r.bad(lo, why)
		}
		c, bad := r.value(p, maxPatternDepth)
		if bad != nil {
			return nil, bad
		}
		one := &formula{op: '=', pattern: pattern{name: p.name, slot: p.slot, value: c, lo: lo, hi: r.at}}
		if differs {
			one = &formula{op: '!', kids: []*formula{one}}
		}
		f.kids = append(f.kids, one)
	}
	if len(f.kids) == 0 {
		return nil, r.bad(lo, why)
	}
	return f, r.end(lo)
}

// declare reads `(salience N)` and `(auto-focus X)`.
func (r *clipsReader) declare(lo int) *badPattern {
	for r.next('(') {
		name := r.word()
		r.space()
		value := r.word()
		n, err := strconv.Atoi(value)
		switch {
		case name == "salience" && err == nil && n >= -10000 && n <= 10000:
			r.salience = n
		case name != "auto-focus":
			return r.bad(lo, "of declarations a salience that is a number is compiled")
		}
		if bad := r.end(lo); bad != nil {
			return bad
		}
	}
	return r.end(lo)
}

// quoted reads a text in quotes, in which a backslash is before a character that is meant itself.
func (r *clipsReader) quoted() (string, bool) {
	var b strings.Builder
	for r.at++; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case '"':
			r.at++
			return b.String(), true
		case '\\':
			if r.at++; r.at < len(r.text) {
				b.WriteByte(r.text[r.at])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

func (r *clipsReader) end(lo int) *badPattern {
	if !r.next(')') {
		return r.bad(lo, "only `(template (slot value))` is compiled")
	}
	return nil
}

// word reads a symbol.
func (r *clipsReader) word() string {
	lo := r.at
	for r.at < len(r.text) && !strings.ContainsRune(" \t\r\n()\"&|~;<", rune(r.text[r.at])) {
		r.at++
	}
	return r.text[lo:r.at]
}

// bad is the condition that begins at lo, to its end if it has one.
func (r *clipsReader) bad(lo int, why string) *badPattern {
	depth, hi := 0, lo
	for ; hi < len(r.text); hi++ {
		if r.text[hi] == '(' {
			depth++
		} else if r.text[hi] == ')' {
			if depth--; depth <= 0 {
				hi++
				break
			}
		}
	}
	return &badPattern{lo, max(hi, min(lo+1, len(r.text))), why}
}
