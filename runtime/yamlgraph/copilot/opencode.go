package copilot

import (
	"context"
	"os"
	"regexp"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

var version = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`)

// opencode asks the program opencode, which answers with events, one a line.
func (p Program) opencode(ctx context.Context, prompt, resume string) (value.Value, error) {
	r, err := run(ctx, os.Environ(), "opencode", "--version")
	if err != nil {
		return value.Null(), err
	}
	if r.code != 0 || !version.MatchString(strings.TrimSpace(r.out)) {
		return value.Null(), value.Errorf(value.ProviderError, "the program opencode says its version is %q, and not X.Y.Z", head(r.out))
	}
	args := p.args([]string{"run", prompt, "--format", "json"}, "--model", resume, "--session", "")
	if r, err = run(ctx, os.Environ(), "opencode", args...); err != nil {
		return value.Null(), err
	}
	if r.code != 0 {
		said := r.stderr
		if said == "" {
			said = r.out
		}
		return value.Null(), value.Errorf(value.ProviderError, "opencode ended with %d: %s", r.code, head(said))
	}
	output, session, wrong := events(r.out)
	if wrong != "" {
		return value.Null(), value.Errorf(value.ProviderError, "opencode: %s", wrong)
	}
	return p.answer(output, 0, session), nil
}

// events reads the events of a conversation: steps with text in them, the last of which stops.
func events(out string) (text, session, wrong string) {
	open, done, any := false, false, false
	for _, line := range strings.Split(out, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		v, err := value.Parse([]byte(line))
		kind, id := field(v, "type"), field(v, "sessionID")
		switch {
		case err != nil || kind == "":
			return "", "", "this is not an event: " + head(line)
		case id == "" || session != "" && id != session:
			return "", "", "an event of another session: " + head(line)
		case done:
			return "", "", "an event after the end: " + head(line)
		}
		session = id
		part, _ := v.Get("part")
		switch {
		case kind == "error":
			e, _ := v.Get("error")
			data, _ := e.Get("data")
			return "", "", field(e, "name") + ": " + field(data, "message")
		case kind == "step_start" && !open:
			open = true
		case kind == "text" && open:
			text += field(part, "text")
			any = true
		case kind == "tool_use" && open:
		case kind == "step_finish" && open && (field(part, "reason") == "stop" || field(part, "reason") == "tool-calls"):
			open, done = false, field(part, "reason") == "stop"
		default:
			return "", "", "an event that does not belong here: " + head(line)
		}
	}
	if !done || !any {
		return "", "", "the conversation has no end, or no text"
	}
	return text, session, ""
}

func field(v value.Value, key string) string {
	x, _ := v.Get(key)
	if x.Kind() != value.StringKind {
		return ""
	}
	return x.String()
}
