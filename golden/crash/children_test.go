//go:build linux

package crash

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

// marked lists the processes that have text in their environment.
func marked(t *testing.T, text string) (pids []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		if env, err := os.ReadFile(file); err == nil && bytes.Contains(env, []byte("MARK="+text)) {
			pids = append(pids, strings.Split(file, "/")[2])
		}
	}
	return pids
}

// began returns when a process runs that has mark in its environment, however long that takes, or when its program has ended.
func began(t *testing.T, mark string, ended <-chan struct{}) {
	t.Helper()
	until(func() bool {
		select {
		case <-ended:
			return true
		default:
			return len(marked(t, mark)) > 0
		}
	})
}

// until looks at the table of processes until it is as is wants it, and reports whether it ever was. A look takes milliseconds.
func until(is func() bool) bool {
	for end := time.Now().Add(2 * time.Minute); !is(); {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// P12: a program that is asked to stop leaves no process behind that it has started, whenever that is; nor do those
// processes hold it up.
func TestNoChildLeft(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program and stops it")
	}
	exe := program(t, "testdata/sleepers.flowgen.yaml")
	stops := figure(t, "CRASH_CHILDREN", 25)
	r := rand.New(rand.NewPCG(6, 6))
	dir := t.TempDir()
	seen := 0
	for i := range stops {
		mark := fmt.Sprintf("crash-%d-%d", os.Getpid(), i)
		folder := runs.Open(filepath.Join(dir, fmt.Sprint(i)), runs.Options{})
		cmd := exec.Command(exe, "run", "--quiet", "--runs", folder.Dir(), "--input", "mark="+mark, "--input", "n=[1,2,3,4,5,6]")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = cmd.Wait()
		}()
		if i%2 == 0 {
			began(t, mark, ended)
		}
		time.Sleep(time.Duration(r.Int64N(int64(120 * time.Millisecond))))
		if len(marked(t, mark)) > 0 {
			seen++
		}
		told := time.Now()
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
		if took := time.Since(told); took > time.Minute { // its processes would sleep for five
			t.Errorf("it has taken %v to stop", took)
		}
		if code := cmd.ProcessState.ExitCode(); code >= 0 && code != 128+int(syscall.SIGTERM) {
			t.Errorf("exit %d\n%s", code, stderr.String())
		}
		var left []string
		if !until(func() bool { // the system has ended what was killed
			left = marked(t, mark)
			return len(left) == 0
		}) {
			t.Errorf("processes left: %v", left)
		}
		if list, err := folder.List(); err != nil || len(list) > 1 {
			t.Errorf("%v, %v", list, err)
		}
	}
	t.Logf("%d times stopped, %d times while processes ran", stops, seen)
	if seen < stops/4 {
		t.Error("too seldom while processes ran")
	}
}
