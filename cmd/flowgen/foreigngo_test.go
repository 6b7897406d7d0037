package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// goStarters are the commands that cannot do their work without the go command.
var goStarters = []string{"build NAME", "build -o out NAME", "run NAME", "test NAME", "torture --trials 1 NAME", "rerun NAME latest", "init fresh", "init --name p inside/fresh"}

// TestForeignGo: no command starts a go command of the repository, however PATH leads there: those that need one refuse before
// they write anything.
func TestForeignGo(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the fake is a script")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repo, pwned := filepath.Join(top, "repo"), filepath.Join(top, "PWNED")
	write(t, repo, map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.24\n", "inside/keep": "",
		"bin/go": "#!/bin/sh\necho x >'" + pwned + "'\nexit 1\n", "tool/t.go": "package tool\n\n// Run runs.\nfunc Run(text string) string { return text }\n",
		"main.flowgen.yaml":  "flowgen: 1\nname: main\nnodes: {n: {let: {text: a}}}\noutput: {text: $n.text}\n",
		"tools.flowgen.yaml": "flowgen: 1\nname: w\ntools: {t: {go: ./tool.Run, effects: none}}\nnodes: {n: {tool: t, with: {text: a}}}\noutput: {a: $n}\n",
		"main.test.yaml":     "flowgen: 1\ncases: {a: {want: {output: {text: a}}}}\n",
		"ok.json":            "{\"manifest\": 1}\n",
	})
	if err := os.Chmod(filepath.Join(repo, "bin", "go"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, link := range []struct{ to, name string }{{filepath.Join(repo, "bin"), filepath.Join(top, "linked")}, {filepath.Join(top, "linked"), filepath.Join(repo, "back")}} {
		if err := os.Symlink(link.to, link.name); err != nil {
			t.Fatal(err)
		}
	}
	write(t, top, map[string]string{"own/keep": "", "home/keep": ""})
	if err := os.Symlink(filepath.Join(repo, "bin", "go"), filepath.Join(top, "own", "go")); err != nil {
		t.Fatal(err)
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(repo)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(top, "cache"))
	t.Setenv("HOME", filepath.Join(top, "home"))
	commands := slices.Clone(goStarters)
	for _, c := range takers {
		if strings.HasPrefix(c.args, "inspect") || strings.HasPrefix(c.args, "diff") || strings.HasPrefix(c.args, "materialize") {
			continue // they read journals
		}
		commands = append(commands, c.args)
	}
	for _, first := range []string{filepath.Join(repo, "bin"), filepath.Join(top, "linked"), filepath.Join(repo, "back"), filepath.Join(top, "own"), "bin", "./bin", "inside/../bin"} {
		t.Setenv("PATH", first+string(filepath.ListSeparator)+filepath.Dir(goTool)+":/usr/bin:/bin")
		for i, args := range commands {
			for _, name := range []string{"main", "tools"} {
				end := ".flowgen.yaml"
				if strings.HasPrefix(args, "test ") {
					name, end = "main", ".test.yaml"
				}
				was := tree(t, repo)
				var out bytes.Buffer
				code := run(strings.Fields(strings.ReplaceAll(args, "NAME", name+end)), strings.NewReader(""), &out, &out)
				if _, err := os.Stat(pwned); err == nil {
					t.Fatalf("PATH=%s: %s %s started the go command of the repository:\n%s", first, args, name, out.String())
				}
				if i >= len(goStarters) {
					continue
				}
				if said := out.String(); code == exitClean || !strings.Contains(said, "belongs to the project") || strings.Contains(said, "internal fault") {
					t.Errorf("PATH=%s: %s %s: exit code %d, %s", first, args, name, code, said)
				}
				if now := tree(t, repo); !slices.Equal(now, was) {
					t.Errorf("PATH=%s: %s %s wrote something: %q, was %q", first, args, name, now, was)
				}
			}
		}
	}
}

// tree is the names of what is in a folder.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	if err := filepath.Walk(dir, func(name string, _ os.FileInfo, err error) error {
		out = append(out, name)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}
