//go:build unix

// Package postgrestest starts PostgreSQL servers for tests: a cluster of its own in a temporary folder, on a socket there.
package postgrestest

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/internal/eventually"
)

// nobody is who the server runs as where the test is root's: PostgreSQL refuses to.
const nobody = 65534

// ErrMissing is the error of Server where PostgreSQL is not installed.
var ErrMissing = errors.New("PostgreSQL is not installed: Debian has it in the package postgresql")

// Start starts a server and returns the URL of its database. It ends with the test. Without the programs the test is skipped, and fails
// in CI.
func Start(t testing.TB) string {
	t.Helper()
	address, stop, err := Server()
	if errors.Is(err, ErrMissing) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return address
}

// Server starts a server and returns the URL of its database, and what ends it.
func Server() (address string, stop func(), err error) {
	bin := programs()
	if bin == "" {
		return "", nil, ErrMissing
	}
	parent := os.TempDir()
	if os.Getuid() == 0 && !entered(parent) {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "pg") // short: the name of a socket has 100 bytes
	if err != nil {
		return "", nil, err
	}
	remove := func() { _ = os.RemoveAll(dir) }
	defer func() {
		if err != nil {
			remove()
		}
	}()
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
		if os.Getuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
		return cmd
	}
	if os.Getuid() == 0 {
		if err := os.Chown(dir, nobody, nobody); err != nil {
			return "", nil, err
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", nil, err
	}
	data := filepath.Join(dir, "data")
	if out, err := command("initdb", "-D", data, "-U", "flowgen", "-A", "trust", "-E", "UTF8", "--no-sync", "--wal-segsize=1").CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	server := command("postgres", "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "unix_socket_permissions=0777",
		"-c", "max_wal_size=64MB", "-c", "temp_file_limit=16MB") // a statement that fills the disk fails instead
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return "", nil, err
	}
	defer log.Close()
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = server.Process.Signal(syscall.SIGINT) // ends the connections
		_ = server.Wait()
		remove()
	}
	if !eventually.Is(func() bool { return command("pg_isready", "-h", dir, "-q").Run() == nil }) {
		text, _ := os.ReadFile(log.Name())
		stop()
		return "", nil, fmt.Errorf("PostgreSQL does not begin:\n%s", text)
	}
	return "postgres://flowgen@/postgres?" + strings.ReplaceAll(url.Values{"host": {dir}}.Encode(), "+", "%20"), stop, nil
}

// entered reports whether every user may enter a folder.
func entered(dir string) bool {
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil || info.Mode()&1 == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

// programs is the folder with the newest of the server's programs; "" when there is none.
func programs() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	slices.SortFunc(found, func(a, b string) int { return version(a) - version(b) })
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1])
	}
	if name, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(name)
	}
	return ""
}

func version(initdb string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb))))
	return n
}
