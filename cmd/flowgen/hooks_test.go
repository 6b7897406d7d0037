package main

import (
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestHooks: what the pre-commit hooks start exists, with its flags.
func TestHooks(t *testing.T) {
	text, err := os.ReadFile("../../.pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	entries := regexp.MustCompile(`(?m)^  entry: flowgen (.+)$`).FindAllStringSubmatch(string(text), -1)
	if len(entries) != 3 {
		t.Fatalf("%d hooks", len(entries))
	}
	for _, e := range entries {
		a := &app{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard}
		cmd, rest, err := a.root().Find(strings.Fields(e[1]))
		if err != nil || !cmd.Runnable() || cmd.Name() == "flowgen" {
			t.Errorf("%s: %v", e[0], err)
			continue
		}
		if err := cmd.ParseFlags(rest); err != nil {
			t.Errorf("%s: %v", e[0], err)
		}
	}
	for _, pattern := range regexp.MustCompile(`(?m)^  files: (.+)$`).FindAllStringSubmatch(string(text), -1) {
		if re := regexp.MustCompile(pattern[1]); !re.MatchString("flows/triage"+suffix) || re.MatchString("other.yaml") {
			t.Errorf("%s matches the wrong files", pattern[1])
		}
	}
}
