package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/internal/straced"
)

// lookers are the commands that look at a repository.
var lookers = [][]string{
	{"check", "."}, {"check", "--format", "json", "."}, {"graph", "main.flowgen.yaml"}, {"plan", "main.flowgen.yaml"}, {"manifest", "main.flowgen.yaml"},
	{"tools", "list"}, {"fmt", "--check", "."}, {"fmt", "."}, {"generate", "--check"}, {"generate"}, {"lock", "main.flowgen.yaml"}, {"convert", "graph.yaml"},
	{"schema"}, {"explain", "FG0101"}, {"check", "withgo"}, {"generate", "withgo"}, {"generate", "withgo"}, // the second keeps a stamp
	{"check", "withmodule"}, {"plan", "withmodule/w.flowgen.yaml"}, {"lock", "withmodule"},
}

// TestStarted watches the commands that look at a hostile repository: what they start is the user's own Python and the go
// command, and of the folders around it, the user's home among them, they open nothing. The files that the system, Go and Python open of
// their own are in a list.
func TestStarted(t *testing.T) {
	straced.Need(t)
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
		"repo/withgo/w.flowgen.yaml":     "flowgen: 1\nname: w\ntools: {t: {go: ../tool.Run, effects: none}}\nnodes: {n: {tool: t, with: {text: a}}}\noutput: {a: $n}\n",
		"repo/withmodule/go.mod":         "module example.com/w\n\ngo 1.24\n\nrequire example.com/lib v1.0.0\n\nreplace example.com/lib => ../lib\n",
		"repo/withmodule/w.flowgen.yaml": "flowgen: 1\nname: w\nnodes: {n: {flow: go:example.com/lib/l.flowgen.yaml}, m: {flow: go:example.com/absent/x.flowgen.yaml}}\noutput: {a: $n}\n",
		"repo/lib/go.mod":                "module example.com/lib\n\ngo 1.24\n",
		"repo/lib/l.flowgen.yaml":        "flowgen: 1\nname: l\ninclude: [../../private/x.json, ../main.flowgen.yaml]\nnodes: {n: {let: x}}\noutput: {a: $n}\n",
		"repo/tool/t.go":                 "package tool\n\n//go:generate touch " + filepath.Join(top, "PWNED") + "\n\n// Run runs.\nfunc Run(text string) string { return text }\n",
		"repo/tool/c.go":                 "package tool\n\n// #cgo CFLAGS: -DX\n// int x;\nimport \"C\"\n\nvar _ = C.x\n",
		"repo/graph.yaml":                "name: g\nstate: {a: str}\ntools: {s: {type: shell, command: \"true\"}}\nnodes: {one: {type: tool, tool: s, state_key: a}}\nedges: [{from: START, to: one}, {from: one, to: END}]\n",
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
	machine := &machine{top: top, flowgen: exe, python: real, own: ownFolders(t, env, real)}
	if own, err := filepath.EvalSymlinks(exe); err == nil {
		machine.own = append(machine.own, own)
	}
	for i, args := range lookers {
		cmd := exec.Command(exe, args...)
		cmd.Dir = repo
		cmd.Env = append(slices.Clone(env), "PATH="+path, "VIRTUAL_ENV="+filepath.Join(repo, ".venv"), "PYTHONPATH=", "NODE_OPTIONS=--require "+filepath.Join(repo, "tool.js"))
		seen, out := straced.Run(t, cmd)
		if strings.Contains(string(out), "7f3ad1c9") {
			t.Errorf("%v: prints the file:\n%s", args, out)
		}
		machine.judge(t, seen, args)
		if args[len(args)-1] == "withgo" && !slices.ContainsFunc(seen.Opens, func(o straced.Open) bool { return o.Path == filepath.Join(repo, "tool", "t.go") }) {
			t.Errorf("%v: the go command did not look at the package:\n%s", args, out)
		}
		if i == 0 && (len(seen.Started) < 2 || len(seen.Opens) < 10) {
			t.Errorf("strace saw %d programs and %d files:\n%s", len(seen.Started), len(seen.Opens), out)
		}
	}
	if _, err := os.Stat(filepath.Join(top, "PWNED")); err == nil {
		t.Error("something of the repository was run")
	}
}

