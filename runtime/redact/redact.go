package redact

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Redacted is where a secret was.
const Redacted = "[redacted]"

// MinSecret is how many bytes a secret has at least: what is shorter would be found everywhere and cannot be kept secret.
const MinSecret = 4

// Redactor takes secrets out of text: as they are, and as they look in URLs, JSON, HTML, literals of Go, Python and
// JavaScript, base64 (also as a part of something larger, and in lines) and hexadecimal, one in another up to three deep.
// Its time is linear in the text. It is read-only and safe for concurrent use; a nil Redactor knows no secrets.
type Redactor struct {
	first   filter             // the first four bytes of forms
	brief   filter             // those of forms with fewer than eight
	second  filter             // the first eight bytes of the others
	leads   [MinSecret]byteSet // which bytes forms begin with
	escapes byteSet            // bytes that may begin something else than themselves
	forms   []string           // sorted
	begin   map[uint32]span    // by the first four bytes
	values  map[string]bool
	plus    bool // a form has a space, which "+" may stand for, among its first bytes
	numeric bool // one of them reads as a number
	least   int  // the length of the shortest form: an escape has at least the bytes that it stands for, so no shorter text has one
}

// NewRedactor makes a Redactor for the given secrets. Those with fewer than MinSecret bytes are ignored.
func New(secrets ...string) *Redactor {
	r := &Redactor{begin: map[uint32]span{}, values: map[string]bool{}}
	for _, s := range secrets {
		if len(s) < MinSecret || r.values[s] {
			continue
		}
		r.values[s] = true
		r.numeric = r.numeric || strings.Trim(s, "0123456789.eE+-") == ""
		for _, f := range formsOf(s) {
			if len(f) >= MinSecret {
				r.forms = append(r.forms, f)
			}
		}
	}
	slices.Sort(r.forms)
	r.forms = slices.Compact(r.forms)
	for i, f := range r.forms {
		r.add(f, int32(i))
	}
	for _, c := range []byte(`\\%&`) {
		r.escapes.set(c)
	}
	return r
}

// short reports whether a text of n bytes is too short for any form.
func (r *Redactor) short(n int) bool { return r == nil || len(r.forms) == 0 || n < r.least }

// FoundBytes is Found for bytes, which it copies only when they are long enough for a secret.
func (r *Redactor) FoundBytes(b []byte) bool { return !r.short(len(b)) && r.Found(string(b)) }

// Found reports whether there is a secret in s.
func (r *Redactor) Found(s string) bool {
	if r.short(len(s)) {
		return false
	}
	x := newSearch(r, s, true)
	defer x.close()
	begin, _ := x.next()
	return begin >= 0
}

// Text returns s without secrets. Secrets that overlap are one.
func (r *Redactor) Text(s string) string {
	if r.short(len(s)) {
		return s
	}
	x := newSearch(r, s, true)
	defer x.close()
	begin, end := x.next()
	if begin < 0 {
		return s
	}
	var b strings.Builder
	from := 0
	for begin >= 0 {
		b.WriteString(s[from:begin])
		b.WriteString(Redacted)
		from = end
		begin, end = x.next()
	}
	b.WriteString(s[from:])
	return b.String()
}

// Cut is Text for text that may have been cut: there may be a part of a secret at its beginning or at its end, and at three
// dots, where a library may have cut what it quotes.
func (r *Redactor) Cut(s string) string {
	if r == nil || len(r.forms) == 0 {
		return s
	}
	s = r.Text(s)
	dots := ""
	for _, d := range []string{"…", "..."} {
		if t, ok := strings.CutSuffix(s, d); ok {
			s, dots = t, d
			break
		}
	}
	s = r.edges(s)
	var b strings.Builder
	for at := cutAt(s); at >= 0; at = cutAt(s) {
		end := at + len("...") // "…" has three bytes, too
		b.WriteString(r.edges(s[:at]))
		b.WriteString(s[at:end])
		s = s[end:]
	}
	if b.Len() == 0 {
		return s + dots
	}
	return b.String() + r.edges(s) + dots
}

// cutAt is where three dots are, negative when there are none.
func cutAt(s string) int {
	a, b := strings.Index(s, "..."), strings.Index(s, "…")
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}

// edges returns s without a part of a secret at its beginning or at its end.
func (r *Redactor) edges(s string) string {
	if len(s) < minPiece {
		return s
	}
	head, tail := r.head(s), r.tail(s)
	if head+tail >= len(s) && head+tail > 0 {
		return Redacted
	}
	if tail > 0 {
		s = s[:len(s)-tail] + Redacted
	}
	if head > 0 {
		s = Redacted + s[head:]
	}
	return s
}

// Value returns v without secrets: in its strings, the keys of its maps, and numbers that are a secret.
func (r *Redactor) Value(v value.Value) value.Value {
	if r == nil || len(r.forms) == 0 {
		return v
	}
	return r.value(v, r.Text)
}

// foundIn reports whether there is a secret in v.
func (r *Redactor) foundIn(v value.Value) bool {
	switch v.Kind() {
	case value.StringKind:
		return r.Found(v.String())
	case value.IntKind, value.FloatKind:
		return r.numeric && r.values[value.JSON(v)]
	case value.ListKind, value.MapKind:
		for i := range v.Len() {
			if r.foundIn(v.Index(i)) || v.Kind() == value.MapKind && r.Found(v.Key(i)) {
				return true
			}
		}
	}
	return false
}

func (r *Redactor) value(v value.Value, text func(string) string) value.Value {
	switch v.Kind() {
	case value.StringKind:
		return value.String(text(v.String()))
	case value.IntKind, value.FloatKind:
		if r.numeric && r.values[value.JSON(v)] {
			return value.String(Redacted)
		}
	case value.ListKind:
		items := make([]value.Value, v.Len())
		for i := range items {
			items[i] = r.value(v.Index(i), text)
		}
		return value.List(items...)
	case value.MapKind:
		entries := make([]value.Entry, v.Len())
		for i := range entries {
			entries[i] = value.Entry{Key: text(v.Key(i)), Value: r.value(v.Index(i), text)}
		}
		return value.Map(entries...)
	}
	return v
}

// JSON returns JSON text without secrets, as JSON. What is not JSON is treated as text.
func (r *Redactor) JSON(b []byte) []byte {
	if !r.FoundBytes(b) {
		return b
	}
	v, err := value.Parse(b)
	if err != nil {
		return []byte(r.Text(string(b)))
	}
	out, err := json.Marshal(r.Value(v))
	if err != nil || r.Found(string(out)) { // a secret made of what JSON itself is made of
		return []byte(`"` + Redacted + `"`)
	}
	return out
}

// Error returns err without secrets: a *ToolError is copied when it holds one. Other errors stay.
func (r *Redactor) Error(err error) error {
	e, ok := err.(*value.ToolError)
	if r == nil || len(r.forms) == 0 || !ok || e == nil {
		return err
	}
	message, details := r.Cut(e.Message), r.value(e.Details, r.Cut)
	if message != e.Message || !details.Equal(e.Details) {
		return e.Clean(message, details)
	}
	return err
}

// Knows reports whether secret is one of the secrets that the Redactor was made for.
func (r *Redactor) Knows(secret string) bool { return r != nil && r.values[secret] }
