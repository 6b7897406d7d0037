package sirenspec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLoadEnv(t *testing.T) {
	dir := t.TempDir()
	const text = "\uFEFFexport FLOWGEN_TEST_A=1\r\n#no\nFLOWGEN_TEST_B = \"x # y\\n\" # z\nFLOWGEN_TEST_C='it''s'\nFLOWGEN_TEST_F='open\nFLOWGEN_TEST_G=a\t# c\nFLOWGEN_TEST_D=a b # c\nFLOWGEN_TEST_SET=no\nnot a line\nFLOWGEN_TEST_E=\nFLOWGEN_TEST_EMPTY=no\n"
	if err := os.WriteFile(filepath.Join(dir, "x.env"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	names := []string{"A", "B", "C", "D", "E", "F", "G", "SET", "EMPTY"}
	for _, n := range names {
		t.Setenv("FLOWGEN_TEST_"+n, "") // restored afterwards
		os.Unsetenv("FLOWGEN_TEST_" + n)
	}
	t.Setenv("FLOWGEN_TEST_SET", "yes")
	t.Setenv("FLOWGEN_TEST_EMPTY", "")
	t.Setenv("FLOWGEN_FILE", filepath.Join(dir, "workflow.yaml"))
	if err := LoadEnv("x.env"); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, n := range names {
		got[n] = os.Getenv("FLOWGEN_TEST_" + n)
	}
	want := map[string]string{"A": "1", "B": `x # y\n`, "C": "it", "D": "a b", "E": "", "F": "open", "G": "a", "SET": "yes", "EMPTY": ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +set):\n%s", diff)
	}
	if err := LoadEnv("missing.env"); err == nil || !strings.HasPrefix(err.Error(), ".env file not found: ") {
		t.Error("a file that is not there is no error:", err)
	}
	t.Setenv("FLOWGEN_FILE", "")
	if err := LoadEnv("missing.env"); err != nil {
		t.Error("a program that was built needs the file:", err)
	}
	if err := LoadEnv("."); err == nil {
		t.Error("a folder is no error")
	}
}

// TestLoadEnvOutside: no name of a file leads out of the workflow's folder.
func TestLoadEnvOutside(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "flows")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(top, "x.env")
	if err := os.WriteFile(outside, []byte("FLOWGEN_TEST_OUTSIDE=read\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"link.env": outside, "near.env": "../x.env", "dir": top} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	t.Setenv("FLOWGEN_TEST_OUTSIDE", "")
	os.Unsetenv("FLOWGEN_TEST_OUTSIDE")
	for _, file := range []string{filepath.Join(dir, "workflow.yaml"), ""} {
		t.Setenv("FLOWGEN_FILE", file)
		t.Chdir(dir)
		for _, name := range []string{"../x.env", outside, "link.env", "near.env", "dir/x.env", "./a/../../x.env", "/dev/zero", "/proc/self/environ"} {
			if err := LoadEnv(name); err == nil {
				t.Errorf("%s: no error", name)
			}
			if v, set := os.LookupEnv("FLOWGEN_TEST_OUTSIDE"); set {
				t.Fatalf("%s was read: %s", name, v)
			}
		}
	}
}
