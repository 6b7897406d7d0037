package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLSPNode: Microsoft's client of the protocol gets right answers to every request, and these have exactly the names, the optional
// parts and the values of the protocol's types: the TypeScript compiler holds them to these. LSP_CLIENT is the node_modules with
// vscode-languageserver-protocol and typescript, which .ci/run installs.
func TestLSPNode(t *testing.T) {
	t.Parallel()
	modules := os.Getenv("LSP_CLIENT")
	if modules == "" || modules == "none" {
		if modules == "" && os.Getenv("CI") != "" {
			t.Fatal("LSP_CLIENT is not set")
		}
		t.Skip("needs LSP_CLIENT")
	}
	dir := t.TempDir()
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	text := strings.Replace(shop, "{{ score.why }}", "😀 {{ score.why }} {{ size(score.route) }}", 1)
	text = strings.Replace(text, "size(score.route)", "size(score.why)", 1)
	if err := os.WriteFile(filepath.Join(dir, "shop.flowgen.yaml"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("flowgen")
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs(filepath.Join("testdata", "client.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	types := t.TempDir()
	answers := filepath.Join(types, "answers.ts")
	client := exec.Command("node", script, program, dir, answers)
	if out, err := client.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Symlink(modules, filepath.Join(types, "node_modules")); err != nil {
		t.Fatal(err)
	}
	tsc := func(file string) ([]byte, error) {
		cmd := exec.Command("node", filepath.Join(modules, "typescript", "lib", "tsc.js"), "--noEmit", "--strict", "--exactOptionalPropertyTypes", "--skipLibCheck", "--module", "node16", "--moduleResolution", "node16",
			"--target", "es2022", file)
		cmd.Dir = types
		return cmd.CombinedOutput()
	}
	if out, err := tsc(answers); err != nil {
		t.Errorf("answers that are not the protocol's: %v\n%s", err, out)
	}
	good, err := os.ReadFile(answers)
	if err != nil {
		t.Fatal(err)
	}
	wrong := filepath.Join(types, "wrong.ts") // the check itself: a misspelt name does not pass
	if err := os.WriteFile(wrong, []byte(string(good)+"export const w: lsp.Hover = {\"content\": \"x\"};\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := tsc(wrong); err == nil || !strings.Contains(string(out), "wrong.ts") {
		t.Errorf("a wrong answer passes: %s", out)
	}
}
