package codegen

import (
	"strings"
	"unicode"

	"github.com/dave/jennifer/jen"
)

// plainComment makes text of a workflow safe inside a line comment: one line, no control characters.
func plainComment(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Cf)
	}), " ")
}

// lineComment is a comment at the end of a line.
func lineComment(text string) jen.Code { return jen.Comment("// " + plainComment(text)) }

// lowerStart makes a description continue a sentence: "Renders notes" -> "renders notes", "HTTP calls" as it is.
func lowerStart(s string) string {
	r := []rune(s)
	if len(r) > 1 && unicode.IsUpper(r[0]) && unicode.IsLower(r[1]) {
		r[0] = unicode.ToLower(r[0])
	}
	return string(r)
}
