package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const top = "../.."

func file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestWorkflowsOfGitHub: what the workflows run exists, and no action floats on a branch.
func TestWorkflowsOfGitHub(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(top, ".github/workflows/*.yaml"))
	if err != nil || len(names) == 0 {
		t.Fatal("no workflows", err)
	}
	found := map[string]bool{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, script := range regexp.MustCompile(`\.ci/[a-z-]+`).FindAllString(string(text), -1) {
			found[script] = true
			if info, err := os.Stat(filepath.Join(top, script)); err != nil || info.Mode()&0o111 == 0 {
				t.Errorf("%s: %s is no program (%v)", filepath.Base(name), script, err)
			}
		}
		for _, m := range regexp.MustCompile(`uses: (\S+)`).FindAllStringSubmatch(string(text), -1) {
			if !regexp.MustCompile(`@v[0-9]`).MatchString(m[1]) {
				t.Errorf("%s: %s has no version", filepath.Base(name), m[1])
			}
		}
		if !strings.Contains(string(text), "\npermissions: {contents: read}\n") {
			t.Errorf("%s does not start with read access only", filepath.Base(name))
		}
	}
	for _, script := range []string{".ci/run", ".ci/targets", ".ci/compare", ".ci/notes", ".ci/modules", ".ci/release-config"} {
		if !found[script] {
			t.Errorf("no workflow runs %s", script)
		}
	}
}

// TestVersionsOfGo: the image of a release has the Go that go.mod asks for.
func TestVersionsOfGo(t *testing.T) {
	mod := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(file(t, "go.mod"))
	if image := file(t, ".github/Dockerfile"); mod == nil || !strings.Contains(image, "FROM golang:"+mod[1]+"-") {
		t.Errorf("the image is not of Go %v", mod)
	}
	if settings := file(t, ".goreleaser.yaml"); !strings.Contains(settings, "dockerfile: .github/Dockerfile") {
		t.Error(".goreleaser.yaml does not use .github/Dockerfile")
	}
}

// TestChangelog: CHANGELOG.md has the form that .ci/notes reads: versions, and the kinds of changes of Keep a Changelog.
func TestChangelog(t *testing.T) {
	text := file(t, "CHANGELOG.md")
	for _, m := range regexp.MustCompile(`(?m)^(##+) (.*)$`).FindAllStringSubmatch(text, -1) {
		switch {
		case m[1] == "##" && !regexp.MustCompile(`^\[(Unreleased|\d+\.\d+\.\d+)\]( - \d{4}-\d\d-\d\d)?$`).MatchString(m[2]):
			t.Errorf("%q is no version", m[2])
		case m[1] == "###" && !slices.Contains([]string{"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}, m[2]):
			t.Errorf("%q is no kind of change", m[2])
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^## \[(.*?)\]`).FindAllStringSubmatch(text, -1) {
		if !strings.Contains(text, "\n["+m[1]+"]: https://") {
			t.Errorf("%s has no link", m[1])
		}
	}
}
