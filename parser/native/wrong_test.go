package native_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser"
)

var annotate = flag.Bool("annotate", false, "rewrite the expectations in testdata/wrong, and fail")

// memory is a file system of a few files.
type memory map[string]string

func (m memory) ReadFile(name string) ([]byte, error) {
	s, ok := m[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return []byte(s), nil
}

const (
	chunkMark = "---8<---"  // between the cases of a file
	fileMark  = "===8<=== " // before the further files of a case, with the name
	mainFile  = "case.flowgen.yaml"
)

// An expectation is written as a comment on the line it is about: ### FG0101 "regexp of the message" @"text under the
// caret" ? "regexp of the help". A number after ### counts lines from the comment, for lines that can have none.
type expectation struct{ code, message, text, help string }

var expectForm = regexp.MustCompile(`(FG\d{4}) ("(?:[^"\\]|\\.)*") @("(?:[^"\\]|\\.)*")(?: \? ("(?:[^"\\]|\\.)*"))?`)

// expectations returns what a file expects, by line.
func expectations(t *testing.T, name, text string) map[string][]expectation {
	out := map[string][]expectation{}
	for i, line := range strings.Split(text, "\n") {
		_, comment, ok := strings.Cut(line, "###")
		if !ok {
			continue
		}
		n := i + 1
		if m := regexp.MustCompile(`^\+(\d+)`).FindStringSubmatch(comment); m != nil {
			d, _ := strconv.Atoi(m[1])
			n += d
		}
		found := expectForm.FindAllStringSubmatch(comment, -1)
		if len(found) == 0 {
			t.Fatalf("%s:%d: no expectation in %q", name, i+1, comment)
		}
		for _, m := range found {
			e := expectation{code: m[1]}
			for j, s := range []*string{&e.message, &e.text, &e.help} {
				if m[j+2] != "" {
					var err error
					if *s, err = strconv.Unquote(m[j+2]); err != nil {
						t.Fatalf("%s:%d: %v", name, i+1, err)
					}
				}
			}
			key := fmt.Sprintf("%s:%d", name, n)
			out[key] = append(out[key], e)
		}
	}
	return out
}

func splitFiles(chunk string) memory {
	files := memory{}
	name := mainFile
	for i, part := range strings.Split("\n"+chunk, "\n"+fileMark) {
		if i > 0 {
			name, part, _ = strings.Cut(part, "\n")
		} else {
			part = strings.TrimPrefix(part, "\n")
		}
		files[name] = part
	}
	return files
}

func TestWrong(t *testing.T) {
	paths, err := filepath.Glob("testdata/wrong/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal("no cases", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		chunks := strings.Split(string(data), chunkMark+"\n")
		for i, chunk := range chunks {
			t.Run(fmt.Sprintf("%s/%d", strings.TrimSuffix(filepath.Base(path), ".yaml"), i+1), func(t *testing.T) {
				if *annotate {
					chunk = regexp.MustCompile(`(?m) ###.*$`).ReplaceAllString(chunk, "")
				}
				files := splitFiles(chunk)
				var sink diag.Sink
				parser.Parse(files, mainFile, &sink)
				if *annotate {
					chunks[i] = annotated(chunk, &sink)
					return
				}
				compare(t, files, &sink)
			})
		}
		if *annotate {
			if err := os.WriteFile(path, []byte(strings.Join(chunks, chunkMark+"\n")), 0o644); err != nil {
				t.Fatal(err)
			}
			t.Error("rewritten: read the difference and run again")
		}
	}
}

func compare(t *testing.T, files memory, sink *diag.Sink) {
	want := map[string][]expectation{}
	for name, text := range files {
		for k, v := range expectations(t, name, text) {
			want[k] = v
		}
	}
	if len(want) == 0 {
		t.Error("the case expects nothing")
	}
	for _, d := range sink.List() {
		if d.Span.IsZero() {
			t.Errorf("no place: %s", d.Message)
			continue
		}
		key := fmt.Sprintf("%s:%d", d.Span.File.Name, d.Span.Start().Line)
		at := slices.IndexFunc(want[key], func(e expectation) bool {
			return e.code == string(d.Code) && regexp.MustCompile(e.message).MatchString(d.Message) && e.text == d.Span.Text() &&
				(e.help == "" || regexp.MustCompile(e.help).MatchString(d.Help))
		})
		if at < 0 {
			t.Errorf("%s: unexpected %s %q @%q ? %q", key, d.Code, d.Message, d.Span.Text(), d.Help)
			continue
		}
		want[key] = slices.Delete(want[key], at, at+1)
		checkFixes(t, files, d)
	}
	for key, left := range want {
		for _, e := range left {
			t.Errorf("%s: missing %s %q @%q", key, e.code, e.message, e.text)
		}
	}
}

// checkFixes applies the first fix: the mistake must be gone.
func checkFixes(t *testing.T, files memory, d diag.Diagnostic) {
	if len(d.Fixes) == 0 {
		return
	}
	mended := memory{}
	for name, text := range files {
		mended[name] = text
	}
	text := d.Span.File.Text
	for i := len(d.Fixes[0].Edits) - 1; i >= 0; i-- {
		e := d.Fixes[0].Edits[i]
		text = text[:e.Span.Lo] + e.New + text[e.Span.Hi:]
	}
	mended[d.Span.File.Name] = text
	var sink diag.Sink
	parser.Parse(mended, mainFile, &sink)
	for _, x := range sink.List() {
		if x.Code == d.Code && x.Message == d.Message && x.Span.Lo == d.Span.Lo {
			t.Errorf("the fix %q does not mend %q", d.Fixes[0].Title, d.Message)
		}
	}
}

// annotated writes what was reported at the ends of the lines.
func annotated(chunk string, sink *diag.Sink) string {
	name, n := mainFile, 0
	var out []string
	for _, line := range strings.Split(chunk, "\n") {
		if next, ok := strings.CutPrefix(line, fileMark); ok {
			name, n = next, 0
			out = append(out, line)
			continue
		}
		n++
		for _, d := range sink.List() {
			if d.Span.File == nil || d.Span.File.Name != name || d.Span.Start().Line != n {
				continue
			}
			if !strings.Contains(line, " ###") {
				line += " ###"
			}
			line += fmt.Sprintf(" %s %q @%q", d.Code, regexp.QuoteMeta(d.Message), d.Span.Text())
			if d.Help != "" {
				line += fmt.Sprintf(" ? %q", regexp.QuoteMeta(d.Help))
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}
