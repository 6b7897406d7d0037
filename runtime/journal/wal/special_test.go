//go:build unix

package wal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A folder of runs that comes from elsewhere cannot make the log read, write or lock a file outside, wait for a pipe, or
// fill the memory.
func TestSpecialFiles(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside.jsonl")
	line := []byte("{}")
	l, _, err := Open(OS, outside, Buffered)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Append(line, false); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(outside)
	if err != nil {
		t.Fatal(err)
	}
	nothing := filepath.Join(filepath.Dir(outside), "nothing")
	for name, tt := range map[string]struct {
		at   string // what is made in place of the log, or of its lock
		make func(name string) error
	}{
		"link to a log":             {"", func(name string) error { return os.Symlink(outside, name) }},
		"dangling link":             {"", func(name string) error { return os.Symlink(nothing, name) }},
		"link to an endless device": {"", func(name string) error { return os.Symlink("/dev/zero", name) }},
		"pipe":                      {"", func(name string) error { return unix.Mkfifo(name, 0o600) }},
		"folder":                    {"", func(name string) error { return os.Mkdir(name, 0o700) }},
		"link as lock":              {".lock", func(name string) error { return os.Symlink(outside, name) }},
		"dangling link as lock":     {".lock", func(name string) error { return os.Symlink(nothing, name) }},
		"pipe as lock":              {".lock", func(name string) error { return unix.Mkfifo(name, 0o600) }},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "journal.jsonl")
			if err := tt.make(file + tt.at); err != nil {
				t.Fatal(err)
			}
			if l, _, err := Open(OS, file, Buffered); err == nil {
				_ = l.Append(line, false)
				_ = l.Close()
				t.Error("it was opened")
			} else if !strings.HasSuffix(err.Error(), "is not a regular file") {
				t.Errorf("got %v", err)
			}
			if tt.at == "" {
				if _, err := OS.ReadFile(file); err == nil {
					t.Error("it was read")
				}
			}
		})
	}
	if after, err := os.ReadFile(outside); err != nil || string(after) != string(before) {
		t.Errorf("the file outside has changed: %q, %v", after, err)
	}
	if _, err := os.Lstat(nothing); err == nil {
		t.Error("a file was made through a link")
	}
	// A hole of a tebibyte.
	hole := filepath.Join(t.TempDir(), "journal.jsonl")
	if err := os.WriteFile(hole, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(hole, 1<<40); err != nil {
		t.Skipf("this file system has no holes: %v", err)
	}
	if _, err := OS.ReadFile(hole); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("a hole: %v", err)
	}
}
