package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// lookers are the commands that look at a repository.
var lookers = [][]string{
	{"check", "."}, {"check", "--format", "json", "."}, {"graph", "main.flowgen.yaml"}, {"plan", "main.flowgen.yaml"}, {"manifest", "main.flowgen.yaml"},
	{"tools", "list"}, {"fmt", "--check", "."}, {"fmt", "."}, {"generate", "--check"}, {"generate"}, {"lock", "main.flowgen.yaml"}, {"convert", "graph.yaml"},
	{"schema"}, {"explain", "FG0101"}, {"check", "withgo"}, {"generate", "withgo"}, {"generate", "withgo"}, // the second keeps a stamp
}

// TestStarted watches the commands that look at a hostile repository: what they start is the user's own Python and the go
// command, and of the folders around it, the user's home among them, they open nothing. What the system, Go and Python open of
// their own differs from machine to machine: of those folders only some files are looked for.
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
		"repo/go.mod": "module example.com/m\n\ngo 1.24\n\ntoolchain go1.99.0\n",
		"home/.netrc": canary, "home/.ssh/id_rsa": canary, "home/.npmrc": canary, "home/.gitconfig": "[core]\n\tfsmonitor = touch " + filepath.Join(top, "PWNED") + "\n",
		"repo/withgo/w.flowgen.yaml": "flowgen: 1\nname: w\ntools: {t: {go: ../tool.Run, effects: none}}\nnodes: {n: {tool: t, with: {text: a}}}\noutput: {a: $n}\n",
		"repo/tool/t.go":             "package tool\n\n//go:generate touch " + filepath.Join(top, "PWNED") + "\n\n// Run runs.\nfunc Run(text string) string { return text }\n",
		"repo/tool/c.go":             "package tool\n\n// #cgo CFLAGS: -DX\n// int x;\nimport \"C\"\n\nvar _ = C.x\n",
		"repo/graph.yaml":            "name: g\nstate: {a: str}\ntools: {s: {type: shell, command: \"true\"}}\nnodes: {one: {type: tool, tool: s, state_key: a}}\nedges: [{from: START, to: one}, {from: one, to: END}]\n",
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
	for _, program := range []string{".venv/bin/python3", "bin/python3", "bin/python", "bin/node", "bin/git", "bin/gcc", "bin/cc", "bin/gopackagesdriver", "bin/toolexec", "bin/vet", "bin/go1.99.0", "bin/esbuild", "python3"} {
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
	env := startedEnv(t, top, repo)
	for i, args := range lookers {
		log := filepath.Join(top, "log")
		cmd := exec.Command(strace, append([]string{"-f", "-qq", "-s", "4096", "-e", "trace=execve,execveat,open,openat,openat2", "-e", "signal=none", "-o", log, exe}, args...)...)
		cmd.Dir = repo
		cmd.Env = append(slices.Clone(env), "PATH="+path, "VIRTUAL_ENV="+filepath.Join(repo, ".venv"), "PYTHONPATH=", "NODE_OPTIONS=--require "+filepath.Join(repo, "tool.js"))
		out, _ := cmd.CombinedOutput()
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if strings.Contains(string(out), "7f3ad1c9") {
			t.Errorf("%v: prints the file:\n%s", args, out)
		}
		starts, opens := watched(t, string(text), args, exe, real, top)
		if args[len(args)-1] == "withgo" && !strings.Contains(string(text), filepath.Join(repo, "tool", "t.go")) {
			t.Errorf("%v: the go command did not look at the package:\n%s", args, out)
		}
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

// allowed are the names that may be opened in the folder around the repository.
var allowed = regexp.MustCompile(`^(repo|cache|tmp|home/\.config/go)(/|$)`)

// startedEnv is an environment that tries to make the go command start programs of the repository, and has a home that holds
// secrets.
func startedEnv(t *testing.T, top, repo string) []string {
	t.Helper()
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "CGO_ENABLED=") || strings.HasPrefix(v, "GOTOOLCHAIN=") || strings.HasPrefix(v, "GOFLAGS=")
	})
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(out)))
	}
	write(t, top, map[string]string{"tmp/keep": ""})
	return append(env, "HOME="+filepath.Join(top, "home"), "XDG_CONFIG_HOME=", "XDG_CACHE_HOME="+filepath.Join(top, "cache"), "TMPDIR="+filepath.Join(top, "tmp"), "GOWORK=off",
		"GOPACKAGESDRIVER="+filepath.Join(repo, "bin", "gopackagesdriver"), "GOFLAGS='-toolexec="+filepath.Join(repo, "bin", "toolexec")+"'", "CC="+filepath.Join(repo, "bin", "gcc"))
}

// watched looks through what strace has seen.
func watched(t *testing.T, text string, args []string, exe, python, top string) (starts, opens int) {
	t.Helper()
	for _, m := range started.FindAllStringSubmatch(text, -1) {
		starts++
		real, err := filepath.EvalSymlinks(m[1])
		if err != nil {
			real = m[1]
		}
		if strings.HasPrefix(real, filepath.Join(top, "repo")) || m[1] != exe && real != python && filepath.Base(real) != "go" && !strings.Contains(filepath.ToSlash(real), "/pkg/tool/") {
			t.Errorf("%v: starts %s", args, m[1])
		}
	}
	for _, m := range opened.FindAllStringSubmatch(text, -1) {
		opens++
		name, bad := m[1], strings.Contains(m[1], "../private") || strings.HasSuffix(m[1], "secret.py")
		if around, ok := strings.CutPrefix(name, top+"/"); ok {
			bad = bad || !allowed.MatchString(around)
		}
		if bad || strings.HasPrefix(name, "/etc/shadow") || strings.HasPrefix(name, "/proc/self/environ") {
			t.Errorf("%v: opens %s", args, m[1])
		}
	}
	return starts, opens
}
