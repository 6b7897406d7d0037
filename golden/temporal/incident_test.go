//go:build unix

package temporal

import (
	"bufio"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/flowgen-dev/flowgen/examples/incident/services"
	"github.com/flowgen-dev/flowgen/internal/built"
)

const incident = "../../examples/incident/incident.flowgen.yaml"

// directory is the service directory of examples/incident, which kills somebody at a request.
type directory struct {
	front *httptest.Server
	back  *services.Server
	next  http.Handler

	mu    sync.Mutex // guards the following
	in    int        // requests until kill; 0: nobody is killed
	lives bool       // who asks may live: the request gets its answer
	kill  func()
}

func newDirectory(t *testing.T) *directory {
	t.Helper()
	s, err := services.Start()
	if err != nil {
		t.Fatal(err)
	}
	d := &directory{back: s, next: httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "127.0.0.1:" + strconv.Itoa(s.Port)})}
	d.front = httptest.NewServer(d)
	t.Cleanup(func() {
		d.front.CloseClientConnections()
		d.front.Close()
		_ = s.Stop()
	})
	return d
}

// ServeHTTP implements http.Handler.
func (d *directory) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	var kill func()
	if d.in > 0 {
		if d.in--; d.in == 0 {
			kill = d.kill
		}
	}
	lives := d.lives
	d.mu.Unlock()
	if kill != nil {
		kill()
		if !lives {
			<-r.Context().Done() // the process is dead
			return
		}
	}
	d.next.ServeHTTP(w, r)
}

func (d *directory) arm(n int, lives bool, kill func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.in, d.lives, d.kill = n, lives, kill
}

func (d *directory) input() string {
	return "port=" + strconv.Itoa(d.front.Listener.Addr().(*net.TCPAddr).Port)
}

// threeWays are the commands of the guide that run the example, after those that build it.
func threeWays(t *testing.T, replace ...string) (commands [][]string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/guides/temporal.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "## One set of files")
	_, rest, _ = strings.Cut(rest, "```sh\n")
	block, _, _ := strings.Cut(rest, "```")
	const begins = "flowgen build examples/incident/incident.flowgen.yaml --engine temporal --stores postgres -o incident\n" +
		"go run ./examples/incident/directory &\nexport FLOWGEN_ROOT=examples/incident\n"
	if !strings.HasPrefix(block, begins) {
		t.Fatalf("the guide says\n%s", block)
	}
	for line := range strings.Lines(strings.NewReplacer(replace...).Replace(strings.TrimPrefix(block, begins))) {
		commands = append(commands, strings.Fields(strings.TrimPrefix(line, "./incident ")))
	}
	if len(commands) != 5 {
		t.Fatal(commands)
	}
	return commands
}

// The same YAML runs as one process, goes on from PostgreSQL after its process was killed, and runs as two workers of which one is
// killed, with the commands of the guide. The results are the same.
func TestIncident(t *testing.T) {
	served(t)
	for _, name := range []string{"python3", "node"} {
		if _, err := exec.LookPath(name); err != nil && os.Getenv("CI") == "" {
			t.Skip(err)
		}
	}
	dir, err := filepath.Abs(filepath.Dir(incident))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("FLOWGEN_ROOT", dir)
	t.Setenv("FLOWGEN_RUNS", t.TempDir())
	exe := build(t, incident, "--stores", "postgres")
	d := newDirectory(t)
	runs := built.Postgres(t, 1) + "&lease=1s&search_path=h1"
	commands := threeWays(t, "port=7080", d.input(), "postgres://ann@db/runs", runs)
	plain, killed, resumes, works, starts := commands[0], commands[1], commands[2], commands[3], commands[4]

	own := exec.Command(built.Go(t, "examples/incident/directory"))
	said, err := own.StdoutPipe()
	if err != nil || own.Start() != nil {
		t.Fatal("no directory", err)
	}
	t.Cleanup(func() { _ = own.Process.Kill(); _ = own.Wait() })
	port, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	want := ok(t, exe, append(slices.Clone(plain[:len(plain)-1]), strings.TrimSpace(port))...)
	if !strings.Contains(want, "team checkout") {
		t.Fatal(want)
	}

	t.Run("resumed", func(t *testing.T) {
		cmd := exec.Command(exe, killed...)
		d.arm(2, false, func() { _ = cmd.Process.Kill() })
		if out, err := cmd.CombinedOutput(); err == nil {
			t.Fatalf("it was not killed\n%s", out)
		}
		for {
			out, complaints, code := call(t, exe, resumes...)
			if strings.Contains(complaints, "another process") || strings.Contains(complaints, "lease") {
				continue // it is not over
			}
			if code != 0 || out != want {
				t.Errorf("exit %d, %s%s\nwant %s", code, out, complaints, want)
			}
			break
		}
	})
	t.Run("workers", func(t *testing.T) {
		first := worker(t, exe, works[1:]...)
		worker(t, exe, works[1:]...)
		dead := make(chan bool)
		d.arm(2, true, func() { _ = first.Process.Kill(); close(dead) })
		if got := ok(t, exe, starts...); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		<-dead // in the run
		id := starts[slices.Index(starts, "--id")+1]
		ok(t, exe, "replay", id)
		record(t, exe, id)
	})
}

