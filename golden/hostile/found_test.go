package hostile

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser"
)

// TestFound has what campaigns and attackers have found: workflows that were accepted and whose Go did not build, that were a
// panic, or that took forever. The first line of a case says what becomes of it now: accepted, or refused and a code that is
// among its errors. Cases of a dialect are in the folder `found` of its goldens.
func TestFound(t *testing.T) {
	slowUnderRace(t)
	files, err := filepath.Glob("testdata/found/*.txtar")
	if err != nil || len(files) < 10 {
		t.Fatal("no cases", err)
	}
	ofDialects, err := filepath.Glob("../*/found/*.txtar")
	if err != nil || len(ofDialects) == 0 {
		t.Fatal("no cases of dialects", err)
	}
	s := breeding(t)
	for _, file := range append(files, ofDialects...) {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, _, _ := strings.Cut(string(archive.Comment), "\n")
			p := foundProject(t, name, file, archive)
			f := &figures{}
			s.try(mutant{of: p, file: p.main, text: p.files[p.main]}, f)
			for _, list := range f.Failures {
				t.Error(list[0])
			}
			list := p.compile("", "").list
			if (want == "accepted") != (f.Accepted == 1) {
				t.Errorf("it should be %s\n%s", want, describe(list))
			}
			code := diag.Code(strings.TrimSpace(strings.TrimPrefix(want, "refused")))
			for _, d := range list {
				if d.Severity == diag.Error && (d.Code == code || code == "") {
					return
				}
			}
			if want != "accepted" {
				t.Errorf("it should be %s\n%s", want, describe(list))
			}
		})
	}
}

// foundProject is a case: a native workflow, or one of the dialect in whose goldens it is.
func foundProject(t *testing.T, name, file string, archive *txtar.Archive) *project {
	t.Helper()
	if d, ok := parser.LanguageOf(filepath.Base(filepath.Dir(filepath.Dir(file)))); ok {
		return dialectProject(t, d.Name, name, archive)
	}
	p := &project{name: name, main: name + "/" + archive.Files[0].Name, files: map[string]string{}, dir: goldens, inside: true, path: module + "/golden/native/" + name}
	for _, f := range archive.Files {
		p.files[name+"/"+f.Name] = string(f.Data)
	}
	return p
}
