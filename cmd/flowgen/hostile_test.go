package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/module"
)

// campaign is the figure of a test in its small form, of the longer one of .ci/run, or of the full one, which `make campaigns`
// asks for.
func campaign(small, longer, whole int) int {
	switch {
	case os.Getenv("CAMPAIGN") == "full":
		return whole
	case os.Getenv("LONG") != "":
		return longer
	}
	return small
}

// selfAsFlowgen is this test's binary under the name that makes it flowgen.
func selfAsFlowgen(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "flowgen")
	if err := os.Symlink(self, name); err != nil {
		t.Skip(err)
	}
	return name
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// systems are the names that the go command takes for constraints in names of files.
func systems(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("go", "tool", "dist", "list").Output()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		goos, goarch, _ := strings.Cut(strings.TrimSpace(line), "/")
		names[goos], names[goarch] = true, true
	}
	for _, old := range strings.Fields("hurd nacl zos unix cgo amd64p32 armbe arm64be mips64p32 ppc riscv s390 sparc sparc64 gc race msan") {
		names[old] = true
	}
	var list []string
	for n := range names {
		list = append(list, n)
	}
	return list
}

// TestNamesOfFiles: no name of a workflow, and of its file, makes a generated file that the go command leaves out.
func TestNamesOfFiles(t *testing.T) {
	dir := t.TempDir()
	n := 0
	for _, goos := range []string{"linux", "windows", "js"} {
		ctx := build.Default
		ctx.GOOS, ctx.GOARCH = goos, "amd64"
		for _, sys := range append(systems(t), "test", "main", "init", "", "_", ".") {
			for _, form := range []string{"%s", "x_%s", "%s_x", "_%s", ".%s", "%s_test", "x_%s_test", "x_linux_%s"} {
				stem := fmt.Sprintf(form, sys)
				name := outputName("flows/" + stem + suffix)
				if len(name) > 100 || strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") || strings.HasSuffix(name, "_test.go") {
					t.Errorf("%s gives %s", stem, name)
				}
				write(t, dir, map[string]string{name: "package p\n"})
				if ok, err := ctx.MatchFile(dir, name); err != nil || !ok {
					t.Errorf("%s: %s is left out on %s (%v)", stem, name, goos, err)
				}
				n++
			}
		}
	}
	for _, stem := range []string{"=======", "-- x --", "+build ignore", "-x", "@x", "go:generate touch x", "a\n::error::b", "a\r\tb", "a`b", `a"b'`, "a*?[b]", `a\b`, "a|b<c>", "$(x);&", "\u2028a\u202eb", "\xff", "é ü", "#x", "!x", "~x"} {
		name := outputName("flows/" + stem + suffix)
		if err := module.CheckFilePath(name); err != nil || !regexp.MustCompile(`^[\pL\pN][^\pC]*$`).MatchString(name) {
			t.Errorf("%q gives %q: %v", stem, name, err)
		}
	}
	t.Logf("%d names", n)
	if n < 300 {
		t.Error("too few names")
	}
}

const canary = "canary 7f3ad1c9"

// secretFiles are outside of the project; each would be read without a complaint if its name led there.
func secretFiles(t *testing.T, above string) {
	t.Helper()
	lib := "flowgen: 1\nname: outside\ndescription: " + canary + "\ntypes: {Canary: {text: {type: string, description: " + canary + "}}}\n"
	flow := "flowgen: 1\nname: outside\ndescription: " + canary + "\nnodes: {n: {let: {text: " + canary + "}}}\noutput: {text: $n.text}\n"
	write(t, above, map[string]string{
		"lib.flowgen.yaml": lib, "flow.flowgen.yaml": flow, "deep/lib.flowgen.yaml": lib, "deep/flow.flowgen.yaml": flow,
		"tool.py":        "def run(text: str) -> str:\n    \"\"\"" + canary + "\"\"\"\n    return text\n",
		"tool.js":        "// " + canary + "\nexport default function ({text}) { return text }\n",
		"tool.star":      "# " + canary + "\ndef main(text):\n    return text\n",
		"gotools/go.mod": "module example.com/gotools\n\ngo 1.24\n",
		"gotools/g.go":   "package gotools\n\n// Run is " + canary + "\nfunc Run(text string) string { return text }\n",
	})
}

