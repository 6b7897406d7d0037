package value

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
// two different integers must not become one.
func AppendCanonical(b []byte, v any) ([]byte, error) {
	j, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return Canonicalize(b, j)
}

// Canonicalize appends the canonical form of JSON text, which must not be in the room behind b. The error is a
// *ToolError with VALIDATION_ERROR.
func Canonicalize(b, text []byte) ([]byte, error) {
	c := &canon{scanner{b: text}, make([]canonNode, 0, min(2+len(text)/6, 32))}
	root, err := c.value(nil)
	if err == nil {
		err = c.end()
	}
	if err != nil {
		return nil, err
	}
	return c.append(slices.Grow(b, len(text)), root), nil
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

// canon reads a value into nodes whose scalars are canonical text already.
type canon struct {
	scanner
	nodes []canonNode // the first is the root
}

type canonNode struct {
	open  byte   // '{', '[' or 0 for a scalar
	key   []byte // of a member
	text  []byte // of a scalar
	first int    // the first item or member, 0: there is none
	next  int    // the one behind it, 0: it is the last
}

// value returns the node of the value that is here.
func (c *canon) value(key []byte) (at int, err *ToolError) {
	at, c.nodes = len(c.nodes), append(c.nodes, canonNode{})
	n := canonNode{key: key}
	switch open := c.peek(); {
	case open == '{':
		n.open = open
		n.first, err = c.members()
	case open == '[':
		n.open = open
		last := 0
		err = c.array(func(int) *ToolError {
			i, err := c.value(nil)
			if last == 0 {
				n.first = i
			} else {
				c.nodes[last].next = i
			}
			last = i
			return err
		})
	case open == '"':
		n.text, err = c.string()
	case open == '-' || open >= '0' && open <= '9':
		n.text, err = c.number()
	default:
		start := c.i
		_, err = c.word()
		n.text = c.b[start:c.i]
	}
	c.nodes[at] = n
	return at, err
}

// members reads an object and returns its first member in canonical order.
func (c *canon) members() (first int, err *ToolError) {
	var few [smallMap]int
	order := few[:0]
	var seen map[string]bool // when they are many
	sorted := true
	err = c.object(func(key []byte) *ToolError {
		if seen == nil && len(order) == smallMap {
			seen = make(map[string]bool, 2*smallMap)
			for _, i := range order {
				seen[string(c.nodes[i].key)] = true
			}
		}
		if seen[string(key)] || seen == nil && slices.ContainsFunc(order, func(i int) bool { return bytes.Equal(c.nodes[i].key, key) }) {
			return c.duplicate(string(key))
		}
		if seen != nil {
			seen[string(key)] = true
		}
		i, err := c.value(key)
		if n := len(order); n > 0 && compareUTF16(c.nodes[order[n-1]].key, key) > 0 {
			sorted = false
		}
		order = append(order, i)
		return err
	})
	if !sorted {
		slices.SortFunc(order, func(i, j int) int { return compareUTF16(c.nodes[i].key, c.nodes[j].key) })
	}
	for _, i := range slices.Backward(order) {
		c.nodes[i].next, first = first, i
	}
	return first, err
}

// string reads a string. One without escapes is canonical as it stands.
func (c *canon) string() ([]byte, *ToolError) {
	start := c.i
	text, err := c.text()
	if err == nil && len(text) == c.i-start-len(`""`) { // an escape is longer than what it stands for
		return c.b[start:c.i], nil
	}
	return appendString(nil, text), err
}

func (c *canon) number() ([]byte, *ToolError) {
	text, integer, err := c.scanner.number()
	if err != nil {
		return nil, err
	}
	if integer {
		if len(text) < len("999999999999999999") && string(text) != "-0" { // canonical as it stands
			return text, nil
		}
		if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			return strconv.AppendInt(nil, n, 10), nil
		}
	}
	f, ferr := strconv.ParseFloat(string(text), 64)
	if ferr != nil {
		return nil, c.fail("the number %s is too large", Clip(string(text), 40))
	}
	if integer { // beyond 64 bits
		return text, nil
	}
	return appendFloat(nil, f), nil
}

func (c *canon) append(b []byte, at int) []byte {
	n := &c.nodes[at]
	if n.open == 0 {
		return append(b, n.text...)
	}
	b = append(b, n.open)
	for i := n.first; i != 0; i = c.nodes[i].next {
		if i != n.first {
			b = append(b, ',')
		}
		if n.open == '{' {
			b = append(appendString(b, c.nodes[i].key), ':')
		}
		b = c.append(b, i)
	}
	return append(b, n.open+2) // '}' or ']'
}

// compareUTF16 orders by UTF-16 code units, which differs from byte order above U+FFFF.
func compareUTF16(a, b []byte) int {
	for len(a) > 0 && len(b) > 0 {
		x, n := utf8.DecodeRune(a)
		y, m := utf8.DecodeRune(b)
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
func appendString[T string | []byte](b []byte, s T) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
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