// The guide to replicas resumes the example on another host: its process has another folder, home and temporary files, and nothing is left
// of those of the one that was killed. The commands are those of the guide.
func TestIncidentElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	for _, name := range []string{"python3", "node"} {
		if _, err := exec.LookPath(name); err != nil && os.Getenv("CI") == "" {
			t.Skip(err)
		}
	}
	page, err := os.ReadFile("../../docs/guides/replicas.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "## A killed host")
	_, rest, _ = strings.Cut(rest, "```sh\n")
	first, rest, _ := strings.Cut(rest, "```")
	_, rest, _ = strings.Cut(rest, "```sh\n")
	second, _, found := strings.Cut(rest, "```")
	lines := strings.Split(strings.TrimSpace(first+second), "\n")
	if !found || len(lines) != 6 || !strings.HasPrefix(lines[0], "flowgen build examples/incident/incident.flowgen.yaml ") || !strings.HasPrefix(lines[2], "export FLOWGEN_ROOT=examples/incident ") {
		t.Fatalf("the guide says\n%s%s", first, second)
	}
	build := strings.Fields(lines[0])
	exe := built.Workflow(t, incident, build[3:slices.Index(build, "-o")]...)
	d := newDirectory(t)
	runs := built.Postgres(t, 1) + "&lease=1s&search_path=h1"
	root, err := filepath.Abs(filepath.Dir(incident))
	if err != nil {
		t.Fatal(err)
	}
	host := func(dir, line string) *exec.Cmd {
		cmd := exec.Command(exe, strings.Fields(strings.NewReplacer("./incident ", "", "./incident", "", "port=7080", d.input()).Replace(line))...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "FLOWGEN_ROOT="+root, "FLOWGEN_RUNS="+runs, "HOME="+dir, "TMPDIR="+dir)
		return cmd
	}
	alone := host(t.TempDir(), lines[3]+" --no-journal")
	want, err := alone.Output()
	if err != nil {
		t.Fatal(err)
	}

	dir := filepath.Join(t.TempDir(), "killed")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := host(dir, lines[3])
	d.arm(2, false, func() { _ = cmd.Process.Kill() })
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Fatalf("it was not killed\n%s", out)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	if out, err := host(other, lines[4]).CombinedOutput(); err != nil || !strings.Contains(string(out), "not ended") {
		t.Errorf("%v\n%s", err, out)
	}
	for {
		cmd := host(other, lines[5])
		var complaints strings.Builder
		cmd.Stderr = &complaints
		out, err := cmd.Output()
		if strings.Contains(complaints.String(), "another process") || strings.Contains(complaints.String(), "lease") {
			continue // it is not over
		}
		if err != nil || string(out) != string(want) {
			t.Errorf("%v, %s%s\nwant %s", err, out, complaints.String(), want)
		}
		return
	}
}
