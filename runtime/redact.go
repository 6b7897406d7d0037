package runtime

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Redacted stands where a secret was.
const Redacted = "[redacted]"

// MinSecret is how many bytes a secret has at least: what is shorter would be found everywhere and cannot be kept secret.
const MinSecret = 4

// Redactor takes secrets out of text: as they are, and as they look in URLs, JSON, HTML, Go and Python literals, base64
// (also as a part of something larger) and hexadecimal. It is read-only and safe for concurrent use; a nil Redactor knows
// no secrets.
type Redactor struct {
	first   filter              // the first four bytes of forms
	short   filter              // those of forms with fewer than eight
	second  filter              // the first eight bytes of the others
	forms   map[uint32][]string // by the first four bytes, the longest first
	ends    map[uint32][]string // by the last four
	values  map[string]bool
	numeric bool // one of them reads as a number
	longest int
}

// NewRedactor makes a Redactor for the given secrets.
func NewRedactor(secrets ...string) *Redactor {
	r := &Redactor{forms: map[uint32][]string{}, ends: map[uint32][]string{}, values: map[string]bool{}}
	for _, s := range secrets {
		if len(s) < MinSecret || r.values[s] {
			continue
		}
		r.values[s] = true
		r.numeric = r.numeric || strings.Trim(s, "0123456789.eE+-") == ""
		for _, f := range formsOf(s) {
			r.add(f)
		}
	}
	for _, list := range r.forms {
		slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
	}
	return r
}

func (r *Redactor) add(form string) {
	if len(form) < MinSecret {
		return
	}
	w := window(form, 0)
	if slices.Contains(r.forms[w], form) {
		return
	}
	r.forms[w] = append(r.forms[w], form)
	e := window(form, len(form)-MinSecret)
	r.ends[e] = append(r.ends[e], form)
	r.first.set(w)
	if len(form) < 8 {
		r.short.set(w)
	} else {
		r.second.set(w ^ window(form, 4)*mix)
	}
	r.longest = max(r.longest, len(form))
}

// window is four bytes of s as a number.
func window(s string, i int) uint32 {
	return uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24
}

// filter is a set of numbers, with a few more than were put in: it says no to nearly all of a text, quickly.
type filter [1 << 11]uint64

const mix = 0x9E3779B1 // 2^32 by the golden ratio

func (f *filter) set(w uint32) { h := w * mix >> 15; f[h>>6] |= 1 << (h & 63) }

func (f *filter) has(w uint32) bool { h := w * mix >> 15; return f[h>>6]&(1<<(h&63)) != 0 }

// formsOf is how a secret may look in what is written.
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
	var forms []string
	for _, p := range parts {
		inJSON := inner(p)
		forms = append(forms, p, inJSON, inner(inJSON), literal(p), asciiLiteral(p), escapedHTML.Replace(p), unescapedHTML(inJSON),
			inQuery(p), inPath(p), lowerEscapes(inQuery(p)), lowerEscapes(inPath(p)), fmt.Sprintf("%x", p), fmt.Sprintf("%X", p))
		forms = append(forms, inBase64(p)...)
	}
	return forms
}

var escapedHTML = strings.NewReplacer(`&`, "&amp;", `'`, "&#39;", `<`, "&lt;", `>`, "&gt;", `"`, "&#34;")

// inQuery and inPath are url.QueryEscape and url.PathEscape, without the package, which brings much along.

func inQuery(s string) string {
	return strings.ReplaceAll(percent(s, ""), "%20", "+")
}

func inPath(s string) string { return percent(s, "$&+:=@") }

// percent writes all but letters, digits, "-_.~" and what kept names as %XX.
func percent(s, kept string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-_.~"+kept, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// inner is s inside a JSON string.
func inner(s string) string {
	b, _ := json.Marshal(s) // text always marshals
	return string(b[1 : len(b)-1])
}

// unescapedHTML is JSON without the escapes that encoding/json adds for HTML.
func unescapedHTML(s string) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(s)
}

func literal(s string) string { q := strconv.Quote(s); return q[1 : len(q)-1] }

func asciiLiteral(s string) string { q := strconv.QuoteToASCII(s); return q[1 : len(q)-1] }

// lowerEscapes writes %2F as %2f.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(s[i+1:i+3]))
			i += 2
		}
	}
	return string(b)
}

