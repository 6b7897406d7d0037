package exectool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

const (
	nameRunes    = 64  // of the program's name in a message
	messageRunes = 300 // of the command's own words in a message
)

// name is what messages call the command.
func (c *Command) name() string {
	if c.Shell != "" {
		return "sh"
	}
	if len(c.Args) == 0 {
		return "the command"
	}
	return shown(filepath.Base(c.Args[0]))
}

func shown(s string) string { return plain.Line(s, nameRunes) }

func itoa(n int) string { return strconv.Itoa(n) }

// notStarted says why no process came to be.
func notStarted(c *Command, err error) error {
	var tool *value.ToolError
	if errors.As(err, &tool) { // of the isolation
		return tool
	}
	if errors.Is(err, syscall.E2BIG) {
		return value.Invalid("%s: arguments and environment are too long", c.name())
	}
	// The system says only that something is missing: is it the directory?
	if err := checkDir(c.Dir); err != nil {
		return value.Invalid("%s cannot run in directory %s: %s", c.name(), plain.Line(c.Dir, messageRunes), plain.Line(proc.Innermost(err).Error(), messageRunes))
	}
	return &value.ToolError{Code: value.SandboxError, Message: c.name() + " could not be started: " + plain.Line(proc.Reason(err), messageRunes)}
}

func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return syscall.ENOTDIR
	}
	return err
}

// ended translates the end of the context.
func ended(c *Command, err error, stderr string) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := &value.ToolError{Code: value.Timeout, Message: c.name() + " did not finish in time and was stopped"}
	if stderr != "" {
		e.Details = value.Map(value.Entry{Key: "stderr", Value: value.String(stderr)})
	}
	return e
}

// exitError returns nil for exit code 0.
func exitError(c *Command, state proc.State, stderr *ends) error {
	if state.Lost {
		return &value.ToolError{Code: value.SandboxError, Message: c.name() + " was lost: its end could not be observed"}
	}
	if state.Success() {
		return nil
	}
	e := &value.ToolError{Code: value.ProviderError}
	text := value.Entry{Key: "stderr", Value: value.String(stderr.Text())}
	if signal := state.Signal; signal != "" {
		e.Message = c.name() + " was killed by " + signal
		e.Details = value.Map(value.Entry{Key: "signal", Value: value.String(signal)}, text)
	} else {
		e.Message = c.name() + " exited with status " + itoa(state.Code)
		code := value.Int(int64(state.Code))
		e.Details = value.Map(value.Entry{Key: "exit_code", Value: code}, text)
	}
	if first := plain.Line(stderr.first(), messageRunes); first != "" {
		e.Message += ": " + first
	}
	return e
}

func tooLarge(c *Command, most int) error {
	e := value.Errorf(value.PolicyDenied, "%s wrote more than the %d bytes allowed: raise max_output", c.name(), most)
	e.Details = value.Map(value.Entry{Key: "max_output", Value: value.Int(int64(most))})
	return e
}

// badOutput says whose output the decoder complains about.
func badOutput(c *Command, err error) error {
	var tool *value.ToolError
	if !errors.As(err, &tool) {
		return value.Invalid("output of %s: %s", c.name(), plain.Line(err.Error(), messageRunes))
	}
	e := *tool
	e.Message = "output of " + c.name() + ": " + e.Message
	return &e
}
