package parser

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/ir/diag"
)

// TestSchemaOfExperiences: the schema accepts what the parser accepts, and refuses files whose shape it refuses.
func TestSchemaOfExperiences(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(JSONSchemaOf("openexpertise"), &root); err != nil {
		t.Fatal(err)
	}
	v := &validator{}
	names, err := filepath.Glob("../golden/openexpertise/*.txtar")
	if err != nil || len(names) < 30 {
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
		text := files["experience.yaml"]
		if strings.HasPrefix(text, "flowgen:") {
			continue
		}
		var sink diag.Sink
		Parse(files, "experience.yaml", &sink)
		why := v.check(root, plain(treeOf(t, text)), "")
		switch {
		case !sink.HasErrors() && why != "":
			t.Errorf("%s: %s", name, why)
		case !sink.HasErrors():
			accepted++
		case why != "":
			refused++
		}
	}
	if accepted < 25 || refused < 6 {
		t.Errorf("%d accepted, %d refused", accepted, refused)
	}
}
