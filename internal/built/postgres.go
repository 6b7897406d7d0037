package built

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// Postgres starts a PostgreSQL server for the test, with the schemas h1 to hN, and returns the beginning of its URLs. Where it is not
// installed the test is skipped, and fails in CI. The program that starts it also reads and changes databases for tests that link no
// driver: see runtime/internal/leaves/stored.
func Postgres(t testing.TB, schemas int) (address string) {
	t.Helper()
	cmd := exec.Command(Go(t, "runtime/internal/leaves/stored"), "postgres", strconv.Itoa(schemas))
	var complaints strings.Builder
	cmd.Stderr = &complaints
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
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