// inBase64 is the part of the base64 of a larger text that s alone determines, for each of the three places at which it
// can begin, in both alphabets.
func inBase64(s string) []string {
	var forms []string
	for offset := range 3 {
		if offset > 0 && len(s) < 8 {
			break // too short to be anything but a coincidence
		}
		b := append(make([]byte, offset), s...)
		first, last := (8*offset+5)/6, 8*len(b)/6
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := e.EncodeToString(b)[first:]
			forms = append(forms, text[:last-first], text) // in the middle, and at the end
		}
	}
	return forms
}

// find returns the first place at or after from where something secret stands, -1 when there is none. Forms that overlap
// are one place.
func (r *Redactor) find(s string, from int) (begin, end int) {
	if r == nil || len(r.forms) == 0 {
		return -1, -1
	}
	begin, end = -1, len(s)-MinSecret+1
	for i := from; i < end && i+MinSecret <= len(s); i++ {
		if begin < 0 {
			if i = r.candidate(s, i); i >= end {
				break
			}
		}
		n := r.match(s[i:])
		if n == 0 {
			continue
		}
		if begin < 0 {
			begin, end = i, i+n
		}
		end = max(end, i+n)
	}
	if begin < 0 {
		return -1, -1
	}
	return begin, end
}

// candidate is the first place from i where a form may begin, or a place after the last one that can be.
func (r *Redactor) candidate(s string, i int) int {
	if len(s)-i >= 8 {
		w := uint64(window(s, i)) | uint64(window(s, i+4))<<32
		for {
			if a := uint32(w); r.first.has(a) && (r.short.has(a) || r.second.has(a^uint32(w>>32)*mix)) {
				return i
			}
			if i+8 >= len(s) {
				i++
				break
			}
			w = w>>8 | uint64(s[i+8])<<56
			i++
		}
	}
	for ; i+MinSecret <= len(s); i++ {
		if r.first.has(window(s, i)) {
			return i
		}
	}
	return i
}

// match is the length of the longest form that s begins with.
func (r *Redactor) match(s string) int {
	for _, f := range r.forms[window(s, 0)] {
		if strings.HasPrefix(s, f) {
			return len(f)
		}
	}
	return 0
}

// Found reports whether there is a secret in s.
func (r *Redactor) Found(s string) bool {
	i, _ := r.find(s, 0)
	return i >= 0
}

// Text returns s without secrets.
func (r *Redactor) Text(s string) string {
	begin, end := r.find(s, 0)
	if begin < 0 {
		return s
	}
	var b strings.Builder
	from := 0
	for begin >= 0 {
		b.WriteString(s[from:begin])
		b.WriteString(Redacted)
		from = end
		begin, end = r.find(s, from)
	}
	b.WriteString(s[from:])
	return b.String()
}

// minPiece is how much of a secret at the edge of a text counts as a part of it.
const minPiece = 6

// Cut is Text for text that may have been cut: there may be a part of a secret at its beginning or at its end.
func (r *Redactor) Cut(s string) string {
	if r == nil || len(r.forms) == 0 {
		return s
	}
	s = r.Text(s)
	ellipsis := ""
	if t, ok := strings.CutSuffix(s, "…"); ok {
		s, ellipsis = t, "…"
	}
	head, tail := r.piece(s)
	if head+tail >= len(s) && head+tail > 0 {
		return Redacted + ellipsis
	}
	if tail > 0 {
		s = s[:len(s)-tail] + Redacted
	}
	if head > 0 {
		s = Redacted + s[head:]
	}
	return s + ellipsis
}

// piece is how long the end of a secret is that s begins with, and the beginning of one that s ends with.
func (r *Redactor) piece(s string) (head, tail int) {
	for n := min(len(s), r.longest-1); n >= minPiece && head == 0; n-- {
		for _, f := range r.ends[window(s, n-MinSecret)] {
			if len(f) > n && strings.HasSuffix(f, s[:n]) {
				head = n
			}
		}
	}
	for n := min(len(s), r.longest-1); n >= minPiece && tail == 0; n-- {
		for _, f := range r.forms[window(s, len(s)-n)] {
			if len(f) > n && strings.HasPrefix(f, s[len(s)-n:]) {
				tail = n
			}
		}
	}
	return head, tail
}

// Value returns v without secrets: in its strings, the keys of its maps, and numbers that are a secret.
func (r *Redactor) Value(v Value) Value {
	if r == nil || len(r.forms) == 0 {
		return v
	}
	return r.value(v, r.Text)
}

