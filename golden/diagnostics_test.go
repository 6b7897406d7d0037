// Package golden holds the tests that run the whole compiler over workflow files.
package golden_test

import (
	"bytes"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	flowparser "github.com/flowgen-dev/flowgen/parser"
)

var update = flag.Bool("update", false, "rewrite what the tests compare with, and fail")

// declaredCodes are the constants of type Code in the source of ir/diag, by name.
func declaredCodes(t *testing.T) map[string]diag.Code {
	t.Helper()
	files, err := filepath.Glob("../ir/diag/codes*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no source of the codes", err)
	}
	codes := map[string]diag.Code{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || len(v.Values) != len(v.Names) {
				return true
			}
			if typ, ok := v.Type.(*ast.Ident); !ok || typ.Name != "Code" {
				return true
			}
			for i, id := range v.Names {
				s, err := strconv.Unquote(v.Values[i].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				codes[id.Name] = diag.Code(s)
			}
			return true
		})
	}
	return codes
}

// TestDiagnosticsTable holds the table to the constants: each has one entry with everything in it, in order.
func TestDiagnosticsTable(t *testing.T) {
	declared := declaredCodes(t)
	byCode := map[diag.Code]string{}
	for name, code := range declared {
		if other, dup := byCode[code]; dup {
			t.Errorf("%s and %s are both %s", name, other, code)
		}
		byCode[code] = name
	}
	var order []diag.Code
	for _, e := range flowparser.Codes() {
		if byCode[e.Code] == "" {
			t.Errorf("the entry %s has no constant, or appears twice", e.Code)
		}
		delete(byCode, e.Code)
		order = append(order, e.Code)
		if e.Title == "" || unicode.IsUpper([]rune(e.Title)[0]) || e.Title[len(e.Title)-1] == '.' {
			t.Errorf("%s: title %q", e.Code, e.Title)
		}
		if len(e.Cause) < 60 || e.Cause[len(e.Cause)-1] != '.' {
			t.Errorf("%s: the cause is no full sentences: %q", e.Code, e.Cause)
		}
		if (e.Wrong == "") != (e.Right == "") {
			t.Errorf("%s has one example of two", e.Code)
		}
	}
	for code, name := range byCode {
		t.Errorf("%s (%s) has no entry in the table", name, code)
	}
	if !slices.IsSorted(order) {
		t.Error("the entries are not in the order of their codes")
	}
	shown := map[diag.Code]string{}
	for _, d := range flowparser.Languages() {
		for _, x := range d.Examples {
			if e, ok := diag.Explain(x.Code); !ok || e.Wrong != "" || shown[x.Code] != "" {
				t.Errorf("%s shows %s, which is unknown or has an example already (%s)", d.Name, x.Code, shown[x.Code])
			}
			shown[x.Code] = d.Name
		}
	}
}

// one is a file system of one file.
type one struct{ name, text string }

func (o one) ReadFile(name string) ([]byte, error) {
	if name != o.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return []byte(o.text), nil
}

// compile runs the front of the compiler over one file. An example of what convert says is converted as well.
func compile(text string, code diag.Code) []diag.Diagnostic {
	sink := &diag.Sink{}
	file := one{"example.flowgen.yaml", text}
	if wf := flowparser.Parse(file, file.name, sink); wf != nil {
		bind.Resolve(wf, bind.Options{}, sink)
		if p := check.Check(wf, sink); p != nil && code == diag.NotConverted {
			convertExample(p, sink)
		}
	}
	return sink.List()
}

// convertExample converts a program. What it becomes is checked as a file of its own.
func convertExample(p *check.Program, sink *diag.Sink) {
	_, _, err := convert.Workflow(p, flowparser.Conversion(p.WF.Origin), "native.flowgen.yaml", convert.Compiler{Check: func(made ...*source.File) []diag.Diagnostic {
		f := made[len(made)-1]
		inner := &diag.Sink{}
		if wf := flowparser.Parse(one{f.Name, f.Text}, f.Name, inner); wf != nil {
			check.Check(wf, inner)
		}
		return inner.List()
	}}, sink)
	if err != nil {
		sink.Report(diag.Diagnostic{Code: diag.CannotRead, Message: err.Error()})
	}
}

// TestDiagnosticsExamples runs the examples: the wrong one reports its code once and nothing else of its severity or a
// worse one, the right one nothing at all.
func TestDiagnosticsExamples(t *testing.T) {
	for _, e := range flowparser.Codes() {
		if e.Wrong == "" {
			continue
		}
		t.Run(string(e.Code), func(t *testing.T) {
			t.Parallel()
			var found []diag.Diagnostic
			severity := diag.Note
			list := compile(e.Wrong, e.Code)
			for _, d := range list {
				if d.Code == e.Code {
					found = append(found, d)
					severity = min(severity, d.Severity)
				}
			}
			if len(found) != 1 {
				t.Errorf("the wrong example reports its code %d times", len(found))
			}
			for _, d := range list {
				if d.Code != e.Code && d.Severity <= severity {
					t.Errorf("the wrong example also reports %s %s: %s", d.Severity, d.Code, d.Message)
				}
			}
			for _, d := range found {
				if d.Span.IsZero() {
					t.Errorf("no place: %s", d.Message)
				}
				t.Logf("%s %v %q (%s)", d.Message, d.Span.Start(), d.Span.Text(), d.Help)
			}
			for _, c := range e.Cases {
				if !slices.ContainsFunc(compile(c.YAML, e.Code), func(d diag.Diagnostic) bool {
					return d.Code == e.Code && d.Message == c.Message && d.Help == c.Help
				}) {
					var b bytes.Buffer
					_ = diag.Text(&b, compile(c.YAML, e.Code), diag.TextOptions{})
					t.Errorf("no %q, help %q:\n%s", c.Message, c.Help, b.String())
				}
			}
			if right := compile(e.Right, e.Code); len(right) > 0 {
				var b bytes.Buffer
				_ = diag.Text(&b, right, diag.TextOptions{})
				t.Errorf("the right example is not clean:\n%s", b.String())
			}
			if t.Failed() {
				var b bytes.Buffer
				_ = diag.Text(&b, list, diag.TextOptions{})
				t.Logf("the wrong example:\n%s", b.String())
			}
		})
	}
}

// TestDiagnosticsPage holds docs/diagnostics.md to the table.
func TestDiagnosticsPage(t *testing.T) {
	const page = "../docs/diagnostics.md"
	want := diag.Markdown(flowparser.Codes())
	have, err := os.ReadFile(page)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if string(have) == want {
		return
	}
	if !*update {
		t.Fatalf("%s is not what the table says (run with -update):\n%s", page, cmp.Diff(string(have), want))
	}
	if err := os.MkdirAll(filepath.Dir(page), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Error("rewritten: read the difference and run again")
}
