package foreign

import "strings"

// Summary is the first paragraph of a comment on one line: what people and models are told of a function or a field. It
// ends before what a documentation tool reads (@param, :param x:, >>> and the headings of Google's style).
func Summary(doc string) string {
	var words []string
	for line := range strings.Lines(doc) {
		line = strings.TrimSpace(line)
		if line == "" && words != nil || strings.HasPrefix(line, "@") || strings.HasPrefix(line, ":") || strings.HasPrefix(line, ">>>") {
			break
		}
		switch line {
		case "Args:", "Arguments:", "Parameters:", "Returns:", "Raises:", "Yields:", "Example:", "Examples:":
			return strings.Join(words, " ")
		}
		words = append(words, strings.Fields(line)...)
	}
	return strings.Join(words, " ")
}
