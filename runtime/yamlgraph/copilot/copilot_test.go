package copilot

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// script puts a program that stands in for another one on PATH.
func script(t *testing.T, name, text string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// args is the part of a script that writes its arguments, each in brackets, in one line.
const args = `all() { for a in "$@"; do printf '[%s]' "$(printf %s "$a" | tr '\n' '|')"; done; }
`

func ask(t *testing.T, p Program, prompt, resume string) (string, error) {
	t.Helper()
	rt, err := flow.New(&flow.Info{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	in := []value.Entry{{Key: "prompt", Value: value.String(prompt)}}
	if resume != "" {
		in = append(in, value.Entry{Key: "resume", Value: value.String(resume)})
	}
	run := rt.Start(t.Context())
	v, err := flow.Call(run, &flow.Node{ID: "n"}, Bind("test.n@1", flow.External, p), value.Map(in...))
	if err != nil {
		return "", err
	}
	b, err := v.MarshalJSON()
	return string(b), err
}

// TestCommandLines: what the programs are called with, and what becomes of their answers.
func TestCommandLines(t *testing.T) {
	script(t, "copilot", args+`share=$(printf '%s\n' "$@" | sed -n '/^--share$/{n;p;}')
echo '**Session ID:** `+"`ab-12`"+`' > "$share"
all "$@" | sed "s|$share|SHARE|"
exit ${CODE:-0}`)
	script(t, "claude", args+`case "$*" in
--version) echo "2.0.1 (Claude Code)";;
"auth status") echo '{"loggedIn": true, "authMethod": "oauth_token", "apiProvider": "firstParty"}';;
*) printf '{"result": "%s %s", "session_id": "s1"}' "$(all "$@")" "key:$ANTHROPIC_API_KEY"
esac`)
	script(t, "opencode", args+`[ "$1" = --version ] && { echo 1.0.0; exit; }
echo '{"type":"step_start","sessionID":"o1","part":{"type":"step-start"}}'
printf '{"type":"text","sessionID":"o1","part":{"type":"text","text":"%s"}}\n' "$(all "$@")"
echo '{"type":"step_finish","sessionID":"o1","part":{"reason":"tool-calls"}}'
echo '{"type":"step_start","sessionID":"o1","part":{}}'
echo '{"type":"text","sessionID":"o1","part":{"text":"!"}}'
echo '{"type":"step_finish","sessionID":"o1","part":{"reason":"stop"}}'`)
	t.Setenv("ANTHROPIC_API_KEY", "secret")
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, resume, code string
		p                  Program
		want               string
	}{
		{"cli", "", "0", Program{Backend: "cli"}, `{"output":"[--silent][--share][SHARE][-p][a 'b'|c]","exit_code":0,"model":null,"backend":"cli","session_id":"ab-12"}`},
		{"cli flags", "", "3", Program{Backend: "cli", Model: "m", Before: []string{"--allow-all-paths", "--allow-all-tools"}, Continue: true},
			`{"output":"[--silent][--allow-all-paths][--allow-all-tools][--model][m][--continue][--share][SHARE][-p][a 'b'|c]","exit_code":3,"model":"m","backend":"cli","session_id":"ab-12"}`},
		{"cli resume", "s", "0", Program{Backend: "cli", Continue: true}, `{"output":"[--silent][--resume][s][--share][SHARE][-p][a 'b'|c]","exit_code":0,"model":null,"backend":"cli","session_id":"ab-12"}`},
		{"claude", "s", "0", Program{Backend: "claude", Model: "m", After: []string{"--tools", "", "--allowedTools", "Read", "--max-turns", "3"}, Here: true},
			`{"output":"[-p][a 'b'|c][--output-format][json][--model][m][--resume][s][--tools][][--allowedTools][Read][--add-dir][` + dir + `][--max-turns][3] key:","exit_code":0,"model":"m","backend":"claude","session_id":"s1"}`},
		{"opencode", "s", "0", Program{Backend: "opencode", Model: "a/b"}, `{"output":"[run][a 'b'|c][--format][json][--model][a/b][--session][s]!","exit_code":0,"model":"a/b","backend":"opencode","session_id":"o1"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("CODE", c.code)
			got, err := ask(t, c.p, "a 'b'\nc", c.resume)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestFailures: what programs do wrong is an error that says so.
func TestFailures(t *testing.T) {
	ready := `case "$*" in --version) echo "2.0.1 (Claude Code)"; exit;; "auth status") echo '{"loggedIn": true, "authMethod": "claude.ai", "apiProvider": "firstParty"}'; exit;; esac
`
	event := `[ "$1" = --version ] && { echo 1.0.0; exit; }
`
	for _, c := range []struct {
		name, backend, program, script string
		code                           value.Code
		want                           string
	}{
		{"silent", "cli", "copilot", "echo Error: no network >&2", value.ProviderError, "said nothing"},
		{"other program", "claude", "claude", "echo 1.2.3", value.ProviderError, "Claude Code"},
		{"signed out", "claude", "claude", `[ "$1" = --version ] && { echo "1.0.0 (Claude Code)"; exit; }; echo '{"loggedIn": false, "authMethod": "none", "apiProvider": "firstParty"}'`, value.AuthRequired, "authMethod is none"},
		{"API key", "claude", "claude", `[ "$1" = --version ] && { echo "1.0.0 (Claude Code)"; exit; }; echo '{"loggedIn": true, "authMethod": "api_key", "apiProvider": "firstParty"}'`, value.AuthRequired, "api_key"},
		{"is_error", "claude", "claude", ready + `echo '{"result": "limit", "session_id": "s", "is_error": true}'`, value.ProviderError, "limit"},
		{"no JSON", "claude", "claude", ready + "echo hello", value.ProviderError, "hello"},
		{"code", "claude", "claude", ready + "echo broken >&2; exit 4", value.ProviderError, "ended with 4: broken"},
		{"error event", "opencode", "opencode", event + `echo '{"type":"error","sessionID":"s","error":{"name":"E","data":{"message":"m"}}}'`, value.ProviderError, "E: m"},
		{"no end", "opencode", "opencode", event + `echo '{"type":"step_start","sessionID":"s","part":{}}'`, value.ProviderError, "no end"},
		{"two sessions", "opencode", "opencode", event + `echo '{"type":"step_start","sessionID":"s","part":{}}'; echo '{"type":"text","sessionID":"t","part":{"text":"x"}}'`, value.ProviderError, "another session"},
		{"no event", "opencode", "opencode", event + "echo hello", value.ProviderError, "hello"},
		{"old", "opencode", "opencode", "echo dev", value.ProviderError, "dev"},
	} {
		t.Run(c.name, func(t *testing.T) {
			script(t, c.program, c.script)
			_, err := ask(t, Program{Backend: c.backend, Model: "a/b"}, "p", "")
			var te *value.ToolError
			if !errors.As(err, &te) || te.Code != c.code || !strings.Contains(te.Message, c.want) {
				t.Errorf("got %v, want %s with %q", err, c.code, c.want)
			}
		})
	}
	t.Run("missing", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		_, err := ask(t, Program{Backend: "cli"}, "p", "")
		var te *value.ToolError
		if !errors.As(err, &te) || te.Code != value.SandboxError || !strings.Contains(te.Message, "not installed") {
			t.Error(err)
		}
	})
}
