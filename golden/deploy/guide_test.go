//go:build unix

// Package deploy tries the recipes of docs/guides/deploy.md and the steps of action.yml.
package deploy

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/flowgen-dev/flowgen/internal/offline"
)

const page = "../../docs/guides/deploy.md"

var (
	fileBlock = regexp.MustCompile("(?ms)^```[a-z]+ file=(\\S+)\\n(.*?)^```$")
	yamlBlock = regexp.MustCompile("(?ms)^```yaml\\n(.*?)^```$")
)

// A guide is the page: its files, and the program that its recipes are about.
type guide struct {
	files map[string]string
	dir   string // the project
	bin   string // the folder of flowgen
	build string // the root of the first stage of the Dockerfile
	exe   string // the program
	env   []string
}

func open(t *testing.T) *guide {
	t.Helper()
	if testing.Short() {
		t.Skip("builds programs")
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	g := &guide{files: map[string]string{}, dir: t.TempDir(), bin: t.TempDir(), build: t.TempDir()}
	for _, m := range fileBlock.FindAllStringSubmatch(string(text), -1) {
		g.files[m[1]] = m[2]
	}
	m := yamlBlock.FindStringSubmatch(string(text))
	if m == nil {
		t.Fatal("the page has no workflow")
	}
	home := t.TempDir()
	g.env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+home, "PATH="+g.bin+string(os.PathListSeparator)+os.Getenv("PATH"), "NO_COLOR=1", "GOWORK=off")
	for name, value := range offline.Env(t) {
		g.env = append(g.env, name+"="+value)
	}
	write(t, filepath.Join(home, "go/telemetry/mode"), "off") // else the go command leaves a process behind
	write(t, filepath.Join(g.dir, "greeting.flowgen.yaml"), m[1])
	mod, sum := offline.Module(t, "example.com/app")
	write(t, filepath.Join(g.dir, "go.mod"), string(mod))
	write(t, filepath.Join(g.dir, "go.sum"), string(sum))
	if out, err := exec.Command("go", "build", "-ldflags=-s", "-o", g.bin, "../../cmd/flowgen").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return g
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// file is a file of the page.
func (g *guide) file(t *testing.T, name string) string {
	t.Helper()
	if g.files[name] == "" {
		t.Fatalf("the page has no file %s", name)
	}
	return g.files[name]
}

// run runs a command of the project, which must succeed.
func (g *guide) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	if name == "flowgen" {
		name = filepath.Join(g.bin, name)
	}
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = g.dir, g.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// needs skips a test whose program is missing. Those that .ci/run installs are not missing there.
func needs(t *testing.T, program string, installed bool) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		if installed && os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// greets runs a command that is one run, and returns what it said on standard output.
func greets(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil || strings.Contains(complaints.String(), "warning:") {
		t.Fatalf("%q: %v\n%s", cmd.Args, err, complaints.String())
	}
	return out.String()
}

// A server is the program as the verb serve.
type server struct {
	cmd         *exec.Cmd
	addr, admin string
	log         chan string
}

func serve(t *testing.T, exe string, args, env []string) *server {
	t.Helper()
	s := &server{cmd: exec.Command(exe, args...), log: make(chan string, 1)}
	s.cmd.Dir, s.cmd.Env = t.TempDir(), env
	out, err := s.cmd.StderrPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ready := make(chan struct{})
	go func() {
		var all strings.Builder
		for lines := bufio.NewScanner(out); lines.Scan(); {
			all.WriteString(lines.Text() + "\n")
			var record struct{ Msg, Addr, Admin string }
			if json.Unmarshal(lines.Bytes(), &record) == nil && record.Msg == "listening" {
				s.admin = max(s.admin, record.Admin)
				if s.addr = record.Addr; s.addr != "" {
					close(ready)
				}
			}
		}
		s.log <- all.String()
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill() // it has ended, or the test failed
		_ = s.cmd.Wait()
		http.DefaultClient.CloseIdleConnections()
	})
	select {
	case <-ready:
	case text := <-s.log:
		t.Fatalf("%q did not start:\n%s", args, text)
	}
	return s
}

// stop ends the server as Kubernetes and systemd do.
func (s *server) stop(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	log := <-s.log
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, log)
	}
}

// The tokens of the file that tokens writes: one that begins and reads runs, and one that only begins them.
const token, startToken = "of both", "of the webhook"

func tokens(t *testing.T, dir string) string {
	t.Helper()
	name := filepath.Join(dir, "tokens")
	write(t, name, fmt.Sprintf("sha256=%x name=ci tenant=acme rights=start,read\nsha256=%x name=webhook tenant=acme rights=start\n",
		sha256.Sum256([]byte(token)), sha256.Sum256([]byte(startToken))))
	return name
}

type answer struct {
	status int
	header http.Header
	body   string
}

func ask(t *testing.T, method, url, body string, headers ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(text)}
}

// begin makes a run and returns its id.
func (s *server) begin(t *testing.T) string {
	t.Helper()
	url := "http://" + s.addr + "/v1/workflows/greeting/runs"
	if a := ask(t, "POST", url, `{}`, "Content-Type", "application/json"); a.status != http.StatusUnauthorized {
		t.Errorf("without a token: %d %s", a.status, a.body)
	}
	a := ask(t, "POST", url, `{"name": "Ada"}`, "Content-Type", "application/json", "Prefer", "wait=60", "Authorization", "Bearer "+token)
	var run struct {
		ID     string
		Output struct{ Text string }
	}
	if err := json.Unmarshal([]byte(a.body), &run); err != nil || a.status != http.StatusCreated || run.Output.Text != "Hello, Ada!" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	return run.ID
}

func (s *server) has(t *testing.T, run string) {
	t.Helper()
	if a := ask(t, "GET", "http://"+s.addr+"/v1/runs/"+run, "", "Authorization", "Bearer "+token); a.status != http.StatusOK {
		t.Errorf("run %s: %d %s", run, a.status, a.body)
	}
}

// recorded counts the runs of a folder.
func recorded(t *testing.T, folder string) (n int) {
	t.Helper()
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if f.IsDir() && !strings.HasPrefix(f.Name(), ".") {
			n++
		}
	}
	return n
}

// substituted is a list with words replaced, each of which must be there.
func substituted(t *testing.T, list []string, words map[string]string) (out []string) {
	t.Helper()
	used := map[string]bool{}
	for _, word := range list {
		if by, ok := words[word]; ok {
			used[word], word = true, by
		}
		out = append(out, word)
	}
	for word := range words {
		if !used[word] {
			t.Fatalf("%q has no %s", list, word)
		}
	}
	return out
}
