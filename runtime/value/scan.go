package value

import (
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds the nesting of values that come from outside.
const maxDepth = 1000

// scanner reads JSON text strictly (RFC 8259): valid UTF-8, no lone surrogates, bounded depth.
// Its errors are VALIDATION_ERRORs that name the byte.
type scanner struct {
	b     []byte
	i     int
	depth int
}

func (s *scanner) fail(format string, args ...any) *ToolError {
	e := Invalid(format, args...)
	e.Message = "invalid JSON at byte " + strconv.Itoa(s.i) + ": " + e.Message
	return e
}

// peek skips white space and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for ; s.i < len(s.b); s.i++ {
		switch s.b[s.i] {
		case ' ', '\t', '\n', '\r':
		default:
			return s.b[s.i]
		}
	}
	return 0
}

func (s *scanner) unexpected(want string) *ToolError {
	if s.i >= len(s.b) {
		return s.fail("the text ends where %s is expected", want)
	}
	r, _ := utf8.DecodeRune(s.b[s.i:])
	return s.fail("%s where %s is expected", strconv.QuoteRune(r), want)
}

// end checks that only white space follows.
func (s *scanner) end() *ToolError {
	if s.peek(); s.i < len(s.b) {
		return s.fail("text after the value")
	}
	return nil
}

func (s *scanner) enter() *ToolError {
	if s.depth++; s.depth > maxDepth {
		return s.fail("nested more than %d deep", maxDepth)
	}
	return nil
}

// array calls element at each element.
func (s *scanner) array(element func(i int) *ToolError) *ToolError {
	if err := s.enter(); err != nil {
		return err
	}
	defer func() { s.depth-- }()
	s.i++ // [
	if s.peek() == ']' {
		s.i++
		return nil
	}
	for i := 0; ; i++ {
		if err := element(i); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.i++
		case ']':
			s.i++
			return nil
		default:
			return s.unexpected("',' or ']'")
		}
	}
}

// object calls member at each value, after its key, which must not be kept. It does not look for duplicate keys.
func (s *scanner) object(member func(key []byte) *ToolError) *ToolError {
	if err := s.enter(); err != nil {
		return err
	}
	defer func() { s.depth-- }()
	s.i++ // {
	if s.peek() == '}' {
		s.i++
		return nil
	}
	for {
		if s.peek() != '"' {
			return s.unexpected("a key")
		}
		key, err := s.text()
		if err != nil {
			return err
		}
		if s.peek() != ':' {
			return s.unexpected("':'")
		}
		s.i++
		if err := member(key); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.i++
		case '}':
			s.i++
			return nil
		default:
			return s.unexpected("',' or '}'")
		}
	}
}

// word reads true, false or null.
func (s *scanner) word() (string, *ToolError) {
	for _, w := range [...]string{"true", "false", "null"} {
		if len(s.b)-s.i >= len(w) && string(s.b[s.i:s.i+len(w)]) == w {
			s.i += len(w)
			return w, nil
		}
	}
	return "", s.unexpected("a value")
}

// number reads a number and reports whether it is written as an integer. The text is part of the input.
func (s *scanner) number() (text []byte, integer bool, err *ToolError) {
	start := s.i
	digits := func() bool {
		from := s.i
		for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
			s.i++
		}
		return s.i > from
	}
	accept := func(set string) bool {
		for j := range len(set) {
			if s.i < len(s.b) && s.b[s.i] == set[j] {
				s.i++
				return true
			}
		}
		return false
	}
	accept("-")
	if !accept("0") && !digits() {
		return nil, false, s.unexpected("a digit")
	}
	integer = true
	if accept(".") {
		if integer = false; !digits() {
			return nil, false, s.unexpected("a digit")
		}
	}
	if accept("eE") {
		accept("+-")
		if integer = false; !digits() {
			return nil, false, s.unexpected("a digit")
		}
	}
	return s.b[start:s.i], integer, nil
}

// str reads a string that starts here.
func (s *scanner) str() (string, *ToolError) {
	text, err := s.text()
	return string(text), err
}

// text is str without a copy where the input has the very bytes.
func (s *scanner) text() ([]byte, *ToolError) {
	s.i++ // "
	start := s.i
	for s.i < len(s.b) {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			return s.b[start : s.i-1], nil
		case c == '\\' || c < ' ' || c >= utf8.RuneSelf:
			return s.longText(start)
		default:
			s.i++
		}
	}
	return nil, s.unexpected("'\"'")
}

