package redact

import "testing"

// Texts too short for a secret are not searched; those that are just long enough are.
func TestShort(t *testing.T) {
	for _, secret := range []string{"four", "a secret", "<&>\"'+ %", "éàü€", "\x80\x81\x82\x83\x84", "0123456789abcdef"} {
		r := New(secret)
		for _, form := range r.forms {
			if !r.Found(form) || !r.FoundBytes([]byte(form)) || r.Text(form) != Redacted {
				t.Errorf("%q is not found in %q", secret, form)
			}
			if short := form[:r.least-1]; r.Found(short) || r.FoundBytes([]byte(short)) || r.Text(short) != short {
				t.Errorf("%q is found in %q", secret, short)
			}
		}
	}
	var none *Redactor
	if none.Found("text") || none.FoundBytes([]byte("text")) || none.Text("text") != "text" || New("abc").Found("abc") {
		t.Error("no secret is found")
	}
	r, text := New("a secret of a usual length"), []byte(`{"a":1,"b":"no secret"}`)
	if n := testing.AllocsPerRun(100, func() { r.FoundBytes(text) }); n != 0 {
		t.Errorf("%v allocations for a short text", n)
	}
}
