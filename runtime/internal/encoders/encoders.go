// Package encoders is for tests: what programs in Go, Python and JavaScript make of a text before they write it.
package encoders

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"html/template"
	"io"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Python and Node are programs that print the names of their encoders, and then what these make of each line of their input.
var (
	//go:embed encode.py
	Python string
	//go:embed encode.js
	Node string
)

// An Encoder is one that a program may pass a secret through before it writes it.
type Encoder struct {
	Name string
	Do   func(texts []string) ([]string, error)
}

// Go are those of Go's own libraries.
func Go() []Encoder {
	var list []Encoder
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
		list = append(list, Encoder{"go " + name, func(texts []string) ([]string, error) {
			out := make([]string, len(texts))
			for i, t := range texts {
				out[i] = f(t)
			}
			return out, nil
		}})
	}
	slices.SortFunc(list, func(a, b Encoder) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Program are those of a program that is started once, with its script as the argument of a flag; none where it is not
// installed, unless CI is set.
func Program(t testing.TB, name, flag, script string) []Encoder {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Logf("%s is not installed: its encoders are left out", name)
		return nil
	}
	cmd := exec.Command(path, flag, script)
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
		t.Fatalf("%s: %q, %v", name, out.Text(), out.Err())
	}
	var list []Encoder
	for _, n := range names {
		list = append(list, Encoder{name + " " + n, func(texts []string) ([]string, error) {
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
