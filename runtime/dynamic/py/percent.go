package py

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Percent is one conversion of Python's % formatting; ok is false for a value that it does not take.
func Percent(flags string, verb byte, v value.Value) (text string, ok bool) {
	if !bounded(flags) {
		return "", false
	}
	switch verb {
	case 's':
		return fmt.Sprintf("%"+flags+"s", Str(dynamic.Of(v))), true
	case 'r':
		return fmt.Sprintf("%"+flags+"s", Repr(v)), true
	case 'd', 'i':
		n, numeric := number(v)
		if numeric {
			return fmt.Sprintf("%"+flags+"d", int64(n.Float())), true
		}
	case 'x', 'X', 'o':
		if v.Kind() == value.IntKind {
			return fmt.Sprintf("%"+flags+string(verb), v.Int()), true
		}
	case 'f', 'F', 'e', 'E', 'g', 'G':
		n, numeric := number(v)
		if numeric {
			return fmt.Sprintf("%"+flags+strings.ToLower(string(verb)), n.Float()), true
		}
	}
	return "", false
}

// bounded reports whether the numbers of flags are not too large.
func bounded(flags string) bool {
	for _, part := range strings.FieldsFunc(flags, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.Atoi(part); err != nil || n > maxWidth {
			return false
		}
	}
	return true
}

// Format is str.format with arguments by their place, also with !r and !s.
func Format(s string, args ...dynamic.Field) (string, error) {
	var b strings.Builder
	next := 0
	for i := 0; i < len(s); i++ {
		switch {
		case i+1 < len(s) && (s[i] == '{' || s[i] == '}') && s[i+1] == s[i]:
			b.WriteByte(s[i])
			i++
		case s[i] == '{':
			end := strings.IndexByte(s[i:], '}')
			if end < 0 {
				return "", errors.New("expected '}' before end of string")
			}
			name, spec, _ := strings.Cut(s[i+1:i+end], ":")
			name, as, _ := strings.Cut(name, "!")
			at := next
			if name != "" {
				n, err := strconv.Atoi(name)
				if err != nil {
					return "", fmt.Errorf("no argument is called %q", name)
				}
				at = n
			}
			next++
			if at < 0 || at >= len(args) {
				return "", errors.New("replacement index out of range")
			}
			v := args[at].Value()
			switch as {
			case "r":
				v = value.String(Repr(v))
			case "s":
				v = value.String(Text(v))
			}
			text, err := Spec(v, spec)
			if err != nil {
				return "", err
			}
			b.WriteString(text)
			i += end
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), nil
}

// Spec is format(v, spec) of Python.
func Spec(v value.Value, spec string) (string, error) {
	switch v.Kind() {
	case value.StringKind:
		return FormatString(v.String(), spec)
	case value.IntKind:
		return FormatInt(v.Int(), spec)
	case value.FloatKind:
		if n := Big(v); n != nil {
			return FormatBig(n, spec)
		}
		return FormatFloat(v.Float(), spec)
	case value.BoolKind:
		if spec != "" {
			n, _ := number(v)
			return FormatInt(n.Int(), spec)
		}
	}
	if spec != "" {
		return "", fmt.Errorf("the format %q does not fit %s", spec, Repr(v))
	}
	return Str(dynamic.Of(v)), nil
}
