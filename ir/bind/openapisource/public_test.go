package openapisource_test

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/bind/openapisource"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser"
)

// project is a folder with one file that is not on disk.
type project struct{ name, text string }

func (p project) ReadFile(name string) ([]byte, error) {
	if name != p.name {
		return nil, fs.ErrNotExist
	}
	return []byte(p.text), nil
}

// TestPublic imports all operations of the documents in the folder OPENAPI_DOCUMENTS, those of public APIs, and compiles the
// declarations: an operation is a tool, or is refused with a reason.
func TestPublic(t *testing.T) {
	root := cmp.Or(os.Getenv("OPENAPI_DOCUMENTS"), filepath.Join("testdata", "billing"))
	documents, tools, refused, reasons := 0, 0, 0, map[string]int{}
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(name)) || strings.HasSuffix(name, ".flowgen.yaml") {
			return err
		}
		dir, err := filepath.Abs(filepath.Dir(name))
		if err != nil {
			return err
		}
		begin := time.Now()
		d, err := openapisource.Open(&foreign.Files{}, foreign.Folder{Disk: dir}, filepath.Base(name))
		if err != nil {
			t.Logf("%s: not read: %s", name, foreign.Reason(err))
			return nil
		}
		if len(d.Operations()) == 0 {
			return nil
		}
		documents++
		made := openapisource.Declare(d, func(*openapisource.Operation) bool { return true })
		tools, refused = tools+made.Tools, refused+len(made.Refused)
		for _, r := range made.Refused {
			_, why, _ := strings.Cut(r, ": ")
			reasons[regexp.MustCompile("`[^`]*`| \\([^ ]*:[0-9]+:[0-9]+\\)").ReplaceAllString(why, "")]++
		}
		t.Logf("%s: %d tools, %d refused, %v", name, made.Tools, len(made.Refused), time.Since(begin).Round(time.Millisecond))
		compile(t, dir, made)
		return nil
	})
	if err != nil || documents == 0 {
		t.Fatal("no documents", err)
	}
	t.Logf("%d documents: %d operations are tools, %d are refused", documents, tools, refused)
	for why, n := range reasons {
		t.Logf("%6d  %s", n, why)
	}
}

// compile holds the declarations of a document to what the compiler says of them.
func compile(t *testing.T, dir string, made *openapisource.Import) {
	t.Helper()
	if made.Tools == 0 {
		return
	}
	sink := &diag.Sink{}
	text := made.Text + "secrets: [" + strings.Join(made.Secrets, ", ") + "]\nnodes: {x: {let: {a: 1}}}\noutput: {}\n"
	wf := parser.Parse(project{"imported.flowgen.yaml", text}, "imported.flowgen.yaml", sink)
	if wf != nil {
		bind.Resolve(wf, bind.Options{Dir: dir}, sink)
		check.Check(wf, sink)
	}
	for _, e := range sink.List() {
		if e.Severity == diag.Error {
			t.Errorf("%s: %s %s: %s", dir, e.Code, e.Span.Text(), e.Message)
		}
	}
}
