// Package straced watches programs in tests: what they start and which files they open, found without a list of ways.
package straced

import (
	"maps"
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
	unseen = regexp.MustCompile(`(?m)^(?:clone3?|v?fork)\(.*(?:= \?|<unfinished \.\.\.>)$`)
	opens  = regexp.MustCompile(`^open(?:at2?)?\((.*)\) += \d+<(.*)>$`)
)

// Run runs a command and returns what was seen of it, and what it printed. That it fails is not an error here.
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
	files, err := filepath.Glob(filepath.Join(dir, "log.*"))
	if err != nil {
		t.Fatal(err)
	}
	logs := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		logs[strings.TrimPrefix(filepath.Ext(file), ".")] = string(text)
	}
	seen, lost := join(logs)
	for _, number := range lost {
		t.Errorf("strace does not say what thread %s is part of:\n%s", number, logs[number])
	}
	return seen, printed
}

// join reads the logs of all threads by their numbers. A thread whose beginning strace did not see, since the thread that began it was ended
// in that call, counts as part of each program that was ended so. Lost are threads that did something and belong to no program.
func join(logs map[string]string) (seen Seen, lost []string) {
	begun := map[string]string{} // the program in which a thread or process began, by its number
	var ended []string           // programs of threads that were ended while they began others
	left := slices.Sorted(maps.Keys(logs))
	for {
		before := len(left)
		left = slices.DeleteFunc(left, func(number string) bool {
			text := logs[number]
			program, known := begun[number]
			if first, _, _ := strings.Cut(text, "\n"); !known && !execs.MatchString(first) {
				return false // it is part of something whose log comes later
			}
			if program = seen.read(text, program, begun); unseen.MatchString(text) {
				ended = append(ended, program)
			}
			return true
		})
		if len(left) == before {
			break
		}
	}
	slices.Sort(ended)
	for _, number := range left {
		for _, program := range slices.Compact(slices.Clone(ended)) {
			seen.read(logs[number], program, begun)
		}
		var alone Seen
		if alone.read(logs[number], "", begun); len(ended) == 0 && len(alone.Started)+len(alone.Opens) > 0 {
			lost = append(lost, number)
		}
	}
	return seen, lost
}

// read reads the log of one thread, and returns the program that it was part of at its end.
func (s *Seen) read(text, program string, begun map[string]string) string {
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
	return program
}