// names are ways to say a file outside; FILE is its last element, without the end.
func outsideNames(above string) []string {
	up := []string{
		"../FILE", "../../above/FILE", "./../FILE", "inside/../../FILE", "inside/./.././../FILE", "..//FILE", "../deep/../FILE", "../deep/FILE",
		"link/FILE", "linkdir/../FILE", "inside/linkup/FILE", "FILE-link", "inside/FILE-link", "loop/FILE",
		"ABS/FILE", "//ABS/FILE", "/proc/self/cwd/../FILE", "/proc/self/root/ABS/FILE", "/dev/fd/../../FILE", "file://ABS/FILE", "file:ABS/FILE",
		`..\FILE`, `inside\..\..\FILE`, `C:\FILE`, "C:/FILE", "C:FILE", `\\host\share\FILE`, "//host/share/FILE", `\\?\C:\FILE`, "c:ABS/FILE",
		"~/FILE", "$HOME/FILE", "${PWD}/../FILE", "%2e%2e/FILE", "..%2fFILE", "．．/FILE", "‥/FILE", "../FILE ", " ../FILE", "../FILE.", "..;/FILE", "....//FILE", ".../FILE",
		"inside/../../proj/../FILE", "./././../FILE", "../../../../../../../../../../ABS/FILE", "../above/FILE", "../proj/../FILE", "x/../../FILE", "nope/../../FILE",
		"http://127.0.0.1:1/FILE", "https://h/FILE", "git+ssh://h/FILE", "data:text/plain,FILE",
		"/dev/zero", "/dev/stdin", "/dev/tty", "/proc/self/environ", "/proc/self/fd/0", "/etc/passwd", "fifo", "inside/fifo", "socket", "inside", ".", "..", "/", "",
	}
	for i := range up {
		up[i] = strings.ReplaceAll(up[i], "ABS", filepath.ToSlash(above))
	}
	return up
}

// fields say where a workflow names a file: the text has NAME in it, and FILE becomes what is asked for there.
var fileFields = []struct{ field, file, text string }{
	{"include", "lib.flowgen.yaml", "include: [NAME]\nnodes: {n: {let: {text: a}}}\noutput: {text: $n.text}\n"},
	{"flow", "flow.flowgen.yaml", "nodes: {n: {flow: NAME}}\noutput: {text: $n.text}\n"},
	{"python", "tool.py", "tools: {t: {python: NAME, in: {text: string}, out: string, effects: none}}\nnodes: {n: {tool: t, with: {text: a}}}\noutput: {text: $n}\n"},
	{"js", "tool.js", "tools: {t: {js: NAME, in: {text: string}, out: string, effects: none}}\nnodes: {n: {tool: t, with: {text: a}}}\noutput: {text: $n}\n"},
	{"starlark", "tool.star", "tools: {t: {starlark: NAME, in: {text: string}, out: string, effects: none}}\nnodes: {n: {tool: t, with: {text: a}}}\noutput: {text: $n}\n"},
	{"prompt", "lib.flowgen.yaml", "nodes: {n: {llm: \"openai:x\", prompt: {file: NAME}}}\noutput: {text: $n}\n"},
	{"go", "gotools.Run", "tools: {t: {go: NAME, effects: none}}\nnodes: {n: {tool: t, with: {text: a}}}\noutput: {text: $n}\n"},
}

