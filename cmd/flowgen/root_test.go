package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestExitCodes(t *testing.T) {
	tests := []struct {
		name   string
		f      func() error
		code   int
		stderr []string
	}{
		{"clean", func() error { return nil }, exitClean, nil},
		{"reported", func() error { return errReported }, exitDiagnostics, nil},
		{"other", func() error { return errors.New("disk full") }, exitDiagnostics, []string{"flowgen: disk full"}},
		{"usage", func() error { return usage("no %s", "such") }, exitUsage, []string{"flowgen: no such", "Usage:"}},
		{"of the program", func() error { return exitCode(42) }, 42, nil},
		{"fault", func() error { return &fault{what: "odd", file: "a.yaml"} }, exitFault, []string{"internal fault: odd", "while compiling a.yaml", "Please report it"}},
		{"panic", func() error { panic("ouch") }, exitFault, []string{"internal fault: ouch", "while compiling b.yaml", "go1.", "root_test.go"}},
		{"nil pointer", func() error { var c *compiled; _ = c.name; return nil }, exitFault, []string{"nil pointer", "Please report it"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			a := &app{stdout: &stdout, stderr: &stderr, file: "b.yaml"}
			cmd := &cobra.Command{Use: "x", Run: func(*cobra.Command, []string) {}}
			_, err := a.guard(func() (*cobra.Command, error) { return cmd, tt.f() })
			if code := a.exit(cmd, err); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			for _, want := range tt.stderr {
				if !strings.Contains(stderr.String(), want) {
					t.Errorf("stderr has no %q:\n%s", want, stderr.String())
				}
			}
			if len(tt.stderr) == 0 && stderr.Len() > 0 || stdout.Len() > 0 {
				t.Errorf("unexpected output: %q %q", stdout.String(), stderr.String())
			}
		})
	}
}

func TestOutputName(t *testing.T) {
	tests := map[string]string{
		"triage.flowgen.yaml":        "triage_flow.go",
		"dir/a-b.flowgen.yaml":       "a-b_flow.go",
		"/x/deploy_windows.yaml":     "deploy_windows_flow.go",
		"x_test.flowgen.yml":         "x_test_flow.go",
		"_.hidden.flowgen.yaml":      "hidden_flow.go",
		".flowgen.yaml":              "workflow_flow.go",
		"noending":                   "noending_flow.go",
		"a.flowgen.yaml.flowgen.yml": "a.flowgen.yaml_flow.go",
	}
	for in, want := range tests {
		if got := outputName(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestIgnored(t *testing.T) {
	tests := map[string]bool{
		"package a\n":                                    false,
		"//go:build ignore\n\npackage a\n":               true,
		"// Copyright\n\n//go:build ignore\npackage a\n": true,
		"//go:build linux || ignore\n\npackage a\n":      false,
		"//go:build !windows\n\npackage a\n":             false,
		"//go:build tools\n\npackage a\n":                true,
		"package a\n\n//go:build ignore\n":               false,
		"//go:build (((\n\npackage a\n":                  false,
	}
	for text, want := range tests {
		if got := ignored([]byte(text)); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

func TestGeneratedHeader(t *testing.T) {
	const text = generatedHeader + sourceHeader + "x.flowgen.yaml\n\npackage x\n"
	for _, s := range []string{text, strings.ReplaceAll(text, "\n", "\r\n")} {
		if !isGenerated([]byte(s)) || generatedFrom([]byte(s)) != "x.flowgen.yaml" {
			t.Errorf("%q is not known as generated from x.flowgen.yaml: %q", s, generatedFrom([]byte(s)))
		}
	}
	if isGenerated([]byte("package x\n" + generatedHeader)) {
		t.Error("a header in the middle counts")
	}
	if got := generatedFrom([]byte(generatedHeader + "package x\n")); got != "another workflow" {
		t.Errorf("without a source: %q", got)
	}
}

func TestWorkflowName(t *testing.T) {
	tests := map[string]string{"demo": "demo", "My-Flow": "my_flow", "2nd.try": "nd_try", "äöü": "demo", "state": "demo", "": "demo", "a--": "a"}
	for in, want := range tests {
		if got := workflowName(in); got != want || !validName.MatchString(got) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	got := wrap("one two  three\nfour averyveryverylongword ü", 10)
	if want := "one two\nthree four\naveryveryverylongword\nü"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestExecutable(t *testing.T) {
	dir := t.TempDir()
	tests := []struct{ goos, out, want string }{
		{"linux", "", "greet"},
		{"windows", "", "greet.exe"},
		{"linux", "bin/x", "bin/x"},
		{"linux", dir, dir + "/greet"},
		{"linux", "new/", "new/greet"},
	}
	for _, tt := range tests {
		t.Setenv("GOOS", tt.goos)
		if got := strings.ReplaceAll(executable(tt.out, "greet"), `\`, "/"); got != strings.ReplaceAll(tt.want, `\`, "/") {
			t.Errorf("%s %q: %q, want %q", tt.goos, tt.out, got, tt.want)
		}
	}
}
