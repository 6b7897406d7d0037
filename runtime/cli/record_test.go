package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

// Where .flowgen is a link to another folder, nothing there becomes ignored by git.
func TestIgnoresNothingElsewhere(t *testing.T) {
	for _, linked := range []bool{false, true} {
		dir, other := t.TempDir(), t.TempDir()
		top := filepath.Join(dir, ".flowgen")
		if linked {
			if err := os.Symlink(other, top); err != nil {
				t.Skipf("no links here: %v", err)
			}
		}
		if ok, wrong := ready(&system{}, runs.Open(filepath.Join(top, "runs"), runs.Options{}), false); !ok || wrong != nil {
			t.Fatalf("not ready: %v", wrong)
		}
		if _, err := os.Stat(filepath.Join(top, ".gitignore")); (err == nil) == linked {
			t.Errorf("linked %v: %v", linked, err)
		}
	}
}
