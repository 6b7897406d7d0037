//go:build unix

package crash

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// stored is a database of runs, read by a program that links its driver.
type stored struct {
	wal.Disk // for what is not read
	exe, url string
	server   string // the URL of its server; "": there is none
	program  string // what its programs are called there
}

func (s *stored) ask(args ...string) ([]byte, error) {
	out, err := exec.Command(s.exe, append([]string{s.url}, args...)...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return out, err
}

func (s *stored) ReadDir(string) ([]string, error) {
	out, err := s.ask("list")
	return strings.Fields(string(out)), err
}

func (s *stored) ReadFile(name string) ([]byte, error) { return s.ask("read", name) }

// left returns when the server has no connection of a program any more: what a dead one has sent may be written after its death, until
// the server has noticed. It counts how often it had not.
func (s *stored) left() (late bool, err error) {
	if s.server == "" {
		return false, nil
	}
	at := stored{exe: s.exe, url: s.server}
	for {
		n, err := at.ask("ask", "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = '"+s.program+"'")
		if err != nil || strings.TrimSpace(string(n)) == "0" {
			return late, err
		}
		late = true
	}
}

// in keeps the runs of a history in a database.
func (h *history) in(address string, s *stored) {
	s.url = address
	if h.at = address; s.server != "" {
		h.at += "&application_name=" + s.program
	}
	h.log, h.behind, h.disk = "", true, s
	h.folder = runs.Open("", runs.Options{Disk: s})
}

// schema is where the runs of a history are.
func schema(address string, seed uint64) string {
	return fmt.Sprintf("%s&lease=1s&search_path=h%d", address, seed)
}

// reader builds the program that reads databases.
func reader(t *testing.T) string {
	t.Helper()
	exe := filepath.Join(binaries, "stored")
	if _, err := os.Stat(exe); err == nil {
		return exe
	}
	if out, err := exec.Command("go", "build", "-ldflags=-s", "-o", exe, "../../runtime/internal/leaves/stored").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exe
}

// TestKilledInDatabases: the promises of TestKilled hold for runs in a database: a killed program's lease expires, and the next goes on. Lines
// of calls without effects are written behind the calls, so the last of those may not be there.
func TestKilledInDatabases(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program and kills it")
	}
	exe := program(t, ledger, "--stores", "postgres,sqlite")
	reader := reader(t)
	for name, kept := range map[string]func(t *testing.T) func(h *history) error{
		"sqlite": func(t *testing.T) func(h *history) error {
			dir := t.TempDir()
			return func(h *history) error {
				h.in("sqlite://"+filepath.Join(dir, fmt.Sprint(h.seed))+"?lease=1s", &stored{exe: reader})
				return nil
			}
		},
		"postgres": func(t *testing.T) func(h *history) error {
			address := postgres(t, reader)
			return func(h *history) error {
				h.in(schema(address, h.seed), &stored{exe: reader, server: address, program: fmt.Sprint("h", h.seed)})
				return nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			kills := figure(t, "CRASH_DATABASE_KILLS", 20)
			all, _, wrong := campaign(t, exe, "effect", kills, false, kept(t))
			for _, err := range wrong {
				t.Error(err)
			}
			t.Logf("%v; %d times the lease of the dead was not over, %d times the server had not noticed the death at once", all, all.leased, all.late)
			if all.kills < kills || all.leased == 0 {
				t.Error("the campaign does not do what it should")
			}
		})
	}
}

// The schemas of a server: the histories of a campaign have the first ones, and the other tests of databases those from here on.
const (
	failing    = 501
	readonly   = 511
	lateness   = 521
	pausing    = 526
	replicated = 527
	schemas    = 530
)

var server struct {
	once      sync.Once
	address   string
	in        io.Closer
	cmd       *exec.Cmd
	complaint string
}

// postgres starts a server with schemas, one for all tests, and returns the beginning of their URLs.
func postgres(t *testing.T, stored string) string {
	t.Helper()
	server.once.Do(func() {
		cmd := exec.Command(stored, "postgres", fmt.Sprint(schemas))
		var complaints strings.Builder
		cmd.Stderr = &complaints
		in, err1 := cmd.StdinPipe()
		out, err2 := cmd.StdoutPipe()
		if err := errors.Join(err1, err2, cmd.Start()); err != nil {
			server.complaint = err.Error()
			return
		}
		address, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			_ = cmd.Wait()
			server.complaint = complaints.String()
			return
		}
		server.address, server.in, server.cmd = strings.TrimSpace(address), in, cmd
	})
	if strings.Contains(server.complaint, "is not installed") && os.Getenv("CI") == "" {
		t.Skip(server.complaint)
	}
	if server.complaint != "" {
		t.Fatal(server.complaint)
	}
	return server.address
}

// stopServer ends what postgres has started.
func stopServer() {
	if server.cmd != nil {
		_ = errors.Join(server.in.Close(), server.cmd.Wait())
	}
}
