package starter

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// TestFolderName: the name of a folder gets into a comment of main.go, and ends no line there.
func TestFolderName(t *testing.T) {
	for _, name := range []string{"a\n//go:generate touch x\nb", "a\rb", "a\u2028b", "a\x1b[31m"} {
		p := &Project{Dir: filepath.Join(t.TempDir(), name), Name: "demo", root: t.TempDir()}
		var refusal *Refusal
		if _, err := p.files(); !errors.As(err, &refusal) || !strings.Contains(err.Error(), "not printable") {
			t.Errorf("%q: %v", name, err)
		}
	}
	p := &Project{Dir: filepath.Join(t.TempDir(), "with a space é"), Name: "demo", root: t.TempDir()}
	if files, err := p.files(); err != nil || len(files) == 0 {
		t.Error(err)
	}
}
