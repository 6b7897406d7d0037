package programs

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestGo(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links and modes")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repo, own := filepath.Join(top, "repo"), filepath.Join(top, "own")
	for _, name := range []string{"repo/bin/go", "own/go"} {
		name = filepath.Join(top, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte("#!/bin/sh\nexit 1\n"), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(repo, "flows"), 0o755), os.WriteFile(filepath.Join(repo, "go.mod"), nil, 0o644),
		os.Mkdir(filepath.Join(top, "link"), 0o755), os.Symlink(filepath.Join(repo, "bin"), filepath.Join(top, "linked")),
		os.Symlink("../repo/bin/go", filepath.Join(top, "link", "go")), os.Symlink(own, filepath.Join(repo, "ours"))); err != nil {
		t.Fatal(err)
	}
	t.Chdir(repo)
	t.Setenv("HOME", filepath.Join(top, "nobody"))
	for _, tt := range []struct {
		path    string
		refused bool
	}{
		{own, false}, {own + ":" + repo + "/bin", false}, {top + "/none", false},
		{repo + "/bin:" + own, true}, {repo + "/bin/../bin:" + own, true}, {top + "/linked:" + own, true}, {top + "/link:" + own, true},
		{repo + "/ours:" + own, true}, {"bin:" + own, true}, {"./bin", true}, {top + "/own/../repo/bin", true},
	} {
		t.Setenv("PATH", tt.path)
		if err := CheckGo(filepath.Join(repo, "flows")); (err != nil) != tt.refused {
			t.Errorf("%s: %v", tt.path, err)
		}
	}
	t.Setenv("HOME", repo) // a home is its user's
	t.Setenv("PATH", repo+"/bin")
	if err := CheckGo(filepath.Join(repo, "flows")); err != nil {
		t.Error(err)
	}
}

func TestGoEnvironment(t *testing.T) {
	repo := t.TempDir()
	if err := os.WriteFile(filepath.Join(repo, "go.mod"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	sep := string(filepath.ListSeparator)
	other := t.TempDir()
	env := GoEnvironment([]string{"A=b", "GOPACKAGESDRIVER=/x", "PATH=" + strings.Join([]string{repo, ".", other, "", filepath.Join(repo, "bin")}, sep), "CGO_ENABLED=1", "GOFLAGS=-mod=mod -race"}, repo)
	if want := []string{"A=b", "PATH=" + other, "CGO_ENABLED=1", "GOFLAGS=-mod=mod", "GOPACKAGESDRIVER=off", "GOTOOLCHAIN=local"}; !slices.Equal(env, want) {
		t.Errorf("%q, want %q", env, want)
	}
}
