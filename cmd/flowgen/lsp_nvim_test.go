package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestLSPNeovim: a person in Neovim edits examples/triage. A misspelt field of a prompt file is underlined while it is typed,
// completion offers the right one, rename changes every file that names a node, a jump leads into Go. Nothing is saved.
func TestLSPNeovim(t *testing.T) {
	t.Parallel()
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		t.Skip("needs nvim; .ci/run installs it")
	}
	script, err := filepath.Abs(filepath.Join("testdata", "nvim.lua"))
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	home, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	cmd := exec.Command(nvim, "--clean", "--headless", "-n", "-c", "luafile "+script)
	cmd.Dir = filepath.Join(root, "examples", "triage")
	cmd.Env = append(os.Environ(), "OUT="+out, "PLUGIN="+filepath.Join(root, "editors", "nvim", "flowgen.lua"), "XDG_STATE_HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home,
		"GOCACHE="+goEnv(t, "GOCACHE"))
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	want := "diagnostic: dif\ncompletion: diff\nmended\nformatted: flowgen: 1\n" +
		"jump: func Parse(diff string) []Finding {\nrenamed: true\n"
	if string(got) != want {
		t.Errorf("the session was\n%swant\n%s", got, want)
	}
}

// goEnv is a setting of the go command.
func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out[:len(out)-1])
}
