package redact

import (
	"strings"
	"unicode/utf8"
)

// formsOf is what is looked for to find a secret. What an encoder makes of it is not a form of its own: escapes and digits are
// read when text is compared with a form.
func formsOf(secret string) []string {
	parts := []string{secret}
	if t := strings.TrimSpace(secret); t != secret && len(t) >= MinSecret {
		parts = append(parts, t)
	}
	if user, password, ok := strings.Cut(secret, ":"); ok && len(password) >= 8 && !strings.ContainsAny(user, "/\n ") {
		parts = append(parts, password)
	}
	for line := range strings.Lines(secret) {
		if line = strings.TrimSpace(line); len(line) >= 16 && len(line) < len(secret) && !strings.HasPrefix(line, "-----") {
			parts = append(parts, line)
		}
	}
	var lossy []string
	for _, p := range parts {
		for _, t := range []string{p, string([]rune(p)), replaced(p)} { // each bad byte for itself, or a row of them
			lossy = append(lossy, t, strings.ReplaceAll(t, "\x00", "\ufffd"), strings.Map(printed, t))
		}
		lossy = append(lossy, printedBytes(p))
	}
	return append(parts, lossy...)
}

// printed is what XML writes of r.
func printed(r rune) rune {
	if r < ' ' && r != '\t' && r != '\n' && r != '\r' {
		return utf8.RuneError
	}
	return r
}

// printedBytes is s as XML writes it when its bad bytes are character references already.
func printedBytes(s string) string {
	var b []byte
	for i := range len(s) {
		if s[i] < utf8.RuneSelf {
			b = utf8.AppendRune(b, printed(rune(s[i])))
		} else {
			b = append(b, s[i])
		}
	}
	return string(b)
}

// replaced is s with U+FFFD for each beginning of a character that does not go on, as Python and JavaScript write it.
func replaced(s string) string {
	var b strings.Builder
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			for n < len(s) && n < 3 && !utf8.FullRuneInString(s[:n+1]) {
				n++
			}
		}
		b.WriteRune(r)
		s = s[n:]
	}
	return b.String()
}

// add is for the form with index i.
func (r *Redactor) add(form string, i int32) {
	w := window(form, 0)
	if s, ok := r.begin[w]; ok {
		r.begin[w] = span{s.lo, i + 1}
	} else {
		r.begin[w] = span{i, i + 1}
	}
	r.first.set(w)
	if len(form) < 8 {
		r.brief.set(w)
	} else {
		r.second.set(w ^ window(form, 4)*mix)
	}
	for i := range r.leads {
		r.leads[i].set(form[i])
		if form[i] == ' ' {
			r.leads[i].set('+')
			r.plus = true
		}
	}
	if strings.Contains(form, " ") {
		r.escapes.set('+')
	}
	for _, q := range []byte(`"'`) {
		if strings.IndexByte(form, q) >= 0 {
			r.escapes.set(q) // quotes are doubled, or leave the quotes of a shell
		}
	}
	if r.least == 0 || len(form) < r.least {
		r.least = len(form)
	}
}

// window is four bytes of s as a number.
func window(s string, i int) uint32 {
	return uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24
}

// byteSet is a set of bytes.
type byteSet [4]uint64

func (b *byteSet) set(c byte) { b[c>>6] |= 1 << (c & 63) }

func (b *byteSet) has(c byte) bool { return b[c>>6]&(1<<(c&63)) != 0 }

// filter is a set of numbers, with a few more than were put in: it says no to nearly all of a text, quickly.
type filter [1 << 11]uint64

const mix = 0x9E3779B1 // 2^32 by the golden ratio

func (f *filter) set(w uint32) { h := w * mix >> 15; f[h>>6] |= 1 << (h & 63) }

func (f *filter) has(w uint32) bool { h := w * mix >> 15; return f[h>>6]&(1<<(h&63)) != 0 }
