package sirenspec

import (
	"errors"
	"os"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Variables of the environment are put into what models and tools are called with when they are called, so that no record
// has them. Until then a mark is in the text: a NUL, the name, and where the file has one the text for a variable
// without a value. Text that comes from elsewhere keeps no NUL, so that nothing can forge a mark.
const (
	mark      = "\x00"
	markEnd   = "\x01"
	markOr    = "\x02"
	markPlain = "\uFFFD"
)

// marked is the placeholder of a variable as a mark.
func (p Part) marked() string {
	if p.filtered {
		return mark + p.text + markOr + p.fallback + markEnd
	}
	return mark + p.text + markEnd
}

// lookup is the value of a variable. maybe: or stands for one that is not set or empty.
func lookup(name string, maybe bool, or string) (value string, found bool, err error) {
	v, ok := os.LookupEnv(name)
	switch {
	case maybe && v == "":
		return or, false, nil
	case !ok:
		return "", false, interpolation("env."+name, "env", "Environment variable '"+name+"' is not set")
	}
	return v, true, nil
}

// filled puts environment variables in place of their marks.
func filled(text string) (string, error) {
	if !strings.Contains(text, mark) {
		return text, nil
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, mark)
		b.WriteString(before)
		if !ok {
			return b.String(), nil
		}
		name, after, _ := strings.Cut(rest, markEnd)
		name, or, maybe := strings.Cut(name, markOr)
		v, _, err := lookup(name, maybe, or)
		if err != nil {
			return "", err
		}
		b.WriteString(v)
		text = after
	}
}

// fillSystem is for a system with marks. The message is none of the file's.
var fillSystem = llm.NewFilling("sirenspec.system", func(c llm.Conversation) (_ llm.Conversation, err error) {
	c.System, err = filled(c.System)
	return c, err
})

// fillAll is for a conversation with marks.
var fillAll = llm.NewFilling("sirenspec.all", func(c llm.Conversation) (_ llm.Conversation, err error) {
	messages := append([]llm.Message{}, c.Messages...)
	if c.System, err = filled(c.System); err == nil {
		messages[0].Text, err = filled(messages[0].Text)
	}
	c.Messages = messages
	return c, err
})

// shown puts environment variables in place of their marks for a user, but for those whose names say that they
// are secret: what a user is asked is recorded.
func shown(text string) (string, error) {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, mark)
		b.WriteString(before)
		if !ok {
			return b.String(), nil
		}
		inner, after, _ := strings.Cut(rest, markEnd)
		name, _, _ := strings.Cut(inner, markOr)
		v, err := filled(mark + inner + markEnd)
		if err != nil {
			return "", err
		}
		if secretName(name) {
			v = "***"
		}
		b.WriteString(v)
		text = after
	}
}

// Environment puts environment variables into the arguments of a tool, see flow.Filled.
func Environment(v value.Value) (value.Value, error) {
	switch v.Kind() {
	case value.StringKind:
		text, err := filled(v.String())
		return value.String(text), err
	case value.ListKind:
		out := make([]value.Value, v.Len())
		for i := range out {
			x, err := Environment(v.Index(i))
			if err != nil {
				return v, err
			}
			out[i] = x
		}
		return value.List(out...), nil
	case value.MapKind:
		out := make([]value.Entry, v.Len())
		for i, key := range v.Keys() {
			x, err := Environment(v.Index(i))
			if err != nil {
				return v, err
			}
			out[i] = value.Entry{Key: key, Value: x}
		}
		return value.Map(out...), nil
	}
	return v, nil
}

// interpolation is the error of a placeholder, in the engine's words. It is none of a tool: nothing repeats or skips it.
func interpolation(expr, root, reason string) error {
	return value.Errorf(value.ValidationError, "InterpolationError in '{{ %s }}' [%s]: %s", expr, root, reason)
}

func isInterpolation(err error) bool {
	var te *value.ToolError
	return errors.As(err, &te) && strings.HasPrefix(te.Message, "InterpolationError in '")
}

// secretName reports whether a variable seems to hold a secret, by its name: what a server sends back of it is taken out.
func secretName(name string) bool {
	name = strings.ToUpper(name)
	for _, word := range []string{"KEY", "TOKEN", "SECRET", "PASS", "AUTH", "CREDENTIAL", "COOKIE", "SESSION", "PRIVATE"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