// longText goes on with a string whose text differs from the input or must be looked at.
func (s *scanner) longText(start int) ([]byte, *ToolError) {
	out := append(make([]byte, 0, s.i-start+32), s.b[start:s.i]...)
	for s.i < len(s.b) {
		c := s.b[s.i]
		switch {
		case c == '"':
			s.i++
			return out, nil
		case c < ' ':
			return nil, s.fail("control character in a string")
		case c == '\\':
			var err *ToolError
			if out, err = s.escape(out); err != nil {
				return nil, err
			}
		default:
			r, n := utf8.DecodeRune(s.b[s.i:])
			if r == utf8.RuneError && n <= 1 {
				return nil, s.fail("invalid UTF-8")
			}
			out = append(out, s.b[s.i:s.i+n]...)
			s.i += n
		}
	}
	return nil, s.unexpected("'\"'")
}

func (s *scanner) escape(out []byte) ([]byte, *ToolError) {
	s.i++
	if s.i >= len(s.b) {
		return nil, s.unexpected("an escape")
	}
	c := s.b[s.i]
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return s.unicode(out)
	default:
		return nil, s.unexpected("an escape")
	}
	s.i++
	return append(out, c), nil
}

func (s *scanner) unicode(out []byte) ([]byte, *ToolError) {
	r, err := s.hex()
	if err != nil {
		return nil, err
	}
	if utf16.IsSurrogate(r) {
		low := rune(-1)
		if s.i+1 < len(s.b) && s.b[s.i] == '\\' && s.b[s.i+1] == 'u' {
			s.i++
			if low, err = s.hex(); err != nil {
				return nil, err
			}
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return nil, s.fail("half a surrogate pair")
		}
	}
	return utf8.AppendRune(out, r), nil
}

// hex reads the four digits after the u that is here.
func (s *scanner) hex() (rune, *ToolError) {
	if s.i+5 > len(s.b) {
		s.i = len(s.b)
		return 0, s.unexpected("a hexadecimal digit")
	}
	n, err := strconv.ParseUint(string(s.b[s.i+1:s.i+5]), 16, 16)
	if err != nil || s.b[s.i+1] == '+' {
		return 0, s.fail("\\u needs four hexadecimal digits")
	}
	s.i += 5
	return rune(n), nil
}

// CheckValue returns the error that ParseValue would return, and keeps nothing: a list of a mebibyte can hold half a million
// values, each of which takes a hundred times its text.
func Check(b []byte) error {
	s := &scanner{b: b}
	err := s.check()
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return err
	}
	return nil
}

// check is value without the value.
func (s *scanner) check() *ToolError {
	switch c := s.peek(); {
	case c == '{':
		var keys []string
		var place map[string]struct{} // of many keys
		return s.object(func(text []byte) *ToolError {
			key := string(text)
			if _, ok := place[key]; ok || place == nil && slices.Contains(keys, key) {
				return s.duplicate(key)
			}
			switch {
			case place != nil:
				place[key] = struct{}{}
			case len(keys) < smallMap:
				keys = append(keys, key)
			default:
				place = map[string]struct{}{key: {}}
				for _, k := range keys {
					place[k] = struct{}{}
				}
			}
			return s.check()
		})
	case c == '[':
		return s.array(func(int) *ToolError { return s.check() })
	case c == '-' || c >= '0' && c <= '9':
		text, _, err := s.number()
		if err != nil {
			return err
		}
		return s.inRange(text)
	}
	return s.pass()
}

// skip reads over one value and returns its text. Duplicate keys are not its matter.
func (s *scanner) skip() ([]byte, *ToolError) {
	s.peek()
	start := s.i
	err := s.pass()
	return s.b[start:s.i], err
}

func (s *scanner) pass() (err *ToolError) {
	switch c := s.peek(); {
	case c == '{':
		return s.object(func([]byte) *ToolError { return s.pass() })
	case c == '[':
		return s.array(func(int) *ToolError { return s.pass() })
	case c == '"':
		_, err = s.text()
	case c == '-' || c >= '0' && c <= '9':
		_, _, err = s.number()
	default:
		_, err = s.word()
	}
	return err
}
