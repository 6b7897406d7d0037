package dotenv_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime/dotenv"
)

// TestLoad: variables that are set already win, and lines are read as python-dotenv reads them.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	const text = "\uFEFFexport FLOWGEN_TEST_A=1\r\n#no\nFLOWGEN_TEST_B = \"x # y\\n\" # z\nFLOWGEN_TEST_C='it''s'\nFLOWGEN_TEST_D=a b # c\nFLOWGEN_TEST_SET=no\nnot a line\nFLOWGEN_TEST_E=\nFLOWGEN_TEST_EMPTY=no\n"
	if err := os.WriteFile(filepath.Join(dir, "x.env"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	names := []string{"A", "B", "C", "D", "E", "SET", "EMPTY"}
	for _, n := range names {
		t.Setenv("FLOWGEN_TEST_"+n, "") // restored afterwards
		os.Unsetenv("FLOWGEN_TEST_" + n)
	}
	t.Setenv("FLOWGEN_TEST_SET", "yes")
	t.Setenv("FLOWGEN_TEST_EMPTY", "")
	if err := dotenv.Load(filepath.Join(dir, "x.env")); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, n := range names {
		got[n] = os.Getenv("FLOWGEN_TEST_" + n)
	}
	want := map[string]string{"A": "1", "B": "x # y\n", "C": "it", "D": "a b", "E": "", "SET": "yes", "EMPTY": ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +set):\n%s", diff)
	}
	if err := dotenv.Load(filepath.Join(dir, "missing.env")); err != nil {
		t.Error("a file that is not there is an error:", err)
	}
	if err := dotenv.Load(dir); err == nil {
		t.Error("a folder is no error")
	}
}
