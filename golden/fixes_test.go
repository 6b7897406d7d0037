package golden_test

import (
	"fmt"
	"path"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/ir/diag"
)

// TestFixes applies the fixes of every wrong case, as `check --fix` does: what they mend is not reported again.
func TestFixes(t *testing.T) {
	total := 0
	for _, c := range corpus(t) {
		edited, applied := diag.ApplyFixes(c.list)
		if total += applied; applied == 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			mended := &testcase{name: c.name, archive: &txtar.Archive{}, used: map[string]bool{}}
			for _, f := range c.archive.Files {
				for _, e := range edited {
					if e.File.Name == f.Name {
						f.Data = []byte(e.Text)
						mended.edited = mended.edited || path.Ext(f.Name) == ".go"
					}
				}
				mended.archive.Files = append(mended.archive.Files, f)
			}
			mended.compile()
			at := func(d diag.Diagnostic) string {
				return fmt.Sprint(d.Span.File.Name, d.Span.Start().Line, d.Code, d.Message)
			}
			left := map[string]bool{}
			for _, d := range mended.list {
				left[at(d)] = true
			}
			for _, d := range c.list {
				if len(d.Fixes) > 0 && left[at(d)] {
					t.Errorf("still there after its fix (%s): %s %s", d.Fixes[0].Title, d.Code, d.Message)
				}
			}
			if t.Failed() {
				t.Logf("the fixed file:\n%s", mended.archive.Files[0].Data)
			}
		})
	}
	if total < 40 {
		t.Errorf("only %d fixes in the corpus", total)
	}
}