// TestOutside: no field that names a file reaches one outside of the project, by whatever name, and none waits or swells.
func TestOutside(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links and pipes")
	}
	above, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	above = filepath.Join(above, "above")
	proj := filepath.Join(above, "proj")
	secretFiles(t, above)
	write(t, proj, map[string]string{"go.mod": "module example.com/proj\n\ngo 1.24\n", "inside/keep": ""})
	for link, to := range map[string]string{
		"link": above, "linkdir": filepath.Join(above, "deep"), "inside/linkup": "../..", "loop": "loop",
		"lib-link": "../lib.flowgen.yaml",
	} {
		if err := os.Symlink(to, filepath.Join(proj, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range fileFields {
		for _, dir := range []string{".", "inside"} {
			_ = os.Symlink(filepath.Join(above, f.file), filepath.Join(proj, dir, f.file+"-link"))
		}
	}
	for _, pipe := range []string{"fifo", "inside/fifo"} {
		if out, err := exec.Command("mkfifo", filepath.Join(proj, pipe)).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	t.Chdir(proj)
	names := outsideNames(above)
	n := 0
	for _, f := range fileFields {
		for i, name := range names {
			if every := map[string]int{"include": 1, "flow": 1, "go": 8}[f.field]; os.Getenv("CAMPAIGN") != "full" && i%max(every, 3) != 0 && every != 1 {
				continue // Go, Python and JavaScript take their time
			}
			name = strings.ReplaceAll(name, "FILE", f.file)
			if f.field == "python" {
				name += ":run"
			}
			for _, phase := range []string{"check", "generate", "manifest"} {
				if phase != "check" && (i+len(f.field))%campaign(10, 10, 1) != 0 {
					continue
				}
				n++
				outside(t, f.field, phase, name, strings.Replace(f.text, "NAME", strconv.QuoteToASCII(name), 1))
			}
		}
	}
	t.Logf("%d names, %d fields, %d compilations, no way out", len(names), len(fileFields), n)
	if len(names) < 60 || n < campaign(200, 200, 1000) {
		t.Error("too few")
	}
}

func outside(t *testing.T, field, phase, name, body string) {
	t.Helper()
	write(t, ".", map[string]string{"main.flowgen.yaml": "flowgen: 1\nname: main\n" + body})
	var stdout, stderr bytes.Buffer
	start := time.Now()
	defer func() {
		if took := time.Since(start); took > time.Second {
			t.Logf("%s %s %q: %v", phase, field, name, took)
		}
	}()
	done := make(chan int, 1)
	go func() { done <- run([]string{phase, "main.flowgen.yaml"}, strings.NewReader(""), &stdout, &stderr) }()
	select {
	case code := <-done:
		if code != 1 {
			t.Errorf("%s %s %q: exit code %d\n%s", phase, field, name, code, stderr.String())
		}
	case <-time.After(60 * time.Second):
		t.Fatalf("%s %s %q: does not end", phase, field, name)
	}
	all := stdout.String() + stderr.String()
	if text, err := os.ReadFile("main_flow.go"); !errors.Is(err, fs.ErrNotExist) {
		all += string(text)
		t.Errorf("%s %s %q: something was generated", phase, field, name)
		_ = os.Remove("main_flow.go")
	}
	if strings.Contains(all, "7f3ad1c9") {
		t.Errorf("%s %s %q: the file outside was read:\n%s", phase, field, name, all)
	}
	if !strings.Contains(stderr.String(), "main.flowgen.yaml:") {
		t.Errorf("%s %s %q: no place in\n%s", phase, field, name, stderr.String())
	}
}

// TestInside: what lies inside of the project is found, also above the workflow's own folder and through links that stay
// inside.
func TestInside(t *testing.T) {
	dir := t.TempDir()
	lib := "flowgen: 1\ntypes: {T: {text: string}}\n"
	flow := "flowgen: 1\nname: main\ninclude: [%s]\ninput: {t: T}\nnodes: {n: {let: {text: $input.t.text}}}\noutput: {text: $n.text}\n"
	write(t, dir, map[string]string{"go.mod": "module example.com/m\n", "shared/lib.flowgen.yaml": lib})
	for i, name := range []string{"../../shared/lib.flowgen.yaml", "../link/lib.flowgen.yaml", "./../../shared/../shared/lib.flowgen.yaml"} {
		write(t, dir, map[string]string{"flows/deep/main.flowgen.yaml": fmt.Sprintf(flow, name)})
		if i == 1 {
			if err := os.Symlink("../shared", filepath.Join(dir, "flows", "link")); err != nil {
				t.Skip(err)
			}
		}
		var stderr bytes.Buffer
		if code := run([]string{"check", filepath.Join(dir, "flows", "deep", "main.flowgen.yaml")}, nil, &stderr, &stderr); code != 0 {
			t.Errorf("%s: exit code %d\n%s", name, code, stderr.String())
		}
	}
}

// TestKilled: generate that is killed at any moment leaves the old file or the new one.
func TestKilled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("kill")
	}
	exe, dir := selfAsFlowgen(t), t.TempDir()
	flow := func(n int) string {
		var b strings.Builder
		fmt.Fprintf(&b, "flowgen: 1\nname: main\noutput: {n: $n0.n}\nnodes:\n  n199: {let: {n: %d}}\n", n)
		for i := range 199 {
			fmt.Fprintf(&b, "  n%d: {let: {n: $n%d.n + %d}}\n", i, i+1, n)
		}
		return b.String()
	}
	generate := func(kill time.Duration) (killed bool) {
		cmd := exec.Command(exe, "generate", "--package", "main", "main.flowgen.yaml")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(dir, ".cache"), "HOME="+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if kill >= 0 {
			time.Sleep(kill)
			_ = cmd.Process.Kill()
		}
		return cmd.Wait() != nil
	}
	sum := func() string {
		text, err := os.ReadFile(filepath.Join(dir, "main_flow.go"))
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%x", sha256.Sum256(text))
	}
	var sums []string
	longest := time.Duration(0)
	for n := range 2 {
		write(t, dir, map[string]string{"main.flowgen.yaml": flow(n)})
		start := time.Now()
		if generate(-1) {
			t.Fatal("generate fails")
		}
		longest = max(longest, time.Since(start))
		sums = append(sums, sum())
	}
	if sums[0] == sums[1] {
		t.Fatal("the two files are the same")
	}
	// How long it takes changes with what else the machine does, so that the kills follow it: a little later after each
	// that came before the end, a little earlier after each that came too late.
	kills, olds, news := 0, 0, 0
	least := campaign(20, 60, 1000)
	for i := 0; i < least || i < 20*least && (kills == 0 || olds == 0 || news == 0); i++ {
		before := sum()
		next := i % 2
		write(t, dir, map[string]string{"main.flowgen.yaml": flow(next)})
		if generate(rand.N(longest * 5 / 4)) {
			kills++
			longest += longest / 32
		} else {
			longest -= longest / 8
		}
		longest = min(max(longest, time.Millisecond), time.Minute)
		switch now := sum(); now {
		case sums[next]:
			news++
		case before:
			olds++
		default:
			t.Fatalf("after a kill the file is neither the old nor the new one: %s", now)
		}
	}
	t.Logf("%d kills: %d times the old file, %d times the new one", kills, olds, news)
	if kills == 0 || olds == 0 || news == 0 {
		t.Error("the kills did not hit")
	}
	if generate(-1) {
		t.Error("generate fails after all this")
	}
}

// TestNothingChanges: generating again changes no byte and no time of any file.
func TestNothingChanges(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"a/main.flowgen.yaml": "flowgen: 1\nname: a\nnodes: {n: {let: {text: a}}}\noutput: {text: $n.text}\n",
		"b/main.flowgen.yaml": "flowgen: 1\nname: b\nnodes: {n: {let: {text: b}}}\noutput: {text: $n.text}\n",
	})
	t.Chdir(dir)
	state := func() string {
		var b strings.Builder
		err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err == nil && !d.IsDir() {
				text, _ := os.ReadFile(name)
				fmt.Fprintf(&b, "%s %s %x\n", name, info.ModTime(), sha256.Sum256(text))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	first := ""
	for range 3 {
		var out bytes.Buffer
		if code := run([]string{"generate", "./..."}, nil, &out, &out); code != 0 {
			t.Fatal(out.String())
		}
		if now := state(); first == "" {
			first = now
		} else if now != first {
			t.Fatalf("changed:\n%s\n%s", first, now)
		}
	}
	if strings.Count(first, "_flow.go") != 2 {
		t.Error(first)
	}
}

// variation is one way of running the same command.
type variation struct{ tz, locale, umask, procs, flags, cwd string }

func variations() []variation {
	var all []variation
	for _, tz := range []string{"UTC", "Asia/Kolkata", "America/St_Johns"} {
		for _, locale := range []string{"C", "de_DE.UTF-8", "tr_TR.ISO-8859-9"} {
			for _, umask := range []string{"022", "077"} {
				for _, procs := range []string{"1", "8"} {
					for _, flags := range []string{"", "-trimpath", "-mod=readonly", "-race"} { // no go command takes -mod=mod in a workspace
						for _, cwd := range []string{"own", "root", "link"} {
							all = append(all, variation{tz, locale, umask, procs, flags, cwd})
						}
					}
				}
			}
		}
	}
	return all
}

// TestSameBytes: the same file gives the same bytes, wherever, whenever and however flowgen runs, and they say nothing
// about the machine.
func TestSameBytes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	exe := selfAsFlowgen(t)
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(repo, link); err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	all := variations()
	runs := 0
	for _, example := range []string{"examples/hello/hello", "examples/release-notes/release_notes", "examples/api-report/api_report"} {
		sums := map[[32]byte]variation{}
		want, err := os.ReadFile(filepath.Join(repo, example+"_flow.go"))
		if err != nil {
			t.Fatal(err)
		}
		sums[sha256.Sum256(want)] = variation{}
		for i := 0; i < len(all); i += campaign(107, 61, 1) {
			v := all[(i+runs)%len(all)]
			runs++
			out := t.TempDir()
			dir, name := filepath.Join(repo, filepath.Dir(example)), filepath.Base(example)
			switch v.cwd {
			case "root":
				dir, name = repo, example
			case "link":
				dir, name = link, "./"+example
			}
			cmd := exec.Command("sh", "-c", `umask "$1"; exec "$2" generate -o "$3" --package main "$4"`, "sh", v.umask, exe, out, name+suffix)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PWD="+dir, "TZ="+v.tz, "LC_ALL="+v.locale, "LANG="+v.locale, "GOMAXPROCS="+v.procs, "GOFLAGS="+v.flags)
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%+v: %v\n%s", v, err, text)
			}
			text, err := os.ReadFile(filepath.Join(out, filepath.Base(example)+"_flow.go"))
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(text)
			if _, known := sums[sum]; !known {
				t.Errorf("%s: other bytes with %+v", example, v)
			}
			sums[sum] = v
			for _, word := range []string{repo, link, out, time.Now().Format("2006-01-02"), filepath.Dir(exe)} {
				if bytes.Contains(text, []byte(word)) && !bytes.Contains(want, []byte(word)) {
					t.Errorf("%s: the code says %q", example, word)
				}
			}
			if len(host) > 4 && bytes.Contains(text, []byte(host)) && !bytes.Contains(want, []byte(host)) { // one may be called localhost
				t.Errorf("%s: the code says the name of the machine", example)
			}
		}
	}
	t.Logf("%d runs, one result for each example", runs)
	if runs < campaign(6, 10, 400) {
		t.Error("too few runs")
	}
}

// TestReproducible: the same generated code builds into the same bytes in another folder.
func TestReproducible(t *testing.T) {
	if testing.Short() {
		t.Skip("links two programs")
	}
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var sums [][32]byte
	for i := range 2 {
		root := filepath.Join(t.TempDir(), strings.Repeat("deeper/", i*3)+"copy")
		for _, part := range []string{"go.mod", "go.sum", "runtime", "examples/hello"} {
			copyTree(t, filepath.Join(repo, part), filepath.Join(root, part))
		}
		exe := filepath.Join(root, "program")
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", exe, "./examples/hello")
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GOFLAGS=", "PWD="+root)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		text, err := os.ReadFile(exe)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte(root)) {
			t.Error("the program says where it was built")
		}
		sums = append(sums, sha256.Sum256(text))
	}
	if sums[0] != sums[1] {
		t.Error("two builds, two programs")
	}
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil || strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}
