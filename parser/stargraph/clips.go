package stargraph

import "strings"

// A pattern is one condition of the left side of a rule in CLIPS: a template with at most one slot that is looked at.
type pattern struct {
	name   string // of the template
	slot   string // empty: none
	value  string
	form   byte // of the value: '"' text, 's' a symbol or a number, '?' anything
	lo, hi int  // in the text
	valLo  int  // of the value
	valHi  int
}

// A clipsReader reads the left side of a rule.
type clipsReader struct {
	text string
	at   int
	list []pattern
	used map[string]bool // variables of slots
}

// badPattern is a part of a left side that is not read, and why.
type badPattern struct {
	lo, hi int
	why    string
}

// readClips reads the conjunctions of patterns that routing uses: `(template (slot value))`, perhaps after `?name <-`, and
// `(and ...)` around them.
func readClips(text string) ([]pattern, *badPattern) {
	r := &clipsReader{text: text, used: map[string]bool{}}
	bad := r.patterns(0)
	return r.list, bad
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

// maxPatternDepth is how deep `(and ...)` may be nested.
const maxPatternDepth = 20

// patterns reads to the end of the text, or to the parenthesis that closes an `and`.
func (r *clipsReader) patterns(depth int) *badPattern {
	for {
		r.space()
		if r.at == len(r.text) || r.text[r.at] == ')' && depth > 0 {
			return nil
		}
		if bad := r.pattern(depth); bad != nil {
			return bad
		}
	}
}

// pattern reads one condition.
func (r *clipsReader) pattern(depth int) *badPattern {
	lo := r.at
	if r.text[r.at] == '?' { // the name that the fact gets
		r.word()
		r.space()
		if !strings.HasPrefix(r.text[r.at:], "<-") {
			return r.bad(lo, "a variable stands before `<-` and a pattern")
		}
		r.at += 2
		r.space()
	}
	if r.at == len(r.text) || r.text[r.at] != '(' {
		return r.bad(lo, "a pattern stands in parentheses")
	}
	r.at++
	r.space()
	p := pattern{lo: lo}
	p.name = r.word()
	switch p.name {
	case "":
		return r.bad(lo, "a pattern begins with the name of a template")
	case "and":
		if depth == maxPatternDepth {
			return r.bad(lo, "it is nested too deep")
		}
		if bad := r.patterns(depth + 1); bad != nil {
			return bad
		}
		return r.end(lo)
	case "or", "not", "test", "exists", "forall", "logical", "declare":
		return r.bad(lo, "`"+p.name+"` is not compiled")
	}
	r.space()
	if r.at < len(r.text) && r.text[r.at] == '(' {
		if bad := r.slot(&p); bad != nil {
			return bad
		}
	}
	bad := r.end(lo)
	p.hi = r.at
	r.list = append(r.list, p)
	return bad
}

// slot reads `(name value)`.
func (r *clipsReader) slot(p *pattern) *badPattern {
	lo := r.at
	r.at++
	r.space()
	p.slot = r.word()
	r.space()
	p.valLo = r.at
	switch {
	case r.at == len(r.text):
		return r.bad(lo, "a parenthesis is not closed")
	case r.text[r.at] == '"':
		if !r.quoted(p) {
			return r.bad(p.valLo, "a text is not closed")
		}
	case r.text[r.at] == '?':
		p.form = '?'
		if name := r.word(); name != "?" {
			if r.used[name] {
				return r.bad(p.valLo, "a variable that stands twice is not compiled")
			}
			r.used[name] = true
		}
	default:
		p.form, p.value = 's', r.word()
	}
	p.valHi = r.at
	r.space()
	if r.at < len(r.text) && strings.ContainsRune("&|~", rune(r.text[r.at])) || p.form == 's' && p.value == "" {
		return r.bad(p.valLo, "only a text, a word or a variable is compiled as the value of a slot")
	}
	return r.end(lo)
}

// quoted reads a text in quotes, in which a backslash stands before a character that is meant itself.
func (r *clipsReader) quoted(p *pattern) bool {
	var b strings.Builder
	p.form = '"'
	for r.at++; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case '"':
			r.at++
			p.value = b.String()
			return true
		case '\\':
			if r.at++; r.at < len(r.text) {
				b.WriteByte(r.text[r.at])
			}
		default:
			b.WriteByte(c)
		}
	}
	return false
}

func (r *clipsReader) end(lo int) *badPattern {
	r.space()
	if r.at == len(r.text) || r.text[r.at] != ')' {
		return r.bad(lo, "only `(template (slot value))` is compiled")
	}
	r.at++
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
