package diag

import (
	"fmt"
	"strings"
)

// Markdown is docs/diagnostics.md: the table of codes as a page. A test holds the file to it.
func Markdown(codes []Entry) string {
	var b strings.Builder
	b.WriteString("# Diagnostics\n\n" +
		"<!-- Generated from the table of codes in ir/diag; `go test ./golden -run Diagnostics -update` rewrites it. -->\n\n" +
		"Every mistake that flowgen reports has a stable code. `flowgen explain CODE` prints the same text.\n" +
		"The examples are complete workflows and are run by a test: the wrong one reports its code and nothing else,\n" +
		"the right one is clean.\n\n")
	for _, e := range codes {
		fmt.Fprintf(&b, "- [%s](#%s) %s\n", e.Code, strings.ToLower(string(e.Code)), e.Title)
	}
	for _, e := range codes {
		fmt.Fprintf(&b, "\n## %s\n\n**%s.** %s\n", e.Code, capital(e.Title), e.Cause)
		for _, x := range []struct{ title, text string }{{"Wrong", e.Wrong}, {"Right", e.Right}} {
			if x.text != "" {
				fmt.Fprintf(&b, "\n%s:\n\n```yaml\n%s```\n", x.title, visible(x.text))
			}
		}
		for i, c := range e.Cases {
			if i == 0 {
				b.WriteString("\nWhat it says:\n")
			}
			fmt.Fprintf(&b, "\n```yaml\n%s```\n\n> %s\n>\n> help: %s\n", visible(c.YAML), c.Message, c.Help)
		}
	}
	return b.String()
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// visible shows what an editor hides, so that the page itself holds no character that the compiler refuses.
var visible = strings.NewReplacer("\t", "→", "\u2028", "<U+2028>").Replace
