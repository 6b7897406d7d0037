package parser

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/ir/diag"
)

// structural are the mistakes that a schema can find: keys, values of another kind, words.
var structural = map[diag.Code]bool{diag.UnknownKey: true, diag.MissingKey: true, diag.WrongShape: true}

// TestSchemaOfGraphs: the schema of Stargraph accepts the graphs that the parser accepts, and refuses those with a mistake
// that a schema can find.
func TestSchemaOfGraphs(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(JSONSchemaOf("stargraph"), &root); err != nil {
		t.Fatal(err)
	}
	v := &validator{}
	names, err := filepath.Glob("../golden/stargraph/*.txtar")
	if err != nil || len(names) < 20 {
		t.Fatal("no cases", err)
	}
	accepted, refused := 0, 0
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files := memory{}
		for _, f := range a.Files {
			files[f.Name] = string(f.Data)
		}
		var sink diag.Sink
		ParseAs(files, "graph.yaml", Options{Dialect: "stargraph"}, &sink)
		bad := false
		for _, d := range sink.List() {
			bad = bad || structural[d.Code] && d.Severity == diag.Error
		}
		switch why := v.check(root, plain(treeOf(t, files["graph.yaml"])), ""); {
		case !bad && why != "" && !sink.HasErrors():
			t.Errorf("%s: %s", name, why)
		case bad && why == "":
			t.Errorf("%s: the schema accepts it", name)
		case bad:
			refused++
		case why == "":
			accepted++
		}
	}
	if accepted < 14 || refused < 3 {
		t.Errorf("%d accepted, %d refused", accepted, refused)
	}
}
