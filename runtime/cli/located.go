package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// unfit are the mistakes of an input that does not fit the workflow's types. Values of a JSON file are told with line and column.
func (in *inputs) unfit(err error) (out []mistake) {
	tell := func(path, message string) {
		place := "input"
		if name := firstName(path); in != nil && in.fromFile[name] {
			place = position(in.file, in.text, offsetOf(in.text, path))
		}
		out = append(out, mistake{place + ": " + message, ""})
	}
	var te *value.ToolError
	if !errors.As(err, &te) {
		tell("", err.Error())
		return out
	}
	if list, ok := te.Details.Get("violations"); ok {
		for i := range list.Len() {
			v := list.Index(i)
			path, _ := v.Get("path")
			message, _ := v.Get("message")
			tell(path.String(), message.String())
		}
		return out
	}
	path, _ := te.Details.Get("path")
	tell(path.String(), te.Message)
	return out
}

// firstName is the first name of a path such as `who.age`, `tags[1]` or `["a b"].x`.
func firstName(path string) string {
	name, _, _ := nextStep(path)
	return name
}

// nextStep splits the first step off a path: a name, or an index when there is none.
func nextStep(path string) (name string, index int, rest string) {
	path = strings.TrimPrefix(path, ".")
	switch {
	case strings.HasPrefix(path, `["`):
		quoted, err := strconv.QuotedPrefix(path[1:])
		if err != nil {
			return path, 0, ""
		}
		name, _ = strconv.Unquote(quoted)
		return name, 0, strings.TrimPrefix(path[1+len(quoted):], "]")
	case strings.HasPrefix(path, "["):
		number, rest, _ := strings.Cut(path[1:], "]")
		index, _ = strconv.Atoi(number)
		return "", index, rest
	}
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i], 0, path[i:]
	}
	return path, 0, ""
}

// offsetOf is where the value at path begins in JSON text, or the innermost value around it that is there.
func offsetOf(text []byte, path string) int {
	dec := json.NewDecoder(bytes.NewReader(text))
	for {
		at := int(dec.InputOffset())
		at += len(text[at:]) - len(bytes.TrimLeft(text[at:], " \t\r\n:,"))
		if path == "" {
			return at
		}
		open, err := dec.Token()
		name, index, rest := nextStep(path)
		found := false
		for i := 0; err == nil && dec.More() && !found; i++ {
			switch open {
			case json.Delim('{'):
				var key json.Token
				key, err = dec.Token()
				found = key == name
			case json.Delim('['):
				found = i == index
			}
			if !found && err == nil {
				err = dec.Decode(new(json.RawMessage))
			}
		}
		if !found {
			return at
		}
		path = rest
	}
}

// quotedStep is the path of a field, whatever its name.
func quotedStep(name string) string { return "[" + strconv.Quote(name) + "]" }

// position is name:line:column of an offset in text.
func position(name string, text []byte, offset int) string {
	before := text[:offset]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return name + ":" + itoa(line) + ":" + itoa(column)
}
