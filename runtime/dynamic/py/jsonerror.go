package py

import (
	"fmt"
	"regexp"
	"strings"
)

// JSONError is what json.loads of Python says about a text that is not JSON, as in "Expecting value: line 1 column 1 (char
// 0)". It is empty for a text that Python takes.
func JSONError(text string) string {
	s := &jsonScan{text: []rune(text)}
	if strings.HasPrefix(text, "\ufeff") {
		s.fail(0, "Unexpected UTF-8 BOM (decode using utf-8-sig)")
		return s.message
	}
	at := s.value(s.space(0), 0)
	if at = s.space(at); s.message == "" && at != len(s.text) {
		s.fail(at, "Extra data")
	}
	return s.message
}

// A jsonScan reads JSON as Python's scanner does, up to the first mistake.
type jsonScan struct {
	text    []rune
	message string
}

func (s *jsonScan) fail(at int, what string) int {
	if s.message == "" {
		line, last := 1, -1
		for i, c := range s.text[:at] {
			if c == '\n' {
				line, last = line+1, i
			}
		}
		s.message = fmt.Sprintf("%s: line %d column %d (char %d)", what, line, at-last, at)
	}
	return len(s.text)
}

func (s *jsonScan) is(at int, c rune) bool { return at < len(s.text) && s.text[at] == c }

func (s *jsonScan) space(at int) int {
	for at < len(s.text) && strings.ContainsRune(" \t\n\r", s.text[at]) {
		at++
	}
	return at
}

var (
	jsonNumber = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?`)
	jsonWords  = []string{"null", "true", "false", "NaN", "Infinity", "-Infinity"}
)

// value reads a value and gives where it ends.
func (s *jsonScan) value(at, depth int) int {
	switch {
	case s.message != "":
		return at
	case depth > maxJSON:
		return s.fail(at, "nested too deep")
	case s.is(at, '"'):
		return s.string(at)
	case s.is(at, '{'):
		return s.object(at, depth)
	case s.is(at, '['):
		return s.list(at, depth)
	}
	if at < len(s.text) && strings.ContainsRune("nftNI-0123456789", s.text[at]) {
		end := at
		for end < len(s.text) && end-at < 4096 && s.text[end] < 128 {
			end++
		}
		rest := string(s.text[at:end])
		for _, word := range jsonWords {
			if strings.HasPrefix(rest, word) {
				return at + len(word)
			}
		}
		if m := jsonNumber.FindString(rest); m != "" {
			return at + len(m)
		}
	}
	return s.fail(at, "Expecting value")
}

func (s *jsonScan) object(at, depth int) int {
	if at = s.space(at + 1); s.is(at, '}') {
		return at + 1
	}
	for s.message == "" {
		if !s.is(at, '"') {
			return s.fail(at, "Expecting property name enclosed in double quotes")
		}
		at = s.space(s.string(at))
		if !s.is(at, ':') {
			return s.fail(at, "Expecting ':' delimiter")
		}
		at = s.space(s.value(s.space(at+1), depth+1))
		if s.is(at, '}') {
			return at + 1
		}
		if !s.is(at, ',') {
			return s.fail(at, "Expecting ',' delimiter")
		}
		at = s.space(at + 1)
	}
	return at
}

func (s *jsonScan) list(at, depth int) int {
	if at = s.space(at + 1); s.is(at, ']') {
		return at + 1
	}
	for s.message == "" {
		at = s.space(s.value(at, depth+1))
		if s.is(at, ']') {
			return at + 1
		}
		if !s.is(at, ',') {
			return s.fail(at, "Expecting ',' delimiter")
		}
		at = s.space(at + 1)
	}
	return at
}

func (s *jsonScan) string(begin int) int {
	for at := begin + 1; at < len(s.text); at++ {
		switch c := s.text[at]; {
		case c == '"':
			return at + 1
		case c < ' ':
			return s.fail(at, "Invalid control character at")
		case c != '\\':
		case at+1 == len(s.text):
			return s.fail(begin, "Unterminated string starting at")
		case s.text[at+1] == 'u':
			if at+6 >= len(s.text) || strings.Trim(string(s.text[at+2:at+6]), "0123456789abcdefABCDEF") != "" {
				return s.fail(at+1, `Invalid \uXXXX escape`)
			}
			at += 5
		case !strings.ContainsRune(`"\/bfnrt`, s.text[at+1]):
			return s.fail(at, `Invalid \escape`)
		default:
			at++
		}
	}
	return s.fail(begin, "Unterminated string starting at")
}
