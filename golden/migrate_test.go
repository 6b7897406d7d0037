package golden_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
)

// aged are the spellings of earlier versions by those of today, where a file means the same with either.
var aged = []struct {
	now *regexp.Regexp
	was string
}{
	{regexp.MustCompile(`(?m)^(\s.*\beffects: )(read|write)s\b`), "$1$2"},
	{regexp.MustCompile(`\bstatus: (active|deprecated|blocked)`), "state: $1"},
	{regexp.MustCompile(`\{secret: (\w+)\}`), "$1"},
	{regexp.MustCompile(`(\btool_call: [^{}]*?), with: `), "$1, args: "},
	{regexp.MustCompile(`(on_item_error: )skip`), "${1}drop"},
	{regexp.MustCompile(`(on_missing: )skip`), "${1}null"},
	{regexp.MustCompile(`(on_missing: )fail`), "${1}error"},
	{regexp.MustCompile(`(on_missing: )keep`), "${1}stale_last_success"},
	{regexp.MustCompile(`max_total_tokens`), "max_tokens"},
}

// A workflow file of the corpus or of the examples.
type written struct{ name, text string }

func writtenFiles(t *testing.T) []written {
	t.Helper()
	var out []written
	for _, c := range corpus(t) {
		if c.program == nil || c.edited {
			continue
		}
		for _, f := range c.archive.Files {
			if strings.HasSuffix(f.Name, suffix) && !strings.HasPrefix(f.Name, "want/") {
				out = append(out, written{c.name + "/" + f.Name, string(f.Data)})
			}
		}
	}
	for _, dir := range []string{"../examples", "../templates", "convert"} {
		err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && strings.HasSuffix(name, suffix) {
				out = append(out, written{name, readText(t, name)})
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestMigration: files of today stay as they are, and with spellings of earlier versions become what they are. Their programs
// are the same, then.
func TestMigration(t *testing.T) {
	changed := 0
	for _, w := range writtenFiles(t) {
		secrets := secretUse.FindAllStringSubmatch(w.text, -1)
		var names []string // of files that include it
		for _, s := range secrets {
			names = append(names, s[1])
		}
		migrated := func(text string) string {
			out, _, ok, err := parser.Migrate(source.NewFile(w.name, text), names, &diag.Sink{})
			if err != nil || !ok {
				t.Errorf("%s: %t %v", w.name, ok, err)
			}
			return out
		}
		if d := cmp.Diff(w.text, migrated(w.text)); d != "" {
			t.Errorf("%s is no file of today: %s", w.name, d)
			continue
		}
		old := w.text
		for _, a := range aged {
			old = a.now.ReplaceAllString(old, a.was)
		}
		if old == w.text {
			continue
		}
		changed++
		if d := cmp.Diff(w.text, migrated(old)); d != "" {
			t.Errorf("%s (-today +migrated): %s", w.name, d)
		}
	}
	if changed < 60 {
		t.Errorf("only %d files have old spellings", changed)
	}
}

var secretUse = regexp.MustCompile(`\{secret: (\w+)\}`)

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
