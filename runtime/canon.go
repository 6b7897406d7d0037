package runtime

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendCanonical appends v as canonical JSON (RFC 8785): no white space, keys in the order of their UTF-16 code units,
// numbers as ECMAScript writes them. Integers beyond 2^53 keep their digits, where the RFC would round them to a float:
// two different int64 must not become one.
func AppendCanonical(b []byte, v any) ([]byte, error) {
	j, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return Canonicalize(b, j)
}

// Canonicalize appends the canonical form of JSON text. The error is a *ToolError with VALIDATION_ERROR.
func Canonicalize(b, text []byte) ([]byte, error) {
	s := &scanner{b: text}
	t, err := s.canonTree()
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return nil, err
	}
	return t.append(b), nil
}

// JSON returns the canonical JSON of a value of a journalled type: the json filter of text. A value that has none,
// which the checks at the tool boundary keep out, gives null.
func JSON(v any) string {
	b, err := AppendCanonical(nil, v)
	if err != nil {
		return "null"
	}
	return string(b)
}

// canonTree is a parsed value whose scalars are canonical text already.
type canonTree struct {
	open  byte // '{', '[' or 0 for a scalar
	text  []byte
	items []canonTree
	keys  []string
}

func (s *scanner) canonTree() (t canonTree, err *ToolError) {
	switch c := s.peek(); {
	case c == '{':
		t.open = c
		seen := map[string]bool{}
		err = s.object(func(text []byte) *ToolError {
			key := string(text)
			if seen[key] {
				return s.duplicate(key)
			}
			seen[key] = true
			item, err := s.canonTree()
			t.keys, t.items = append(t.keys, key), append(t.items, item)
			return err
		})
	case c == '[':
		t.open = c
		err = s.array(func(int) *ToolError {
			item, err := s.canonTree()
			t.items = append(t.items, item)
			return err
		})
	case c == '"':
		var text string
		text, err = s.str()
		t.text = appendString(nil, text)
	case c == '-' || c >= '0' && c <= '9':
		t.text, err = s.canonNumber()
	default:
		var w string
		w, err = s.word()
		t.text = []byte(w)
	}
	return t, err
}

func (s *scanner) canonNumber() ([]byte, *ToolError) {
	text, integer, err := s.number()
	if err != nil {
		return nil, err
	}
	if integer {
		if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			return strconv.AppendInt(nil, n, 10), nil
		}
		if n, err := strconv.ParseUint(string(text), 10, 64); err == nil {
			return strconv.AppendUint(nil, n, 10), nil
		}
	}
	f, ferr := strconv.ParseFloat(string(text), 64)
	if ferr != nil {
		return nil, s.fail("the number %s is too large", clip(string(text), 40))
	}
	return appendFloat(nil, f), nil
}

func (t *canonTree) append(b []byte) []byte {
	switch t.open {
	case 0:
		return append(b, t.text...)
	case '[':
		b = append(b, '[')
		for i := range t.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = t.items[i].append(b)
		}
		return append(b, ']')
	}
	order := make([]int, len(t.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return compareUTF16(t.keys[i], t.keys[j]) })
	b = append(b, '{')
	for n, i := range order {
		if n > 0 {
			b = append(b, ',')
		}
		b = t.items[i].append(append(appendString(b, t.keys[i]), ':'))
	}
	return append(b, '}')
}

// compareUTF16 orders by UTF-16 code units, which differs from byte order above U+FFFF.
func compareUTF16(a, b string) int {
	for len(a) > 0 && len(b) > 0 {
		x, n := utf8.DecodeRuneInString(a)
		y, m := utf8.DecodeRuneInString(b)
		if x != y {
			return slices.Compare(utf16.AppendRune(nil, x), utf16.AppendRune(nil, y))
		}
		a, b = a[n:], b[m:]
	}
	return len(a) - len(b)
}

const hexDigits = "0123456789abcdef"

// AppendQuoted appends s as a string of canonical JSON.
func AppendQuoted(b []byte, s string) []byte { return appendString(b, s) }

// appendString writes a JSON string with the fewest escapes (RFC 8785 3.2.2.2); invalid UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += n
			continue
		}
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= ' ':
			b = append(b, c)
		case bytes.IndexByte([]byte("\b\t\n\f\r"), c) >= 0:
			b = append(b, '\\', "btn?fr"[c-'\b'])
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
	}
	return append(b, '"')
}
