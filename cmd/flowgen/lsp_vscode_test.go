package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestVSCode runs the tests of the extension in node, without an editor and without packages.
func TestVSCode(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("needs node")
	}
	cmd := exec.Command(node, "--test", "test/")
	cmd.Dir = filepath.Join("..", "..", "editors", "vscode")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
