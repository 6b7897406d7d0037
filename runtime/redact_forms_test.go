package runtime_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime"
)

// encoder is one that a program may pass a secret through before it writes it.
type encoder struct {
	name string
	do   func(texts []string) ([]string, error)
}

// goEncoders are those of Go's own libraries.
func goEncoders() []encoder {
	var list []encoder
	for name, f := range map[string]func(string) string{
		"query": url.QueryEscape, "path": url.PathEscape, "html": html.EscapeString, "js": template.JSEscapeString, "templates": template.HTMLEscapeString,
		"quote": strconv.Quote, "ascii": strconv.QuoteToASCII, "graphic": strconv.QuoteToGraphic,
		"json": func(s string) string { b, _ := json.Marshal(s); return string(b) },
		"json, html as it is": func(s string) string {
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			_ = e.Encode(map[string]string{"k": s})
			return b.String()
		},
		"json, slashes": func(s string) string { b, _ := json.Marshal(s); return strings.ReplaceAll(string(b), "/", `\/`) },
		"userinfo":      func(s string) string { return url.UserPassword("u", s).String() + "@host" },
		"values":        func(s string) string { return url.Values{"k": {s}, "l": {"x"}}.Encode() },
		"xml":           func(s string) string { var b bytes.Buffer; _ = xml.EscapeText(&b, []byte(s)); return b.String() },
		"csv": func(s string) string {
			var b bytes.Buffer
			w := csv.NewWriter(&b)
			_ = w.Write([]string{"a", s})
			w.Flush()
			return b.String()
		},
		"base64":         func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"base64 of more": func(s string) string { return base64.URLEncoding.EncodeToString([]byte("xy" + s + "z")) },
		"%x":             func(s string) string { return fmt.Sprintf("%x", s) }, "% X": func(s string) string { return fmt.Sprintf("% X", s) },
		"%q":  func(s string) string { return fmt.Sprintf("%+q", []string{s}) },
		"raw": func(s string) string { return s },
	} {
		list = append(list, encoder{"go " + name, func(texts []string) ([]string, error) {
			out := make([]string, len(texts))
			for i, t := range texts {
				out[i] = f(t)
			}
			return out, nil
		}})
	}
	slices.SortFunc(list, func(a, b encoder) int { return strings.Compare(a.name, b.name) })
	return list
}

// programEncoders are those of a program that is started once.
func programEncoders(t *testing.T, name, script string) []encoder {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Logf("%s is not installed: its encoders are left out", name)
		return nil
	}
	cmd := exec.Command(path, filepath.Join("testdata", script))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	out := bufio.NewScanner(stdout)
	out.Buffer(nil, 1<<24)
	var names []string
	if !out.Scan() || json.Unmarshal(out.Bytes(), &names) != nil {
		t.Fatalf("%s: %q, %v", script, out.Text(), out.Err())
	}
	var list []encoder
	for _, n := range names {
		list = append(list, encoder{name + " " + n, func(texts []string) ([]string, error) {
			go func() {
				w := bufio.NewWriter(in)
				for _, t := range texts {
					line, _ := json.Marshal(map[string]string{"text": base64.StdEncoding.EncodeToString([]byte(t)), "encoder": n})
					_, _ = w.Write(append(line, '\n'))
				}
				_ = w.Flush()
			}()
			var encoded []string
			for range texts {
				if !out.Scan() {
					return nil, io.ErrUnexpectedEOF
				}
				b, err := base64.StdEncoding.DecodeString(out.Text())
				if err != nil {
					return nil, err
				}
				encoded = append(encoded, string(b))
			}
			return encoded, nil
		}})
	}
	return list
}

// randomSecret draws from all bytes: text, keys with punctuation, several lines, or anything.
func randomSecret(r *rand.Rand) string {
	n := 8 + r.IntN(40)
	if r.IntN(8) == 0 {
		n += 100
	}
	var b []byte
	kind := r.IntN(5)
	for len(b) < n {
		switch kind {
		case 0:
			b = append(b, byte(r.IntN(256)))
		case 1:
			b = append(b, byte(' '+r.IntN(95)))
		case 2:
			const marks = "AZaz09+/=_-. \\\"'%&;<>#$`~\n\t\x00\x1b\x7f"
			b = append(b, marks[r.IntN(len(marks))])
		case 3:
			b = utf8.AppendRune(b, []rune{rune(r.IntN(0x80)), rune(r.IntN(0x250)), rune(r.IntN(0xD800)), rune(0x10000 + r.IntN(0x10000))}[r.IntN(4)])
		case 4:
			b = append(b, "0123456789abcdefABCDEFghijklmnopqrstuvwxyz+/"[r.IntN(44)])
		}
	}
	return string(b)
}

// Secrets of any bytes, through one encoder or two of Go, Python, JavaScript and PHP, are taken out, and next to nothing
// of what they became stays.
func TestRandomSecretsInRandomEncoders(t *testing.T) {
	rounds, each, seed := 150, 8, uint64(1)
	if os.Getenv("CAMPAIGN") == "full" {
		rounds, seed = 10000, rand.Uint64()
	}
	encoders := append(append(goEncoders(), programEncoders(t, "python3", "encode.py")...), programEncoders(t, "node", "encode.js")...)
	t.Logf("%d encoders, seed %d", len(encoders), seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	n := 0
	for round := range rounds {
		first, second := encoders[round%len(encoders)], encoders[rnd.IntN(len(encoders))]
		secrets := make([]string, each) // the first is "", which shows what the encoders themselves add
		for i := 1; i < each; i++ {
			secrets[i] = randomSecret(rnd)
		}
		once, err := first.do(secrets)
		if err != nil {
			t.Fatalf("%s: %v", first.name, err)
		}
		twice, err := second.do(once)
		if err != nil {
			t.Fatalf("%s: %v", second.name, err)
		}
		for i, s := range secrets[1:] {
			r := runtime.NewRedactor(s)
			for _, out := range []struct {
				what string
				all  []string
			}{{first.name, once}, {first.name + ", then " + second.name, twice}} {
				form := out.all[i+1]
				before, after := strings.Repeat("a ", rnd.IntN(20)), strings.Repeat(" b", rnd.IntN(20))
				got := r.Text(before + form + after)
				rest := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(got, before), after), runtime.Redacted, "")
				n++
				if most := len(out.all[0]) + 32; strings.Contains(rest, s) || !strings.Contains(got, runtime.Redacted) || len(rest) > most {
					t.Errorf("seed %d: %s of %q:\n%q is\n%q", seed, out.what, s, form, got)
				}
			}
		}
	}
	t.Logf("%d texts", n)
}
