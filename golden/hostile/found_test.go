package hostile

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/ir/diag"
)

// TestFound has what campaigns and attackers have found: workflows that were accepted and whose Go did not build, that were a
// panic, or that took forever. The first line of a case says what becomes of it now: accepted, or refused and a code that is
// among its errors.
func TestFound(t *testing.T) {
	slowUnderRace(t)
	files, err := filepath.Glob("testdata/found/*.txtar")
	if err != nil || len(files) < 10 {
		t.Fatal("no cases", err)
	}
	s := breeding(t)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, _, _ := strings.Cut(string(archive.Comment), "\n")
			p := foundProject(t, name, archive)
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

// foundProject is a case: a native workflow, or one of the dialect whose root file it has.
func foundProject(t *testing.T, name string, archive *txtar.Archive) *project {
	t.Helper()
	root := archive.Files[0].Name
	for _, language := range sortedKeys(roots) {
		if roots[language] == root && (root != "graph.yaml" || strings.HasPrefix(string(archive.Files[0].Data), "# yamlgraph") == (language == "yamlgraph")) {
			return dialectProject(t, language, name, archive)
		}
	}
	p := &project{name: name, main: name + "/" + root, files: map[string]string{}, dir: goldens, inside: true, path: module + "/golden/native/" + name}
	for _, f := range archive.Files {
		p.files[name+"/"+f.Name] = string(f.Data)
	}
	return p
}
