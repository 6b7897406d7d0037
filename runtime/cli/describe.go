package cli

import (
	"bytes"
	"encoding/json"

	"github.com/flowgen-dev/flowgen/runtime"
)

// describe answers `plan` and `manifest`: data is the JSON that the program carries.
func describe(s *system, info *runtime.Info, name, data string, text func(string) (string, error), args []string) int {
	set := newFlagSet()
	format := set.String("format", "text", "")
	rest, err := parseFlags(set, args)
	switch {
	case isHelp(err):
		return s.print(usage(info))
	case err != nil:
		s.complain(flagMistake([]string{"format", "help"}, err))
		return exitUsage
	case len(rest) > 0:
		s.complain(mistake{"unexpected argument " + rest[0], "write " + name + " --format text or " + name + " --format json"})
		return exitUsage
	case *format != "text" && *format != "json":
		s.complain(mistake{"there is no format " + *format, "write --format text or --format json"})
		return exitUsage
	case data == "":
		s.complain(mistake{"this program does not carry its " + name, "generate its code again"})
		return exitFault
	}
	if *format == "json" {
		out, err := Indented(data)
		if err != nil {
			s.complain(mistake{err.Error(), ""})
			return exitFault
		}
		return s.print(out)
	}
	out, err := text(data)
	if err != nil {
		s.complain(mistake{err.Error(), ""})
		return exitFault
	}
	return s.print(out)
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
