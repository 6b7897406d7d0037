package exectool

import (
	"context"
	"os"
	"os/exec"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/internal/locate"
	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

const shell = "/bin/sh"

// prepare checks what the operating system would refuse with an obscure error
// or, worse, silently cut, and returns the command to start.
func prepare(c *Command) (*exec.Cmd, error) {
	argv := c.Args
	if c.Shell != "" {
		argv = append([]string{shell, "-c", c.Shell, "sh"}, c.Args...)
	}
	if len(argv) == 0 || argv[0] == "" {
		return nil, value.Invalid("the command has no program")
	}
	for i, arg := range argv {
		if strings.IndexByte(arg, 0) >= 0 {
			return nil, value.Invalid("%s: %s contains a NUL byte", c.name(), argName(c, i))
		}
	}
	if strings.IndexByte(c.Dir, 0) >= 0 {
		return nil, value.Invalid("%s: the directory contains a NUL byte", c.name())
	}
	for _, entry := range c.Env {
		key, _, ok := strings.Cut(entry, "=")
		if !ok || key == "" || strings.IndexByte(entry, 0) >= 0 {
			return nil, value.Invalid("%s: environment entry %s cannot be set", c.name(), shown(key))
		}
	}
	if c.Dir == "" && c.Shell == "" {
		argv = append([]string{locate.Program(argv[0])}, argv[1:]...)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = c.Dir
	if cmd.Env = proc.Environment(c.Env...); c.Inherit {
		cmd.Env = append(os.Environ(), c.Env...)
	}
	return cmd, nil
}

// argName says which argument of the author's command argv[i] is.
func argName(c *Command, i int) string {
	if c.Shell == "" {
		if i == 0 {
			return "the program"
		}
		return "argument " + itoa(i)
	}
	if i < 4 {
		return "the script"
	}
	return "argument " + itoa(i-3)
}

// withSecrets completes the environment with the secrets that the call was given.
func withSecrets(ctx context.Context, c *Command) error {
	if len(c.SecretEnv) == 0 {
		return nil
	}
	env := append([]string(nil), c.Env...)
	for _, entry := range c.SecretEnv {
		key, name, _ := strings.Cut(entry, "=")
		v, ok := tool.Secret(ctx, name)
		if !ok {
			return &value.ToolError{Code: value.AuthRequired, Message: "secret " + shown(name) + " is not set"}
		}
		env = append(env, key+"="+v)
	}
	c.Env = env
	return nil
}

func (c *Command) maxOutput() int64 {
	if c.MaxOutput > 0 {
		return c.MaxOutput
	}
	return DefaultMaxOutput
}
