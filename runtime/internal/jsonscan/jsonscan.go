// Package jsonscan passes over JSON that a program of flowgen has written, for readers of many lines that want few of their values.
package jsonscan

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// Object calls field for each field of an object, with its name as it is written and its value. It is false where the text is not one
// object without white space, or field is.
func Object(text []byte, field func(name, value []byte) bool) bool {
	s := Scanner{Text: text}
	if !s.Byte('{') {
		return false
	}
	for more := true; more; more = s.Byte(',') {
		name, ok := s.String()
		if !ok || !s.Byte(':') {
			return false
		}
		from := s.At
		if !s.Value() || !field(name, text[from:s.At]) {
			return false
		}
	}
	return s.Byte('}') && s.At == len(text)
}

// Integer is a whole number of at most 19 characters.
func Integer(v []byte) (int64, bool) {
	if len(v) > 19 || len(v) == 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	return n, err == nil
}

// Plain is a string without escapes, without its quotes.
func Plain(v []byte) ([]byte, bool) {
	if len(v) < 2 || v[0] != '"' || bytes.IndexByte(v, '\\') >= 0 {
		return nil, false
	}
	return v[1 : len(v)-1], utf8.Valid(v)
}

// A Scanner passes over JSON without white space. Values are held to less than JSON says: what is in a number, and in an escape, may be
// wrong.
type Scanner struct {
	Text []byte
	At   int
}

// Byte passes over one character.
func (s *Scanner) Byte(c byte) bool {
	if s.At < len(s.Text) && s.Text[s.At] == c {
		s.At++
		return true
	}
	return false
}

// String passes over a string and returns what is between its quotes, as it is written.
func (s *Scanner) String() ([]byte, bool) {
	if !s.Byte('"') {
		return nil, false
	}
	for from := s.At; s.At < len(s.Text); s.At++ {
		switch c := s.Text[s.At]; {
		case c == '"':
			s.At++
			return s.Text[from : s.At-1], true
		case c < ' ':
			return nil, false
		case c == '\\':
			s.At++
		}
	}
	return nil, false
}

const maxNested = 200 // beyond it encoding/json looks

// Value passes over a value.
func (s *Scanner) Value() bool { return s.value(0) }

func (s *Scanner) value(depth int) bool {
	if s.At >= len(s.Text) || depth > maxNested {
		return false
	}
	switch c := s.Text[s.At]; c {
	case '"':
		_, ok := s.String()
		return ok
	case '{':
		if s.At++; s.Byte('}') {
			return true
		}
		for more := true; more; more = s.Byte(',') {
			if _, ok := s.String(); !ok || !s.Byte(':') || !s.value(depth+1) {
				return false
			}
		}
		return s.Byte('}')
	case '[':
		if s.At++; s.Byte(']') {
			return true
		}
		for more := true; more; more = s.Byte(',') {
			if !s.value(depth + 1) {
				return false
			}
		}
		return s.Byte(']')
	}
	from := s.At
	for s.At < len(s.Text) && s.Text[s.At] != ',' && s.Text[s.At] != '}' && s.Text[s.At] != ']' {
		s.At++
	}
	word := s.Text[from:s.At]
	switch string(word) {
	case "true", "false", "null":
		return true
	}
	return len(word) > 0 && len(bytes.TrimLeft(word, "-+.eE0123456789")) == 0 && (word[0] == '-' || word[0] >= '0' && word[0] <= '9')
}
