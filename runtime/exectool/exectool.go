// Package exectool makes tools of commands: programs that read arguments,
// environment and standard input and write their result to standard output.
//
// Generated code binds every tool of kind `command` with one of Text, Lines,
// JSON and None. A command is an argument vector and never passes through a
// shell unless it says so; values are never interpolated into a script.
//
// # Process handling
//
// Every command runs in a session and process group of its own, without a
// terminal. When the context ends, or
// the output grows beyond its cap, the group gets SIGTERM and, Grace later,
// SIGKILL, so children that ignore SIGTERM go as well. A command ends when its
// first process ends: what background children write within Grace after that
// still counts, then they are killed. A process that leaves the group (setsid)
// can be held only by a sandbox; it does not hold up the call, whose pipes are
// closed. A tool bound with tool.Isolate starts its commands in that
// isolation, in a private directory where Dir is empty. Without one a command has
// the rights of this program; it leaves no core dump and, on Linux, has limits on
// memory and open files that only a fault goes beyond. They are set once it has
// started: a guard against accidents, not a security boundary. On systems without process groups only the first process is killed.
//
// # Errors
//
//   - VALIDATION_ERROR: an argument, environment entry or directory that no
//     process can be given; output that is not UTF-8 or not of the declared type
//   - POLICY_DENIED: output beyond the cap (details max_output), as with
//     flow.MaxOutput
//   - SANDBOX_ERROR: the program is missing, is not executable, could not be
//     started or not be isolated; nothing ran, and a retry does not help. An
//     isolated command that went beyond the size of its private directory, too
//   - TIMEOUT: the context's deadline passed
//   - PROVIDER_ERROR: exit code other than 0 (details exit_code, stderr) or death
//     by a signal (details signal, stderr)
//
// Cancellation comes back as the context's error, not as a tool error.
package exectool

