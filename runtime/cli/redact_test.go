package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/redact"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// P30: whatever happens to a run, nothing the program writes holds a secret that the user, a tool or the body let out.
func TestSecretsAreNotPrinted(t *testing.T) {
	const secret = `s3cr3t "token" <1>`
	t.Setenv("SAMPLE_TOKEN", secret)
	info := *sampleInfo
	info.Secrets = []string{"SAMPLE_TOKEN"}
	quoted, _ := json.Marshal(secret)
	inner := string(quoted[1 : len(quoted)-1])
	leaks := map[string]func(context.Context, sampleInput) (sampleInput, error){
		"result": func(_ context.Context, in sampleInput) (sampleInput, error) {
			in.Tags = []string{secret, inner}
			in.Extra = value.Map(value.Entry{Key: secret, Value: value.String(secret)})
			return in, nil
		},
		"error": func(context.Context, sampleInput) (sampleInput, error) { return sampleInput{}, errors.New(secret) },
		"details": func(context.Context, sampleInput) (sampleInput, error) {
			te := value.Errorf(value.ProviderError, "%s", inner)
			te.Details = value.String(secret)
			return sampleInput{}, te
		},
		"panic": func(context.Context, sampleInput) (sampleInput, error) { panic(secret) },
	}
	argses := [][]string{nil, {"--quiet"}, {"--json-events"}, {"--raw", "repo"}, {"--raw", "tags"}, {"--input", "limit=" + secret}, {"--input", "mode=" + secret}}
	check := func(name string, c *console, code int) {
		t.Helper()
		for what, b := range map[string]string{"stdout": c.out.String(), "stderr": c.err.String()} {
			for _, form := range []string{secret, inner, strings.ReplaceAll(secret, `"`, `\"`)} {
				if strings.Contains(b, form) {
					t.Errorf("%s (exit %d): %s holds the secret:\n%s", name, code, what, b)
				}
			}
		}
	}
	for leak, f := range leaks {
		for _, args := range argses {
			for _, repo := range []string{"r", secret} {
				c := newConsole(append([]string{"--input", "repo=" + repo}, args...)...)
				code := run(&c.system, &workflow{info: &info, run: bind(func(o ...runtime.Option) (*sample, error) {
					rt, err := flow.New(&info, o...)
					if err != nil {
						return nil, err
					}
					return &sample{rt, flow.Bind("sample.echo@1", flow.Reads, f)}, nil
				})})
				check(fmt.Sprint(leak, args, repo), c, code)
			}
		}
	}
	// A panic of the body itself is not an error of a tool.
	c := newConsole("--input", "repo=r")
	code := run(&c.system, &workflow{info: &info, run: func(context.Context, []byte, ...runtime.Option) ([]byte, stage, error) { panic(secret) }})
	check("body", c, code)
	if code != ExitFault || !strings.Contains(c.err.String(), redact.Redacted) {
		t.Errorf("exit %d: %s", code, c.err.String())
	}
}

func TestWarningsAreShown(t *testing.T) {
	start := func(o ...runtime.Option) (*sample, error) {
		rt, err := flow.New(sampleInfo, o...)
		if err != nil {
			return nil, err
		}
		return &sample{rt, flow.Bind("sample.echo@1", flow.Reads, echo, flow.Deprecated())}, nil
	}
	for flag, want := range map[string]string{"--json-events": `"kind":"warning"`, "--input=limit=1": "warning   tool sample.echo@1 is deprecated\n", "--quiet": ""} {
		c := newConsole("--input", "repo=r", flag)
		if code := run(&c.system, &workflow{info: sampleInfo, run: bind(start)}); code != ExitOK {
			t.Fatalf("exit %d: %s", code, c.err.String())
		}
		if got := c.err.String(); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %s", flag, got)
		}
	}
}
