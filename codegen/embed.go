package codegen

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/dave/jennifer/jen"
)

// embeddable reports whether a go:embed directive can name the file.
func embeddable(name string) bool {
	for _, part := range strings.Split(name, "/") {
		if part == "" || part == "." || part == ".." || strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") {
			return false
		}
	}
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("/._-+", r):
		default:
			return false
		}
	}
	return true
}

// embedDirective is the comment that embeds files in the variable that follows it. Names that are more than plain words
// are quoted; what no directive can name is refused. Many files take several directives.
func embedDirective(files ...string) jen.Code {
	const directive = "//go:embed"
	var out strings.Builder
	width := 0
	for _, f := range files {
		if !embeddable(f) {
			if strings.ContainsFunc(f, func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune("\"*<>?`'|\\:[]", r) }) {
				panic(refused{"a file to embed", f})
			}
			f = strconv.Quote(f)
		}
		if width == 0 || width+1+len(f) > maxWidth {
			if width > 0 {
				out.WriteByte('\n')
			}
			out.WriteString(directive)
			width = len(directive)
		}
		out.WriteString(" " + f)
		width += 1 + len(f)
	}
	return jen.Comment(out.String())
}