import (
	"context"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

const (
	// Grace is the time between SIGTERM and SIGKILL, and the time background
	// children get to finish writing once the command itself has ended.
	Grace = 200 * time.Millisecond

	// DefaultMaxOutput is the cap of a command that names none: 2 MiB.
	DefaultMaxOutput = 2 << 20
)

// Command is one execution of a program.
type Command struct {
	// Args is the program and its arguments. A program without a slash is
	// looked up in this process's PATH; one with a slash is relative to Dir, and without
	// Dir to the folder that FLOWGEN_ROOT names, else the working directory.
	Args []string

	// Dir is the working directory; empty means, and a relative path starts
	// from, the working directory of this process.
	Dir string

	// Env holds KEY=VALUE entries. They are all the command sees besides
	// PATH, HOME, LANG, TZ and TMPDIR of this process, which they override.
	Env []string

	// Inherit shows the command the entire environment of this process.
	Inherit bool

	// Verbatim makes Text keep the final line break.
	Verbatim bool

	// SecretEnv holds KEY=SECRET entries: variables whose values are secrets,
	// by name. The tool must ask for them with flow.Secrets. The values
	// reach the process and nothing else.
	SecretEnv []string

	// Stdin is written to the command's standard input. A command may end
	// without reading it.
	Stdin string

	// Shell, when set, is a script for /bin/sh -c. Args are then its $1, $2
	// and so on, and never become part of the script's text.
	Shell string

	// MaxOutput bounds standard output in bytes; 0 means DefaultMaxOutput. Text and values beyond it are cut, and
	// the whole is kept where the run has a store (runtime.WithBlobs).
	MaxOutput int64

	// Err says that the command could not be made of the input: nothing is started, and the call fails with it.
	Err error
}

// bind makes a tool whose processes policies may want to have isolated.
func bind[In, Out any](name string, e flow.Effects, f func(context.Context, In) (Out, error), o ...flow.ToolOption) *flow.Tool[In, Out] {
	return flow.Bind(name, e, f, append([]flow.ToolOption{tool.Unisolated(), tool.Cancellable(), flow.MaxOutput(-1)}, o...)...)
}

// Text binds a command whose result is its standard output as text. The output
// must be UTF-8; one final line break (\n or \r\n) is removed, as $(...) in a
// shell does for the usual single one, and everything else is kept exactly.
func Text[In any](name string, e flow.Effects, f func(In) Command, o ...flow.ToolOption) *flow.Tool[In, string] {
	return bind(name, e, func(ctx context.Context, in In) (string, error) {
		c := f(in)
		limit := int(c.maxOutput())
		out, err := run(ctx, &c, tool.Room[string](ctx, limit))
		if err != nil {
			return "", err
		}
		all, err := text(&c, out)
		if err != nil {
			return "", err
		}
		return tool.Beginning(ctx, all, limit)
	}, o...)
}

// Lines binds a command whose result is the list of lines of its standard
// output, split at \n or \r\n. The output must be UTF-8. There is no empty last
// line for the final line break, and empty output is an empty list.
func Lines[In any](name string, e flow.Effects, f func(In) Command, o ...flow.ToolOption) *flow.Tool[In, []string] {
	return bind(name, e, func(ctx context.Context, in In) ([]string, error) {
		c := f(in)
		limit := int(c.maxOutput())
		out, err := run(ctx, &c, tool.Room[[]string](ctx, limit))
		if err != nil {
			return nil, err
		}
		if len(out) > limit {
			var none []string
			return nil, badOutput(&c, tool.Cut(ctx, out, limit, &none))
		}
		return lines(&c, out)
	}, o...)
}

// JSON binds a command whose standard output is one JSON document of type Out,
// decoded as strictly as value.Decode does.
func JSON[In, Out any](name string, e flow.Effects, f func(In) Command, o ...flow.ToolOption) *flow.Tool[In, Out] {
	return bind(name, e, func(ctx context.Context, in In) (Out, error) {
		var v Out
		c := f(in)
		limit := int(c.maxOutput())
		out, err := run(ctx, &c, tool.Room[Out](ctx, limit))
		if err != nil {
			return v, err
		}
		if err := tool.Cut(ctx, out, limit, &v); err != nil {
			return v, badOutput(&c, err)
		}
		return v, nil
	}, o...)
}

// StandIn binds a shell command in place of a function that a program would bring, as `flowgen run --slot` does: it reads
// the input as JSON and writes the output as JSON, or nothing when Out is struct{}. An empty script fails.
func StandIn[In, Out any](name string, e flow.Effects, script string, o ...flow.ToolOption) *flow.Tool[In, Out] {
	return bind(name, e, func(ctx context.Context, in In) (Out, error) {
		var v Out
		if script == "" {
			return v, value.Errorf(value.SandboxError, "no implementation of %s is given; name a command with `--slot`", name)
		}
		c := Command{Shell: script, Stdin: value.JSON(in)}
		out, err := run(ctx, &c, int(c.maxOutput()))
		if _, nothing := any(v).(struct{}); err != nil || nothing {
			return v, err
		}
		if err := value.Decode(out, &v); err != nil {
			return v, badOutput(&c, err)
		}
		return v, nil
	}, o...)
}

// None binds a command whose standard output is read and thrown away, without a
// cap. Exit code, deadline and cancellation count as everywhere.
func None[In any](name string, e flow.Effects, f func(In) Command, o ...flow.ToolOption) *flow.Tool[In, struct{}] {
	return bind(name, e, func(ctx context.Context, in In) (struct{}, error) {
		c := f(in)
		_, err := run(ctx, &c, 0)
		return struct{}{}, err
	}, o...)
}

// Output runs a command inside of a tool that is bound otherwise and returns its standard output, which must be UTF-8, as
// it is. Errors are those of Text.
func Output(ctx context.Context, c Command) (string, error) {
	out, err := run(ctx, &c, int(c.maxOutput()))
	if err != nil {
		return "", err
	}
	if err := checkUTF8(&c, out); err != nil {
		return "", err
	}
	return string(out), nil
}
