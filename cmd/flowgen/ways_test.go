package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// A taker is a command that takes a file or a folder. Each NAME of it is replaced with a name, in a form of its own where the
// command asks for one.
type taker struct {
	form string // the ending that the command wants: a workflow, a page of a dialect, a journal, a manifest
	args string
}

// takers are all commands with all arguments and flags that take a name. TestEveryTaker holds them against the commands.
var takers = []taker{
	{".flowgen.yaml", "check NAME"}, {".flowgen.yaml", "check --fix NAME"}, {".flowgen.yaml", "check --format json NAME"},
	{".flowgen.yaml", "check --format sarif NAME"}, {".flowgen.yaml", "check --secrets NAME"},
	{".yaml", "check NAME"}, {".test.yaml", "check NAME"}, {".txt", "check NAME"},
	{".yaml", "check --tool s=NAME slot.yaml"},
	{".flowgen.yaml", "fmt NAME"}, {".flowgen.yaml", "fmt --check NAME"}, {".yaml", "fmt NAME"},
	{".flowgen.yaml", "generate NAME"}, {".flowgen.yaml", "generate --check NAME"}, {".flowgen.yaml", "generate -o out NAME"},
	{".flowgen.yaml", "build NAME"}, {".flowgen.yaml", "build -o out NAME"},
	{".flowgen.yaml", "graph NAME"}, {".flowgen.yaml", "graph --format dot NAME"},
	{".flowgen.yaml", "plan NAME"}, {".flowgen.yaml", "plan --format json NAME"},
	{".flowgen.yaml", "manifest NAME"}, {".json", "manifest --check NAME main.flowgen.yaml"}, {".flowgen.yaml", "manifest --check ok.json NAME"},
	{".flowgen.yaml", "tools list NAME"}, {".flowgen.yaml", "tools list --all NAME"}, {".flowgen.yaml", "tools search canary NAME"}, {".flowgen.yaml", "tools show t NAME"}, {".yaml", "tools import NAME"},
	{".flowgen.yaml", "lock NAME"}, {".flowgen.yaml", "lock --check NAME"},
	{".yaml", "convert NAME"}, {".yaml", "convert -o out NAME"}, {".json", "convert --force NAME"},
	{".flowgen.yaml", "run NAME"}, {".flowgen.yaml", "resume NAME latest"}, {".flowgen.yaml", "respond NAME latest x"},
	{".flowgen.yaml", "rerun NAME latest"}, {".flowgen.yaml", "replay NAME latest"}, {".flowgen.yaml", "serve NAME --help"}, {".flowgen.yaml", "mcp NAME --help"}, {".flowgen.yaml", "prune NAME"},
	{".yaml", "test NAME"}, {".test.yaml", "test NAME"}, {".test.yaml", "test --update NAME"}, {".test.yaml", "test --record NAME"}, {".test.yaml", "test --junit junit.xml NAME"},
	{"", "test --from latest --run x --runs NAME"},
	{".flowgen.yaml", "torture --trials 1 NAME"}, {".flowgen.yaml", "torture --trials 1 --input-json ok.json NAME"},
	{".jsonl", "inspect NAME"}, {".jsonl", "inspect NAME n"}, {"", "inspect --runs NAME"}, {"", "inspect latest --runs NAME"}, {"", "inspect latest --html NAME"},
	{".jsonl", "diff NAME NAME"}, {"", "diff --runs NAME a b"},
	{".jsonl", "materialize NAME x"}, {".flowgen.yaml", "materialize --file NAME latest x"}, {"", "materialize --runs NAME latest x"}, {".flowgen.yaml", "pin --file NAME ask look"},
	{".json", "check --prices NAME main.flowgen.yaml"}, {".json", "prices --prices NAME"},
	{"", "graph --run latest --runs NAME main.flowgen.yaml"},
}

// A way is a name for the file outside, or for one that no command may read. typed tells that the user has said where the file
// is: reading it is what was asked for.

var waysOut = []struct {
	name  string // BASE is outside followed by the taker's form, FD the number of a descriptor
	typed bool
}{
	{"ABOVE/BASE", true}, {"../BASE", true}, {"inside/../../BASE", true},
	{"link-BASE", false}, {"link2-BASE", false}, {"inside/link-BASE", false}, {"PROJ/link-BASE", false}, {"./link-BASE", false},
	{"linkdir/BASE", false}, {"linkdir", false}, {"linkdir/...", false}, {"linkdir2/BASE", false}, {"inside/linkup/BASE", false}, {"PROJ/linkdir/BASE", false},
	{"/proc/self/fd/FD", false}, {"/dev/fd/FD", false}, {"/dev/stdin", false}, {"/proc/self/cwd/link-BASE", false},
	{"proc-BASE", false}, {"zero-BASE", false}, {"stdin-BASE", false}, {"fifo-BASE", false}, {"link-fifo-BASE", false}, {"loop-BASE", false}, {"dir-BASE", false},
	{"/dev/zero", false}, {"/dev/full", false}, {"fifo", false}, {"inside", false}, {".", false}, {"", false},
}

