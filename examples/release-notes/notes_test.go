package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// repository makes a git repository with the given commit subjects, oldest first.
func repository(t *testing.T, subjects ...string) string {
	t.Helper()
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(os.Environ(),
			"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z",
			"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
			"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	for _, s := range subjects {
		git("commit", "-q", "--allow-empty", "-m", s)
	}
	return dir
}

func TestNotes(t *testing.T) {
	repo := repository(t, "Start", "feat(parser)!: read YAML", "fix: close the file", "docs: say how", "feat: write Go")
	file := filepath.Join(t.TempDir(), "NOTES.md")
	w, err := New()
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.Run(t.Context(), Input{Repo: repo, Limit: 100, Title: "Notes", Audience: "developers", File: &file})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(out.Notes) {
		if i := strings.Index(line, " ("); strings.HasPrefix(line, "- ") && i > 0 {
			line = line[:i] + strings.TrimRight(line[strings.LastIndex(line, ","):], "\n") // the hash is not ours
		}
		lines = append(lines, strings.TrimRight(line, "\n"))
	}
	want := []string{
		"# Notes", "",
		"## Features", "", "- write Go, Ada)", "- **breaking** read YAML, Ada)", "",
		"## Fixes", "", "- close the file, Ada)", "",
		"## Documentation", "", "- say how, Ada)", "",
		"## Other changes", "", "- Start, Ada)", "",
		"5 commits.",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	written, err := os.ReadFile(file)
	if err != nil || string(written) != out.Notes {
		t.Errorf("the file holds %q, %v; want the notes", written, err)
	}
	if out.Bytes == nil || *out.Bytes != len(out.Notes) {
		t.Errorf("bytes = %v, want %d", out.Bytes, len(out.Notes))
	}
}

func TestUsersSeeLess(t *testing.T) {
	w, err := New()
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.Run(t.Context(), Input{Repo: repository(t, "docs: say how", "feat: write Go"), Limit: 10, Title: "T", Audience: "users"})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.Notes, "Documentation") || !strings.Contains(out.Notes, "write Go") || out.Bytes != nil {
		t.Errorf("users see:\n%s(bytes %v)", out.Notes, out.Bytes)
	}
}

// A folder that is not a repository fails at the node that reads it, with the code for a failing command.
func TestNoRepository(t *testing.T) {
	w, err := New()
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Run(t.Context(), Input{Repo: t.TempDir(), Limit: 10, Audience: "users"})
	var te *value.ToolError
	if !errors.As(err, &te) || te.Code != value.ProviderError || !strings.HasPrefix(err.Error(), "release_notes.flowgen.yaml:") {
		t.Errorf("got %v, want PROVIDER_ERROR at the node's line", err)
	}
}
