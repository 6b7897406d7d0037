package httptool

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Target is a URL: a template and the values for its places.
type Target struct {
	template string
	few      [2]string // the values, when they are not more
	count    int
	more     []string
}

// URL returns the URL that values make of the template. Each {x} in it takes
// the next value as one path segment or query value, each {+x} as several path
// segments; {x} may also be the port. The names are for the reader.
func URL(template string, values ...string) Target {
	t := Target{template: template, count: len(values)}
	if copy(t.few[:], values) < len(values) {
		t.more = append([]string(nil), values...) // so that the few are on the caller's stack
	}
	return t
}

func (t *Target) values() []string {
	if t.more != nil {
		return t.more
	}
	return t.few[:t.count]
}

// part is where in a URL a place stands.
type part uint8

const (
	inAuthority part = iota
	inPath
	inQuery
)

// expand returns the URL with query appended.
func (t Target) expand(query []Field) (string, error) { return t.from("", query) }

// from is expand for a template that begins with a slash and goes on from base.
func (t Target) from(base string, query []Field) (string, error) {
	rest, values := t.template, t.values()
	var room [512]byte // most URLs are shorter: what leaves is the string
	b, at := room[:0], inAuthority
	switch authority := strings.Index(rest, "://"); {
	case strings.IndexByte(rest, '#') >= 0, base == "" && authority < 0, base != "" && !strings.HasPrefix(rest, "/"):
		return "", value.Invalid("the URL has no scheme, or has a fragment")
	case base != "":
		b, at = append(b, base...), inPath
	default:
		b, rest = append(b, rest[:authority+3]...), rest[authority+3:]
	}
	path := len(b)
	for {
		open := strings.IndexByte(rest, '{')
		lit := rest
		if open >= 0 {
			lit = rest[:open]
		}
		for i := range len(lit) { // where the next place stands
			if at == inAuthority && lit[i] == '/' {
				at, path = inPath, len(b)+i
			} else if lit[i] == '?' && at != inQuery {
				if at == inAuthority {
					path = len(b) + i
				}
				at = inQuery
			}
		}
		b = append(b, lit...)
		if open < 0 {
			break
		}
		shut := strings.IndexByte(rest[open:], '}')
		if shut < 0 {
			return "", value.Invalid("the URL has a brace that is not closed")
		}
		name := rest[open+1 : open+shut]
		if len(values) == 0 {
			return "", value.Invalid("the URL has more places than values")
		}
		var err error
		if b, err = appendValue(b, at, name, values[0]); err != nil {
			return "", err
		}
		values, rest = values[1:], rest[open+shut+1:]
	}
	if t.count > 0 && at != inAuthority {
		if err := checkPath(b[path:]); err != nil {
			return "", err
		}
	}
	return string(appendQuery(b, at == inQuery, query)), nil
}

// appendValue writes one value as its place asks for.
func appendValue(b []byte, at part, name, v string) ([]byte, error) {
	bare, several := strings.CutPrefix(name, "+")
	switch at {
	case inAuthority:
		n, err := strconv.ParseUint(v, 10, 16)
		if err != nil || n == 0 || several || !afterHost(b) {
			return nil, invalidValue(bare, "is not a port")
		}
		return strconv.AppendUint(b, n, 10), nil
	case inQuery:
		return escape(b, v, false), nil
	}
	if v == "" {
		return nil, invalidValue(bare, "is empty and would name another resource")
	}
	for i := range len(v) {
		if v[i] < ' ' || v[i] == 0x7f {
			return nil, invalidValue(bare, "has a control character")
		}
	}
	if several && (v[0] == '/' || strings.Contains(v, "//")) {
		return nil, invalidValue(bare, "has an empty path segment")
	}
	return escape(b, v, several), nil
}

// afterHost reports whether a URL that began with b goes on with a port.
func afterHost(b []byte) bool {
	if b[len(b)-1] != ':' {
		return false
	}
	open := bytes.IndexByte(b, '[')
	return open < 0 || bytes.HasSuffix(b, []byte("]:"))
}

func invalidValue(name, why string) error {
	return value.Invalid("%s %s: it cannot be used in the URL", plain.Line(name, 64), why)
}

const upperHex = "0123456789ABCDEF"

// escape percent-encodes everything but RFC 3986's unreserved characters, and
// slashes where they are wanted.
func escape(b []byte, s string, slashes bool) []byte {
	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			c == '-' || c == '.' || c == '_' || c == '~' || c == '/' && slashes {
			b = append(b, c)
		} else {
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return b
}

// checkPath refuses paths with dot segments, which servers resolve: values would
// lead out of the place that the template gives them. Servers also decode, some
// of them twice, take \ for / and cut segments at a semicolon.
func checkPath(encoded []byte) error {
	if bytes.IndexByte(encoded, '%') < 0 && !bytes.Contains(encoded, []byte("/.")) {
		return nil
	}
	path, _, _ := strings.Cut(string(encoded), "?")
	for range 5 {
		for segment := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
			segment, _, _ = strings.Cut(segment, ";")
			if segment == "." || segment == ".." {
				return value.Invalid("the path of the URL has a `%s` segment: values must not lead out of their place", segment)
			}
		}
		decoded, err := url.PathUnescape(path)
		if err != nil || decoded == path {
			break
		}
		path = decoded
	}
	return nil
}

func appendQuery(b []byte, begun bool, query []Field) []byte {
	for _, q := range query {
		switch {
		case !begun:
			b, begun = append(b, '?'), true
		case b[len(b)-1] != '?' && b[len(b)-1] != '&':
			b = append(b, '&')
		}
		b = append(escape(b, q.Name, false), '=')
		b = escape(b, q.Value, false)
	}
	return b
}

// checkURL refuses URLs that are not plain HTTP requests to a host.
func checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return value.Errorf(value.PolicyDenied, "scheme %s is not allowed: only http and https are", plain.Line(u.Scheme, 32))
	case u.Hostname() == "" || u.Opaque != "":
		return value.Invalid("the URL has no host")
	case u.User != nil:
		return value.Errorf(value.PolicyDenied, "a URL with a user or password is not allowed")
	}
	return nil
}
