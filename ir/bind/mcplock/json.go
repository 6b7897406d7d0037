package mcplock

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/ir/source"
)

// maxDepth bounds how deep a lock file or a schema may be nested.
const maxDepth = 200

// A node is a value of a JSON file with its place.
type node struct {
	kind  byte   // '{', '[', '"', '0' for numbers, 'b' for bools, 'n' for null
	text  string // of a string its value, of a number or bool as written
	items []*node
	keys  []key          // of an object, one for each item
	index map[string]int // of the keys, for objects with many
	lo    int
	hi    int
}

type key struct {
	name   string
	lo, hi int
}

// get returns the value of a key of an object, nil when there is none.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	if len(n.keys) > 16 {
		if n.index == nil {
			n.index = make(map[string]int, len(n.keys))
			for i, k := range n.keys {
				n.index[k.name] = i
			}
		}
		if i, ok := n.index[name]; ok {
			return n.items[i]
		}
		return nil
	}
	for i, k := range n.keys {
		if k.name == name {
			return n.items[i]
		}
	}
	return nil
}

// str is the text of a string, "" for anything else.
func (n *node) str() string {
	if n == nil || n.kind != '"' {
		return ""
	}
	return n.text
}

// strs are the strings of a list.
func (n *node) strs() []string {
	if n == nil || n.kind != '[' {
		return nil
	}
	var out []string
	for _, it := range n.items {
		if it.kind == '"' {
			out = append(out, it.text)
		}
	}
	return out
}

func (n *node) isTrue() bool { return n != nil && n.kind == 'b' && n.text == "true" }

func (n *node) span(f *source.File) source.Span { return source.Span{File: f, Lo: n.lo, Hi: n.hi} }

func (k key) span(f *source.File) source.Span { return source.Span{File: f, Lo: k.lo, Hi: k.hi} }

// syntaxError is what is wrong with a JSON file, and where.
type syntaxError struct {
	at  int
	why string
}

func (e *syntaxError) Error() string { return e.why }

// parseJSON reads one JSON value. Duplicate keys, bytes that are not UTF-8 and deep nesting are errors.
func parseJSON(text string) (*node, error) {
	if !utf8.ValidString(text) {
		return nil, &syntaxError{0, "it is not text in UTF-8"}
	}
	r := &reader{text: text, dec: json.NewDecoder(strings.NewReader(text))}
	r.dec.UseNumber()
	n, err := r.value(0)
	if errors.Is(err, io.EOF) {
		err = &syntaxError{len(text), "it ends too early"}
	}
	if err != nil {
		return nil, err
	}
	if _, _, _, err := r.token(); !errors.Is(err, io.EOF) {
		return nil, &syntaxError{n.hi, "there is more after the end"}
	}
	return n, nil
}

type reader struct {
	text string
	dec  *json.Decoder
}

// token is the next token with its place.
func (r *reader) token() (t json.Token, lo, hi int, err error) {
	lo = int(r.dec.InputOffset())
	for lo < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[lo]) >= 0 {
		lo++
	}
	t, err = r.dec.Token()
	hi = int(r.dec.InputOffset())
	var syntax *json.SyntaxError
	switch {
	case err == nil || errors.Is(err, io.EOF):
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = &syntaxError{len(r.text), "it ends too early"}
	case errors.As(err, &syntax):
		err = &syntaxError{min(int(syntax.Offset), len(r.text)), syntax.Error()}
	default:
		err = &syntaxError{min(lo, len(r.text)), err.Error()}
	}
	return t, lo, hi, err
}

func (r *reader) value(depth int) (*node, error) {
	t, lo, hi, err := r.token()
	if err != nil {
		return nil, err
	}
	n := &node{lo: lo, hi: hi}
	switch t := t.(type) {
	case json.Delim:
		if depth > maxDepth {
			return nil, &syntaxError{lo, "it is nested too deeply"}
		}
		n.kind = byte(t)
		return n, r.inside(n, depth)
	case string:
		n.kind, n.text = '"', t
	case json.Number:
		n.kind, n.text = '0', t.String()
	case bool:
		n.kind, n.text = 'b', strconv.FormatBool(t)
	default:
		n.kind = 'n'
	}
	return n, nil
}

// inside reads what is in an object or list, up to its end.
func (r *reader) inside(n *node, depth int) error {
	seen := map[string]bool{}
	for r.dec.More() {
		if n.kind == '{' {
			t, lo, hi, err := r.token()
			if err != nil {
				return err
			}
			name, _ := t.(string)
			if seen[name] {
				return &syntaxError{lo, fmt.Sprintf("the key %q appears twice", name)}
			}
			seen[name] = true
			n.keys = append(n.keys, key{name, lo, hi})
		}
		item, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
	_, _, hi, err := r.token()
	n.hi = hi
	return err
}

// canonical appends the canonical JSON (RFC 8785) of n. Numbers stay as they are written: those of a lock file are
// canonical already.
func (n *node) canonical(b []byte) []byte {
	switch n.kind {
	case '{':
		order := make([]int, len(n.keys))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(i, j int) int { return compareUTF16(n.keys[i].name, n.keys[j].name) })
		b = append(b, '{')
		for at, i := range order {
			if at > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, n.keys[i].name), ':')
			b = n.items[i].canonical(b)
		}
		return append(b, '}')
	case '[':
		b = append(b, '[')
		for i, it := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = it.canonical(b)
		}
		return append(b, ']')
	case '"':
		return appendString(b, n.text)
	case 'n':
		return append(b, "null"...)
	}
	return append(b, n.text...)
}

// compareUTF16 orders by UTF-16 code units, which differs from byte order above U+FFFF.
func compareUTF16(a, b string) int {
	if x, y := []rune(a), []rune(b); !slices.Equal(x, y) {
		return slices.Compare(utf16.Encode(x), utf16.Encode(y))
	}
	return cmp.Compare(len(a), len(b))
}

// appendString writes a string with the fewest escapes (RFC 8785 3.2.2.2).
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r >= ' ':
			b = utf8.AppendRune(b, r)
		case strings.ContainsRune("\b\t\n\f\r", r):
			b = append(b, '\\', "btn?fr"[r-'\b'])
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return append(b, '"')
}
