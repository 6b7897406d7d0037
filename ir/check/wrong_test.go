package check_test

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

	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/check"
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
	header    = "flowgen: 1\nname: case\n" // of a main file that does not say so itself
	library   = "lib.flowgen.yaml"         // what every case may include
)

// checked runs the compiler's front over files.
func checked(files memory) (*check.Program, []diag.Diagnostic) {
	if _, ok := files[library]; !ok {
		lib, err := os.ReadFile("testdata/" + library)
		if err != nil {
			panic(err)
		}
		files[library] = string(lib)
	}
	sink := &diag.Sink{}
	wf := parser.Parse(files, mainFile, sink)
	if wf == nil {
		return nil, sink.List()
	}
	bind.Resolve(wf, bind.Options{}, sink)
	return check.Check(wf, sink), sink.List()
}

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
		if !strings.HasPrefix(part, "flowgen:") && !strings.HasSuffix(name, ".md") {
			part = header + part
		}
		files[name] = part
	}
	return files
}

// TestWrong compares every diagnostic of every case with those written on the lines of the case: no other, none missing.
func TestWrong(t *testing.T) {
	paths, err := filepath.Glob("testdata/wrong/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal("no cases", err)
	}
	codes := map[string]bool{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		chunks := strings.Split(string(data), chunkMark+"\n")
		for i, chunk := range chunks {
			t.Run(fmt.Sprintf("%s/%d", strings.TrimSuffix(filepath.Base(path), ".yaml"), i+1), func(t *testing.T) {
				if *annotate && !strings.Contains(chunk, "###+") {
					chunk = regexp.MustCompile(`(?m) ###.*$`).ReplaceAllString(chunk, "")
					_, list := checked(splitFiles(chunk))
					chunks[i] = annotated(chunk, list)
					return
				}
				files := splitFiles(chunk)
				program, list := checked(files)
				compare(t, files, list)
				if errors := slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Severity == diag.Error }); errors == (program != nil) {
					t.Errorf("errors %v, program %v", errors, program != nil)
				}
				for _, d := range list {
					codes[string(d.Code)] = true
				}
			})
		}
		if *annotate {
			if err := os.WriteFile(path, []byte(strings.Join(chunks, chunkMark+"\n")), 0o644); err != nil {
				t.Fatal(err)
			}
			t.Error("rewritten: read the difference and run again")
		}
	}
	if *annotate {
		return
	}
	for _, e := range diag.Codes() { // what is check's to report is reported by some case
		mine := strings.HasPrefix(string(e.Code), "FG05") || strings.HasPrefix(string(e.Code), "FG064") || strings.HasPrefix(string(e.Code), "FG07") ||
			strings.HasPrefix(string(e.Code), "FG08") || e.Code == diag.Unused || e.Code == diag.MissingField || e.Code == diag.UntypedValue
		mine = mine && e.Code != diag.TierMissing // of `check --sandbox`
		if mine && !codes[string(e.Code)] {
			t.Errorf("no case reports %s, %s", e.Code, e.Title)
		}
	}
}

func compare(t *testing.T, files memory, list []diag.Diagnostic) {
	want := map[string][]expectation{}
	for name, text := range files {
		for k, v := range expectations(t, name, text) {
			want[k] = v
		}
	}
	if len(want) == 0 {
		t.Error("the case expects nothing")
	}
	for _, d := range list {
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
	_, list := checked(mended)
	for _, x := range list {
		if x.Code == d.Code && x.Message == d.Message && x.Span.Lo == d.Span.Lo {
			t.Errorf("the fix %q does not mend %q", d.Fixes[0].Title, d.Message)
		}
	}
}

// annotated writes what was reported at the ends of the lines.
func annotated(chunk string, list []diag.Diagnostic) string {
	name, n := mainFile, 0
	if !strings.HasPrefix(chunk, "flowgen:") {
		n = strings.Count(header, "\n")
	}
	var out []string
	for _, line := range strings.Split(chunk, "\n") {
		if next, ok := strings.CutPrefix(line, fileMark); ok {
			name, n = next, strings.Count(header, "\n")
			out = append(out, line)
			continue
		}
		if strings.HasPrefix(line, "flowgen:") {
			n = 0
		}
		n++
		for _, d := range list {
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

// TestGood checks workflows in which nothing is wrong: no errors and no warnings.
func TestGood(t *testing.T) {
	paths, err := filepath.Glob("testdata/good/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal("no cases", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, chunk := range strings.Split(string(data), chunkMark+"\n") {
			t.Run(fmt.Sprintf("%s/%d", strings.TrimSuffix(filepath.Base(path), ".yaml"), i+1), func(t *testing.T) {
				program, list := checked(splitFiles(chunk))
				for _, d := range list {
					t.Errorf("%d:%d %s %s %s (%s)", d.Span.Start().Line, d.Span.Start().Col, d.Severity, d.Code, d.Message, d.Help)
				}
				if program == nil {
					t.Error("no program")
				}
			})
		}
	}
}