// outsideTexts are what the file outside says, by form. All of them are nearly right: a command that reads them says their canary.
var outsideTexts = map[string]string{
	".flowgen.yaml": "flowgen:   1\nname: outside\ndescription: " + canary + "\ntools: {t: {description: " + canary + ", run: [echo, " + canary + "], out: string, effects: none}}\n" +
		"nodes: {n: {tool: t, canary_7f3ad1c9: 1}}\noutput: {text: $canary_7f3ad1c9}\n",
	".yaml":      "version: 1\ncanary_7f3ad1c9: [" + canary + "\n",
	".test.yaml": "flowgen: 1\nworkflow: canary_7f3ad1c9.flowgen.yaml\ncanary_7f3ad1c9: 1\n",
	".txt":       "root:" + canary + ":0:0:\n",
	".json":      `{"manifest": 1, "hosts": ["canary-7f3ad1c9.example"]}`,
	".jsonl":     "canary_7f3ad1c9 {" + canary + "\n",
	"":           "",
}

// TestWaysOut: no command that takes a file reads one outside of the project that a link, a descriptor or a folder of the
// project leads to, none writes there, and none waits for a pipe or a device.
func TestWaysOut(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc and pipes")
	}
	above, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	outer, proj := filepath.Join(above, "above"), filepath.Join(above, "above", "proj")
	waysProject(t, outer, proj)
	t.Chdir(proj)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(above, "cache"))
	for _, args := range []string{"check --tool s=ok.yaml slot.yaml", "manifest --check ok.json main.flowgen.yaml"} {
		var out bytes.Buffer
		if code := run(strings.Fields(args), strings.NewReader(""), &out, &out); code != exitClean {
			t.Fatalf("%s: %s", args, out.String())
		}
	}
	before, n := outsideState(t, outer, proj), 0
	unread := map[string]string{}
	for _, c := range takers {
		base := "outside" + c.form
		f, err := os.Open(filepath.Join(outer, base))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range waysOut {
			name := strings.NewReplacer("ABOVE", outer, "PROJ", proj, "BASE", base, "FD", fmt.Sprint(f.Fd())).Replace(w.name)
			args := strings.Fields(c.args)
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "NAME", name)
			}
			n++
			said := wayOut(t, args)
			if w.typed && !strings.Contains(said, "7f3ad1c9") {
				unread[c.args] = said
			}
			if strings.Contains(said, "7f3ad1c9") && !w.typed {
				t.Errorf("%q: the file outside was read:\n%s", args, said)
			}
			if written := canaries(t, proj); written != "" && !w.typed {
				t.Errorf("%q: the canary is in %s", args, written)
			}
			if now := outsideState(t, outer, proj); now != before && w.typed {
				outsideFiles(t, outer)
			} else if now != before {
				t.Fatalf("%q: outside of the project something was written:\n%s\n%s", args, before, now)
			}
		}
		f.Close()
	}
	t.Logf("%d commands, %d names, %d runs", len(takers), len(waysOut), n)
	for args, said := range unread {
		if silent[args] == "" && silent[strings.Fields(args)[0]] == "" {
			t.Errorf("%s does not read what the user names, so that its row says nothing: %q", args, said)
		}
	}
}

// silent are the commands that do not say what a file has in it that they cannot read.
var silent = map[string]string{
	"check --prices NAME main.flowgen.yaml": "quotes no list of prices", "prices --prices NAME": "quotes no list of prices",
	"tools import NAME": "quotes no document", "inspect": "quotes no journal", "diff": "quotes no journal", "materialize": "quotes no journal and needs one", "fmt": "says nothing of what it formats",
	"graph --run latest --runs NAME main.flowgen.yaml": "quotes no journal",
	"test --from latest --run x --runs NAME":           "quotes no journal",
	"check --tool s=NAME slot.yaml":                    "must be in the project, also when the command line names it",
}

// What names no file that is there: commands, and flags whose help speaks of files. All commands with --tool or --prices read it as check.
var (
	noTakers = []string{"explain", "schema", "version", "help", "init", "lsp", "toolchain", "studio"} // studio serves until it is stopped
	noFiles  = []string{"package", "run", "tool", "prices"}
)

// namesFile are flags with a text, by what their help says: -o, output.
var namesFile = regexp.MustCompile(`^ *(-\w)?,? *--([\w-]+) string\w* .*\b(file|FILE|folder|manifest)\b`)

