// Package stargraph is what nodes of Stargraph need when they run: Python's formats, traces of calls, artifacts and the
// tools that come with the engine.
package stargraph

import (
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/dynamic/py"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// The format of these functions is what is behind the name of a field in a template: a conversion (!r, !s or !a) and,
// behind a colon, Python's format. What Python raises for is a VALIDATION_ERROR.

// FormatString writes text.
func FormatString(value, format string) (string, error) {
	return formatted(format, py.Quote(value), value, func(spec string) (string, error) { return py.FormatString(value, spec) })
}

// FormatInt writes an integer.
func FormatInt(value int64, format string) (string, error) {
	text, _ := py.FormatInt(value, "")
	return formatted(format, text, text, func(spec string) (string, error) { return py.FormatInt(value, spec) })
}

// FormatFloat writes a number.
func FormatFloat(value float64, format string) (string, error) {
	text := py.Float(value)
	return formatted(format, text, text, func(spec string) (string, error) { return py.FormatFloat(value, spec) })
}

// FormatBool writes True or False, and a number with a format.
func FormatBool(value bool, format string) (string, error) {
	text, n := "False", int64(0)
	if value {
		text, n = "True", 1
	}
	return formatted(format, text, text, func(spec string) (string, error) {
		if spec == "" {
			return text, nil
		}
		return py.FormatInt(n, spec)
	})
}

// FormatMember writes a member of an Enum, whose names say what Python's str makes of each value.
func FormatMember(member, format string, names map[string]string) (string, error) {
	name := names[member]
	return formatted(format, "<"+name+": "+py.Quote(member)+">", name, func(spec string) (string, error) { return py.FormatString(name, spec) })
}

// FormatBytes writes bytes as Python's literal of them.
func FormatBytes(value []byte, format string) (string, error) {
	text := py.Bytes(value)
	return formatted(format, text, text, func(spec string) (string, error) { return plain(text, spec, "bytes") })
}

// FormatValue writes a list, a dict, None or what else a dynamic value is.
func FormatValue(value value.Value, format string) (string, error) {
	return formatValue(value, format)
}

func formatValue(v value.Value, format string) (string, error) {
	switch v.Kind() {
	case value.StringKind:
		return FormatString(v.String(), format)
	case value.IntKind:
		return FormatInt(v.Int(), format)
	case value.FloatKind:
		if n := py.Big(v); n != nil {
			return py.FormatBig(n, format)
		}
		return FormatFloat(v.Float(), format)
	case value.BoolKind:
		return FormatBool(v.Bool(), format)
	}
	text := py.Repr(v)
	name := "NoneType"
	switch v.Kind() {
	case value.ListKind:
		name = "list"
	case value.MapKind:
		name = "dict"
	}
	return formatted(format, text, text, func(spec string) (string, error) { return plain(text, spec, name) })
}

func plain(text, spec, kind string) (string, error) {
	if spec != "" {
		return "", value.Errorf(value.ValidationError, "unsupported format string passed to %s.__format__", kind)
	}
	return text, nil
}

// formatted applies a conversion, and the format to what it gives.
func formatted(format, repr, str string, v func(spec string) (string, error)) (string, error) {
	conversion, spec, _ := strings.Cut(format, ":")
	var text string
	var err error
	switch conversion {
	case "!r":
		text, err = py.FormatString(repr, spec)
	case "!a":
		text, err = py.FormatString(py.ASCII(repr), spec)
	case "!s":
		text, err = py.FormatString(str, spec)
	default:
		text, err = v(spec)
	}
	if err != nil {
		return "", value.Errorf(value.ValidationError, "%s", err)
	}
	return text, nil
}
