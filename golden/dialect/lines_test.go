package dialect_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser"
)

// TestWithoutLines checks every case without each of its lines, and with each pair of lines in the other order: whatever a
// mistake leaves of a workflow, its translation is not a fault of the translator.
func TestWithoutLines(t *testing.T) {
	each(t, func(t *testing.T, c *testcase) {
		files, name := archived{}, ""
		for _, f := range c.archive.Files {
			files[f.Name] = f.Data
			if name == "" && strings.HasSuffix(f.Name, ".yaml") {
				name = f.Name
			}
		}
		lines := strings.SplitAfter(string(files[name]), "\n")
		try := func(parts ...[]string) {
			var b strings.Builder
			for _, p := range parts {
				b.WriteString(strings.Join(p, ""))
			}
			files[name] = []byte(b.String())
			sink := &diag.Sink{}
			if wf := parser.Parse(files, name, sink); wf != nil {
				check.Check(wf, sink)
			}
		}
		for i := range lines {
			try(lines[:i], lines[i+1:])
			if i > 0 {
				try(lines[:i-1], lines[i:i+1], lines[i-1:i], lines[i+1:])
			}
		}
	})
}

// archived are the files of a case.
type archived map[string][]byte

func (a archived) ReadFile(name string) ([]byte, error) {
	if data, ok := a[name]; ok {
		return data, nil
	}
	return nil, fs.ErrNotExist
}