// foundIn reports whether there is a secret in v.
func (r *Redactor) foundIn(v Value) bool {
	switch v.Kind() {
	case StringKind:
		return r.Found(v.text)
	case IntKind, FloatKind:
		return r.numeric && r.values[JSON(v)]
	case ListKind, MapKind:
		for i, x := range v.tree.items {
			if r.foundIn(x) || v.kind == MapKind && r.Found(v.tree.keys[i]) {
				return true
			}
		}
	}
	return false
}

func (r *Redactor) value(v Value, text func(string) string) Value {
	switch v.Kind() {
	case StringKind:
		return StringValue(text(v.text))
	case IntKind, FloatKind:
		if r.numeric && r.values[JSON(v)] {
			return StringValue(Redacted)
		}
	case ListKind:
		items := make([]Value, len(v.tree.items))
		for i, x := range v.tree.items {
			items[i] = r.value(x, text)
		}
		return ListValue(items...)
	case MapKind:
		entries := make([]Entry, len(v.tree.items))
		for i, x := range v.tree.items {
			entries[i] = Entry{text(v.tree.keys[i]), r.value(x, text)}
		}
		return MapValue(entries...)
	}
	return v
}

// JSON returns JSON text without secrets, as JSON. What is no JSON is treated as text.
func (r *Redactor) JSON(b []byte) []byte {
	if r == nil || !r.Found(string(b)) {
		return b
	}
	v, err := ParseValue(b)
	if err != nil {
		return []byte(r.Text(string(b)))
	}
	out, err := json.Marshal(r.Value(v))
	if err != nil || r.Found(string(out)) { // a secret made of what JSON itself is made of
		return []byte(`"` + Redacted + `"`)
	}
	return out
}

// Error returns err without secrets: a *NodeError, *ToolError or *RunError is copied when it holds one.
func (r *Redactor) Error(err error) error {
	if r == nil || len(r.forms) == 0 || err == nil {
		return err
	}
	switch e := err.(type) {
	case *NodeError:
		if inner := r.Error(e.Err); inner != e.Err {
			return &NodeError{Node: e.Node, Key: e.Key, Err: inner}
		}
	case *ToolError:
		if e == nil {
			return err
		}
		message, details := r.Cut(e.Message), r.value(e.Details, r.Cut)
		if message != e.Message || !details.Equal(e.Details) {
			return &ToolError{Code: e.Code, Message: message, Details: details, RetryAfterS: e.RetryAfterS}
		}
	case *RunError:
		if m := r.Cut(e.Message); m != e.Message {
			return &RunError{Kind: e.Kind, By: e.By, Message: m, Err: r.Error(e.Err)}
		}
	}
	return err
}

// Writer returns a writer that passes on to w what it is given, without secrets, also those that come in pieces. Close
// passes on the rest and must be called; it does not close w.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser { return &redactingWriter{r: r, w: w} }

// maxHeld is how much a writer holds back at most: text in which secret follows on secret without an end.
const maxHeld = 1 << 20

type redactingWriter struct {
	r   *Redactor
	w   io.Writer
	buf []byte
}

// Write passes on what can no longer be the beginning of a secret.
func (x *redactingWriter) Write(p []byte) (int, error) {
	x.buf = append(x.buf, p...)
	return len(p), x.flush(false)
}

// Close passes on the rest.
func (x *redactingWriter) Close() error { return x.flush(true) }

func (x *redactingWriter) flush(all bool) error {
	keep := 0
	if x.r != nil && !all {
		keep = max(x.r.longest-1, 0)
	}
	s := string(x.buf)
	from := 0
	var out []byte
	for {
		begin, end := x.r.find(s, from)
		if begin < 0 || end > len(s)-keep { // what follows may make it longer
			rest := len(s) - keep
			if begin >= 0 {
				rest = min(rest, begin)
			}
			if rest = max(rest, from); rest > from {
				out = append(out, s[from:rest]...)
				from = rest
			}
			break
		}
		out = append(append(out, s[from:begin]...), Redacted...)
		from = end
	}
	x.buf = append(x.buf[:0], s[from:]...)
	if len(x.buf) > maxHeld {
		return Errorf(PolicyDenied, "what is written cannot be kept free of secrets")
	}
	if len(out) == 0 {
		return nil
	}
	_, err := x.w.Write(out)
	return err
}
