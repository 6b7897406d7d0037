package bind

import (
	"os"
	"path/filepath"
	"testing"
)

// TestGoOnly: the go command is told of Go files that an editor has changed, and of no others.
func TestGoOnly(t *testing.T) {
	dir := t.TempDir()
	saved := filepath.Join(dir, "saved.go")
	if err := os.WriteFile(saved, []byte("package p\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	got := goOnly(map[string][]byte{
		saved: []byte("package p\n"), filepath.Join(dir, "new.go"): []byte("package p\n"), filepath.Join(dir, "a.flowgen.yaml"): []byte("flowgen: 1\n"),
	})
	if len(got) != 1 || got[filepath.Join(dir, "new.go")] == nil {
		t.Errorf("%v", got)
	}
	if got := goOnly(map[string][]byte{saved: []byte("package p\n\nfunc F() {}\n")}); got[saved] == nil {
		t.Error("a changed file is left out")
	}
}
