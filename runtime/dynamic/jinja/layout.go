package jinja

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func init() {
	filters["groupby"], filters["batch"], filters["slice"] = grouped, batch, columns
	filters["center"], filters["wordwrap"], filters["striptags"], filters["urlencode"] = center, wrapped, texts(untagged), encoded
	filters["attr"] = func(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field { return t.Attr(f, word(a, 0, "")) }
}

// grouped makes pairs of a value and the items whose attribute has it, in the order of the values.
func grouped(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field {
	by, or := arg(a, 0), arg(a, 1)
	value := func(x dynamic.Field) dynamic.Field {
		if v := t.path(x, by); v.Present() {
			return v
		}
		return or
	}
	less := t.ordering(dynamic.Field{}, whether(a, 2, false))
	items := slices.Clone(t.Items(f))
	slices.SortStableFunc(items, func(x, y dynamic.Field) int { return less(value(x), value(y)) })
	var out []dynamic.Field
	for len(items) > 0 {
		n := 1
		for n < len(items) && less(value(items[0]), value(items[n])) == 0 {
			n++
		}
		out = append(out, dynamic.List(value(items[0]), dynamic.List(items[:n]...)))
		items = items[n:]
	}
	return dynamic.List(out...)
}

// maxFill bounds how many items a filter adds.
const maxFill = 100_000

// batch divides a list into lists of so many items; the last one is filled up with a value.
func batch(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field {
	n := number(a, 0, 0)
	if n < 1 || n > maxFill {
		return t.fail("batch takes a number from 1 to %d", maxFill)
	}
	var out []dynamic.Field
	for part := range slices.Chunk(t.Items(f), int(n)) {
		part = slices.Clip(part)
		for fill := arg(a, 1); fill.Present() && !fill.Value().IsNull() && len(part) < int(n); {
			part = append(part, fill)
		}
		out = append(out, dynamic.List(part...))
	}
	return dynamic.List(out...)
}

// columns divides a list into so many lists, the first of which are one longer when it cannot be divided evenly.
func columns(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field {
	n := int(number(a, 0, 0))
	if n < 1 || n > maxFill {
		return t.fail("slice takes a number from 1 to %d", maxFill)
	}
	items := t.Items(f)
	size, more := len(items)/n, len(items)%n
	var out []dynamic.Field
	for i := range n {
		take := size
		if i < more {
			take++
		}
		part := slices.Clone(items[:take])
		if fill := arg(a, 1); fill.Present() && !fill.Value().IsNull() && i >= more {
			part = append(part, fill)
		}
		out, items = append(out, dynamic.List(part...)), items[take:]
	}
	return dynamic.List(out...)
}

// center puts text amid so many columns.
func center(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field {
	s := t.text(f)
	n, width := utf8.RuneCountInString(s), int(min(max(number(a, 0, 80), 0), maxFill))
	if n >= width {
		return dynamic.Text(s)
	}
	left := (width-n)/2 + (width-n)&width&1
	return dynamic.Text(strings.Repeat(" ", left) + s + strings.Repeat(" ", width-n-left))
}

var (
	comment = regexp.MustCompile(`(?s)<!--.*?-->`)
	tag     = regexp.MustCompile(`(?s)<.*?>`)
)

// untagged is text without HTML, with single spaces.
func untagged(s string) string {
	s = tag.ReplaceAllString(comment.ReplaceAllString(s, ""), "")
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&#34;", `"`, "&quot;", `"`, "&#39;", "'", "&amp;", "&").Replace(strings.Join(strings.Fields(s), " "))
}

// encoded is a value as a part of a URL, and a map as a query.
func encoded(t *Text, f dynamic.Field, _ []dynamic.Field) dynamic.Field {
	v := f.Value()
	if v.Kind() != value.MapKind {
		return dynamic.Text(strings.NewReplacer("+", "%20", "%2F", "/").Replace(url.QueryEscape(t.text(f))))
	}
	var parts []string
	for i, k := range v.Keys() {
		parts = append(parts, url.QueryEscape(k)+"="+url.QueryEscape(t.text(dynamic.Of(v.Index(i)))))
	}
	return dynamic.Text(strings.Join(parts, "&"))
}

// wrapped breaks lines at spaces so that they have so many columns at most.
func wrapped(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field {
	width, long, between := int(number(a, 0, 79)), whether(a, 1, true), word(a, 2, "\n")
	if width < 1 {
		return t.fail("wordwrap takes a width above 0")
	}
	var out []string
	for _, line := range strings.Split(strings.TrimSuffix(strings.ReplaceAll(t.text(f), "\r\n", "\n"), "\n"), "\n") {
		out = append(out, strings.Join(wrapLine([]rune(line), width, long), between))
	}
	return dynamic.Text(strings.Join(out, between))
}

// wrapLine makes lines of one as Python's textwrap does: words that are too long are broken when long says so, spaces at
// the breaks are dropped.
func wrapLine(line []rune, width int, long bool) []string {
	var lines []string
	var current []rune
	flush := func() {
		if text := strings.TrimRightFunc(string(current), unicode.IsSpace); text != "" {
			lines = append(lines, text)
		}
		current = nil
	}
	for _, chunk := range chunks(line) {
		space := unicode.IsSpace(chunk[0])
		if space && len(current) == 0 && len(lines) > 0 {
			continue
		}
		if len(current)+len(chunk) > width {
			for room := width - len(current); long && !space && len(chunk) > width; room = width {
				current, chunk = append(current, chunk[:room]...), chunk[room:]
				flush()
			}
			if len(current)+len(chunk) > width {
				flush()
			}
			if space {
				continue
			}
		}
		current = append(current, chunk...)
	}
	flush()
	return lines
}

// chunks are the words of a line, which may end with hyphens inside, and the spaces between them.
func chunks(line []rune) [][]rune {
	var out [][]rune
	for len(line) > 0 {
		n := 1
		for n < len(line) && unicode.IsSpace(line[n]) == unicode.IsSpace(line[0]) {
			n++
			if hyphen := line[n-1] == '-' && n >= 3 && n < len(line) && unicode.IsLetter(line[n-2]) && unicode.IsLetter(line[n-3]) && unicode.IsLetter(line[n]); hyphen && n+1 < len(line) && unicode.IsLetter(line[n+1]) {
				break
			}
		}
		out, line = append(out, line[:n]), line[n:]
	}
	return out
}
