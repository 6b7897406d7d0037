package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// lookers are the commands that look at a repository.
var lookers = [][]string{
	{"check", "."}, {"check", "--format", "json", "."}, {"graph", "main.flowgen.yaml"}, {"plan", "main.flowgen.yaml"}, {"manifest", "main.flowgen.yaml"},
	{"tools", "list"}, {"fmt", "--check", "."}, {"generate", "--check"}, {"generate"},
}

// TestStarted watches the commands that look at a hostile repository: what they start is the user's own Python and the go
// command, and what they open lies in the repository, in the system's and Go's folders.
func TestStarted(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("strace is not installed")
	}
	python, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Skip("no python3")
	}
	real, err := filepath.EvalSymlinks(strings.TrimSpace(string(python)))
	if err != nil {
		t.Fatal(err)
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repo, private := filepath.Join(top, "repo"), filepath.Join(top, "private")
	evil := "#!/bin/sh\ntouch " + filepath.Join(top, "PWNED") + "\nexit 1\n"
	write(t, top, map[string]string{
		"private/x.json": `{"a": "` + canary + `"}`, "private/secret.py": "def f(a: str) -> str: ...\n",
		"repo/go.mod": "module example.com/m\n\ngo 1.24\n",
		"repo/main.flowgen.yaml": "flowgen: 1\nname: main\ntools:\n  p: {python: \"t:f\", venv: .venv, effects: none}\n  j: {js: ./tool.js, in: {a: string}, out: any, effects: none}\n" +
			"nodes: {n: {tool: p, with: {a: x}}, m: {tool: j, with: {a: x}}}\noutput: {a: $n}\n",
		"repo/t.py": "def f(a: str) -> str:\n    return a\n", "repo/tool.js": "import r from './r.js'; export default (x) => [x, r]\n", "repo/r.js": "export default 1\n",
		"repo/ast.py": "import os; os.system('touch " + filepath.Join(top, "PWNED") + "')\n", "repo/.venv/pyvenv.cfg": "home = /usr/bin\n",
		"repo/.venv/lib/python3.12/site-packages/a.pth": private + "\nimport os; os.system('touch PWNED')\n",
		"repo/tsconfig.json":                            `{"extends": "../private/x.json", "compilerOptions": {"paths": {"*": ["../private/*"]}}}`,
	})
	if err := os.Symlink("../private/x.json", filepath.Join(repo, "package.json")); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{".venv/bin/python3", "bin/python3", "bin/python", "bin/node", "bin/git", "bin/gcc", "bin/gopackagesdriver", "bin/esbuild", "python3"} {
		write(t, repo, map[string]string{program: evil})
		if err := os.Chmod(filepath.Join(repo, program), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(repo, "bin"), filepath.Join(top, "linked")); err != nil {
		t.Fatal(err)
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	path := strings.Join([]string{filepath.Join(repo, ".venv", "bin"), filepath.Join(repo, "bin"), filepath.Join(top, "linked"), ".", "bin", "", filepath.Dir(real), filepath.Dir(goTool), "/usr/bin", "/bin"}, ":")
	exe := selfAsFlowgen(t)
	for i, args := range lookers {
		log := filepath.Join(top, "log")
		cmd := exec.Command(strace, append([]string{"-f", "-qq", "-s", "4096", "-e", "trace=execve,execveat,open,openat,openat2", "-e", "signal=none", "-o", log, exe}, args...)...)
		cmd.Dir = repo
		cmd.Env = append(os.Environ(), "PATH="+path, "VIRTUAL_ENV="+filepath.Join(repo, ".venv"), "PYTHONPATH=", "NODE_OPTIONS=--require "+filepath.Join(repo, "tool.js"))
		out, _ := cmd.CombinedOutput()
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if strings.Contains(string(out), "7f3ad1c9") {
			t.Errorf("%v: prints the file:\n%s", args, out)
		}
		starts, opens := watched(t, string(text), args, exe, real, private)
		if i == 0 && (starts < 2 || opens < 10) {
			t.Errorf("strace saw %d programs and %d files:\n%s", starts, opens, out)
		}
	}
	if _, err := os.Stat(filepath.Join(top, "PWNED")); err == nil {
		t.Error("something of the repository was run")
	}
}

var (
	started = regexp.MustCompile(`execve(?:at)?\((?:[^",]*, )?"([^"]*)".*\) += 0`)
	opened  = regexp.MustCompile(`open(?:at2?)?\((?:AT_FDCWD, |\d+, )?"([^"]*)".*\) += \d`)
)

// watched looks through what strace has seen.
func watched(t *testing.T, text string, args []string, exe, python, private string) (starts, opens int) {
	t.Helper()
	for _, m := range started.FindAllStringSubmatch(text, -1) {
		starts++
		real, err := filepath.EvalSymlinks(m[1])
		if err != nil {
			real = m[1]
		}
		if m[1] != exe && real != python && filepath.Base(real) != "go" && !strings.Contains(filepath.ToSlash(real), "/pkg/tool/") {
			t.Errorf("%v: starts %s", args, m[1])
		}
	}
	for _, m := range opened.FindAllStringSubmatch(text, -1) {
		opens++
		if strings.HasPrefix(m[1], private) || strings.Contains(m[1], "../private") || strings.HasSuffix(m[1], "secret.py") || strings.HasPrefix(m[1], "/etc/shadow") {
			t.Errorf("%v: opens %s", args, m[1])
		}
	}
	return starts, opens
}
