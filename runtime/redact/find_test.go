package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"html"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// everywhere is Text without anything that passes places over: it looks for every form at every place.
func (r *Redactor) everywhere(s string) string {
	var b strings.Builder
	from, begin, end := 0, -1, 0
	w := new(work)
	for i := 0; i <= len(s); i++ {
		if begin >= 0 && i >= end {
			b.WriteString(s[from:begin] + Redacted)
			from, begin = end, -1
		}
		if i == len(s) {
			break
		}
		text := reader{r: r, s: s, work: w}
		w.begin()
		to, _ := text.longest(i)
		for _, l := range []*lane{base64Lane, hexLane} {
			in := text.with(l)
			_, at, _, ok := in.digit(i)
			for offset := 0; offset <= int(l.spare) && ok && at == i; offset += 2 {
				e, _ := in.all(i<<3 | offset)
				to = max(to, e)
			}
		}
		if to > 0 && begin < 0 {
			begin = i
		}
		if to > 0 {
			end = max(end, to)
		}
	}
	return b.String() + s[from:]
}

// drawText draws text in which there is much that looks like one of the secrets, whole or in part, and like escapes.
func drawText(t *rapid.T, secrets []string) string {
	enc := []func(string) string{
		func(s string) string { return s }, url.QueryEscape, url.PathEscape, html.EscapeString,
		func(s string) string { b, _ := json.Marshal(s); return string(b) },
		func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		func(s string) string { return base64.URLEncoding.EncodeToString([]byte("k" + s))[1:] },
		func(s string) string { return hex.EncodeToString([]byte(s)) },
	}
	piece := rapid.Custom(func(t *rapid.T) string {
		s := rapid.SampledFrom(secrets).Draw(t, "secret")
		if rapid.IntRange(0, 2).Draw(t, "cut") == 0 {
			s = s[rapid.IntRange(0, len(s)-1).Draw(t, "from"):]
		}
		for range rapid.IntRange(0, 2).Draw(t, "deep") {
			s = rapid.SampledFrom(enc).Draw(t, "encoder")(s)
		}
		return s[:rapid.IntRange(len(s)/2, len(s)).Draw(t, "to")]
	})
	parts := rapid.SliceOfN(rapid.OneOf(piece, rapid.SampledFrom([]string{"", " ", "\n", "%", `\`, `\\`, "&", "&#", "+", "'", `""`, "a", "ab", "41", "secret", "-----"})), 1, 8)
	return strings.Join(parts.Draw(t, "text"), "")
}

var drawn = []string{"abaab/aa+b", `p"w\n' &<ü>d`, "hunter2hunter2", "aaaab", "\xff\x00\x01binary\x80", "line one of it is long\nline two of it is longer"}

func TestRedactorFindsInValues(t *testing.T) {
	r, x, secret := New("s3cr3t-t0ken", "12345678"), value.String("x"), value.String("s3cr3t-t0ken")
	for _, tt := range []struct {
		v     value.Value
		found bool
	}{
		{secret, true}, {x, false}, {value.List(x, x), false}, {value.List(x, secret), true}, {value.Map(value.Entry{Key: "x", Value: x}), false},
		{value.Map(value.Entry{Key: "x", Value: x}, value.Entry{Key: "s3cr3t-t0ken", Value: x}), true}, {value.Map(value.Entry{Key: "x", Value: value.List(secret)}), true},
		{value.Int(12345678), true}, {value.Int(1234567), false}, {value.List(value.Map(value.Entry{Key: "x", Value: x})), false},
	} {
		if got := r.foundIn(tt.v); got != tt.found {
			t.Errorf("%s: %v", value.JSON(tt.v), got)
		}
	}
}

// What is passed over holds nothing.
func TestRedactorLooksEverywhere(t *testing.T) {
	r := New(drawn...)
	rapid.Check(t, func(t *rapid.T) {
		s := drawText(t, drawn)
		if got, want := r.Text(s), r.everywhere(s); got != want {
			t.Fatalf("%q is\n%q, want\n%q", s, got, want)
		}
	})
}

// A writer gives the same as Text, whatever is encoded, and however the text is cut into pieces.
func TestRedactingWriterInPieces(t *testing.T) {
	r := New(drawn...)
	rapid.Check(t, func(t *rapid.T) {
		s := drawText(t, drawn)
		var b bytes.Buffer
		w := r.Writer(&b)
		for rest := s; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got, want := b.String(), r.Text(s); got != want {
			t.Fatalf("%q in pieces is\n%q, want\n%q", s, got, want)
		}
	})
}

// stepsPerByte is how much is read in s for each byte of it.
func (r *Redactor) stepsPerByte(s string) float64 {
	x := newSearch(r, s, false)
	defer x.close()
	for begin := 0; begin >= 0; {
		begin, _ = x.next()
	}
	return float64(x.work.steps) / float64(len(s))
}

// maxStepsPerByte is about 3 µs. Ordinary text takes less than one step.
const maxStepsPerByte = 300

// Text that can be read in very many ways costs no more than a constant factor, whatever introduces escapes in it.
func TestRedactorReadsEachByteAFewTimes(t *testing.T) {
	secrets := append([]string{strings.Repeat("a", 64) + "b", `\\host\share`, `%41%`, "&amp;&", `''"'"`, "++++ ++"}, drawn...)
	r := New(secrets...)
	most, of := 0.0, ""
	check := func(unit string) float64 {
		n := r.stepsPerByte(strings.Repeat(unit, 1+2048/len(unit)))
		if n > most {
			most, of = n, unit
		}
		return n
	}
	for c := range 256 {
		row := string([]byte{byte(c)})
		for _, unit := range []string{row, row + row + "x", strings.Repeat(row, 15) + "x", strings.Repeat(row, 16) + "\n", row + "25", row + "u005c", row + "amp;", row + "#38;", row + "\\", row + "\""} {
			if n := check(unit); n > maxStepsPerByte {
				t.Errorf("%q: %.0f steps per byte", unit, n)
			}
		}
	}
	t.Logf("at most %.0f steps per byte, of %q", most, of)
	units := rapid.SliceOfN(rapid.SampledFrom([]string{`\`, `\\`, "%", "%25", "%5C", "&", "&amp;", "&#38;", "&#x5c;", ";", "'", `"`, `'"'"'`, `'\''`, "u005c", `\u005c`, "x5c", "{", "}", "134", "+", " ", "\n", "a", "A", "41", "YWFh", "XA==", "5c", "3563"}), 1, 12)
	rapid.Check(t, func(t *rapid.T) {
		unit := strings.Join(units.Draw(t, "unit"), "")
		if n := check(unit); n > maxStepsPerByte {
			t.Fatalf("%q: %.0f steps per byte", unit, n)
		}
	})
	t.Logf("at most %.0f steps per byte, of %q", most, of)
}

func TestRedactorDoesNotAllocate(t *testing.T) {
	r := New(drawn...)
	s := strings.Repeat(`{"id":12345678901234567890,"url":"https://example.com/a%20b?q=c2VjcmV0c2VjcmV0","t":"a\tb &amp; hunter3"}`, 20)
	if got := testing.AllocsPerRun(20, func() { r.Found(s) }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

// Reading text in which escapes can begin everywhere costs what it is counted to cost, not more and not less.
func TestRedactorRemembersWhatItRead(t *testing.T) {
	r := New(append([]string{strings.Repeat("a", 64) + "b", `\\host\share`}, drawn...)...)
	for unit, want := range map[string]float64{`\`: 37.22, "%25": 6, "&amp;": 2.83, `\u005c`: 6.66, "''": 4.02, "3563": 142.7, "%5c%": 8.27, `\x5c`: 10} {
		if got := r.stepsPerByte(strings.Repeat(unit, 1+2048/len(unit))); got < 0.98*want || got > 1.02*want {
			t.Errorf("%q: %.3f steps per byte, want %.3f", unit, got, want)
		}
	}
}

// Two escapes in base64 that begin in the same digit, at other bits of it, are read each for itself.
func TestRedactorEscapesThatShareADigit(t *testing.T) {
	text := base64.StdEncoding.EncodeToString([]byte("xb" + `\x41token-v`))
	other, err := base64.RawStdEncoding.DecodeString(text[2:14]) // begins with %
	if err != nil || other[0] != '%' {
		t.Fatalf("%q, %v", other, err)
	}
	for _, secrets := range [][]string{{"Atoken-v"}, {"Atoken-v", string(other) + "more"}} {
		if r := New(secrets...); !r.Found(text) {
			t.Errorf("%q is not found in %s", secrets, text)
		}
	}
}

// What looks like the beginning of a secret to the filter, and is none, is nothing.
func TestRedactorFilterIsNotExact(t *testing.T) {
	r := New("hunter2-hunter2")
	x := reader{r: r, work: new(work)}
	alike := 0
	random := rand.New(rand.NewPCG(1, 2))
	for range 1 << 19 {
		s := string(binary.LittleEndian.AppendUint32(nil, random.Uint32()))
		if s == "hunt" || !r.first.has(window(s, 0)) || !r.plain(s) {
			continue
		}
		alike++
		x.s = s + "    "
		if end, b := x.longest(0); end != -1 || b != nothing {
			t.Errorf("%q: %d, %d", s, end, b)
		}
	}
	if alike == 0 {
		t.Error("nothing looks alike")
	}
}
