package dialect_test

import (
	"testing"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/openexpertise"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/jsonschema"
)

// wrongShapes are the mistakes that a schema sees as well.
var wrongShapes = map[diag.Code]bool{diag.UnknownKey: true, diag.MissingKey: true, diag.WrongShape: true, diag.UnknownWord: true}

// TestExperienceSchema: the JSON Schema of experiences takes all files without mistakes, and refuses most whose shape is wrong.
func TestExperienceSchema(t *testing.T) {
	if err := load(); err != nil {
		t.Fatal(err)
	}
	good, wrong, missed := 0, 0, 0
	for _, s := range suites {
		if s.name != openexpertise.Name {
			continue
		}
		for _, c := range s.cases {
			f := source.NewFile(c.name, string(c.find(s.root).Data))
			root, problems := yamlnode.Parse(f)
			if root == nil || len(problems) > 0 {
				continue
			}
			text := dialect.JSON(dialect.NewReader(f, yamlnode.Core, &diag.Sink{}).Value(root, nil))
			v, err := runtime.ParseValue([]byte(text))
			if err != nil {
				t.Error(c.name, err)
				continue
			}
			shape := false
			for _, d := range c.list {
				shape = shape || d.Severity == diag.Error && wrongShapes[d.Code] && d.Span.File != nil && d.Span.File.Name == c.dir+"/"+s.root
			}
			err = jsonschema.Check(openexpertise.Schema(), v)
			switch {
			case c.program != nil:
				if good++; err != nil {
					t.Errorf("%s: the schema refuses a file without mistakes: %v", c.name, err)
				}
			case shape:
				if wrong++; err == nil {
					missed++
					t.Logf("%s: the schema takes it", c.name)
				}
			}
		}
	}
	if good < 30 || wrong < 4 || missed > wrong/2 {
		t.Errorf("%d files without mistakes, %d of a wrong shape, of which the schema takes %d", good, wrong, missed)
	}
}