// TestEveryTaker: no command, and no flag of one that names files or folders, is missing in the table.
func TestEveryTaker(t *testing.T) {
	a := &app{}
	var visit func(c *cobra.Command, path string)
	visit = func(c *cobra.Command, path string) {
		for _, below := range c.Commands() {
			visit(below, strings.TrimSpace(path+" "+below.Name()))
		}
		if path == "" || c.HasSubCommands() || slices.Contains(noTakers, path) {
			return
		}
		of := slices.DeleteFunc(slices.Clone(takers), func(k taker) bool { return k.args != path && !strings.HasPrefix(k.args, path+" ") })
		if len(of) == 0 {
			t.Errorf("%s has no row", path)
		}
		for line := range strings.Lines(c.LocalFlags().FlagUsages()) {
			m := namesFile.FindStringSubmatch(line)
			if m != nil && !slices.Contains(noFiles, m[2]) && !slices.ContainsFunc(of, func(k taker) bool {
				return strings.Contains(k.args, "--"+m[2]+" ") || m[1] != "" && strings.Contains(k.args, m[1]+" ")
			}) {
				t.Errorf("%s --%s has no row: %s", path, m[2], line)
			}
		}
	}
	visit(a.root(), "")
}

func outsideFiles(t *testing.T, outer string) {
	t.Helper()
	for form, text := range outsideTexts {
		name := "outside" + form
		if form == "" { // a folder of runs
			name, text = name+"/x-20260102T150405123-9f3c/journal.jsonl", outsideTexts[".jsonl"]
		}
		write(t, outer, map[string]string{name: text})
	}
}

func waysProject(t *testing.T, outer, proj string) {
	t.Helper()
	write(t, proj, map[string]string{
		"go.mod": "module example.com/proj\n\ngo 1.24\n", "inside/keep": "", "slot.yaml": "name: slot\nstate: {a: str}\ntools: {s: {slot: true}}\nnodes: {one: {type: tool, tool: s, state_key: a}}\nedges: [{from: START, to: one}, {from: one, to: END}]\n",
		"ok.yaml": "name: s\ndescription: x\nruntime: {type: shell, command: \"true\"}\n", "ok.json": "{\"manifest\": 1}\n",
		"main.flowgen.yaml": "flowgen: 1\nname: main\nnodes: {n: {let: {text: a}}}\noutput: {text: $n.text}\n",
	})
	link := func(to, name string) {
		if err := os.Symlink(to, filepath.Join(proj, name)); err != nil {
			t.Fatal(err)
		}
	}
	pipe := func(name string) {
		if out, err := exec.Command("mkfifo", filepath.Join(proj, name)).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	link(outer, "linkdir")
	link("linkdir", "linkdir2")
	link("../..", "inside/linkup")
	pipe("fifo")
	outsideFiles(t, outer)
	for form := range outsideTexts {
		base := "outside" + form
		link(filepath.Join(outer, base), "link-"+base)
		link("link-"+base, "link2-"+base)
		link("../link2-"+base, "inside/link-"+base)
		link("/proc/self/environ", "proc-"+base)
		link("/dev/zero", "zero-"+base)
		link("/dev/stdin", "stdin-"+base)
		link("loop-"+base, "loop-"+base)
		pipe("fifo-" + base)
		link("fifo-"+base, "link-fifo-"+base)
		if err := os.Mkdir(filepath.Join(proj, "dir-"+base), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// wayOut runs a command and returns what it says.
func wayOut(t *testing.T, args []string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	done := make(chan int, 1)
	go func() { done <- run(args, strings.NewReader(""), &stdout, &stderr) }()
	select {
	case code := <-done:
		if code == exitFault && strings.Contains(stderr.String(), "internal fault") {
			t.Errorf("%q: a fault:\n%s", args, stderr.String())
		}
	case <-time.After(60 * time.Second):
		t.Fatalf("%q: does not end", args)
	}
	return stdout.String() + stderr.String()
}

// canaries names the files of the project that say the canary, and removes what was written there.
func canaries(t *testing.T, proj string) (found string) {
	t.Helper()
	err := filepath.WalkDir(proj, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(name)
		if bytes.Contains(text, []byte("7f3ad1c9")) {
			found = name
			err = os.Remove(name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// outsideState is every file outside of the project with what it says.
func outsideState(t *testing.T, outer, proj string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(outer, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name == proj {
			return filepath.SkipDir
		}
		text := []byte{}
		if e.Type().IsRegular() {
			text, err = os.ReadFile(name)
		}
		fmt.Fprintf(&b, "%s %s %q\n", name, e.Type(), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
