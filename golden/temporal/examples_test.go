//go:build unix

package temporal

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/examples/api-report/shop"
)

// examples are those that run without a model's key, but for incident, which has a test of its own.
var examples = map[string]string{
	"hello":         "../../examples/hello/hello.flowgen.yaml",
	"api_report":    "../../examples/api-report/api_report.flowgen.yaml",
	"release_notes": "../../examples/release-notes/release_notes.flowgen.yaml",
	"orders":        "../../examples/orders/orders.flowgen.yaml",
}

// Every example that needs no model returns on the server what it returns in one process, and its history replays.
func TestExamples(t *testing.T) {
	served(t)
	s, err := shop.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	inputs := map[string][]string{
		"hello":         {"--input", "language=german"},
		"api_report":    {"--input", "port=" + strconv.Itoa(s.Port)},
		"release_notes": {"--input", "repo=" + repository(t), "--input", "audience=users"},
		"orders":        {"--input", "customer=ann", "--input", "item=tea", "--input", "amount=2"},
	}
	for name, file := range examples {
		t.Run(name, func(t *testing.T) {
			orders := func() {
				if name == "orders" {
					t.Setenv("ORDERS_DB", "sqlite://"+stock(t))
				}
			}
			exe := build(t, file)
			orders()
			want := ok(t, exe, append([]string{"run", "--quiet", "--no-journal"}, inputs[name]...)...)
			orders()
			worker(t, exe)
			if got := ok(t, exe, append([]string{"start", "--id", name, "--wait"}, inputs[name]...)...); got != want {
				t.Errorf("%s\nwant %s", got, want)
			}
			ok(t, exe, "replay", name)
			record(t, exe, name)
		})
	}
}

// repository is one of git with a few commits.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", args, err, out)
		}
	}
	git("init", "--quiet")
	for _, subject := range []string{"feat: count all lines", "fix: end with a line", "docs: say how", "parser: read faster"} {
		git("commit", "--quiet", "--allow-empty", "-m", subject)
	}
	return dir
}

// stock is the database of the example orders, with some tea.
func stock(t *testing.T) string {
	t.Helper()
	schema, err := os.ReadFile("../../examples/orders/schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "orders.db")
	cmd := exec.CommandContext(t.Context(), "python3", "-c", "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.stdin.read())", file)
	cmd.Stdin = strings.NewReader(string(schema) + "insert into stock values ('tea', 10, 3.5);")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}
