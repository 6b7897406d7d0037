// Package copilot asks the programs of the copilot nodes of YAMLGraph files: copilot, claude and opencode, which have to be
// installed and signed in. No shell sees what they receive.
package copilot

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A Program is what a node asks, and how.
type Program struct {
	Backend       string   // cli, claude or opencode
	Model         string   // empty: the program's own
	Before, After []string // flags before and after the session
	Continue      bool     // the last session goes on
	Here          bool     // claude: the working directory is one that the program may use
}

// Bind makes a tool of a program. Its input is a map with the prompt and, where a session goes on, resume; its output is the
// map that the engine gives: output, exit_code, model, backend and session_id. A program that is not there is a SANDBOX_ERROR;
// one that fails, or says what cannot be read, is a PROVIDER_ERROR. The exit code of the program copilot is part of the
// output.
func Bind(name string, e flow.Effects, p Program, o ...flow.ToolOption) *flow.Tool[value.Value, value.Value] {
	return flow.Bind(name, e, func(ctx context.Context, in value.Value) (value.Value, error) {
		text := func(key string) string {
			if v, ok := in.Get(key); ok && v.Kind() == value.StringKind {
				return v.String()
			}
			return ""
		}
		prompt, resume := text("prompt"), text("resume")
		switch p.Backend {
		case "claude":
			return p.claude(ctx, prompt, resume)
		case "opencode":
			return p.opencode(ctx, prompt, resume)
		}
		return p.cli(ctx, prompt, resume)
	}, append([]flow.ToolOption{tool.Unisolated(), tool.Cancellable(), flow.MaxOutput(-1)}, o...)...)
}

// answer is what a node gets.
func (p Program) answer(output string, code int, session string) value.Value {
	text := func(s string) value.Value {
		if s == "" {
			return value.Null()
		}
		return value.String(s)
	}
	return value.Map(
		value.Entry{Key: "output", Value: value.String(output)}, value.Entry{Key: "exit_code", Value: value.Int(int64(code))},
		value.Entry{Key: "model", Value: text(p.Model)}, value.Entry{Key: "backend", Value: value.String(p.Backend)}, value.Entry{Key: "session_id", Value: text(session)})
}

// args are those of a program with its session.
func (p Program) args(args []string, model, resume, session, last string) []string {
	args = append(args, p.Before...)
	if p.Model != "" {
		args = append(args, model, p.Model)
	}
	switch {
	case resume != "":
		args = append(args, session, resume)
	case p.Continue && last != "":
		args = append(args, last)
	}
	return append(args, p.After...)
}

var sessionLine = regexp.MustCompile("(?i)\\*\\*Session ID:\\*\\*\\s*`([a-f0-9-]+)`")

// cli asks the program copilot, which writes its session to a file.
func (p Program) cli(ctx context.Context, prompt, resume string) (value.Value, error) {
	dir, err := os.MkdirTemp("", "copilot-")
	if err != nil {
		return value.Null(), err
	}
	defer os.RemoveAll(dir)
	share := filepath.Join(dir, "session.md")
	args := append(p.args([]string{"--silent"}, "--model", resume, "--resume", "--continue"), "--share", share, "-p", prompt)
	r, err := run(ctx, os.Environ(), "copilot", args...)
	if err != nil {
		return value.Null(), err
	}
	if r.code == 0 && strings.TrimSpace(r.out) == "" && strings.Contains(strings.ToLower(r.stderr), "error") {
		return value.Null(), value.Errorf(value.ProviderError, "copilot said nothing and ended well: %s", head(r.stderr))
	}
	session := ""
	if b, err := os.ReadFile(share); err == nil {
		if m := sessionLine.FindSubmatch(b); m != nil {
			session = string(m[1])
		}
	}
	return p.answer(strings.ToValidUTF8(r.out, "\ufffd"), r.code, session), nil
}

// A result is what a program left.
type result struct {
	out, stderr string
	code        int
}

// maxOutput is how much a program may say.
const maxOutput = 16 << 20

// run runs a program until it ends.
func run(ctx context.Context, env []string, name string, args ...string) (result, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limited{&out}, &limited{&stderr}
	cmd.Env, cmd.WaitDelay = env, 5*time.Second
	err := cmd.Run()
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return result{}, ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return result{}, value.Errorf(value.SandboxError, "the program %s is not installed, or not on PATH", name)
	case errors.As(err, &ended):
		return result{out.String(), stderr.String(), ended.ExitCode()}, nil
	case err != nil:
		return result{}, value.Errorf(value.ProviderError, "%s could not be run: %v", name, err)
	}
	return result{out.String(), stderr.String(), 0}, nil
}

// limited keeps as much as maxOutput.
type limited struct{ b *bytes.Buffer }

func (w *limited) Write(p []byte) (int, error) {
	if room := maxOutput - w.b.Len(); room > 0 {
		w.b.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

// head is the beginning of what a program said.
func head(s string) string {
	r := []rune(strings.TrimSpace(strings.ToValidUTF8(s, "\ufffd")))
	return string(r[:min(len(r), 200)])
}
