//go:build unix

package temporal

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
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

// The same YAML runs as one process, goes on from PostgreSQL after its process was killed, and runs as two workers of which one is
// killed. The results are the same.
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
	exe := build(t, incident, "--stores", "postgres")
	d := newDirectory(t)
	want := ok(t, exe, "run", "--quiet", "--no-journal", "--input", d.input())
	if !strings.Contains(want, "team checkout") {
		t.Fatal(want)
	}

	t.Run("resumed", func(t *testing.T) {
		runs := built.Postgres(t, 1) + "&lease=1s&search_path=h1"
		cmd := exec.Command(exe, "run", "--quiet", "--runs", runs, "--input", d.input())
		d.arm(2, false, func() { _ = cmd.Process.Kill() })
		if out, err := cmd.CombinedOutput(); err == nil {
			t.Fatalf("it was not killed\n%s", out)
		}
		for {
			out, complaints, code := call(t, exe, "resume", "latest", "--quiet", "--runs", runs)
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
		first := worker(t, exe, "--heartbeat", "2s")
		worker(t, exe, "--heartbeat", "2s")
		dead := make(chan bool)
		d.arm(2, true, func() { _ = first.Process.Kill(); close(dead) })
		ok(t, exe, "start", "--id", "incident", "--input", d.input())
		if got := ok(t, exe, "result", "incident"); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		<-dead // in the run
		ok(t, exe, "replay", "incident")
		record(t, exe, "incident")
	})
}
