// Package shell makes tools of the shell commands of YAMLGraph files: a script with names in braces, each of which
// becomes one quoted word.
package shell

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/py"
	"github.com/flowgen-dev/flowgen/runtime/exectool"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Parse is what the standard output of a command becomes.
type Parse uint8

// Text as it is, the value of a JSON document, or null.
const (
	Text Parse = iota
	JSON
	None
)

// A Command is the script of a tool.
type Command struct {
	Script string // for sh, with names in braces; {{ and }} are braces
	Parse  Parse
	Dir    string   // the working directory; empty: this process's
	Env    []string // KEY=VALUE entries besides the environment of this process
	Codes  []int    // exit codes that are not a failure; nil: 0
}

// Bind makes a tool of a command. Its input is a map with the values of the names: text is quoted for the shell, null is
// nothing, lists and maps are JSON. A name without a value is a VALIDATION_ERROR, and so is output that is not JSON
// where it should be; an exit code that is none of Codes is a PROVIDER_ERROR.
func Bind(name string, e flow.Effects, c Command, o ...flow.ToolOption) *flow.Tool[value.Value, value.Value] {
	return flow.Bind(name, e, func(ctx context.Context, in value.Value) (value.Value, error) {
		script, err := Format(c.Script, in)
		if err != nil {
			return value.Null(), err
		}
		begun := time.Now()
		out, err := exectool.Output(ctx, exectool.Command{Shell: c.wrapped(script), Dir: c.Dir, Env: append(os.Environ(), c.Env...)})
		if err != nil {
			return value.Null(), said(ctx, begun, err)
		}
		return c.parsed(out)
	}, append([]flow.ToolOption{tool.Unisolated(), tool.Cancellable(), flow.MaxOutput(-1)}, o...)...)
}

// said is an error in the words of the engine: what the command has written to its standard error, or its exit code.
func said(ctx context.Context, begun time.Time, err error) error {
	var te *value.ToolError
	if !errors.As(err, &te) {
		return err
	}
	own := *te
	code, exited := te.Details.Get("exit_code")
	stderr, _ := te.Details.Get("stderr")
	deadline, bounded := ctx.Deadline()
	switch {
	case te.Code == value.Timeout && bounded:
		seconds := deadline.Sub(begun).Round(10 * time.Millisecond).Seconds()
		own.Message = "Command timed out after " + strconv.FormatFloat(seconds, 'f', -1, 64) + " seconds"
	case exited && stderr.String() != "":
		own.Message = stderr.String()
	case exited:
		own.Message = "Exit code " + code.String()
	default:
		return err
	}
	return &own
}

// wrapped makes 0 of the exit codes that are not a failure.
func (c Command) wrapped(script string) string {
	if len(c.Codes) == 0 {
		return script
	}
	var codes []string
	for _, code := range c.Codes {
		codes = append(codes, strconv.Itoa(code))
	}
	return "(\n" + script + "\n)\nflowgen_code=$?\ncase $flowgen_code in " + strings.Join(codes, "|") + ") exit 0;; 0) exit 1;; esac\nexit $flowgen_code\n"
}

func (c Command) parsed(out string) (value.Value, error) {
	switch c.Parse {
	case None:
		return value.Null(), nil
	case JSON:
		v, err := value.Parse([]byte(out))
		if err != nil {
			return value.Null(), value.Invalid("JSON parse error: %s", strings.TrimPrefix(err.Error(), string(value.ValidationError)+": "))
		}
		return v, nil
	}
	return value.String(out), nil
}

// Format puts values into a script, each as one word.
func Format(script string, in value.Value) (string, error) {
	var b strings.Builder
	for rest := script; rest != ""; {
		i := strings.IndexAny(rest, "{}")
		if i < 0 {
			b.WriteString(rest)
			break
		}
		b.WriteString(rest[:i])
		brace := rest[i]
		rest = rest[i+1:]
		if rest != "" && rest[0] == brace {
			b.WriteByte(brace)
			rest = rest[1:]
			continue
		}
		name, after, closed := strings.Cut(rest, "}")
		if brace == '}' || !closed {
			return "", value.Invalid("the command has a single %q: two of them stand for one", string(brace))
		}
		v, ok := in.Get(name)
		if !ok {
			return "", value.Invalid("Missing variable: '%s'", name)
		}
		b.WriteString(word(v))
		rest = after
	}
	return b.String(), nil
}

// word is a value as one word of a script.
func word(v value.Value) string {
	text := ""
	switch v.Kind() {
	case value.NullKind:
		return ""
	case value.ListKind, value.MapKind:
		text = py.JSON(v, -1, false)
	default:
		text = py.Str(dynamic.Of(v))
	}
	if text != "" && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'"'"'`) + "'"
}
