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
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	neovim(t, filepath.Join(root, "examples", "triage"), "nvim.lua", "diagnostic: dif\nwhile typing: true\ncompletion: diff\nmended\nformatted: flowgen: 1\n"+
		"jump: func Parse(diff string) []Finding {\nrenamed: true\n")
}

// TestLSPNeovimRefactors: a person in Neovim has a missing Go function written, moves nodes into a flow of their own, and asks who calls.
func TestLSPNeovimRefactors(t *testing.T) {
	t.Parallel()
	e := edit(t, map[string]string{"go.mod": "module example.com/m\n\ngo 1.25\n", "tools/tools.go": "package tools\n", "m.flowgen.yaml": `flowgen: 1
name: m
input: {text: string}
tools:
  search: {go: ./tools.Search, in: {q: string}, out: {hits: list<string>}, effects: reads}
nodes:
  found: {tool: search, with: {q: $input.text}}
  said: {let: "{{ size(found.hits) }} hits"}
output: {hits: $found.hits, said: $said}
`})
	neovim(t, e.dir, "nvim_refactor.lua", "diagnostic: package tools has no function `Search`\nwritten: func Search(ctx context.Context, q string) (out SearchOut, err error) {\n"+
		"extracted: found_to_said: {flow: ./m_found_to_said.flowgen.yaml, with: {text: $input.text}}\noutput:   found: $found\ncaller: m_found_to_said\n")
}

// neovim runs a session in a folder; each of its steps writes a line.
func neovim(t *testing.T, dir, script, want string) {
	t.Helper()
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		t.Skip("needs nvim; .ci/run installs it")
	}
	script, err = filepath.Abs(filepath.Join("testdata", script))
	if err != nil {
		t.Fatal(err)
	}
	plugin, err := filepath.Abs(filepath.Join("..", "..", "editors", "nvim", "flowgen.lua"))
	if err != nil {
		t.Fatal(err)
	}
	home, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	cmd := exec.Command(nvim, "--clean", "--headless", "-n", "-c", "luafile "+script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "OUT="+out, "PLUGIN="+plugin, "XDG_STATE_HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home,
		"GOCACHE="+goEnv(t, "GOCACHE"))
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
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
