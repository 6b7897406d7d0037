// Package straced watches programs in tests: what they start and which files they open, found without a list of ways.
package straced

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// An Open is a file or folder that was opened.
type Open struct {
	Program string // that opened it, as it was started
	Path    string // of what was opened, without links
	Write   bool   // it was opened for writing
}

// Seen is what a program did, with all that it started.
type Seen struct {
	Started []string
	Opens   []Open
}

// Need skips the test where strace is not installed; with CI set it fails.
func Need(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("strace is not installed")
	}
}

var (
	execs  = regexp.MustCompile(`^execve(?:at)?\((?:[^",]*, )?"([^"]*)".*\) += 0$`)
	clones = regexp.MustCompile(`^(?:clone3?|v?fork)\(.*\) += (\d+)$`)
	opens  = regexp.MustCompile(`^open(?:at2?)?\((.*)\) += \d+<(.*)>$`)
)

// Run runs a command and returns what was seen of it, and what it printed. That it fails is no error here.
func Run(t testing.TB, cmd *exec.Cmd) (seen Seen, printed []byte) {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	// One file for each thread, so that no line is divided; names of files as they are without links.
	cmd.Args = append([]string{strace, "-ff", "-y", "-qq", "-s", "4096", "-e", "trace=execve,execveat,open,openat,openat2,clone,clone3,fork,vfork", "-e", "signal=none",
		"-o", filepath.Join(dir, "log"), cmd.Path}, cmd.Args[1:]...)
	cmd.Path = strace
	printed, _ = cmd.CombinedOutput()
	logs, err := filepath.Glob(filepath.Join(dir, "log.*"))
	if err != nil {
		t.Fatal(err)
	}
	begun := map[string]string{} // the program in which a thread or process began, by its number
	for len(logs) > 0 {
		before := len(logs)
		logs = slices.DeleteFunc(logs, func(log string) bool {
			program, known := begun[strings.TrimPrefix(filepath.Ext(log), ".")]
			text, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			if !known && !execs.Match(text[:max(0, strings.IndexByte(string(text), '\n'))]) {
				return false // it is part of something whose log comes later
			}
			seen.read(string(text), program, begun)
			return true
		})
		if len(logs) == before {
			t.Fatalf("strace does not say what these are part of: %q", logs)
		}
	}
	return seen, printed
}

// read reads the log of one thread.
func (s *Seen) read(text, program string, begun map[string]string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := execs.FindStringSubmatch(line); m != nil {
			program = m[1]
			s.Started = append(s.Started, program)
		} else if m := clones.FindStringSubmatch(line); m != nil {
			begun[m[1]] = program
		} else if m := opens.FindStringSubmatch(line); m != nil {
			s.Opens = append(s.Opens, Open{program, strings.TrimSuffix(m[2], " (deleted)"), strings.Contains(m[1], "O_WRONLY") || strings.Contains(m[1], "O_RDWR") || strings.Contains(m[1], "O_CREAT")})
		}
	}
}
