package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/redact"
)

// Text that is nothing but pieces of secrets is redacted once; six bytes are a piece, five are not.
func TestRedactorCutAtItsEdges(t *testing.T) {
	const secret = "k!-uZ;y~=wq#vo^r"
	r := redact.New(secret)
	end := func(n int) string { return secret[len(secret)-n:] }
	for in, want := range map[string]string{
		"": "", "…": "…",
		end(8) + secret[:8]:              "[redacted]",
		end(6) + secret[:9]:              "[redacted]",
		end(9) + secret[:6] + "…":        "[redacted]…",
		end(6) + " said":                 "[redacted] said",
		end(5) + " said":                 end(5) + " said",
		"said " + secret[:6]:             "said [redacted]",
		"said " + secret[:5]:             "said " + secret[:5],
		end(7) + " " + secret[:7]:        "[redacted] [redacted]",
		end(8) + "/" + end(8):            "[redacted]/" + end(8),
		secret[:8] + "/" + secret[:8]:    secret[:8] + "/[redacted]",
		end(8) + "-" + secret + secret:   "[redacted]-[redacted][redacted]",
		"4" + end(7) + " said":           "[redacted] said", // of an escape of the byte before, %54, say
		"x" + end(7) + " said":           "[redacted] said",
		"u" + end(7) + " said":           "[redacted] said",
		"0a" + end(7) + " said":          "[redacted] said",
		"4" + end(5) + " said":           "4" + end(5) + " said",
		"g" + end(8) + " said":           "g" + end(8) + " said", // of no escape
		"0g" + end(8) + " said":          "0g" + end(8) + " said",
		"0a1b2c" + end(8) + " said":      "0a1b2c" + end(8) + " said", // too long for one
		"\u20ac" + end(8) + " " + end(8): "\u20ac" + end(8) + " " + end(8),
	} {
		if got := r.Cut(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
	// What follows on the byte before says whether that is the end of an escape, nothing else does.
	for _, after := range []string{"ab", "ux", ";;", "4x"} {
		r := redact.New("(~)" + after + "=wq#vo^r")
		in := "~" + after + "=wq#vo^r"
		if got := r.Cut("~" + after + "=wq#vo^r said"); got != "~"+after+"=wq#vo^r said" {
			t.Errorf("%q is %q", in, got)
		}
	}
}

// Encoded text that begins or ends within a secret shows no more than a few digits of it.
func TestRedactorCutInDigits(t *testing.T) {
	const secret = "s3cr3t-t0ken-value-of-the-service"
	r := redact.New(secret)
	for name, encode := range map[string]func([]byte) string{"base64": base64.StdEncoding.EncodeToString, "hexadecimal": hex.EncodeToString} {
		for before := range 3 {
			text := encode([]byte("ab"[:min(before, 2)] + secret))
			for cut := range 12 {
				from := len(text)/3 + cut
				got := r.Cut(text[from:] + " said")
				if shown := strings.TrimSuffix(got, " said"); shown != got && len(shown) > len("[redacted]")+4 || shown == got {
					t.Errorf("%s, %d before, from %d: %q", name, before, from, got)
				}
				if got := r.Cut("said " + text[:from]); len(got) > len("said [redacted]")+4 {
					t.Errorf("%s, %d before, to %d: %q", name, before, from, got)
				}
			}
		}
	}
}

// Parts of a secret that may stand alone: without spaces around it, the password of a pair, a line.
func TestRedactorPartsOfSecrets(t *testing.T) {
	const line = "line-of-16-bytes"
	for _, tt := range []struct {
		secret, text string
		found        bool
	}{
		{" abcd\n", "abcd", true},
		{" abc\n", "abc", false},
		{"user:pass-678", "pass-678", true},
		{"user:pass-67", "pass-67", false},
		{"us/er:pass-678", "pass-678", false},
		{"first\n" + line + "\nlast", line, true},
		{"first\n" + line[1:] + "\nlast", line[1:], false},
		{"first\n-----" + line + "\nlast", "-----" + line, false},
	} {
		if got := redact.New(tt.secret).Found("<" + tt.text + ">"); got != tt.found {
			t.Errorf("%q in %q: %v", tt.text, tt.secret, got)
		}
	}
}

// What bytes may stand for, read in more than one way.
func TestRedactorReadings(t *testing.T) {
	base64ed := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, tt := range []struct {
		secrets []string
		text    string
	}{
		{[]string{"ab+cdefg1", "ab cdefg2"}, "ab+cdefg1"},
		{[]string{"ab+cdefg1", "ab cdefg2"}, "ab+cdefg2"},
		{[]string{"a bcdefgh123"}, base64ed("a+bcdefgh123")},
		{[]string{"a''bcdefgh"}, "a''''bcdefgh"},
		{[]string{`a""bcdefgh`}, `a""""bcdefgh`},
		{[]string{"\x01\xffabcdefgh"}, "\ufffd%FFabcdefgh"},
		{[]string{"\x01\x80abcdefgh"}, "\ufffd%80abcdefgh"},
		{[]string{"\x01\x80abcdefgh"}, "\ufffd&#56448;abcdefgh"},
		{[]string{"a ~bcdefgh12"}, base64ed("a+~bcdefgh12")},
		{[]string{"abcdefg\xc3", "abcdefg\xc3\xa9zz"}, `abcdefg\u00e9zz`},
		{[]string{"abcdefgh", "abcdefgh-and-more1"}, base64ed("abcdefgh-and-more1")},
		{[]string{"abcdefgh", "abcdefgh-and-more1"}, "%61bcdefgh-and-more1"},
	} {
		r := redact.New(tt.secrets...)
		if got := r.Text("<" + tt.text + ">"); got != "<[redacted]>" {
			t.Errorf("%q: %q is %q", tt.secrets, tt.text, got)
		}
	}
}

// A character of which a secret has only the first bytes is not that secret.
func TestRedactorLeavesOtherCharacters(t *testing.T) {
	for _, tt := range []struct{ secret, text string }{{"abcdefg\xc3", `abcdefg\u00e9`}, {"hunt\u00e9r-token", `hunt\u00e8r-token`}, {"hunt\u00e9r-token", `hunt\u20acr-token`}} {
		if got := redact.New(tt.secret).Text(tt.text); got != tt.text {
			t.Errorf("%q in %q: %q", tt.secret, tt.text, got)
		}
	}
}

// Four bytes of a secret at the end of a text are a part of it where they are spelt at length, three are not.
func TestRedactorCutInEscapes(t *testing.T) {
	r := redact.New("k!-uZ;y~=wq#vo^r")
	for in, want := range map[string]string{"said %6b%21%2d%75": "said [redacted]", "said %6b%21%2d": "said %6b%21%2d", "said k!%2d%75": "said [redacted]", "said k!-u": "said k!-u"} {
		if got := r.Cut(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

// A secret that has ended is passed on at once: nothing can follow on it.
func TestRedactingWriterDoesNotWait(t *testing.T) {
	for _, text := range []string{"k!-uZ;y~", "k!-uZ;y&#126;"} {
		var b bytes.Buffer
		w := redact.New("k!-uZ;y~").Writer(&b)
		if _, err := w.Write([]byte("said " + text)); err != nil || b.String() != "said [redacted]" {
			t.Errorf("%q is %q, %v", text, b.String(), err)
		}
	}
}

// JSON stays JSON, numbers and keys included; what is not JSON stays text.
func TestRedactorJSON(t *testing.T) {
	r := redact.New("12345678", "s3cr3t-t0ken")
	for in, want := range map[string]string{
		`{"a":12345678,"b":[1,12345678]}`: `{"a":"[redacted]","b":[1,"[redacted]"]}`,
		`{"s3cr3t-t0ken":1}`:              `{"[redacted]":1}`,
		`{"a": "s3cr3t-t0ken"`:            `{"a": "[redacted]"`,
		`{"a": 1}`:                        `{"a": 1}`,
	} {
		if got := string(r.JSON([]byte(in))); got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
}

// A backslash before digits may belong to them or stand for itself.
func TestRedactorBackslashBeforeDigits(t *testing.T) {
	const secret = "hunter2-hunter2-hunter2"
	r := redact.New(secret)
	for _, digits := range []string{base64.StdEncoding.EncodeToString([]byte(secret)), hex.EncodeToString([]byte(secret)), secret} {
		for _, before := range []string{`\`, `\\`, `C:\`, "%", "&", `"`, `\n`, `\x`, `\u00`} {
			if got := r.Text(before + digits + " said"); strings.Contains(got, digits[4:]) {
				t.Errorf("%q stays after %q: %q", digits, before, got)
			}
		}
	}
}

// A secret that no digit begins is held back from its first byte on, wherever text is cut.
func TestRedactingWriterHoldsFirstBytes(t *testing.T) {
	for _, secret := range []string{"~!$()[]{}~", "~!$(", "\xff\xfe\xfd\xfc", `"'"'"'"`} {
		r := redact.New(secret)
		text := "said: " + secret + ". " + secret[:2] + "."
		for i := range text {
			for j := i; j < len(text); j++ {
				var b bytes.Buffer
				w := r.Writer(&b)
				for _, part := range []string{text[:i], text[i:j], text[j:]} {
					if _, err := w.Write([]byte(part)); err != nil {
						t.Fatal(err)
					}
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				if got, want := b.String(), "said: [redacted]. "+secret[:2]+"."; got != want {
					t.Fatalf("%q cut at %d and %d is %q, want %q", text, i, j, got, want)
				}
			}
		}
	}
}

// What looks like an escape may be a character before digits that happen to read as the rest of one.
func TestRedactorEscapeOrDigits(t *testing.T) {
	for _, secret := range []string{"\xe3token-value-123", "Atoken-value-123"} { // %43Rva2Vu..., %41746f6b65...
		r := redact.New(secret)
		for name, digits := range map[string]string{"base64": base64.StdEncoding.EncodeToString([]byte(secret)), "hexadecimal": hex.EncodeToString([]byte(secret))} {
			if got := r.Text("<%" + digits + ">"); strings.Contains(got, digits[4:]) {
				t.Errorf("%q in %s: %q", secret, name, got)
			}
			spelled := "%" + hex.EncodeToString([]byte(digits[:1])) + digits[1:]
			if got := r.Text("<" + spelled + ">"); strings.TrimRight(got, "=>") != "<[redacted]" {
				t.Errorf("%q in %s: %q", secret, name, got)
			}
		}
	}
}
