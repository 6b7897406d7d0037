package redact

import (
	"io"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Writer returns a writer that passes on to w what it is given, without secrets, also those that come in pieces. Close
// passes on the rest and must be called; it does not close w.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser { return &redactingWriter{r: r, w: w} }

// maxHeld is how much a writer holds back at most: text in which secret follows on secret without an end.
const maxHeld = 1 << 20

type redactingWriter struct {
	r    *Redactor
	w    io.Writer
	buf  []byte
	wait int // how much buf has to have before it is looked at again
}

// Write passes on what can no longer be the beginning of a secret.
func (x *redactingWriter) Write(p []byte) (int, error) {
	x.buf = append(x.buf, p...)
	if len(x.buf) < x.wait {
		return len(p), nil
	}
	return len(p), x.flush(false)
}

// Close passes on the rest.
func (x *redactingWriter) Close() error { return x.flush(true) }

func (x *redactingWriter) flush(all bool) error {
	s := string(x.buf)
	out, from := []byte(nil), len(s)
	if x.r == nil || len(x.r.forms) == 0 {
		out = x.buf
	} else {
		out, from = x.r.until(s, all)
	}
	x.buf = append([]byte(nil), s[from:]...)
	x.wait = len(x.buf) + len(x.buf)/8
	if len(x.buf) > maxHeld {
		return value.Errorf(value.PolicyDenied, "what is written cannot be kept free of secrets")
	}
	if len(out) == 0 {
		return nil
	}
	_, err := x.w.Write(out)
	return err
}

// until is s without secrets up to from, where something begins of which the end has not come, perhaps.
func (r *Redactor) until(s string, all bool) (out []byte, from int) {
	search := newSearch(r, s, false)
	defer search.close()
	for {
		begin, end := search.next()
		hold := len(s)
		if !all {
			hold = search.open
		}
		if begin < 0 || end > hold {
			if begin >= 0 {
				hold = min(hold, begin)
			}
			hold = max(hold, from)
			return append(out, s[from:hold]...), hold
		}
		out = append(append(out, s[from:begin]...), Redacted...)
		from = end
	}
}
