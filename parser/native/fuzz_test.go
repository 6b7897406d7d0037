package native_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
)

// FuzzParse: no text makes the parser panic, every place lies inside its file, fixes too, and whatever was read can be
// dumped, twice the same.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/wrong/*.yaml", "testdata/good/*.yaml", "testdata/good/lib/*.yaml"} {
		paths, _ := filepath.Glob(pattern)
		for _, p := range paths {
			data, err := os.ReadFile(p)
			if err != nil {
				f.Fatal(err)
			}
			for _, chunk := range strings.Split(string(data), chunkMark+"\n") {
				f.Add(chunk)
			}
		}
	}
	for _, e := range diag.Codes() {
		f.Add(e.Wrong)
		f.Add(e.Right)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var sink diag.Sink
		files := splitFiles(text)
		w := parser.Parse(files, mainFile, &sink)
		inside := func(s source.Span) {
			if s.File != nil && (s.Lo < 0 || s.Hi < s.Lo || s.Hi > len(s.File.Text)) {
				t.Fatalf("span %d-%d of %d bytes", s.Lo, s.Hi, len(s.File.Text))
			}
		}
		for _, d := range sink.List() {
			if _, ok := diag.Explain(d.Code); !ok {
				t.Fatalf("code %s is not documented", d.Code)
			}
			if d.Message == "" || d.Span.IsZero() && files[mainFile] != "" {
				t.Fatalf("a diagnostic without message or place: %+v", d)
			}
			inside(d.Span)
			for _, r := range d.Related {
				inside(r.Span)
			}
			for _, x := range d.Fixes {
				for _, e := range x.Edits {
					inside(e.Span)
				}
			}
		}
		if w == nil {
			if !sink.HasErrors() {
				t.Fatal("neither a workflow nor an error")
			}
			return
		}
		a := ir.Dump(w)
		var again diag.Sink
		if b := ir.Dump(parser.Parse(files, mainFile, &again)); a != b || len(sink.List()) != len(again.List()) {
			t.Fatal("two parses differ")
		}
	})
}
