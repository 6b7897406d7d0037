package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/redact"
)

var digitsOf = map[string]func([]byte) string{"base64": base64.StdEncoding.EncodeToString, "hexadecimal": hex.EncodeToString}

// The first digit may be an escape, also of a character that needs none.
func TestRedactorFirstDigitIsEscaped(t *testing.T) {
	for _, secret := range []string{"Atoken-value", "\xfbtoken-value", "\xfftoken-value"} {
		r := redact.New(secret)
		for name, encode := range digitsOf {
			digits := encode([]byte(secret))
			spelt := []string{fmt.Sprintf("&#%d;", digits[0]), fmt.Sprintf("%%%02x", digits[0]), fmt.Sprintf(`\x%02x`, digits[0]), fmt.Sprintf(`\%03o`, digits[0])}
			if strings.Contains("+/-_", digits[:1]) {
				spelt = append(spelt, `\`+digits[:1])
			}
			for _, s := range spelt {
				if got := r.Text("<" + s + digits[1:] + ">"); got != "<[redacted]>" {
					t.Errorf("%s of %q, beginning with %s: %q", name, secret, s, got)
				}
			}
		}
	}
}

// Digits may stand in lines, which are indented, and hexadecimal ones apart.
func TestRedactorDigitsInLines(t *testing.T) {
	const secret = "s3cr3t-t0ken"
	r := redact.New(secret)
	for name, encode := range digitsOf {
		digits := encode([]byte(secret))
		between := []string{"\n", "\r\n", "\n  ", "\n\t", "\n\n", "%0a", "\n" + strings.Repeat(" ", 62)}
		if name == "hexadecimal" {
			between = append(between, " ", ":", "\t", "+", "%20", "%3a")
		}
		for _, b := range between {
			for i := 1; i < len(digits); i++ {
				if got := r.Text("<" + digits[:i] + b + digits[i:] + ">"); got != "<[redacted]>" {
					t.Errorf("%s with %q at %d: %q", name, b, i, got)
				}
			}
		}
		for _, b := range []string{"", ".", "\n.", "\n" + strings.Repeat(" ", 64)} {
			text := "<" + digits[:6] + b + digits[6:] + ">"
			if found := r.Text(text) != text; found != (b == "") {
				t.Errorf("%s with %q: %v", name, b, found)
			}
		}
		for i := range digits { // as a URL that holds a literal
			hidden := strings.NewReplacer(`\`, "%5c", "x", "%78").Replace(fmt.Sprintf(`\x%%%02x%%%02x`, hex.EncodeToString([]byte(digits[i : i+1]))[0], hex.EncodeToString([]byte(digits[i : i+1]))[1]))
			if got := r.Text("<" + digits[:i] + hidden + digits[i+1:] + ">"); name == "hexadecimal" && got != "<[redacted]>" {
				t.Errorf("%s with %s at %d: %q", name, hidden, i, got)
			}
		}
	}
}

// A shell's quotes may be quoted again by the same shell.
func TestRedactorQuotesOfShells(t *testing.T) {
	r := redact.New("it's-a-secret")
	for _, q := range []string{`'"'"'`, `'\''`} {
		text := "it's-a-secret"
		for deep := range 2 {
			if text = "'" + strings.ReplaceAll(text, "'", q) + "'"; strings.Contains(r.Text(text), "a-secret") {
				t.Errorf("%s, %d deep: %q is %q", q, deep, text, r.Text(text))
			}
		}
	}
}

// In base64 and in hexadecimal each of the first characters may be escaped, quotes may be doubled, and there may be digits,
// in lines or with separators, within the digits.
func TestRedactorEscapesInDigits(t *testing.T) {
	const secret = `k!-uZ;y~=wq`
	for name, encode := range digitsOf {
		for _, tt := range []struct{ secret, text string }{
			{secret, "%6b!-uZ;y~=wq"}, {secret, "k%21-uZ;y~=wq"}, {secret, "k!%2duZ;y~=wq"}, {secret, "k!-%75Z;y~=wq"}, {secret, `k!-\x75Z;y~=wq`}, {secret, "k!-u&#90;;y~=wq"},
			{`k"~uZ;y~=wq`, `k""~uZ;y~=wq`}, {"k'~uZ;y~=wq", "k''~uZ;y~=wq"}, {`k~"uZ;y~=wq`, `k~""uZ;y~=wq`}, {"k~'uZ;y~=wq", "k~''uZ;y~=wq"},
			{`"~uZ;y~=wq`, `""~uZ;y~=wq`}, {"'~uZ;y~=wq", "''~uZ;y~=wq"},
			{secret, "6b\n212d755a3b797e3d7771"}, {secret, "6b:21:2d:75:5a:3b:79:7e:3d:77:71"}, {secret, "6b 21 2d 75 5a 3b 79 7e 3d 77 71"},
			{secret, "ay\nEtdVo7eX49d3E="}, {secret, "ay\r\nEtdVo7eX49d3E="},
		} {
			r := redact.New(tt.secret)
			for before := range 3 {
				for _, c := range []byte{0, '~', 'a', 0xff} {
					digits := encode([]byte(strings.Repeat(string([]byte{c}), before) + tt.text + "   "))
					if got := r.Text("<" + digits + ">"); strings.Contains(got, digits[8:12]) || before == 0 && !strings.HasPrefix(got, "<[redacted]") {
						t.Errorf("%q of %q in %s, %d before: %q is %q", tt.text, tt.secret, name, before, digits, got)
					}
				}
			}
		}
	}
}

// What cannot be the beginning of a secret is passed on at once, and a secret that begins in long digits is not, wherever
// they are cut.
func TestRedactingWriterInDigits(t *testing.T) {
	write := func(r *redact.Redactor, parts ...string) (atOnce, all string) {
		var b bytes.Buffer
		w := r.Writer(&b)
		for _, part := range parts {
			if _, err := w.Write([]byte(part)); err != nil {
				t.Fatal(err)
			}
		}
		atOnce = b.String()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return atOnce, b.String()
	}
	r := redact.New("s3cr3t-t0ken-value")
	for _, text := range []string{"(~)", "a b (~)", strings.Repeat("words and ", 20) + "(~)", "YWJjZGVmZ2hpamts (~)", "6162636465666768 (~)", "%zz (~)", "\x80"} {
		if got, _ := write(r, text); got != text {
			t.Errorf("%q: %q is passed on", text, got)
		}
	}
	long := "(" + strings.Repeat("ghijklmnop", 4) // 5 digits more may be the first byte of one
	for text, want := range map[string]string{long: long[:36], long + "%": long[:36], long + `\u00`: long[:36], long + ".": long + ".", long + "%.": long + "%."} {
		if got, _ := write(r, text); got != want {
			t.Errorf("%q: %q is passed on, want %q", text, got, want)
		}
	}
	for name, encode := range digitsOf {
		for _, before := range []string{"", "abc", strings.Repeat("abc", 10)} {
			text := encode([]byte(before + "s3cr3t-t0ken-value, says the service, and more of it"))
			for i := range text {
				if _, got := write(r, "("+text[:i], text[i:]+")"); got != r.Text("("+text+")") {
					t.Errorf("%s cut at %d: %q", name, i, got)
				}
			}
		}
	}
	// What is held is looked at again when it has grown by an eighth.
	signs := redact.New("~!$()[]{}~!$()[]{}~!")
	for _, tt := range []struct {
		parts []string
		want  string
	}{
		{[]string{"~!$()[]{", "."}, "~!$()[]{."},
		{[]string{"~!$()[]{}~!$()[]", "."}, ""},
		{[]string{"~!$()[]{}~!$()[]", ".", "."}, "~!$()[]{}~!$()[].."},
	} {
		if got, _ := write(signs, tt.parts...); got != tt.want {
			t.Errorf("%q: %q is passed on, want %q", tt.parts, got, tt.want)
		}
	}
}
