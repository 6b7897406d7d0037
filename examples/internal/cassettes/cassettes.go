// Package cassettes records the test cases of the examples anew, with servers that a test has started, and compares the
// result with the cassettes that are checked in. It is for their tests.
package cassettes

import (
	"bytes"
	"context"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/flowtest"
)

var update = flag.Bool("update", false, "write the cassettes of the example, and fail")

// Current records the cases of suite for real and reports cassettes that are not what comes of it. stand are pairs: a text
// that is in the cases, such as a port, and what it really is while the test runs. start is the workflow's New.
func Current[W interface {
	Run(context.Context, In) (Out, error)
}, In, Out any](t *testing.T, info *flow.Info, start func(...runtime.Option) (W, error), suite string, stand ...string) {
	t.Helper()
	var back []string
	for i := 0; i < len(stand); i += 2 {
		back = append(back, stand[i+1], stand[i])
	}
	dir := t.TempDir()
	flowtest.Record(t, info, start, strings.NewReplacer(stand...).Replace(suite), dir)
	if t.Failed() {
		return
	}
	found := map[string]bool{}
	walk(t, dir, func(name string, text []byte) {
		found[name] = true
		text = []byte(strings.NewReplacer(back...).Replace(string(text)))
		if have, err := os.ReadFile(name); err == nil && bytes.Equal(have, text) {
			return
		}
		t.Errorf("%s is not what the workflow does: run `go test -run %s -update .`", name, t.Name())
		if *update {
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	})
	walk(t, ".", func(name string, _ []byte) {
		if strings.HasPrefix(name, "testdata") && !found[name] {
			t.Errorf("%s belongs to no case", name)
		}
	})
}

// walk calls f for each cassette below dir, by its name there.
func walk(t *testing.T, dir string, f func(name string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(name) != ".jsonl" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		f(rel, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
