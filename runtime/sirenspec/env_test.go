package sirenspec

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLoadEnv: the file is looked for beside the workflow that flowgen runs.
func TestLoadEnv(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.env"), []byte("FLOWGEN_TEST_BESIDE=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("FLOWGEN_TEST_BESIDE", "") // restored afterwards
	os.Unsetenv("FLOWGEN_TEST_BESIDE")
	t.Setenv("FLOWGEN_FILE", filepath.Join(dir, "workflow.yaml"))
	if err := LoadEnv("x.env"); err != nil {
		t.Fatal(err)
	}
	if got := os.Getenv("FLOWGEN_TEST_BESIDE"); got != "1" {
		t.Errorf("the variable is %q", got)
	}
	if err := LoadEnv("missing.env"); err != nil {
		t.Error("a file that is not there is an error:", err)
	}
	if err := LoadEnv("."); err == nil {
		t.Error("a folder is no error")
	}
}
