package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTour follows a page with a program of the test's own in place of flowgen.
func TestTour(t *testing.T) {
	bin := t.TempDir()
	script := "#!/bin/sh\ncase $1 in check) echo 'error: wrong'; exit 1;; run) cat \"$2\"; echo 3 guests;; esac\n"
	if err := os.WriteFile(filepath.Join(bin, "flowgen"), []byte(script), 0o755); err != nil {
		t.Skip(err)
	}
	page := "# P\n\n## A 60-second tour\n\nSave it as `a.flowgen.yaml`:\n\n```yaml\nname: a\n```\n\n```console\n$ flowgen run a.flowgen.yaml\n...\n3 guests\n" +
		"$ flowgen check a.flowgen.yaml\nerror: wrong\n$ true\n$ flowgen plan && true\n$ sed -i.bak s/a/b/ a.flowgen.yaml\n```\n\n" +
		"Save it as `b.test.yaml`:\n\n```yaml\ncases: {}\n```\n\n```console\n$ cat b.test.yaml\ncases: {}\n```\n\n## End\n"
	env := []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}
	for _, tt := range []struct{ name, old, new, want string }{
		{"right", "", "", ""},
		{"another output", "3 guests", "4 guests", `prints no line "4 guests"`},
		{"a command that fails", "$ true", "$ false", "$ false"},
		{"no tour", "60-second", "61-second", "no tour"},
		{"no name", "`a.flowgen.yaml`", "it", "does not say"},
		{"no name of the second", "as `b.test.yaml`", "too", "does not say"},
		{"another file", "b.test.yaml", "c.test.yaml", ""},
		{"no commands", "$ ", "% ", "only 0 commands"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			readme := filepath.Join(dir, "README.md")
			text := page
			if tt.old != "" {
				text = strings.ReplaceAll(page, tt.old, tt.new)
			}
			if err := os.WriteFile(readme, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			err := tour(t.Context(), readme, filepath.Join(dir, "tour"), env)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}
