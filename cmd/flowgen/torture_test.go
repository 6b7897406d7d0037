package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var sourceLine = regexp.MustCompile(`(?m)^// source: (.*)$`)

// TestExamplesUnderTorture runs every example in a simulation, with fakes of what it reaches: as many seeds as
// TORTURE_TRIALS says, in .ci/run 1,000.
func TestExamplesUnderTorture(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	trials := os.Getenv("TORTURE_TRIALS")
	if trials == "" {
		trials = "20"
	}
	generated, err := filepath.Glob("../../examples/*/*_flow.go")
	if err != nil || len(generated) < 5 {
		t.Fatal("too few examples", generated, err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(cache)))                       // it would be another one beside another XDG_CACHE_HOME
	t.Setenv("GOFLAGS", strings.TrimSpace(os.Getenv("GOFLAGS")+" -ldflags=-s")) // nobody debugs the programs
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("LocalAppData", t.TempDir())
	for i, name := range generated {
		if generated[i], err = filepath.Abs(name); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root)
	for _, name := range generated {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		m := sourceLine.FindSubmatch(text)
		if m == nil {
			t.Errorf("%s does not say its source", name)
			continue
		}
		file, err := filepath.Rel(root, filepath.Join(filepath.Dir(name), string(m[1])))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(string(m[1]), func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			begin := time.Now()
			code := run([]string{"torture", file, "--seed", "0", "--trials", trials}, strings.NewReader(""), &stdout, &stderr)
			t.Logf("with the build %v: %s", time.Since(begin).Round(time.Millisecond), stdout.String())
			if code != 0 || !strings.Contains(stdout.String(), ": "+trials+" trials in ") {
				t.Errorf("exit code %d\n%s", code, stderr.String())
			}
		})
	}
}
