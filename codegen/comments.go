package codegen

import (
	"strings"
	"unicode"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
)

// plainComment makes text of a workflow safe inside a line comment: one line, no control characters, nothing that an editor obeys.
func plainComment(text string) string {
	return unmoded(strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Cf)
	}), " "))
}

// lineComment is a comment at the end of a line.
func lineComment(text string) jen.Code { return jen.Comment("// " + undirected(plainComment(text))) }

// commentDirective is how a comment begins that some tool takes for more than a comment, blanks and slashes in front of it or
// not: +build, #nosec, nolint, lint:ignore, revive:disable.
var commentDirective = lazyregexp.New(`^[/ ]*(\+|#\S|(nolint|nosec|noinspection)\b|[A-Za-z0-9_-]+:[A-Za-z0-9])`)

// undirected is the text of a comment; one that begins as a directive begins with an apostrophe instead.
func undirected(text string) string {
	text = unmoded(text)
	if commentDirective.MatchString(text) {
		return "'" + text
	}
	return text
}

// lowerStart makes a description continue a sentence: "Renders notes" -> "renders notes", "HTTP calls" as it is.
func lowerStart(s string) string {
	r := []rune(s)
	if len(r) > 1 && unicode.IsUpper(r[0]) && unicode.IsLower(r[1]) {
		r[0] = unicode.ToLower(r[0])
	}
	return string(r)
}