// A machine is what commands may start and open there.
type machine struct {
	top, flowgen, python string // the folder of everything; the programs
	own                  []string
}

// ofAnyone are the files that Go, the linker and the system open for a program; ofTools are those of the go command and Python.
var (
	ofAnyone = regexp.MustCompile(`^/(sys/kernel/mm/|sys/fs/cgroup/|sys/devices/system/cpu/|proc/(self|\d+)/(cgroup|mountinfo|maps|auxv|stat|status)$|proc/sys/|dev/(null|u?random)$|etc/(localtime|ld\.so\.(cache|preload))$|(usr/)?lib(64|32)?/[^/]+(/[^/]+)?\.so|usr/share/zoneinfo/)`)
	ofTools  = regexp.MustCompile(`^/((usr/)?(local/)?lib(64|32)?(/|$)|usr/share/(locale|zoneinfo)|etc/(locale\.alias$|nsswitch\.conf|passwd|group|gitconfig|ssl/|pki/|ca-certificates|resolv\.conf|hosts|host\.conf|python3)|proc/(self|\d+)/|proc/(meminfo|cpuinfo|stat)$)`)
)

// around are the folders below top that may be opened.
var around = regexp.MustCompile(`^(repo|cache|tmp|home/\.config/go)(/|$)`)

// judge holds what was seen against what may be: programs are the user's own, and nothing is opened but the repository,
// flowgen's cache, and what belongs to the programs themselves. The compiler opens less than the programs that it starts.
func (m *machine) judge(t *testing.T, seen straced.Seen, args []string) {
	t.Helper()
	isGo := func(program string) bool {
		return filepath.Base(program) == "go" || strings.Contains(filepath.ToSlash(program), "/pkg/tool/")
	}
	for _, program := range seen.Started {
		real, err := filepath.EvalSymlinks(program)
		if err != nil {
			real = program
		}
		if strings.HasPrefix(real, filepath.Join(m.top, "repo")) || program != m.flowgen && real != m.python && !isGo(real) {
			t.Errorf("%v: starts %s", args, program)
		}
	}
	for _, o := range seen.Opens {
		if below, ok := strings.CutPrefix(o.Path, m.top+"/"); ok {
			if !around.MatchString(below) {
				t.Errorf("%v: %s opens %s", args, o.Program, o.Path)
			}
			continue
		}
		ok := o.Path == m.top || ofAnyone.MatchString(o.Path) || slices.ContainsFunc(m.own, func(dir string) bool { return o.Path == dir || strings.HasPrefix(o.Path, dir+"/") })
		if !ok && o.Program != m.flowgen {
			ok = ofTools.MatchString(o.Path)
		}
		if !ok {
			t.Errorf("%v: %s opens %s", args, o.Program, o.Path)
		}
	}
}

// ownFolders are those of the user's own programs: Go's, its caches, and Python's library.
func ownFolders(t *testing.T, env []string, python string) []string {
	t.Helper()
	cmd := exec.Command("go", "env", "GOROOT", "GOMODCACHE", "GOCACHE")
	cmd.Env = append(slices.Clone(env), "GOFLAGS=")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	library, err := exec.Command(python, "-I", "-S", "-c", "import sys; print(sys.prefix); print('\\n'.join(sys.path))").Output()
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for dir := range strings.Lines(string(out) + string(library)) {
		dirs = append(dirs, strings.TrimSpace(dir))
	}
	for i, dir := range dirs {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dirs[i] = real
		}
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return dir == "" || dir == "/" || dir == "/usr" })
}

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
