package cli

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
)

// rawField says what keeps --raw from printing a field: only text can be printed as it is.
func rawField(info *flow.Info, name string) *mistake {
	var names []string
	for _, f := range info.Output {
		t := strings.TrimSuffix(strings.TrimPrefix(f.Type, "opt<"), ">")
		text := t == "string" || t == "list<string" || strings.HasPrefix(t, "enum<")
		switch {
		case f.Name == name && text:
			return nil
		case f.Name == name:
			return &mistake{"--raw: " + safe(name) + " is " + safe(f.Type) + ", not text", "leave --raw out to print the result as JSON"}
		}
		names = append(names, f.Name)
	}
	m := &mistake{"--raw: the result has no field " + safe(name), "see --help"}
	if near := nearest(name, names); near != "" {
		m.help = "did you mean " + near + "?"
	} else if len(names) > 0 {
		m.help = "it has " + strings.Join(names, ", ")
	}
	return m
}

// rawText takes one field out of a result: text as it is, a list of texts as lines, an absent value as nothing. What
// could drive a terminal is taken out; line breaks and tabs stay.
func rawText(result []byte, name string) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(result, &fields); err != nil {
		return nil, err
	}
	var lines []string
	if json.Unmarshal(fields[name], &lines) != nil {
		var text *string
		if err := json.Unmarshal(fields[name], &text); err != nil {
			return nil, err
		}
		if text == nil {
			return nil, nil
		}
		lines = []string{*text}
	}
	var b []byte
	for _, line := range lines {
		for _, r := range line {
			if r == '\n' || r == '\t' || !plain.Hidden(r) && r >= ' ' && (r < 0x7f || r >= 0xa0) {
				b = utf8.AppendRune(b, r)
			}
		}
		if len(b) > 0 && b[len(b)-1] != '\n' || len(lines) > 1 && line == "" {
			b = append(b, '\n')
		}
	}
	return b, nil
}
