//go:build unix

package crash

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// stored is a database of runs, read by a program that links its driver.
type stored struct {
	wal.Disk // for what is not read
	exe, url string
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

// TestKilledInDatabases: the promises of TestKilled hold for runs in a database: a killed program's lease expires, and the next goes on. Lines
// of calls without effects are written behind the calls, so the last of those may not be there.
func TestKilledInDatabases(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program and kills it")
	}
	exe := program(t, ledger, "--stores", "postgres,sqlite")
	reader := filepath.Join(binaries, "stored")
	if out, err := exec.Command("go", "build", "-ldflags=-s", "-o", reader, "../../runtime/internal/leaves/stored").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	in := func(address string) func(h *history) error {
		return func(h *history) error {
			h.at, h.log, h.behind = address, "", true
			h.disk = &stored{exe: reader, url: address}
			h.folder = runs.Open("", runs.Options{Disk: h.disk})
			return nil
		}
	}
	for name, kept := range map[string]func(t *testing.T) func(h *history) error{
		"sqlite": func(t *testing.T) func(h *history) error {
			dir := t.TempDir()
			return func(h *history) error {
				return in("sqlite://" + filepath.Join(dir, fmt.Sprint(h.seed)) + "?lease=1s")(h)
			}
		},
		"postgres": func(t *testing.T) func(h *history) error {
			address := postgres(t, reader)
			return func(h *history) error { return in(fmt.Sprintf("%s&lease=1s&search_path=h%d", address, h.seed))(h) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			kills := figure(t, "CRASH_DATABASE_KILLS", 20)
			all, _, wrong := campaign(t, exe, "effect", kills, false, kept(t))
			for _, err := range wrong {
				t.Error(err)
			}
			t.Logf("%v; %d times the lease of the dead was not over", all, all.leased)
			if all.kills < kills || all.leased == 0 {
				t.Error("the campaign does not do what it should")
			}
		})
	}
}

// postgres starts a server with schemas for the histories, and returns the beginning of their URLs.
func postgres(t *testing.T, stored string) string {
	t.Helper()
	cmd := exec.Command(stored, "postgres", "500")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaints strings.Builder
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Wait()
		if strings.Contains(complaints.String(), "is not installed") && os.Getenv("CI") == "" {
			t.Skip(complaints.String())
		}
		t.Fatal(complaints.String())
	}
	t.Cleanup(func() { _ = errors.Join(in.Close(), cmd.Wait()) })
	return strings.TrimSpace(address)
}
