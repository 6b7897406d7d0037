package cli

import (
	"bytes"
	"encoding/json"

	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// describe answers `plan` and `manifest`: data is the JSON that the program carries.
func describe(s *system, info *flow.Info, name, data string, text func(string) (string, error), args []string) int {
	format, code, ok := formatOf(s, info, name, args, "text", "json")
	if !ok {
		return code
	}
	if data == "" {
		s.complain(mistake{"this program does not carry its " + name, "generate its code again"})
		return ExitFault
	}
	if format == "json" {
		out, err := Indented(data)
		if err != nil {
			s.complain(mistake{err.Error(), ""})
			return ExitFault
		}
		return s.print(out)
	}
	out, err := text(data)
	if err != nil {
		s.complain(mistake{err.Error(), ""})
		return ExitFault
	}
	return s.print(out)
}

// formatOf reads the flags of a verb that prints in one of two formats; the first is the default.
func formatOf(s *system, info *flow.Info, verb string, args []string, first, second string) (format string, code int, ok bool) {
	set := newFlagSet()
	set.StringVar(&format, "format", first, "")
	rest, err := parseFlags(set, args)
	switch {
	case isHelp(err):
		return "", s.print(help(info)), false
	case err != nil:
		s.complain(flagMistake([]string{"format", "help"}, err))
	case len(rest) > 0:
		s.complain(mistake{"unexpected argument " + rest[0], "write " + verb + " --format " + first + " or " + verb + " --format " + second})
	case format != first && format != second:
		s.complain(mistake{"unknown format " + format, "write --format " + first + " or --format " + second})
	default:
		return format, 0, true
	}
	return "", ExitUsage, false
}

// Indented is one line of JSON as it is printed and checked in. Characters that could move a terminal's cursor or hide text
// are escaped: the same value, harmless wherever it is printed.
func Indented(data string) (string, error) {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(data), "", "  "); err != nil {
		return "", err
	}
	b.WriteByte('\n')
	return string(harmless(b.Bytes())), nil
}
